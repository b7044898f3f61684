/*
 * prune-context: what the model need not see again. Ephemeral custom messages go once newer ones of their kind exist; big old
 * tool results give way to a note (or their whole exchange goes). The history itself is the host's and stays whole.
 *
 * Cache-friendly: a provider's prompt cache holds a prefix, so what is pruned must not change from call to call. The set of
 * pruned results depends only on how many prunable bytes lie in the old part, rounded down to whole steps. It grows once a step
 * and never shrinks while the history only grows. No state decides; the cache of notes below only saves work.
 */
#include "../../guest-sdk/c/weir.h"

WEIR_DESCRIBE(
    "{\"abi\":1,\"name\":\"prune-context\",\"version\":\"1.0.0\","
    "\"description\":\"Keeps stale messages and big old tool results from the model; the history stays whole.\","
    "\"hooks\":{\"context\":{\"view\":\"table\"}},"
    "\"config\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"ephemeral\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},\"default\":[\"ephemeral\",\"ephemeral-*\"],"
    "\"description\":\"customType names or *-patterns of messages that only count while they are new.\"},"
    "\"keep_ephemeral\":{\"type\":\"integer\",\"minimum\":0,\"default\":1,\"description\":\"The newest of each such customType that stay.\"},"
    "\"keep_turns\":{\"type\":\"integer\",\"minimum\":1,\"default\":3,\"description\":\"Newest turns (from a user message on) whose tool results stay.\"},"
    "\"keep_bytes\":{\"type\":\"integer\",\"minimum\":0,\"default\":40000,\"description\":\"Newest bytes of the context whose tool results stay.\"},"
    "\"min_bytes\":{\"type\":\"integer\",\"minimum\":1,\"default\":2000,\"description\":\"Smaller tool results are not worth pruning.\"},"
    "\"step_bytes\":{\"type\":\"integer\",\"minimum\":1,\"default\":100000,\"description\":\"Old results are pruned in steps of this many bytes, so that the prompt's prefix stays the same in between.\"},"
    "\"action\":{\"enum\":[\"note\",\"drop\"],\"default\":\"note\",\"description\":\"note: a short note in place of the result. drop: calls without text go with all their results.\"}"
    "}}}");

static struct {
  weir_str ephemeral[64];
  uint32_t patterns;
  int64_t keep_ephemeral, keep_turns, keep_bytes, min_bytes, step_bytes;
  bool drop;
} settings;

WEIR_SETUP {
  weir_val c = weir_config(), list = weir_get(c, "ephemeral");
  settings.patterns = 0;
  for (weir_val e = weir_first(list); e && settings.patterns < 64; e = weir_next(list, e)) settings.ephemeral[settings.patterns++] = weir_string(e);
  if (weir_kind(list) == WEIR_NONE) {
    settings.ephemeral[0] = WEIR_S("ephemeral");
    settings.ephemeral[1] = WEIR_S("ephemeral-*");
    settings.patterns = 2;
  }
  settings.keep_ephemeral = weir_int(weir_get(c, "keep_ephemeral"), 1);
  settings.keep_turns = weir_int(weir_get(c, "keep_turns"), 3);
  settings.keep_bytes = weir_int(weir_get(c, "keep_bytes"), 40000);
  settings.min_bytes = weir_int(weir_get(c, "min_bytes"), 2000);
  settings.step_bytes = weir_int(weir_get(c, "step_bytes"), 100000);
  settings.drop = weir_eq(weir_get_string(c, "action"), "drop");
  return 0;
}

/* A pattern with * for any text. */
static bool matches(weir_str p, weir_str s) {
  size_t i = 0, j = 0, star = (size_t)-1, back = 0;
  while (j < s.n) {
    if (i < p.n && p.p[i] == '*') {
      star = i++;
      back = j;
    } else if (i < p.n && p.p[i] == s.p[j]) {
      i++;
      j++;
    } else if (star != (size_t)-1) {
      i = star + 1;
      j = ++back;
    } else {
      return false;
    }
  }
  while (i < p.n && p.p[i] == '*') i++;
  return i == p.n;
}

static bool is_ephemeral(weir_str name) {
  for (uint32_t i = 0; i < settings.patterns; i++)
    if (matches(settings.ephemeral[i], name)) return true;
  return false;
}

/* Notes by message id, so that a body is read from the host once and not at every call. A slot holds the last of its ids. */
enum { kNotes = 4096, kNoteBytes = 384 };
static struct {
  uint64_t id;
  uint32_t bytes, n;
  char text[kNoteBytes];
} notes[kNotes];

/* The tool result with a note for its content: every member stays but content and details. */
static weir_str note(const weir_table *t, uint32_t i) {
  const weir_record *r = &t->rec[i];
  uint32_t slot = (uint32_t)(r->id % kNotes);
  if (r->id && notes[slot].id == r->id && notes[slot].bytes == r->encoded_bytes) {
    weir_str s = {notes[slot].text, notes[slot].n};
    return s;
  }
  weir_val m = weir_message(i);
  weir_buf b = {0, 0, 0, false}, text = {0, 0, 0, false}, q = {0, 0, 0, false};
  weir_str none = {NULL, 0};
  if (weir_kind(m) != WEIR_OBJECT) return none;
  weir_add_c(&text, "[prune-context: ");
  weir_add_int(&text, r->text_bytes);
  weir_add_c(&text, " bytes of older output");
  weir_str tool = weir_name(t, i);
  if (tool.n) {
    weir_add_c(&text, " of ");
    weir_add(&text, tool);
  }
  weir_add_c(&text, r->flags & WEIR_HAS_IMAGE ? ", images included, are no longer shown; call the tool again if they matter]" : " are no longer shown; call the tool again if they matter]");
  weir_json_string(&q, weir_text(&text));
  weir_json_open(&b, '{');
  for (weir_val k = weir_first(m); k; k = weir_next(m, k)) {
    weir_str key = weir_string(k);
    if (weir_eq(key, "details") || weir_eq(key, "content")) continue;
    if (b.comma) weir_add_char(&b, ',');
    weir_add(&b, weir_raw(k));
    weir_add_char(&b, ':');
    weir_add(&b, weir_raw(weir_value(k)));
    b.comma = true;
  }
  weir_json_key(&b, "content");
  weir_add_c(&b, "[{\"type\":\"text\",\"text\":");
  weir_add(&b, weir_text(&q));
  weir_add_c(&b, "}]}");
  weir_str s = weir_text(&b);
  if (r->id && s.n <= kNoteBytes) {
    notes[slot].id = r->id;
    notes[slot].bytes = r->encoded_bytes;
    notes[slot].n = (uint32_t)s.n;
    __builtin_memcpy(notes[slot].text, s.p, s.n);
  }
  return s;
}

enum { kStay = 0, kStale, kGone };

WEIR_ON_TABLE {
  uint32_t n = t->count, protected_from = n, left = n;
  weir_edit edit = {{0, 0, 0, false}, {0, 0, 0, false}, {0, 0, 0, false}};
  if (n == 0) return weir_allow();
  uint8_t *fate = (uint8_t *)weir_alloc(n);
  for (uint32_t i = 0; i < n; i++) fate[i] = kStay;

  /* Ephemeral messages, newest first: how many of each customType have been kept. */
  uint32_t names = 0;
  for (uint32_t i = 0; i < n; i++)
    if (t->rec[i].name >= names) names = t->rec[i].name + 1u;
  int32_t *kept = (int32_t *)weir_alloc((names + 1) * sizeof *kept); /* -1: not looked up, -2: no such type, else the count */
  for (uint32_t i = 0; i < names; i++) kept[i] = -1;
  for (uint32_t i = n; i-- > 0;) {
    const weir_record *r = &t->rec[i];
    if (r->role != WEIR_CUSTOM) continue;
    if (kept[r->name] == -1) kept[r->name] = is_ephemeral(weir_name(t, i)) ? 0 : -2;
    if (kept[r->name] < 0) continue;
    if (kept[r->name] >= settings.keep_ephemeral) fate[i] = kGone;
    else kept[r->name]++;
  }

  /* The new part, whose results stay: by turns or by bytes, whichever protects more. */
  int64_t turns = 0, bytes = 0;
  for (uint32_t i = n; i-- > 0;) {
    bool enough = turns >= settings.keep_turns && bytes >= settings.keep_bytes;
    if (enough) break;
    protected_from = i;
    bytes += t->rec[i].encoded_bytes;
    if (t->rec[i].role == WEIR_USER) turns++;
  }

  /* Big results in the old part, oldest first, until a whole number of steps is reached. */
  int64_t prunable = 0, sum = 0;
  for (uint32_t i = 0; i < protected_from; i++)
    if (t->rec[i].role == WEIR_TOOL_RESULT && t->rec[i].encoded_bytes >= (uint64_t)settings.min_bytes) prunable += t->rec[i].encoded_bytes;
  int64_t limit = prunable / settings.step_bytes * settings.step_bytes;
  for (uint32_t i = 0; i < protected_from; i++) {
    if (t->rec[i].role != WEIR_TOOL_RESULT || t->rec[i].encoded_bytes < (uint64_t)settings.min_bytes) continue;
    if (sum >= limit) break;
    sum += t->rec[i].encoded_bytes;
    fate[i] = kStale;
  }

  if (settings.drop) {
    /* An exchange goes as a whole: the message with the calls, when it says nothing else, and all results of it, when all are
     * stale. open[i]: results of message i that stay. */
    uint32_t *stay = (uint32_t *)weir_alloc(n * sizeof *stay), *stale = (uint32_t *)weir_alloc(n * sizeof *stale);
    for (uint32_t i = 0; i < n; i++) stay[i] = stale[i] = 0;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t call = t->rec[i].pair;
      if (t->rec[i].role != WEIR_TOOL_RESULT || call >= n) continue;
      if (fate[i] == kStale) stale[call]++;
      else stay[call]++;
    }
    for (uint32_t i = 0; i < n; i++) {
      uint32_t call = t->rec[i].pair;
      if (fate[i] != kStale || call >= n || t->rec[call].role != WEIR_ASSISTANT) continue;
      if (stay[call] == 0 && stale[call] > 0 && t->rec[call].text_bytes == 0) fate[i] = fate[call] = kGone;
    }
  }

  bool changed = false;
  for (uint32_t i = 0; i < n; i++) {
    if (fate[i] == kGone && left > 1) {
      weir_drop(&edit, i);
      left--;
      changed = true;
    } else if (fate[i] == kStale) {
      weir_str m = note(t, i);
      if (!m.n) return weir_fail("a message could not be read");
      if (m.n >= t->rec[i].encoded_bytes) continue;
      weir_replace(&edit, i, m);
      changed = true;
    }
  }
  return changed ? weir_edit_answer(&edit) : weir_allow();
}

/* The guest that shows that the SDK does what an SDK must: guest-sdk/tck/SPEC.md says what each name in it does. */
#include "weir.h"

WEIR_DESCRIBE("{\"abi\":1,\"name\":\"tck\",\"version\":\"1.0.0\",\"description\":\"Does what it is told, to show what the SDK can do.\","
              "\"hooks\":{\"tool_call\":{\"tools\":[\"tck_*\",\"bash\"],\"facts\":[\"shell\",\"paths\",\"net\"]},"
              "\"tool_result\":{\"onError\":\"block\",\"facts\":[\"secrets\"]},\"context\":{\"view\":\"table\"},"
              "\"input\":{},\"before_provider_headers\":{},\"agent_start\":{},\"turn_end\":{}},\"decisions\":{},"
              "\"tools\":[{\"name\":\"tck_upper\",\"label\":\"Upper\",\"description\":\"Returns the text in capitals.\",\"executionMode\":\"parallel\","
              "\"parameters\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"do\":{\"type\":\"string\"}},\"required\":[\"text\"]}}],"
              "\"commands\":[{\"name\":\"tck\",\"description\":\"Says what it was given.\"}],"
              "\"config\":{\"type\":\"object\",\"properties\":{\"greeting\":{\"type\":\"string\"},\"limit\":{\"type\":\"integer\"}}},"
              "\"capabilities\":{\"kv\":\"to keep a value\",\"http\":\"to ask a server\",\"read\":\"to read a file\",\"ui\":\"to ask a person\","
              "\"session\":\"to ask the session\",\"journal\":\"to keep a record\"}}");

static const weir_buf empty = {0, 0, 0, false};

/* A panic: what a broken invariant is in C. */
static int panic(void) { __builtin_trap(); }

static int fail(weir_str why) {
  weir_host_error(why.p, (uint32_t)why.n);
  return 1;
}

static void add_hex(weir_buf *b, uint64_t v, int digits) {
  for (int i = digits - 1; i >= 0; i--) weir_add_char(b, "0123456789abcdef"[v >> (4 * i) & 15]);
}

static int64_t depth(weir_val v) {
  int64_t deepest = 0;
  if (weir_kind(v) != WEIR_ARRAY && weir_kind(v) != WEIR_OBJECT) return 0;
  for (weir_val e = weir_first(v); e; e = weir_next(v, e)) {
    int64_t d = depth(weir_kind(v) == WEIR_OBJECT ? weir_value(e) : e);
    if (d > deepest) deepest = d;
  }
  return deepest + 1;
}

static void add_keys(weir_buf *b, weir_val v) {
  for (weir_val k = weir_first(v); k; k = weir_next(v, k)) {
    bool later = false; /* the last of a name stands for all */
    for (weir_val o = weir_next(v, k); o; o = weir_next(v, o)) later = later || weir_same(weir_string(o), weir_string(k));
    if (later) continue;
    if (b->n) weir_add_char(b, ',');
    weir_add(b, weir_string(k));
  }
}

static void add_joined(weir_buf *b, weir_val v) {
  for (weir_val e = weir_first(v); e; e = weir_next(v, e)) {
    if (e != weir_first(v)) weir_add_char(b, ',');
    weir_add(b, weir_string(e));
  }
}

static weir_str or_dash(weir_str s) { return s.n ? s : WEIR_S("-"); }

#include "facts.h"

static int64_t counted;
static volatile int64_t turns;

/* What reads an argument or the event. */
static bool value(weir_buf *b, weir_val ev, weir_val in, weir_str what) {
  weir_val v = weir_get(in, "value");
  weir_str text = weir_get_string(in, "text");
  if (weir_eq(what, "hex")) {
    for (size_t i = 0; i < text.n; i++) add_hex(b, (unsigned char)text.p[i], 2);
  } else if (weir_eq(what, "kind")) {
    static const char *const names[] = {"absent", "null", "bool", "number", "string", "array", "object"};
    weir_add_c(b, names[weir_kind(v)]);
  } else if (weir_eq(what, "join")) {
    add_joined(b, v);
  } else if (weir_eq(what, "keys")) {
    add_keys(b, v);
  } else if (weir_eq(what, "depth")) {
    weir_add_int(b, depth(v));
  } else if (weir_eq(what, "integer")) {
    if (weir_int(v, 1) == weir_int(v, 2)) weir_add_int(b, weir_int(v, 1));
    else weir_add_c(b, "none");
  } else if (weir_eq(what, "number")) {
    union { double d; uint64_t u; } bits;
    bits.d = weir_number(v, 0);
    add_hex(b, bits.u, 16);
  } else if (weir_eq(what, "config")) {
    weir_str greeting = weir_get_string(weir_config(), "greeting");
    weir_add(b, greeting.p ? greeting : WEIR_S("none"));
  } else if (weir_eq(what, "settings")) {
    weir_add(b, weir_raw(weir_config()));
  } else if (weir_eq(what, "count")) {
    weir_add_int(b, ++counted);
  } else if (weir_eq(what, "where")) {
    weir_val where = weir_get(ev, "context");
    weir_add(b, weir_get_string(where, "cwd"));
    weir_add_char(b, ' ');
    weir_add(b, weir_get_string(where, "mode"));
    weir_add_c(b, weir_bool(weir_get(where, "hasUI"), false) ? " true " : " false ");
    weir_add(b, weir_get_string(weir_get(where, "model"), "id"));
    weir_add_char(b, ' ');
    weir_add_int(b, weir_int(weir_get(where, "turnIndex"), -1));
  } else if (weir_eq(what, "call")) {
    weir_add(b, weir_get_string(ev, "toolName"));
    weir_add_char(b, ' ');
    weir_add(b, weir_get_string(ev, "toolCallId"));
  } else if (weir_eq(what, "recheck")) {
    weir_add_c(b, weir_bool(weir_get(ev, "recheck"), false) ? "yes" : "no");
  } else if (weir_eq(what, "large")) {
    for (int64_t n = weir_int(weir_get(in, "count"), 0); n > 0; n--) weir_add(b, text);
  } else {
    return false;
  }
  return true;
}

#include "capability.h"

WEIR_ON(tool_call) {
  weir_val in = weir_get(ev, "input");
  weir_str what = weir_get_string(in, "do"), text = weir_get_string(in, "text");
  weir_buf b = empty;
  if (weir_eq(what, "block")) return weir_block_str(text);
  if (weir_eq(what, "terminate")) {
    weir_json_open(&b, '{');
    weir_json_key(&b, "block");
    weir_json_bool(&b, true);
    weir_json_key(&b, "reason");
    weir_json_string(&b, text);
    weir_json_key(&b, "terminate");
    weir_json_bool(&b, true);
    weir_json_close(&b, '}');
    return weir_answer_buf(&b);
  }
  if (weir_eq(what, "ask")) return weir_ask_str(text, weir_get_string(in, "message"));
  if (weir_eq(what, "rewrite")) return weir_rewrite(ev, "text", weir_get_string(in, "to"));
  if (weir_eq(what, "fail")) return fail(text);
  if (weir_eq(what, "panic")) return panic();
  if (weir_eq(what, "loop"))
    for (;;) turns++;
  if (weir_eq(what, "memory"))
    for (;;) *(volatile char *)weir_alloc(1 << 20) = 1;
  if (weir_eq(what, "log")) {
    for (int level = WEIR_DEBUG; level <= WEIR_ERROR; level++) weir_log(level, text);
    return weir_allow();
  }
  if (weir_eq(what, "facts")) return weir_block_str(facts(ev, weir_get_string(in, "of")));
  if (value(&b, ev, in, what) || capability(&b, in, what)) return weir_block_str(weir_text(&b));
  return weir_allow();
}

/* mask writes content with every "secret" in its texts replaced. */
static void mask(weir_buf *b, weir_val content) {
  weir_str secret = WEIR_S("secret");
  weir_json_open(b, '[');
  for (weir_val e = weir_first(content); e; e = weir_next(content, e)) {
    if (!weir_eq(weir_get_string(e, "type"), "text")) {
      weir_json_val(b, e);
      continue;
    }
    weir_buf text = empty, quoted = empty;
    weir_str s = weir_get_string(e, "text");
    size_t at = 0;
    for (size_t hit; (hit = weir_find(s, secret, at)) != (size_t)-1; at = hit + secret.n) {
      weir_add(&text, weir_sub(s, at, hit));
      weir_add_c(&text, "******");
    }
    weir_add(&text, weir_sub(s, at, s.n));
    weir_json_string(&quoted, weir_text(&text));
    weir_buf block = empty;
    weir_with(&block, e, "text", weir_text(&quoted));
    weir_json_raw(b, weir_text(&block));
  }
  weir_json_close(b, ']');
}

static void add_content(weir_buf *b, weir_str text) {
  weir_json_open(b, '[');
  weir_json_open(b, '{');
  weir_json_key(b, "type");
  weir_json_string(b, WEIR_S("text"));
  weir_json_key(b, "text");
  weir_json_string(b, text);
  weir_json_close(b, '}');
  weir_json_close(b, ']');
}

WEIR_ON(tool_result) {
  weir_val in = weir_get(ev, "input");
  weir_str what = weir_get_string(in, "do"), text = weir_get_string(in, "text");
  weir_buf b = empty;
  if (weir_eq(what, "content")) return weir_result_text(text);
  if (weir_eq(what, "facts")) return weir_result_text(secrets(ev));
  if (weir_eq(what, "mask")) {
    weir_json_open(&b, '{');
    weir_json_key(&b, "content");
    mask(&b, weir_get(ev, "content"));
    weir_json_close(&b, '}');
    return weir_answer_buf(&b);
  }
  if (weir_eq(what, "error")) return weir_answer(WEIR_S("{\"isError\":true}"));
  if (weir_eq(what, "replace")) {
    weir_json_open(&b, '{');
    weir_json_key(&b, "content");
    add_content(&b, text);
    weir_json_key(&b, "details");
    weir_json_open(&b, '{');
    weir_json_key(&b, "was");
    weir_json_val(&b, weir_get(ev, "details"));
    weir_json_close(&b, '}');
    weir_json_key(&b, "isError");
    weir_json_bool(&b, !weir_bool(weir_get(ev, "isError"), false));
    weir_json_key(&b, "usage");
    weir_json_val(&b, weir_get(in, "usage"));
    weir_json_close(&b, '}');
    return weir_answer_buf(&b);
  }
  if (weir_eq(what, "fail")) return fail(text);
  if (weir_eq(what, "panic")) return panic();
  return weir_allow();
}

WEIR_ON(input) {
  weir_str text = weir_get_string(ev, "text");
  weir_buf b = empty;
  if (weir_eq(text, "handled")) return weir_answer(WEIR_S("{\"action\":\"handled\"}"));
  if (weir_eq(text, "fail")) return weir_fail("as told");
  if (!weir_starts(text, "transform: ")) return weir_allow();
  weir_json_open(&b, '{');
  weir_json_key(&b, "action");
  weir_json_string(&b, WEIR_S("transform"));
  weir_json_key(&b, "text");
  weir_json_string(&b, weir_sub(text, sizeof "transform: " - 1, text.n));
  weir_json_close(&b, '}');
  return weir_answer_buf(&b);
}

WEIR_ON(before_provider_headers) {
  if (!weir_get(weir_get(ev, "headers"), "x-drop")) return weir_allow();
  return weir_answer(WEIR_S("{\"headers\":{\"x-tck\":\"yes\",\"x-drop\":null}}"));
}

WEIR_ON(agent_start) {
  (void)ev;
  weir_log(WEIR_INFO, WEIR_S("agent_start"));
  return weir_allow();
}

WEIR_ON(turn_end) {
  weir_buf b = empty;
  if (weir_eq(weir_get_string(weir_get(ev, "message"), "do"), "panic")) return panic();
  weir_add_c(&b, "turn ");
  weir_add_int(&b, weir_int(weir_get(ev, "turnIndex"), -1));
  weir_log(WEIR_INFO, weir_text(&b));
  return weir_allow();
}

WEIR_ON(decision) {
  weir_buf b = empty;
  weir_add_c(&b, "decision of ");
  weir_add(&b, weir_get_string(ev, "event"));
  weir_add_c(&b, ": ");
  weir_add(&b, weir_get_string(ev, "decision"));
  weir_add_c(&b, " by ");
  add_joined(&b, weir_get(ev, "by"));
  weir_log(WEIR_INFO, weir_text(&b));
  return weir_allow();
}

WEIR_ON(tool_execute) {
  weir_val args = weir_get(ev, "args");
  weir_str what = weir_get_string(args, "do"), text = weir_get_string(args, "text");
  weir_buf b = empty, upper = empty;
  if (weir_eq(what, "panic")) return panic();
  if (weir_eq(what, "update")) weir_tool_update(WEIR_S("{\"content\":[{\"type\":\"text\",\"text\":\"half\"}]}"));
  bool failed = weir_eq(what, "error");
  for (size_t i = 0; i < text.n; i++) weir_add_char(&upper, !failed && text.p[i] >= 'a' && text.p[i] <= 'z' ? (char)(text.p[i] - 32) : text.p[i]);
  weir_json_open(&b, '{');
  weir_json_key(&b, "content");
  add_content(&b, weir_text(&upper));
  if (weir_eq(what, "details")) {
    weir_json_key(&b, "details");
    weir_json_open(&b, '{');
    weir_json_key(&b, "tool");
    weir_json_string(&b, weir_get_string(ev, "toolName"));
    weir_json_key(&b, "id");
    weir_json_string(&b, weir_get_string(ev, "toolCallId"));
    weir_json_close(&b, '}');
  }
  if (failed || weir_eq(what, "terminate")) {
    weir_json_key(&b, failed ? "isError" : "terminate");
    weir_json_bool(&b, true);
  }
  weir_json_close(&b, '}');
  return weir_answer_buf(&b);
}

WEIR_ON(command_execute) {
  weir_str args = weir_get_string(ev, "args");
  weir_buf b = empty, message = empty;
  if (weir_eq(args, "fail")) return weir_fail("as told");
  if (args.n == 0) return weir_allow();
  weir_add_c(&message, "tck: ");
  weir_add(&message, args);
  weir_json_open(&b, '{');
  weir_json_key(&b, "message");
  weir_json_string(&b, weir_text(&message));
  weir_json_close(&b, '}');
  return weir_answer_buf(&b);
}

static const char *const roles[] = {"other", "user", "assistant", "toolResult", "custom", "bashExecution", "branchSummary", "compactionSummary"};
static const char *role(const weir_record *r) { return roles[r->role < 8 ? r->role : 0]; }

static void add_header(weir_buf *b, const weir_table *t, uint32_t i) {
  const weir_record *r = &t->rec[i];
  weir_buf flags = empty;
  for (int f = 0; f < 5; f++)
    if (r->flags >> f & 1) weir_add_char(&flags, "eictd"[f]);
  weir_add_c(b, role(r));
  weir_add_char(b, ' ');
  weir_add(b, or_dash(weir_text(&flags)));
  weir_add_char(b, ' ');
  weir_add(b, or_dash(weir_name(t, i)));
  weir_add_char(b, ' ');
  weir_add_int(b, r->text_bytes);
  weir_add_char(b, ' ');
  weir_add_int(b, r->encoded_bytes);
  weir_add_char(b, ' ');
  if (r->pair == WEIR_NO_PAIR) weir_add_char(b, '-');
  else weir_add_int(b, r->pair);
  weir_add_char(b, ' ');
  weir_add_int(b, (int64_t)r->id);
  weir_add_char(b, ' ');
  weir_add_int(b, r->time);
}

/* become replaces a message by itself with another content. */
static void become(weir_edit *e, uint32_t i, weir_str content) {
  weir_buf m = empty, quoted = empty;
  weir_json_string(&quoted, content);
  weir_with(&m, weir_message(i), "content", weir_text(&quoted));
  weir_replace(e, i, weir_text(&m));
}

WEIR_ON_TABLE {
  weir_edit e = {{0, 0, 0, false}, {0, 0, 0, false}, {0, 0, 0, false}};
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->rec[i].role != WEIR_CUSTOM) continue;
    weir_str name = weir_name(t, i);
    weir_buf b = empty;
    if (weir_eq(name, "fail")) return weir_fail("as told");
    if (weir_eq(name, "panic")) return panic();
    if (weir_eq(name, "drop") || weir_eq(name, "twice")) weir_drop(&e, i);
    if (weir_eq(name, "twice")) weir_drop(&e, i);
    if (weir_eq(name, "replace")) become(&e, i, WEIR_S("replaced"));
    if (weir_eq(name, "insert")) weir_insert(&e, i, WEIR_S("{\"role\":\"user\",\"content\":\"inserted\",\"timestamp\":0}"));
    if (weir_eq(name, "append")) weir_insert(&e, t->count, WEIR_S("{\"role\":\"user\",\"content\":\"appended\",\"timestamp\":0}"));
    if (weir_eq(name, "roles") || weir_eq(name, "headers")) {
      bool headers = weir_eq(name, "headers");
      for (uint32_t k = 0; k < t->count; k++) {
        if (k) weir_add_char(&b, headers ? '\n' : ',');
        if (headers) add_header(&b, t, k);
        else weir_add_c(&b, role(&t->rec[k]));
      }
      become(&e, i, weir_text(&b));
    }
  }
  return weir_edit_answer(&e);
}

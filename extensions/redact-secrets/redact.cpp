// redact-secrets: the hook. Credentials in the text of a tool result become stable handles.
#include "secrets.hpp"

WEIR_DESCRIBE(R"json({
  "abi": 1,
  "name": "redact-secrets",
  "version": "1.0.0",
  "description": "Replaces credentials in tool results by stable handles, before the model, the store and the log see them.",
  "hooks": {"tool_result": {"onError": "block"}},
  "config": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "generic": {"type": "boolean", "default": true,
        "description": "Also redact values that only the name beside them gives away (password = ..., X_TOKEN: ...)."},
      "kinds": {"type": "object", "additionalProperties": {"type": "boolean"},
        "description": "false switches a kind off, for example {\"jwt\": false}. The kind is the second part of a handle."},
      "allow": {"type": "array", "items": {"type": "string", "minLength": 1},
        "description": "Values, or handles as printed, that are left alone."}
    }
  }
})json");

namespace {

struct Settings {
  Options options;
  Vec<Str> allow;
};
Settings settings;

// The handle of a secret: its kind and 24 bits of a hash. The same secret has the same handle everywhere; so few bits confirm a
// guess at best and give nothing away. Line breaks and indentation inside do not count, so that a wrapped secret keeps its handle.
Str handle(Str secret, const char *kind) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < secret.n; i++) {
    char c = secret.p[i];
    if (c == '\n' || c == '\r' || isBlank(c)) continue;
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  weir_buf b{nullptr, 0, 0, false};
  weir_add_c(&b, "[redacted:");
  weir_add_c(&b, kind);
  weir_add_char(&b, ':');
  for (int i = 0; i < 6; i++) weir_add_char(&b, "0123456789abcdef"[h >> (i * 4) & 15]);
  weir_add_char(&b, ']');
  return weir_text(&b);
}

bool allowed(Str secret, Str mark) {
  for (Str a : settings.allow)
    if (weir_same(a, secret) || weir_same(a, mark)) return true;
  return false;
}

// The part [from, to) of text with its spans replaced; a span that starts before from leaves no second handle.
bool replace(Str text, const Vec<Span> &spans, uint32_t from, uint32_t to, weir_buf *out) {
  bool changed = false;
  uint32_t at = from;
  for (const Span &s : spans) {
    if (s.to <= from || s.from >= to) continue;
    Str secret = weir_sub(text, s.from, s.to), mark = handle(secret, s.kind);
    if (allowed(secret, mark)) continue;
    uint32_t b = s.from < from ? from : s.from, e = s.to > to ? to : s.to;
    weir_add(out, weir_sub(text, at, b));
    if (s.from >= from) weir_add(out, mark);
    at = e;
    changed = true;
  }
  weir_add(out, weir_sub(text, at, to));
  return changed;
}

bool isText(weir_val block) { return weir_kind(block) == WEIR_OBJECT && weir_eq(weir_get_string(block, "type"), "text") && weir_kind(weir_get(block, "text")) == WEIR_STRING; }

// All text blocks as one text, a line break between two, so that a secret split over blocks is found like one split over lines.
bool content(weir_val blocks, weir_buf *out) {
  weir_buf all{nullptr, 0, 0, false};
  Vec<uint32_t> starts;
  for (weir_val b = weir_first(blocks); b; b = weir_next(blocks, b)) {
    if (!isText(b)) continue;
    if (starts.n) weir_add_char(&all, '\n');
    starts.push(static_cast<uint32_t>(all.n));
    weir_add(&all, weir_get_string(b, "text"));
  }
  if (!starts.n || !all.n) return false;
  Str text = weir_text(&all);
  Vec<Span> spans;
  findSecrets(text, settings.options, &spans);
  if (!spans.n) return false;
  bool changed = false;
  uint32_t i = 0;
  weir_json_open(out, '[');
  for (weir_val b = weir_first(blocks); b; b = weir_next(blocks, b)) {
    if (!isText(b)) {
      weir_json_val(out, b);
      continue;
    }
    uint32_t from = starts[i], to = i + 1 < starts.n ? starts[i + 1] - 1 : static_cast<uint32_t>(text.n);
    i++;
    weir_buf part{nullptr, 0, 0, false}, quoted{nullptr, 0, 0, false};
    if (!replace(text, spans, from, to, &part)) {
      weir_json_val(out, b);
      continue;
    }
    changed = true;
    weir_json_string(&quoted, weir_text(&part));
    weir_with(out, b, "text", weir_text(&quoted));
  }
  weir_json_close(out, ']');
  return changed;
}

// Any JSON value with the strings in it redacted; images (type image, base64 data) pass as they are.
bool value(weir_val v, weir_buf *out) {
  switch (weir_kind(v)) {
  case WEIR_STRING: {
    Str text = weir_string(v);
    Vec<Span> spans;
    weir_buf part{nullptr, 0, 0, false};
    findSecrets(text, settings.options, &spans);
    if (spans.n && replace(text, spans, 0, static_cast<uint32_t>(text.n), &part)) {
      weir_json_string(out, weir_text(&part));
      return true;
    }
    weir_json_val(out, v);
    return false;
  }
  case WEIR_ARRAY: {
    bool changed = false;
    weir_json_open(out, '[');
    for (weir_val e = weir_first(v); e; e = weir_next(v, e)) changed |= value(e, out);
    weir_json_close(out, ']');
    return changed;
  }
  case WEIR_OBJECT: {
    bool changed = false, image = weir_eq(weir_get_string(v, "type"), "image");
    weir_json_open(out, '{');
    for (weir_val k = weir_first(v); k; k = weir_next(v, k)) {
      Str name = weir_string(k);
      weir_val x = weir_value(k);
      weir__sep(out);
      weir_add(out, weir_raw(k));
      weir_add_char(out, ':');
      out->comma = false;
      if (image && weir_eq(name, "data")) weir_json_val(out, x);
      else if (weir_kind(x) == WEIR_STRING && settings.options.generic) {
        // The key is the name beside the value.
        Str text = weir_string(x);
        weir_buf both{nullptr, 0, 0, false};
        weir_add(&both, name);
        weir_add_c(&both, "=\"");
        uint32_t from = static_cast<uint32_t>(both.n);
        weir_add(&both, text);
        uint32_t to = static_cast<uint32_t>(both.n);
        weir_add_char(&both, '"');
        Vec<Span> spans;
        weir_buf part{nullptr, 0, 0, false};
        findSecrets(weir_text(&both), settings.options, &spans);
        if (spans.n && replace(weir_text(&both), spans, from, to, &part)) {
          weir_json_string(out, weir_text(&part));
          changed = true;
        } else weir_json_val(out, x);
      } else changed |= value(x, out);
    }
    weir_json_close(out, '}');
    return changed;
  }
  default: weir_json_val(out, v); return false;
  }
}

} // namespace

WEIR_SETUP {
  weir_val cfg = weir_config();
  settings.options.generic = weir_bool(weir_get(cfg, "generic"), true);
  weir_val kinds = weir_get(cfg, "kinds"), allow = weir_get(cfg, "allow");
  for (weir_val k = weir_first(kinds); k; k = weir_next(kinds, k))
    if (!weir_bool(weir_value(k), true)) settings.options.off.push(weir_string(k));
  for (weir_val e = weir_first(allow); e; e = weir_next(allow, e)) settings.allow.push(weir_string(e));
  return 0;
}

WEIR_ON(tool_result) {
  weir_buf blocks{nullptr, 0, 0, false}, details{nullptr, 0, 0, false}, out{nullptr, 0, 0, false};
  weir_val c = weir_get(ev, "content"), d = weir_get(ev, "details");
  bool newContent = weir_kind(c) == WEIR_ARRAY && content(c, &blocks);
  bool newDetails = d && value(d, &details);
  if (!newContent && !newDetails) return weir_allow();
  weir_json_open(&out, '{');
  if (newContent) {
    weir_json_key(&out, "content");
    weir_json_raw(&out, weir_text(&blocks));
  }
  if (newDetails) {
    weir_json_key(&out, "details");
    weir_json_raw(&out, weir_text(&details));
  }
  weir_json_close(&out, '}');
  return weir_answer_buf(&out);
}

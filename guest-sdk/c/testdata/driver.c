/* The header under test: each export shows one part of it on the input it is given. */
#include "../weir.h"

static void hex64(weir_buf *b, uint64_t v) {
  char t[16];
  for (int i = 15; i >= 0; i--, v >>= 4) t[i] = "0123456789abcdef"[v & 15];
  weir_str s = {t, 16};
  weir_json_string(b, s);
}

/* Every value as the accessors see it: strings decoded and written anew, numbers as text, integer and bits, keys once. */
static void show(weir_buf *b, weir_val v) {
  switch (weir_kind(v)) {
  case WEIR_STRING: weir_json_string(b, weir_string(v)); break;
  case WEIR_NUMBER: {
    union { double d; uint64_t u; } bits;
    bits.d = weir_number(v, 0);
    weir_json_open(b, '{');
    weir_json_key(b, "raw");
    weir_json_string(b, weir_raw(v));
    weir_json_key(b, "int");
    if (weir_int(v, 1) == weir_int(v, 2)) weir_json_int(b, weir_int(v, 1));
    else weir_json_val(b, NULL);
    weir_json_key(b, "bits");
    hex64(b, bits.u);
    weir_json_close(b, '}');
    break;
  }
  case WEIR_ARRAY: {
    size_t n = 0;
    weir_json_open(b, '[');
    for (weir_val e = weir_first(v); e; e = weir_next(v, e), n++) show(b, e);
    weir_json_close(b, ']');
    if (n != weir_count(v)) __builtin_trap();
    break;
  }
  case WEIR_OBJECT:
    weir_json_open(b, '[');
    weir_json_string(b, WEIR_S("object"));
    for (weir_val k = weir_first(v); k; k = weir_next(v, k)) {
      /* weir_get takes a terminated name, so a name with a NUL is looked at by hand. */
      weir_str name = weir_string(k);
      weir_val last = NULL;
      for (weir_val o = weir_first(v); o; o = weir_next(v, o))
        if (weir_same(weir_string(o), name)) last = weir_value(o);
      if (weir_find(name, WEIR_S("\0"), 0) == (size_t)-1) {
        char *z = (char *)weir_alloc(name.n + 1);
        if (name.n) __builtin_memcpy(z, name.p, name.n);
        z[name.n] = 0;
        if (weir_get(v, z) != last) __builtin_trap();
      }
      if (last != weir_value(k)) continue;
      weir_json_open(b, '[');
      weir_json_string(b, name);
      show(b, last);
      weir_json_close(b, ']');
    }
    weir_json_close(b, ']');
    break;
  default: weir_json_raw(b, weir_raw(v));
  }
}

WEIR__EXTERN WEIR_EXPORT("read") int test_read(void) {
  const char *why = NULL;
  int rc = weir__enter();
  if (rc) return rc;
  weir_val v = weir_parse(weir_input(), &why);
  weir_buf b = {0, 0, 0, false};
  if (!v) return weir_fail(why);
  show(&b, v);
  return weir_answer_buf(&b);
}

#ifndef WEIR_NATIVE
WEIR_DESCRIBE("{\"abi\":1}");

/* tool_call answers as input.answer asks for. */
WEIR_ON(tool_call) {
  weir_val in = weir_get(ev, "input");
  weir_str answer = weir_get_string(in, "answer"), text = weir_get_string(in, "text");
  if (weir_eq(answer, "block")) return weir_block_str(text);
  if (weir_eq(answer, "ask")) return weir_ask_str(text, weir_get_string(in, "message"));
  if (weir_eq(answer, "rewrite")) return weir_rewrite(ev, "text", WEIR_S("new \"text\"\n"));
  if (weir_eq(answer, "result")) return weir_result_text(text);
  if (weir_eq(answer, "raw bytes")) return weir_block("\xff\x80 a\xc3\x28 \x01");
  if (weir_eq(answer, "fail")) return weir_fail("cannot decide");
  if (weir_eq(answer, "nothing")) return 0;
  if (weir_eq(answer, "grow")) {
    char *p = NULL;
    size_t n = 0;
    for (int i = 0; i < 100; i++) {
      p = (char *)weir_realloc(p, n, n + 10000);
      for (size_t k = 0; k < 10000; k++) p[n + k] = (char)i;
      n += 10000;
      (void)weir_alloc(24); /* in the way of growing in place, now and then */
    }
    for (size_t k = 0; k < n; k++)
      if (p[k] != (char)(k / 10000)) return weir_fail("memory was lost");
    return weir_allow();
  }
  if (weir_eq(answer, "exhaust")) {
    for (;;) *(char *)weir_alloc(1 << 20) = 1;
  }
  return weir_allow();
}

/* Settings are read once and stay. */
static weir_str greeting;
static int64_t setups;
WEIR_SETUP {
  greeting = weir_get_string(weir_config(), "greeting");
  setups++;
  return weir_bool(weir_get(weir_config(), "broken"), false) ? weir_fail("broken settings") : 0;
}
WEIR_ON(input) {
  weir_buf b = {0, 0, 0, false};
  (void)ev;
  weir_json_open(&b, '{');
  weir_json_key(&b, "greeting");
  weir_json_string(&b, greeting);
  weir_json_key(&b, "setups");
  weir_json_int(&b, setups);
  weir_json_close(&b, '}');
  return weir_answer_buf(&b);
}

/* Drops custom messages, replaces tool results by their own body plus a mark, appends one message. */
WEIR_ON_TABLE {
  weir_edit e = {{0, 0, 0, false}, {0, 0, 0, false}, {0, 0, 0, false}};
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->rec[i].role == WEIR_CUSTOM && weir_eq(weir_name(t, i), "stale")) weir_drop(&e, i);
    if (t->rec[i].role == WEIR_TOOL_RESULT && t->rec[i].pair != WEIR_NO_PAIR) {
      weir_buf m = {0, 0, 0, false};
      weir_with(&m, weir_message(i), "mark", WEIR_S("true"));
      weir_replace(&e, i, weir_text(&m));
    }
  }
  if (t->count > 3) weir_insert(&e, t->count, WEIR_S("{\"role\":\"user\",\"content\":\"x\",\"timestamp\":1}"));
  return weir_edit_answer(&e);
}
#endif

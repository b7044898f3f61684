/* The guest of guest-sdk/tck/SPEC.md that has context in full. */
#include "weir.h"

WEIR_DESCRIBE("{\"abi\":1,\"name\":\"tck-json\",\"version\":\"1.0.0\",\"hooks\":{\"context\":{\"view\":\"full\"}}}");

static void become(weir_edit *e, uint32_t i, weir_val message, weir_str content) {
  weir_buf m = {0, 0, 0, false}, quoted = {0, 0, 0, false};
  weir_json_string(&quoted, content);
  weir_with(&m, message, "content", weir_text(&quoted));
  weir_replace(e, i, weir_text(&m));
}

WEIR_ON(context) {
  weir_edit e = {{0, 0, 0, false}, {0, 0, 0, false}, {0, 0, 0, false}};
  weir_val messages = weir_get(ev, "messages");
  uint32_t i = 0, count = (uint32_t)weir_count(messages);
  for (weir_val m = weir_first(messages); m; m = weir_next(messages, m), i++) {
    if (!weir_eq(weir_get_string(m, "role"), "custom")) continue;
    weir_str name = weir_get_string(m, "customType");
    weir_buf b = {0, 0, 0, false};
    if (weir_eq(name, "fail")) return weir_fail("as told");
    if (weir_eq(name, "panic")) __builtin_trap();
    if (weir_eq(name, "drop") || weir_eq(name, "twice")) weir_drop(&e, i);
    if (weir_eq(name, "twice")) weir_drop(&e, i);
    if (weir_eq(name, "replace")) become(&e, i, m, WEIR_S("replaced"));
    if (weir_eq(name, "insert")) weir_insert(&e, i, WEIR_S("{\"role\":\"user\",\"content\":\"inserted\",\"timestamp\":0}"));
    if (weir_eq(name, "append")) weir_insert(&e, count, WEIR_S("{\"role\":\"user\",\"content\":\"appended\",\"timestamp\":0}"));
    if (weir_eq(name, "roles")) {
      for (weir_val o = weir_first(messages); o; o = weir_next(messages, o)) {
        if (b.n) weir_add_char(&b, ',');
        weir_add(&b, weir_get_string(o, "role"));
      }
      become(&e, i, m, weir_text(&b));
    }
  }
  return weir_edit_answer(&e);
}

/* Makes the request of the session that input.do names, and blocks with what it got; the header's typed functions, one after another. */
#include "../weir.h"

static weir_buf b;

static int said(weir_str why) {
  weir_buf r = {0, 0, 0, false};
  if (b.n) return weir_block_str(weir_text(&b));
  weir_add_c(&r, "refused: ");
  weir_add(&r, why);
  return weir_block_str(weir_text(&r));
}
static void done(bool ok) {
  if (ok) weir_add_c(&b, "done");
}
static void text(weir_str s) {
  if (s.p) weir_add_c(&b, "text "), weir_add(&b, s);
}
static void number(int64_t n) {
  weir_add_char(&b, ' ');
  weir_add_int(&b, n);
}
static void list(weir_val v) { weir_add(&b, weir_raw(v)); }

WEIR_ON(tool_call) {
  weir_str what = weir_get_string(weir_get(ev, "input"), "do"), why = {NULL, 0}, none = {NULL, 0}, a = WEIR_S("a");
  const weir_buf empty = {0, 0, 0, false};
  b = empty;
  if (weir_eq(what, "state")) {
    weir_state s;
    if (weir_session_state(&s, &why)) {
      const weir_str texts[] = {s.id, s.name, s.cwd, s.file, s.leaf, s.provider, s.model, s.thinking_level, s.system_prompt, weir_raw(s.context_usage)};
      for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) weir_add(&b, texts[i]), weir_add_char(&b, ' ');
      number(s.entries), number(s.messages), number(s.queued);
      number(s.idle), number(s.streaming), number(s.compacting), number(s.retrying), number(s.aborted);
    }
  } else if (weir_eq(what, "entries") || weir_eq(what, "entries after")) {
    bool more, from_first = weir_eq(what, "entries");
    list(weir_session_entries(from_first ? none : a, from_first ? 0 : 5, &more, &why));
    if (b.n) number(more);
  } else if (weir_eq(what, "entry")) {
    list(weir_session_entry(a, &why));
  } else if (weir_eq(what, "messages")) {
    int64_t total;
    list(weir_session_messages(2, 3, &total, &why));
    if (b.n) number(total);
  } else if (weir_eq(what, "tools")) {
    weir_val tools = weir_session_tools(&why);
    for (weir_val e = weir_first(tools); e; e = weir_next(tools, e)) {
      weir_tool t = weir_tool_of(e);
      text(t.name), text(t.description), number(t.active);
    }
  } else if (weir_eq(what, "append")) {
    text(weir_session_append(WEIR_S("todo"), none, &why));
  } else if (weir_eq(what, "append data")) {
    text(weir_session_append(WEIR_S("todo"), WEIR_S("{\"a\":1}"), &why));
  } else if (weir_eq(what, "label")) {
    done(weir_session_label(a, none, &why));
  } else if (weir_eq(what, "name")) {
    done(weir_session_name(none, &why));
  } else if (weir_eq(what, "send")) {
    weir_session_message m = {WEIR_S("note"), WEIR_S("[]"), {NULL, 0}, {NULL, 0}, false, false};
    done(weir_session_send(&m, &why));
  } else if (weir_eq(what, "send all")) {
    weir_session_message m = {WEIR_S("note"), weir_quoted(WEIR_S("h\"i")), WEIR_S("[1]"), WEIR_S("steer"), true, true};
    done(weir_session_send(&m, &why));
  } else if (weir_eq(what, "prompt")) {
    done(weir_session_prompt(weir_quoted(WEIR_S("go")), WEIR_S("followUp"), &why));
  } else if (weir_eq(what, "set_tools")) {
    const weir_str names[] = {WEIR_S("read"), WEIR_S("x")};
    list(weir_session_set_tools(names, 2, &why));
  } else if (weir_eq(what, "set_tools none")) {
    list(weir_session_set_tools(NULL, 0, &why));
  } else if (weir_eq(what, "set_model")) {
    done(weir_session_set_model(WEIR_S("p"), WEIR_S("m"), &why));
  } else if (weir_eq(what, "set_thinking_level")) {
    text(weir_session_set_thinking_level(WEIR_S("max"), &why));
  } else if (weir_eq(what, "abort")) {
    done(weir_session_abort(&why));
  } else if (weir_eq(what, "compact")) {
    done(weir_session_compact(none, &why));
  } else if (weir_eq(what, "compact so")) {
    done(weir_session_compact(WEIR_S("short"), &why));
  } else if (weir_eq(what, "new")) {
    done(weir_session_new(&why));
  } else if (weir_eq(what, "fork before") || weir_eq(what, "fork at")) {
    done(weir_session_fork(a, weir_eq(what, "fork at"), &why));
  } else if (weir_eq(what, "navigate")) {
    done(weir_session_navigate(a, NULL, &why));
  } else if (weir_eq(what, "navigate so")) {
    weir_navigation how = {true, true, WEIR_S("i"), WEIR_S("l")};
    done(weir_session_navigate(a, &how, &why));
  } else {
    return weir_fail("unknown");
  }
  return said(why);
}

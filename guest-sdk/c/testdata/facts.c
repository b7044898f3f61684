/* Answers every field of the facts of an event, by its name in the header. */
#include "../weir.h"

#define TEXT(s, field) key(b, #field), weir_json_string(b, (s).field)
#define FLAG(s, field) key(b, #field), weir_json_bool(b, (s).field)
#define NUMBER(s, field) key(b, #field), weir_json_int(b, (int64_t)(s).field)
#define VALUE(s, field) key(b, #field), weir_json_val(b, (s).field)
#define EACH(list, of, show) \
  do { \
    key(b, #list); \
    weir_json_open(b, '['); \
    for (weir_val e = weir_first((of).list); e; e = weir_next((of).list, e)) { \
      weir_json_open(b, '{'); \
      show(b, e); \
      weir_json_close(b, '}'); \
    } \
    weir_json_close(b, ']'); \
  } while (0)

static void key(weir_buf *b, const char *name) { weir_json_key(b, name); }

static void assign(weir_buf *b, weir_val v) {
  weir_assign a = weir_assign_of(v);
  TEXT(a, name), TEXT(a, value), FLAG(a, dynamic);
}
static void redirect(weir_buf *b, weir_val v) {
  weir_redirect r = weir_redirect_of(v);
  TEXT(r, op), NUMBER(r, fd), TEXT(r, target), FLAG(r, dynamic);
}
static void command(weir_buf *b, weir_val v) {
  weir_command c = weir_command_of(v);
  NUMBER(c, words), FLAG(c, dynamic), VALUE(c, argv), VALUE(c, unknown), VALUE(c, globs), VALUE(c, in), TEXT(c, code), TEXT(c, cwd);
  FLAG(c, cwd_unknown), NUMBER(c, pipeline), NUMBER(c, stage), TEXT(c, input);
  EACH(assigns, c, assign);
  EACH(redirects, c, redirect);
  key(b, "program"), weir_json_string(b, weir_program(&c));
  key(b, "known"), weir_json_open(b, '[');
  for (size_t i = 0; i <= c.words; i++) weir_json_bool(b, weir_word(&c, i).p != NULL);
  weir_json_close(b, ']');
}
static void path(weir_buf *b, weir_val v) {
  weir_path p = weir_path_of(v);
  TEXT(p, raw), TEXT(p, abs), TEXT(p, real), FLAG(p, unresolved), FLAG(p, inside), FLAG(p, own), FLAG(p, holds_own), FLAG(p, exists), FLAG(p, glob);
  FLAG(p, dynamic), TEXT(p, kind), TEXT(p, op), TEXT(p, arg), NUMBER(p, command), NUMBER(p, links);
}
static void host(weir_buf *b, weir_val v) {
  weir_host h = weir_host_of(v);
  TEXT(h, raw), TEXT(h, scheme), TEXT(h, host), NUMBER(h, port), FLAG(h, userinfo), FLAG(h, ip), FLAG(h, odd), FLAG(h, dynamic), TEXT(h, scope);
}
static void span(weir_buf *b, weir_val v) {
  weir_span s = weir_span_of(v);
  NUMBER(s, block), NUMBER(s, start), NUMBER(s, end), TEXT(s, kind);
}

WEIR_ON(tool_call) {
  weir_shell shell = weir_shell_facts(ev);
  weir_paths paths = weir_path_facts(ev);
  weir_net net = weir_net_facts(ev);
  weir_secrets secrets = weir_secret_facts(ev);
  weir_buf text = {0, 0, 0, false}, *b = &text;
  weir_json_open(b, '[');
  weir_json_open(b, '{'), FLAG(shell, known), FLAG(shell, understood), TEXT(shell, reason);
  EACH(commands, shell, command);
  weir_json_close(b, '}');
  weir_json_open(b, '{'), FLAG(paths, known), FLAG(paths, truncated), TEXT(paths, workspace);
  EACH(paths, paths, path);
  weir_json_close(b, '}');
  weir_json_open(b, '{'), FLAG(net, known), FLAG(net, truncated);
  EACH(hosts, net, host);
  weir_json_close(b, '}');
  weir_json_open(b, '{'), FLAG(secrets, known), FLAG(secrets, truncated);
  EACH(spans, secrets, span);
  EACH(base64, secrets, span);
  weir_json_close(b, '}');
  weir_json_close(b, ']');
  return weir_answer_buf(b);
}

/* A part of tck.c: what the host found out about a call. */

static const weir_str none = {"none", 4};

static void add_part(weir_buf *b, const char *between, weir_str part) {
  if (b->n) weir_add_c(b, between);
  weir_add(b, or_dash(part));
}
static void add_part_int(weir_buf *b, int64_t v) {
  weir_buf digits = empty;
  weir_add_int(&digits, v);
  add_part(b, " ", weir_text(&digits));
}

/* letters are those of all that are set. */
static weir_str letters(const char *all, const bool *set) {
  weir_buf b = empty;
  for (; *all; all++, set++)
    if (*set) weir_add_char(&b, *all);
  return weir_text(&b);
}

static weir_str command_line(weir_val e) {
  weir_command c = weir_command_of(e);
  weir_buf line = empty, words = empty, redirects = empty, in = empty;
  for (size_t i = 0; i < c.words; i++) {
    weir_str word = weir_word(&c, i);
    if (i) weir_add_char(&words, ' ');
    weir_add(&words, word.p ? word : WEIR_S("?"));
  }
  for (weir_val r = weir_first(c.redirects); r; r = weir_next(c.redirects, r)) {
    weir_redirect redirect = weir_redirect_of(r);
    if (redirects.n) weir_add_char(&redirects, ',');
    weir_add(&redirects, redirect.op);
    weir_add_char(&redirects, ' ');
    weir_add(&redirects, redirect.target);
  }
  for (weir_val w = weir_first(c.in); w; w = weir_next(c.in, w)) {
    if (w != weir_first(c.in)) weir_add_char(&in, '/');
    weir_add(&in, weir_string(w));
  }
  add_part(&line, "", weir_text(&words));
  add_part(&line, " | ", weir_text(&redirects));
  add_part(&line, " | ", weir_text(&in));
  add_part(&line, " | ", c.code);
  if (c.dynamic) add_part(&line, " | ", WEIR_S("dynamic"));
  return weir_text(&line);
}

static weir_str path_line(weir_val e) {
  weir_path p = weir_path_of(e);
  const bool set[] = {p.inside, p.own, p.exists, p.glob, p.dynamic};
  weir_buf line = empty;
  add_part(&line, " ", p.op);
  add_part(&line, " ", p.kind);
  add_part(&line, " ", letters("ioegd", set));
  add_part(&line, " ", p.real);
  return weir_text(&line);
}

static weir_str host_line(weir_val e) {
  weir_host h = weir_host_of(e);
  const bool set[] = {h.userinfo, h.ip, h.odd, h.dynamic};
  weir_buf line = empty;
  add_part(&line, " ", h.scheme);
  add_part(&line, " ", h.host);
  add_part_int(&line, h.port);
  add_part(&line, " ", letters("uaod", set));
  add_part(&line, " ", h.scope);
  return weir_text(&line);
}

static weir_str span_of_kind(weir_val e, weir_str kind) {
  weir_span s = weir_span_of(e);
  weir_buf line = empty;
  add_part_int(&line, s.block);
  add_part_int(&line, s.start);
  add_part_int(&line, s.end);
  add_part(&line, " ", kind);
  return weir_text(&line);
}
static weir_str span_line(weir_val e) { return span_of_kind(e, weir_span_of(e).kind); }
static weir_str base64_line(weir_val e) { return span_of_kind(e, WEIR_S("base64")); }

static void add_lines(weir_buf *b, weir_val list, weir_str (*line)(weir_val)) {
  for (weir_val e = weir_first(list); e; e = weir_next(list, e)) add_part(b, "\n", line(e));
}

static weir_str lines(weir_buf *b, bool truncated) {
  if (truncated) add_part(b, "\n", WEIR_S("truncated"));
  return or_dash(weir_text(b));
}

static weir_str facts(weir_val ev, weir_str of) {
  weir_buf b = empty;
  if (weir_eq(of, "shell")) {
    weir_shell shell = weir_shell_facts(ev);
    if (!shell.known) return none;
    add_part(&b, "\n", shell.understood ? WEIR_S("understood") : shell.reason);
    add_lines(&b, shell.commands, command_line);
    return lines(&b, false);
  }
  if (weir_eq(of, "paths")) {
    weir_paths paths = weir_path_facts(ev);
    if (!paths.known) return none;
    add_part(&b, "\n", paths.workspace);
    add_lines(&b, paths.paths, path_line);
    return lines(&b, paths.truncated);
  }
  weir_net net = weir_net_facts(ev);
  if (!net.known) return none;
  add_lines(&b, net.hosts, host_line);
  return lines(&b, net.truncated);
}

static weir_str secrets(weir_val ev) {
  weir_secrets found = weir_secret_facts(ev);
  weir_buf b = empty;
  if (!found.known) return none;
  add_lines(&b, found.spans, span_line);
  add_lines(&b, found.base64, base64_line);
  return lines(&b, found.truncated);
}

/* A part of tck.c: what an argument asks of the host. */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static weir_str to_base64(weir_str s) {
  weir_buf b = {0, 0, 0, false};
  for (size_t i = 0; i < s.n; i += 3) {
    uint32_t v = (uint32_t)(unsigned char)s.p[i] << 16;
    if (i + 1 < s.n) v |= (uint32_t)(unsigned char)s.p[i + 1] << 8;
    if (i + 2 < s.n) v |= (unsigned char)s.p[i + 2];
    weir_add_char(&b, alphabet[v >> 18]);
    weir_add_char(&b, alphabet[v >> 12 & 63]);
    weir_add_char(&b, i + 1 < s.n ? alphabet[v >> 6 & 63] : '=');
    weir_add_char(&b, i + 2 < s.n ? alphabet[v & 63] : '=');
  }
  return weir_text(&b);
}

static void add_from_base64(weir_buf *b, weir_str s) {
  uint32_t v = 0;
  int bits = 0;
  for (size_t i = 0; i < s.n && s.p[i] != '='; i++) {
    uint32_t d = 0;
    while (alphabet[d] && alphabet[d] != s.p[i]) d++;
    v = v << 6 | d;
    bits += 6;
    if (bits >= 8) weir_add_char(b, (char)(v >> (bits -= 8) & 255));
  }
}

/* A request is an object that begins with op; text members are taken over from the arguments. */
static weir_buf request(weir_str op) {
  weir_buf b = {0, 0, 0, false};
  weir_json_open(&b, '{');
  weir_json_key(&b, "op");
  weir_json_string(&b, op);
  return b;
}
static void put(weir_buf *b, const char *key, weir_str text) {
  weir_json_key(b, key);
  weir_json_string(b, text);
}
static void put_from(weir_buf *b, weir_val in, const char *key) {
  if (weir_get(in, key)) {
    weir_json_key(b, key);
    weir_json_val(b, weir_get(in, key));
  }
}

static bool refused(weir_buf *b, weir_str error) {
  weir_add_c(b, "refused: ");
  weir_add(b, error);
  return true;
}
static bool ok(weir_buf *b) {
  weir_add_c(b, "ok");
  return true;
}
static bool text_or_none(weir_buf *b, weir_val v) {
  weir_add(b, weir_kind(v) == WEIR_STRING ? weir_string(v) : WEIR_S("none"));
  return true;
}

/* The host lists in the order of the keys. */
static bool kv(weir_buf *b, weir_val in, weir_str op) {
  bool good;
  weir_buf r = request(op);
  put_from(&r, in, "key");
  put_from(&r, in, "value");
  put_from(&r, in, "prefix");
  weir_json_close(&r, '}');
  weir_str answer = weir_kv(weir_text(&r), &good);
  if (!good) return refused(b, answer);
  weir_val v = weir_parse(answer, NULL);
  if (weir_eq(op, "get")) return text_or_none(b, weir_get(v, "value"));
  if (!weir_eq(op, "list")) return ok(b);
  add_joined(b, weir_get(v, "keys"));
  return true;
}

static bool http(weir_buf *b, weir_val in) {
  bool good;
  weir_buf r = request(WEIR_S("request"));
  put_from(&r, in, "method");
  put_from(&r, in, "url");
  weir_json_key(&r, "headers");
  weir_json_open(&r, '{');
  put(&r, "x-tck", weir_get_string(in, "header"));
  weir_json_close(&r, '}');
  put(&r, "body", to_base64(weir_get_string(in, "body")));
  weir_json_close(&r, '}');
  weir_str answer = weir_http(weir_text(&r), &good);
  if (!good) return refused(b, answer);
  weir_val v = weir_parse(answer, NULL);
  weir_add_int(b, weir_int(weir_get(v, "status"), 0));
  weir_add_char(b, ' ');
  weir_add(b, weir_get_string(weir_get(v, "headers"), "x-tck"));
  weir_add_char(b, ' ');
  add_from_base64(b, weir_get_string(v, "body"));
  return true;
}

static bool file(weir_buf *b, weir_val in, weir_str op) {
  bool good;
  weir_buf r = request(op);
  put_from(&r, in, "path");
  weir_json_close(&r, '}');
  weir_str answer = weir_file(weir_text(&r), &good);
  if (!good) return refused(b, answer);
  weir_val v = weir_parse(answer, NULL), list = weir_get(v, "entries");
  if (weir_eq(op, "read")) {
    weir_add(b, weir_get_string(v, "text"));
  } else if (weir_eq(op, "stat")) {
    weir_add(b, weir_get_string(v, "name"));
    weir_add_c(b, weir_bool(weir_get(v, "dir"), false) ? " dir " : " file ");
    weir_add_int(b, weir_int(weir_get(v, "size"), -1));
  } else {
    for (weir_val e = weir_first(list); e; e = weir_next(list, e)) {
      if (e != weir_first(list)) weir_add_char(b, ',');
      weir_add(b, weir_get_string(e, "name"));
    }
  }
  return true;
}

static bool ui(weir_buf *b, weir_val in, weir_str op) {
  static const char *const members[] = {"title", "message", "options", "placeholder", "level", "text"};
  bool good;
  weir_buf r = request(op);
  for (int i = 0; i < 6; i++) put_from(&r, in, members[i]);
  weir_json_close(&r, '}');
  weir_str answer = weir_ui(weir_text(&r), &good);
  if (!good) return refused(b, answer);
  weir_val v = weir_get(weir_parse(answer, NULL), "answer");
  if (weir_eq(op, "select") || weir_eq(op, "input")) return text_or_none(b, v);
  if (!weir_eq(op, "confirm")) return ok(b);
  weir_add_c(b, weir_bool(v, false) ? "true" : "false");
  return true;
}

static bool session(weir_buf *b, weir_val in, weir_str op) {
  bool good;
  weir_buf r = request(op), key = {0, 0, 0, false};
  weir_str name = weir_get_string(in, "key");
  weir_add(&key, name);
  weir_add_char(&key, 0);
  put(&r, key.p, weir_get_string(in, "value"));
  weir_json_close(&r, '}');
  weir_str answer = weir_session(weir_text(&r), &good);
  if (!good) return refused(b, answer);
  weir_add(b, answer);
  return true;
}

static bool journal(weir_buf *b, weir_val in, weir_str op) {
  bool good;
  weir_buf r = request(op);
  put_from(&r, in, "record");
  weir_json_close(&r, '}');
  weir_str answer = weir_journal(weir_text(&r), &good);
  if (!good) return refused(b, answer);
  weir_val v = weir_parse(answer, NULL);
  weir_add_int(b, weir_int(weir_get(v, "seq"), -1));
  weir_add_char(b, ' ');
  weir_add(b, weir_get_string(v, "hash"));
  return true;
}

static bool capability(weir_buf *b, weir_val in, weir_str what) {
  weir_str op = weir_get_string(in, "op");
  if (weir_eq(what, "kv")) return kv(b, in, op);
  if (weir_eq(what, "http")) return http(b, in);
  if (weir_eq(what, "file")) return file(b, in, op);
  if (weir_eq(what, "ui")) return ui(b, in, op);
  if (weir_eq(what, "session")) return session(b, in, op);
  if (weir_eq(what, "journal")) return journal(b, in, op);
  return false;
}

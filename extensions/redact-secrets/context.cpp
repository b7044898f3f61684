// Values that only their surroundings give away: names, headers, addresses, key blocks.
#include "secrets.hpp"

bool isPlaceholder(Str v) {
  if (!v.n) return true;
  static const char *const words[] = {"xxxx", "****", "....", "your", "example", "placeholder", "changeme", "change-me", "change_me", "redacted", "replace", "insert", "dummy-",
                                      "todo", "fixme", "<", "${", "{{", "$(", "%(", "%{", "...", "\xe2\x80\xa6", "\xe2\x80\xa2", "__secret", "my-secret", "my_secret", "not-a-real", "secret_here",
                                      "-here", "_here", "0123456789", "abcdefghij", "1234567890"};
  for (const char *w : words)
    if (containsFold(v, w)) return true;
  static const char *const whole[] = {"null", "none", "nil", "undefined", "true", "false", "string", "password", "passwd", "secret", "token", "test", "postgres", "root", "admin", "guest",
                                      "user", "pass", "mysql", "dev", "username", "foo", "bar", "foobar", "qwerty", "required", "optional", "empty", "hidden", "masked"};
  for (const char *w : whole) {
    Str s = weir_cstr(w);
    if (s.n != v.n) continue;
    size_t i = 0;
    while (i < s.n && lower(v.p[i]) == s.p[i]) i++;
    if (i == s.n) return true;
  }
  // One or two characters over and over.
  bool seen[256] = {};
  int distinct = 0;
  size_t tail = v.n > 8 ? v.n / 2 : 0; // the second half: a prefix is not part of the filler
  for (size_t i = tail; i < v.n; i++)
    if (!seen[static_cast<unsigned char>(v.p[i])]) {
      seen[static_cast<unsigned char>(v.p[i])] = true;
      distinct++;
    }
  return distinct <= 2;
}

bool looksRandom(Str v) {
  size_t digits = 0, uppers = 0, lowers = 0, changes = 0, hex = 0;
  bool seen[256] = {};
  size_t distinct = 0;
  int last = -1;
  for (size_t i = 0; i < v.n; i++) {
    char c = v.p[i];
    int k = isDigit(c) ? 0 : isUpper(c) ? 1 : isLower(c) ? 2 : 3;
    digits += k == 0;
    uppers += k == 1;
    lowers += k == 2;
    hex += isHex(c);
    if (last >= 0 && k != last) changes++;
    last = k;
    if (!seen[static_cast<unsigned char>(c)]) {
      seen[static_cast<unsigned char>(c)] = true;
      distinct++;
    }
  }
  if (v.n < 8 || distinct < 6) return false;
  if (hex == v.n) return v.n >= 16 && digits >= 2 && digits < v.n && distinct >= 6;
  if (!digits) return uppers && lowers && changes * 3 >= v.n && changes >= 6; // ThisIsAName changes less often
  if (!uppers && !lowers) return false;
  // Names with a number in them (utf8_general_ci, sha256sum) change class rarely.
  return changes * 6 >= v.n && changes >= 3 && distinct * 3 >= (v.n < 24 ? v.n : 24);
}

namespace {

bool nameChar(char c) { return isWord(c) || c == '-' || c == '.'; }

enum class Name { No, Weak, Strong, Auth, Signature };

// mayName is false for almost every word of a text, and cheap: no name without one of these has a meaning here.
bool mayName(Str n) {
  static const char *const stems[] = {"pass", "pwd", "psk", "pat", "secret", "sig", "token", "key", "conn", "cred", "cookie", "auth", "bearer", "jwt", "dsn"};
  for (size_t i = 0; i + 3 <= n.n; i++) {
    char c = lower(n.p[i]);
    if (c != 'p' && c != 's' && c != 't' && c != 'k' && c != 'c' && c != 'a' && c != 'b' && c != 'j' && c != 'd') continue;
    for (const char *s : stems) {
      if (s[0] != c) continue;
      size_t k = 1;
      while (s[k] && i + k < n.n && lower(n.p[i + k]) == s[k]) k++;
      if (!s[k]) return true;
    }
  }
  return false;
}

// What a name says about its value. Names are cut into words at _ - . and at capitals.
Name judgeName(Str name) {
  Str words[16];
  size_t n = 0;
  for (size_t i = 0; i < name.n && n < 16;) {
    while (i < name.n && !isAlnum(name.p[i])) i++;
    size_t b = i;
    while (i < name.n && isAlnum(name.p[i])) {
      if (i > b && isUpper(name.p[i]) && (isLower(name.p[i - 1]) || isDigit(name.p[i - 1]))) break;
      if (i > b + 1 && isLower(name.p[i]) && isUpper(name.p[i - 1]) && isUpper(name.p[i - 2])) {
        i--;
        break;
      }
      i++;
    }
    if (i > b) words[n++] = weir_sub(name, b, i);
    else if (i < name.n) i++;
  }
  auto is = [&](size_t i, const char *list) {
    if (i >= n) return false;
    const char *p = list;
    while (*p) {
      size_t k = 0;
      while (p[k] && p[k] != ' ') k++;
      if (k == words[i].n) {
        size_t m = 0;
        while (m < k && lower(words[i].p[m]) == p[m]) m++;
        if (m == k) return true;
      }
      p += k;
      while (*p == ' ') p++;
    }
    return false;
  };
  if (!n) return Name::No;
  const char *innocent = "public pub hash hashed sha sha1 sha256 sha512 md5 digest checksum integrity fingerprint length len min max ttl expiry expires expiration count size limit type name "
                         "names path file url uri endpoint id ids index prefix suffix pattern regex format header field column usage input output tokens kind algorithm alg policy version rotation";
  if (is(n - 1, innocent)) return Name::No;
  for (size_t i = 0; i < n; i++)
    if (is(i, "public pub primary foreign cache sort partition idempotency translation i18n keyboard shortcut monkey storybook encryptedpublic")) return Name::No;
  if (n == 1 && is(0, "sig signature")) return Name::Signature;
  for (size_t i = 0; i < n; i++) {
    if (is(i, "password passwd pwd passphrase passcode secret secrets secretkey token apikey apitoken accesskey secretaccesskey privatekey authtoken accesstoken credential credentials "
              "pgpassword mysqlpassword dbpassword userpassword bearer webhooksecret clientsecret pass psk"))
      return is(i, "pass psk") && n > 1 && i + 1 < n ? Name::No : Name::Strong;
    if (is(i, "key") && i && is(i - 1, "api access private secret signing encryption auth account master client shared service storage license admin app application deploy session security "
                                       "server integration ssh host"))
      return Name::Strong;
    if (is(i, "connection") && is(i + 1, "string")) return Name::Strong;
    if (is(i, "string") && i && is(i - 1, "connection conn")) return Name::Strong;
    if (is(i, "signature") && i) return Name::Signature;
    if (is(i, "base") && i >= 2 && is(i - 1, "key") && is(i - 2, "secret")) return Name::Strong;
  }
  if (n == 1 && is(0, "auth authorization")) return Name::Auth;
  if (is(n - 1, "authorization")) return Name::Auth;
  if (n > 1 && is(n - 1, "key keys auth pat jwt dsn creds cookie")) return Name::Weak;
  return Name::No;
}

// Letters only, or words with dots and slashes: an identifier, a path, prose.
bool plainWord(Str v) {
  bool digit = false, symbol = false;
  size_t changes = 0;
  for (size_t i = 0; i < v.n; i++) {
    char c = v.p[i];
    digit |= isDigit(c);
    symbol |= !isAlnum(c) && c != '_' && c != '-' && c != '.' && c != '/' && c != ':';
    if (i && isUpper(c) && isLower(v.p[i - 1])) changes++;
  }
  return !digit && !symbol && changes < 4;
}
// a.b(c), a->b, process.env.X, obj["x"]: code that reaches for a value.
bool isCode(Str v) {
  for (size_t i = 0; i < v.n; i++) {
    char c = v.p[i];
    if (c == '(' || c == '[' || c == '{' || c == '<' || c == '>' || c == '|' || c == '*') return true;
    if (c == '$' && i + 1 < v.n && (v.p[i + 1] == '{' || v.p[i + 1] == '(' || (i == 0 && (isUpper(v.p[1]) || isLower(v.p[1]))))) return true;
  }
  if (containsFold(v, "process.env") || containsFold(v, "os.environ") || containsFold(v, "os.getenv") || containsFold(v, "env.") || containsFold(v, "secrets.") || containsFold(v, "vault:") ||
      containsFold(v, "config.") || containsFold(v, "settings.") || containsFold(v, "self.") || containsFold(v, "this.") || containsFold(v, "args.") || containsFold(v, "file://") ||
      containsFold(v, "arn:aws:") || containsFold(v, "ssm:/") || containsFold(v, "op://") || containsFold(v, "secretref:") || containsFold(v, "projects/"))
    return true;
  return false;
}
bool isPath(Str v) {
  size_t slashes = 0;
  bool odd = false;
  for (size_t i = 0; i < v.n; i++) {
    slashes += v.p[i] == '/';
    odd |= v.p[i] == '+' || v.p[i] == '=';
  }
  return v.n && (v.p[0] == '/' || v.p[0] == '.' || v.p[0] == '~') && slashes && !odd && (slashes > 1 || !looksRandom(v));
}
bool isUuid(Str v) { return v.n == 36 && v.p[8] == '-' && v.p[13] == '-' && v.p[18] == '-' && v.p[23] == '-'; }

bool isSecretValue(Str v, Name name, bool quoted, bool strongSeparator) {
  if (v.n < 6 || v.n > 4096 || isPlaceholder(v) || isPath(v)) return false;
  if (v.n < 200 && isCode(v) && !(quoted && looksRandom(v) && !containsFold(v, "(") && !containsFold(v, "${"))) return false;
  bool digits = true;
  for (size_t i = 0; i < v.n; i++) digits &= isDigit(v.p[i]) || v.p[i] == '.' || v.p[i] == ',';
  if (digits) return false;
  if (weir_starts(v, "sha256-") || weir_starts(v, "sha512-") || weir_starts(v, "sha1-") || weir_starts(v, "sha384-") || weir_starts(v, "sha256:")) return false;
  if (weir_starts(v, "http://") || weir_starts(v, "https://") || weir_starts(v, "ssh-")) return false;
  if (weir_starts(v, "$2a$") || weir_starts(v, "$2b$") || weir_starts(v, "$argon2")) return false; // a hash of a password
  switch (name) {
  case Name::Strong:
    if (!strongSeparator) return v.n >= 12 && looksRandom(v);
    return v.n >= 8 ? !plainWord(v) : quoted && !plainWord(v) && v.n >= 6;
  case Name::Weak: return v.n >= 16 && looksRandom(v) && !isUuid(v);
  case Name::Auth: return v.n >= 12 && (looksRandom(v) || (v.p[v.n - 1] == '=' && !plainWord(v)));
  case Name::Signature: return v.n >= 20 && looksRandom(v);
  default: return false;
  }
}

bool quote(char c) { return c == '"' || c == '\'' || c == '`'; }

// The value at i: up to the closing quote, or to what ends an unquoted one.
Str valueAt(Str t, uint32_t i, bool *quoted) {
  *quoted = false;
  // \" inside a string that holds JSON
  if (i + 1 < t.n && t.p[i] == '\\' && quote(t.p[i + 1])) i++;
  if (i < t.n && quote(t.p[i])) {
    char q = t.p[i++];
    uint32_t e = i;
    while (e < t.n && t.p[e] != q && t.p[e] != '\n' && !(t.p[e] == '\\' && e + 1 < t.n && t.p[e + 1] == q)) e++;
    *quoted = true;
    return weir_sub(t, i, e);
  }
  uint32_t e = i;
  while (e < t.n && static_cast<unsigned char>(t.p[e]) > ' ' && t.p[e] != '"' && t.p[e] != '\'' && t.p[e] != '`' && t.p[e] != ',' && t.p[e] != ';' && t.p[e] != '}' && t.p[e] != ')' &&
         t.p[e] != '&' && t.p[e] != '|' && !(t.p[e] == '\\' && e + 1 < t.n && (t.p[e + 1] == 'n' || t.p[e + 1] == '"' || t.p[e + 1] == 'r')))
    e++;
  return weir_sub(t, i, e);
}

const char *kindOf(Name n) { return n == Name::Auth ? "authorization" : n == Name::Signature ? "url-signature" : "secret-value"; }

} // namespace

// NAME = value, "name": "value", NAME value, - name: NAME / value: x, | NAME | value |, <name>value</name>, Authorization: Bearer x, --password x.
uint32_t matchNamed(Str t, uint32_t i, const Options &o, Vec<Span> *out) {
  uint32_t b = i;
  while (i < t.n && nameChar(t.p[i])) i++;
  uint32_t end = i;
  if (end - b > 64 || end - b < 3) return end;
  Str text = weir_sub(t, b, end);
  // What follows decides first: it is cheaper to look at.
  if (end >= t.n || isWord(t.p[end]) || t.p[end] == '(' || t.p[end] == '/' || !mayName(text)) return end;
  Name name = judgeName(text);
  if (name == Name::No) return end;
  if (!o.generic && name != Name::Auth && name != Name::Signature) return end;
  // The separator.
  bool strong = false, nameValue = false;
  if (i + 1 < t.n && t.p[i] == '\\' && quote(t.p[i + 1])) i++;
  if (i < t.n && (quote(t.p[i]) || t.p[i] == ']')) i++;
  if (i < t.n && t.p[i] == ']') i++;
  uint32_t gap = i;
  while (i < t.n && isBlank(t.p[i])) i++;
  if (i < t.n && (t.p[i] == '=' || t.p[i] == ':' || t.p[i] == '|')) {
    strong = true;
    i++;
    while (i < t.n && (t.p[i] == '=' || t.p[i] == '>' || t.p[i] == ':')) {
      if (t.p[i] == '=' && t.p[i - 1] == '=') return end; // a comparison
      i++;
    }
    while (i < t.n && isBlank(t.p[i])) i++;
  } else if (startsAt(t, i, "\n") || startsAt(t, i, "\r\n")) {
    // YAML pairs: the value stands on the next line.
    uint32_t k = i;
    while (k < t.n && (isBlank(t.p[k]) || t.p[k] == '\n' || t.p[k] == '\r')) k++;
    if (!startsAt(t, k, "value:") && !startsAt(t, k, "Value:")) return end;
    i = k + 6;
    while (i < t.n && isBlank(t.p[i])) i++;
    strong = nameValue = true;
  } else if (startsAt(t, i, ",")) { // {"name": "X_TOKEN", "value": "…"}
    uint32_t k = i + 1;
    while (k < t.n && (isBlank(t.p[k]) || t.p[k] == '\n')) k++;
    if (!startsAt(t, k, "\"value\"") && !startsAt(t, k, "\"Value\"")) return end;
    k += 7;
    while (k < t.n && (isBlank(t.p[k]) || t.p[k] == ':')) k++;
    i = k;
    strong = nameValue = true;
  } else if (b && (t.p[b - 1] == '<' || t.p[b - 1] == ':') && startsAt(t, i, ">")) { // <password>…</password>
    uint32_t from = i + 1, to = from;
    while (to < t.n && to - from < 4096 && t.p[to] != '<' && static_cast<unsigned char>(t.p[to]) > ' ') to++;
    if (!startsAt(t, to, "</") || !isSecretValue(weir_sub(t, from, to), name, true, true)) return end;
    out->push(Span{from, to, kindOf(name)});
    return to;
  } else if (gap == i) {
    return end;
  }
  // The scheme of an Authorization value.
  uint32_t v0 = i;
  if (v0 < t.n && t.p[v0] == '\\' && v0 + 1 < t.n) v0++;
  if (v0 < t.n && quote(t.p[v0])) v0++;
  bool scheme = false;
  static const char *const schemes[] = {"Bearer ", "bearer ", "Basic ", "basic ", "token ", "Token ", "Digest ", "ApiKey ", "Apikey ", "Negotiate ", "GenieKey ", "Bot "};
  for (const char *s : schemes)
    if (startsAt(t, v0, s)) {
      i = v0 + static_cast<uint32_t>(weir_cstr(s).n);
      scheme = true;
      break;
    }
  bool quoted;
  Str v = valueAt(t, i, &quoted);
  uint32_t from = static_cast<uint32_t>(v.p - t.p), to = from + static_cast<uint32_t>(v.n);
  if (!v.n) return end;
  if (name == Name::Auth && !scheme && !strong) return end;
  if (name == Name::Signature) {
    // Only in an address or beside "signature": a query's parameter.
    bool query = b && (t.p[b - 1] == '&' || t.p[b - 1] == '?');
    if (!query) return end;
  }
  const char *kind = nullptr;
  uint32_t format = v.n ? matchFormat(t, from, &kind) : 0;
  if (format) {
    out->push(Span{from, format > to || !quoted ? format : to, kind});
    return format;
  }
  if (scheme && name == Name::Auth ? v.n >= 8 && !isPlaceholder(v) && !isCode(v) && !plainWord(v) : isSecretValue(v, name, quoted || nameValue, strong)) {
    out->push(Span{from, to, kindOf(name)});
    return to;
  }
  return end;
}

// scheme://user:password@host, at the colon.
uint32_t matchUrl(Str t, uint32_t i, Vec<Span> *out) {
  uint32_t b = i + 3, colon = 0, at = 0;
  for (uint32_t k = b; k < t.n && k - b < 512; k++) {
    char c = t.p[k];
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`' || c == '\\') break;
    if (c == '/') {
      bool port = true; // host:8080/…
      for (uint32_t m = colon + 1; colon && m < k; m++) port &= isDigit(t.p[m]);
      if (!colon || port) break;
    }
    if (c == '?' || c == '#') {
      if (!colon) break;
    }
    if (c == ':' && !colon) colon = k;
    if (c == '@') {
      at = k; // a password may hold an @ itself: the last one before the host counts
      bool more = false;
      for (uint32_t m = k + 1; m < t.n && m - k < 200; m++) {
        char d = t.p[m];
        if (d == '@') more = true;
        if (static_cast<unsigned char>(d) <= ' ' || d == '/' || d == '"' || d == '\'' || d == '?' || d == '@') break;
      }
      if (!more) break;
    }
  }
  if (!at || !colon || at <= colon + 1) return i + 1;
  Str password = weir_sub(t, colon + 1, at);
  if (isPlaceholder(password) || password.n < 4 || isCode(password)) return i + 1;
  if (password.p[0] == '$' || password.p[0] == '%') return at;
  // user:user is what examples and local databases use.
  if (weir_same(password, weir_sub(t, b, colon))) return at;
  out->push(Span{colon + 1, at, "url-password"});
  return at;
}

// -----BEGIN … PRIVATE KEY-----, at the first dash.
uint32_t matchPem(Str t, uint32_t i, Vec<Span> *out) {
  bool begin = startsAt(t, i, "-----BEGIN "), end = startsAt(t, i, "-----END ");
  if (!begin && !end) return i + 1;
  uint32_t label = i + (begin ? 11 : 9), k = label;
  while (k < t.n && k - label < 64 && t.p[k] != '-' && t.p[k] != '\n') k++;
  Str what = weir_sub(t, label, k);
  if (!weir_contains(what, "PRIVATE KEY") || !startsAt(t, k, "-----")) return k;
  k += 5;
  if (end) {
    // A key whose beginning is not shown: take the base64 lines before it.
    uint32_t from = i;
    for (;;) {
      uint32_t e = from;
      if (!e || t.p[e - 1] != '\n') break;
      uint32_t b = e - 1;
      while (b && t.p[b - 1] != '\n') b--;
      uint32_t x = b, letters = 0;
      while (x < e - 1 && isBlank(t.p[x])) x++;
      for (uint32_t m = x; m < e - 1 && isBase64(t.p[m]); m++) letters++;
      if (letters < 16 || x + letters + 1 < e) break;
      from = b;
    }
    if (from < i) out->push(Span{from, i - 1, "private-key"});
    return k;
  }
  size_t close = weir_find(t, WEIR_S("-----END"), k);
  if (close != static_cast<size_t>(-1) && close - k < 65536) {
    uint32_t to = static_cast<uint32_t>(close);
    while (to > k && (t.p[to - 1] == '\n' || isBlank(t.p[to - 1]))) to--;
    uint32_t from = k;
    while (from < to && (t.p[from] == '\n' || t.p[from] == '\r')) from++;
    // Nothing but a few characters: a mention, not a key.
    uint32_t letters = 0;
    for (uint32_t m = from; m < to; m++) letters += isBase64(t.p[m]);
    Str body = weir_sub(t, from, to);
    if (letters < 32 || (body.n < 200 && isPlaceholder(body))) return static_cast<uint32_t>(close);
    out->push(Span{from, to, "private-key"});
    return static_cast<uint32_t>(close);
  }
  // Cut off: every following line of base64 belongs to it.
  uint32_t from = k;
  while (from < t.n && (t.p[from] == '\n' || t.p[from] == '\r')) from++;
  uint32_t to = from;
  for (uint32_t b = from; b < t.n;) {
    uint32_t e = b, letters = 0;
    while (e < t.n && t.p[e] != '\n') {
      letters += isBase64(t.p[e]);
      e++;
    }
    bool header = weir_contains(weir_sub(t, b, e), ": ");
    if (!header && letters * 10 < (e - b) * 8) break;
    if (!header && letters < 4) break;
    to = e;
    b = e + 1;
  }
  if (to > from + 16) out->push(Span{from, to, "private-key"});
  return to > k ? to : k;
}

// host:port:database:user:password, a line of .pgpass.
void matchLine(Str t, uint32_t from, uint32_t to, Vec<Span> *out) {
  uint32_t colons[4], n = 0;
  for (uint32_t i = from; i < to; i++) {
    if (isBlank(t.p[i])) return;
    if (t.p[i] == ':' && n < 4 && !(i > from && t.p[i - 1] == '\\')) colons[n++] = i;
  }
  if (n < 4 || colons[0] == from) return;
  Str port = weir_sub(t, colons[0] + 1, colons[1]);
  bool number = port.n > 0 && port.n <= 5;
  for (size_t i = 0; i < port.n; i++) number &= isDigit(port.p[i]);
  if (!number && !weir_eq(port, "*")) return;
  Str host = weir_sub(t, from, colons[0]);
  bool hostLike = weir_contains(host, ".") || weir_eq(host, "localhost") || weir_eq(host, "*");
  Str password = weir_sub(t, colons[3] + 1, to);
  if (!hostLike || password.n < 4 || isPlaceholder(password) || colons[2] == colons[1] + 1 || colons[3] == colons[2] + 1) return;
  for (size_t i = 0; i < password.n; i++)
    if (password.p[i] == ':' || password.p[i] == '/') return; // a location, an image reference
  if (!looksRandom(password) && plainWord(password)) return;
  out->push(Span{colons[3] + 1, to, "pgpass-password"});
}

// Passwords among the arguments of a command whose option for them is one letter.
uint32_t matchFlag(Str t, uint32_t line, uint32_t i, Vec<Span> *out) {
  uint32_t end = i + 1;
  if (i == line || !isBlank(t.p[i - 1]) || i + 3 >= t.n) return end;
  uint32_t from = i > line + 200 ? i - 200 : line; // the command stands near
  Str before = weir_sub(t, from, i);
  bool user = false;
  uint32_t v = i + 2;
  if (t.p[i + 1] == 'u' && containsFold(before, "curl")) user = true;
  else if (startsAt(t, i, "--user") && containsFold(before, "curl")) user = true, v = i + 6;
  else if (t.p[i + 1] == 'p' && containsFold(before, "sshpass")) {}
  else if (t.p[i + 1] == 'p' && !isBlank(t.p[v]) && (containsFold(before, "mysql") || containsFold(before, "mariadb"))) {}
  else return end;
  while (v < t.n && (isBlank(t.p[v]) || t.p[v] == '=')) v++;
  char quote = v < t.n && (t.p[v] == '\'' || t.p[v] == '"') ? t.p[v++] : 0;
  uint32_t e = v;
  while (e < t.n && t.p[e] != '\n' && (quote ? t.p[e] != quote : !isBlank(t.p[e]) && t.p[e] != '\'' && t.p[e] != '"')) e++;
  if (user) {
    while (v < e && t.p[v] != ':') v++;
    v++;
  }
  if (v >= e) return end;
  Str value = weir_sub(t, v, e);
  bool digit = false;
  for (size_t k = 0; k < value.n; k++) digit |= isDigit(value.p[k]);
  if (value.n < 6 || value.p[0] == '$' || isPlaceholder(value) || (!digit && !looksRandom(value))) return end;
  out->push(Span{v, e, "command-password"});
  return e;
}

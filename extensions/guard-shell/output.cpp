// What well-known harmless commands print, so that text built from pieces can be followed: echo, printf, cat, base64 -d, rev …
#include "interp.hpp"

namespace {

Str echo(const Command &c) {
  uint32_t i = 1;
  bool newline = true, escapes = false;
  for (; i < c.argv.n && anyOf(c.argv[i], "-n -e -E -ne -en"); i++) {
    newline &= !has(c.argv[i], 'n');
    escapes |= has(c.argv[i], 'e');
  }
  Text t;
  for (uint32_t k = i; k < c.argv.n; k++) {
    if (k > i) t.add(' ');
    t.add(c.argv[k]);
  }
  Str s = t.str();
  if (escapes) {
    Text e;
    for (size_t k = 0; k < s.n; k++) {
      if (s.p[k] != '\\' || k + 1 == s.n) {
        e.add(s.p[k]);
        continue;
      }
      char x = s.p[++k];
      uint32_t v = 0;
      size_t digits = 0;
      if (x == 'n' || x == 't') e.add(x == 'n' ? '\n' : '\t');
      else if (x == 'x' || x == '0') {
        for (; digits < (x == 'x' ? 2u : 3u) && k + 1 < s.n; digits++) {
          char h = lower(s.p[k + 1]);
          int d = isDigit(h) ? h - '0' : x == 'x' && h >= 'a' && h <= 'f' ? h - 'a' + 10 : -1;
          if (d < 0) break;
          v = v * (x == 'x' ? 16 : 8) + static_cast<uint32_t>(d);
          k++;
        }
        e.add(v >= 0x20 || isSpace(static_cast<char>(v)) ? static_cast<char>(v) : static_cast<char>(kUnknown));
      } else e.add('\\').add(x);
    }
    s = e.str();
  }
  Text out;
  out.add(s);
  if (newline) out.add('\n');
  return out.str();
}

// unescape reads backslash escapes at s[*i] (behind the backslash).
void unescape(Str s, size_t *i, Text &t) {
  char x = s.p[*i];
  uint32_t v = 0;
  if (x == 'n' || x == 't' || x == 'r') {
    t.add(x == 'n' ? '\n' : x == 't' ? '\t' : '\r');
    return;
  }
  if (x == 'x' || (x >= '0' && x <= '7')) {
    size_t k = x == 'x' ? *i + 1 : *i, digits = 0, max = x == 'x' ? 2 : x == '0' ? 4 : 3;
    for (; digits < max && k < s.n; digits++, k++) {
      char h = lower(s.p[k]);
      int d = h >= '0' && h <= (x == 'x' ? '9' : '7') ? h - '0' : x == 'x' && h >= 'a' && h <= 'f' ? h - 'a' + 10 : -1;
      if (d < 0) break;
      v = v * (x == 'x' ? 16 : 8) + static_cast<uint32_t>(d);
    }
    *i = k - 1;
    t.add(v >= 0x20 || isSpace(static_cast<char>(v)) ? static_cast<char>(v & 255) : static_cast<char>(kUnknown));
    return;
  }
  if (x == '\\' || x == '"' || x == '\'') t.add(x);
  else t.add('\\').add(x);
}

Str printfOut(const Command &c) {
  uint32_t i = 1;
  if (c.argv.n > 1 && eq(c.argv[1], "-v")) return WEIR_S("");
  if (c.argv.n > 1 && eq(c.argv[1], "--")) i++;
  if (i >= c.argv.n) return WEIR_S("");
  Str f = c.argv[i++];
  Text t;
  for (int round = 0; round < 64; round++) {
    uint32_t before = i;
    for (size_t k = 0; k < f.n; k++) {
      char ch = f.p[k];
      if (ch == '\\' && k + 1 < f.n) {
        k++;
        unescape(f, &k, t);
        continue;
      }
      if (ch != '%' || k + 1 == f.n) {
        t.add(ch);
        continue;
      }
      k++;
      if (f.p[k] == '%') {
        t.add('%');
        continue;
      }
      bool width = false;
      while (k < f.n && (isDigit(f.p[k]) || f.p[k] == '-' || f.p[k] == '.' || f.p[k] == '*' || f.p[k] == '+' || f.p[k] == ' ')) {
        width = true;
        k++;
      }
      if (k >= f.n) break;
      Str a = i < c.argv.n ? c.argv[i++] : WEIR_S("");
      if (f.p[k] == 'b') {
        for (size_t m = 0; m < a.n; m++)
          if (a.p[m] == '\\' && m + 1 < a.n) {
            m++;
            unescape(a, &m, t);
          } else t.add(a.p[m]);
      } else if (f.p[k] == 's' || f.p[k] == 'd' || f.p[k] == 'q' || f.p[k] == 'i') {
        if (width && f.p[k] == 's' && !a.n) t.add(' ');
        t.add(a);
      } else t.add(kUnknown);
    }
    if (i >= c.argv.n || i == before) break;
  }
  return t.str();
}

Str decode64(Str s) {
  Text t;
  uint32_t bits = 0, n = 0;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    int v = c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : isDigit(c) ? c - '0' + 52 : c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
    if (c == '=') break;
    if (isSpace(c)) continue;
    if (v < 0) return WEIR_S("\x07");
    bits = bits << 6 | static_cast<uint32_t>(v);
    n += 6;
    if (n >= 8) {
      n -= 8;
      t.add(static_cast<char>(bits >> n & 255));
    }
  }
  return t.str();
}
Str decode32(Str s) {
  Text t;
  uint32_t bits = 0, n = 0;
  for (size_t i = 0; i < s.n; i++) {
    char c = lower(s.p[i]);
    int v = c >= 'a' && c <= 'z' ? c - 'a' : c >= '2' && c <= '7' ? c - '2' + 26 : -1;
    if (c == '=') break;
    if (isSpace(c)) continue;
    if (v < 0) return WEIR_S("\x07");
    bits = bits << 5 | static_cast<uint32_t>(v);
    n += 5;
    if (n >= 8) {
      n -= 8;
      t.add(static_cast<char>(bits >> n & 255));
    }
  }
  return t.str();
}
Str decodeHex(Str s) {
  Text t;
  int hi = -1;
  for (size_t i = 0; i < s.n; i++) {
    char h = lower(s.p[i]);
    int d = isDigit(h) ? h - '0' : h >= 'a' && h <= 'f' ? h - 'a' + 10 : -1;
    if (d < 0) continue;
    if (hi < 0) hi = d;
    else {
      t.add(static_cast<char>(hi << 4 | d));
      hi = -1;
    }
  }
  return t.str();
}
// safe turns bytes that decoding produced into text of ours.
Str safe(Str s) {
  char *p = static_cast<char *>(weir_alloc(s.n ? s.n : 1));
  for (size_t i = 0; i < s.n; i++) p[i] = static_cast<unsigned char>(s.p[i]) < 0x20 && !isSpace(s.p[i]) ? static_cast<char>(kUnknown) : s.p[i];
  return Str{p, s.n};
}
Str taint(Str s, char mark) {
  Text t;
  t.add(s).add(mark);
  return t.str();
}

// trSet spells a set of tr out: a-z, \n, [:upper:] is not known.
bool trSet(Str s, Text *t) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '[' && i + 1 < s.n && s.p[i + 1] == ':') return false;
    if (s.p[i] == '\\' && i + 1 < s.n) {
      i++;
      unescape(s, &i, *t);
      continue;
    }
    if (i + 2 < s.n && s.p[i + 1] == '-') {
      for (int c = static_cast<unsigned char>(s.p[i]); c <= static_cast<unsigned char>(s.p[i + 2]); c++) t->add(static_cast<char>(c));
      i += 2;
      continue;
    }
    t->add(s.p[i]);
  }
  return true;
}

Str tr(const Command &c) {
  Vec<Str> ops;
  operands(c, &ops);
  Text from, to;
  if (!ops.n || !trSet(ops[0], &from) || (ops.n > 1 && !trSet(ops[1], &to))) return taint(WEIR_S(""), kDecoded);
  bool drop = option(c, 'd', "delete");
  Str f = from.str(), g = to.str();
  if (option(c, 'c', "complement") || option(c, 's', "squeeze-repeats")) return c.in;
  Text out;
  for (size_t i = 0; i < c.in.n; i++) {
    size_t k = 0;
    while (k < f.n && f.p[k] != c.in.p[i]) k++;
    if (k == f.n) out.add(c.in.p[i]);
    else if (!drop && g.n) out.add(g.p[k < g.n ? k : g.n - 1]);
  }
  return out.str();
}

// cut of known text: one range of characters or one field of each line; anything else is text that is rewritten.
Str cut(const Command &c) {
  Str spec{}, delimiter = WEIR_S("\t");
  bool fields = false;
  for (uint32_t i = 1; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (a.n < 2 || a.p[0] != '-') return taint(WEIR_S(""), kDecoded);
    Str v = a.n > 2 ? ::sub(a, 2, a.n) : c.arg(++i);
    if (a.p[1] == 'c' || a.p[1] == 'b') spec = v;
    else if (a.p[1] == 'f') spec = v, fields = true;
    else if (a.p[1] == 'd') delimiter = v;
    else return taint(WEIR_S(""), kDecoded);
  }
  size_t i = 0, from = 0, to = 0;
  while (i < spec.n && isDigit(spec.p[i])) from = from * 10 + static_cast<size_t>(spec.p[i++] - '0');
  bool range = i < spec.n && spec.p[i] == '-';
  if (range) i++;
  while (i < spec.n && isDigit(spec.p[i])) to = to * 10 + static_cast<size_t>(spec.p[i++] - '0');
  if (i < spec.n || !spec.n || delimiter.n != 1) return taint(WEIR_S(""), kDecoded);
  if (!from) from = 1;
  if (!range) to = from;
  else if (!to) to = static_cast<size_t>(-1);
  Text t;
  size_t at = 1;
  for (size_t k = 0; k < c.in.n; k++) {
    char ch = c.in.p[k];
    if (ch == '\n') {
      t.add(ch);
      at = 1;
      continue;
    }
    bool separator = fields && ch == delimiter.p[0];
    if (separator) at++;
    if (at >= from && at <= to && !(separator && at == from)) t.add(ch);
    if (!fields) at++;
  }
  return t.str();
}

Str reverseLines(Str s) {
  Text t;
  for (size_t b = 0; b < s.n;) {
    size_t e = b;
    while (e < s.n && s.p[e] != '\n') e++;
    for (size_t k = e; k > b; k--) t.add(s.p[k - 1]);
    t.add('\n');
    b = e + 1;
  }
  return t.str();
}

bool networkClient(const Command &c) {
  return anyOf(c.name, "curl wget nc ncat netcat socat aria2c http https httpie xh lynx w3m links dig nslookup host drill telnet ftp tftp sftp scp openssl lwp-request "
                       "Invoke-WebRequest iwr fetch axel");
}

} // namespace

Str contentOf(Shell &sh, Str path) {
  Str p = sh.resolve(path);
  for (uint32_t k = sh.w->written.n; k > 0; k--)
    if (weir_same(sh.w->written[k - 1].path, p)) return sh.w->written[k - 1].text;
  if (isSecretPath(sh, path)) return WEIR_S("\x0e");
  if (eq(p, "/dev/null")) return WEIR_S("");
  return WEIR_S("\x12");
}

Str Shell::output(Command &c) {
  Str n = c.name;
  auto contents = [&](const char *takesValue, uint32_t skip) -> Str { // operands are files; none: standard input
    Vec<Str> ops;
    operands(c, &ops, takesValue);
    Text t;
    uint32_t files = 0;
    for (uint32_t i = skip; i < ops.n; i++) {
      files++;
      if (anyOf(ops[i], "- /dev/stdin")) t.add(c.in);
      else t.add(contentOf(*this, ops[i]));
    }
    if (!files) return c.in;
    return Str{t.str().p ? t.str().p : "", t.str().n};
  };
  if (eq(n, "echo")) return echo(c);
  if (eq(n, "printf")) return printfOut(c);
  if (anyOf(n, "cat tac head tail sort uniq nl less more bat fold fmt column expand paste tee sponge pv strings cut")) {
    if (anyOf(n, "tee sponge")) return c.in;
    if (eq(n, "cut") && c.piped && !anyMark(c.in)) return cut(c);
    return contents("-n -c -d -f -k -t -S -b -w -s", 0);
  }
  if (anyOf(n, "grep egrep fgrep rg ag sed awk gawk mawk jq yq perl-filter")) {
    Str s = contents("-e -f -n -m -A -B -C", 1);
    // Picking one name out of a listing gives that name.
    if (anyOf(n, "grep egrep fgrep rg ag") && hasMark(s, kFiles)) {
      Vec<Str> ops;
      operands(c, &ops, "-e -f -m -A -B -C");
      Text name;
      for (size_t i = 0; ops.n && i < ops[0].n; i++)
        if (ops[0].p[i] != '^' && ops[0].p[i] != '$' && ops[0].p[i] != '\\') name.add(ops[0].p[i]);
      if (ops.n && !option(c, 'v', "invert-match") && isSecretPath(*this, name.str())) return name.str();
    }
    // Names of files, and not what is in them.
    if (anyOf(n, "grep egrep fgrep rg ag") && !c.piped && (option(c, 'l', "files-with-matches") || option(c, 'L', "files-without-match") || option(c, 0, "files"))) {
      Vec<Str> ops;
      operands(c, &ops, "-e -f -m -A -B -C -g --glob -t --type --include --exclude --exclude-dir");
      Text t;
      for (uint32_t i = option(c, 0, "files") ? 0 : 1; i < ops.n; i++) t.add(ops[i]).add('/').add(kFiles).add('/').add(kUnknown).add('\n');
      if (!t.b.n) t.add(kFiles).add('/').add(kUnknown).add('\n');
      return t.str();
    }
    // A filter may change known text: keep its marks, and let plain selections pass.
    if (anyOf(n, "grep egrep fgrep rg ag")) return s;
    Text t;
    for (size_t i = 0; i < s.n; i++)
      if (isMark(s.p[i])) t.add(s.p[i]);
    if (!t.b.n && c.piped) t.add(kDecoded); // known text, rewritten into something else
    if (!t.b.n) t.add(kUnknown);
    return t.str();
  }
  if (anyOf(n, "base64 gbase64 base32 basenc")) {
    Str s = contents("-w --wrap", 0);
    if (!option(c, 'd', "decode") && !option(c, 'D', nullptr)) return hasMark(s, kSecret) ? s : WEIR_S("\x01");
    if (anyMark(s)) return taint(s, kDecoded);
    return safe(eq(n, "base32") ? decode32(s) : decode64(s));
  }
  if (eq(n, "rev")) {
    Str s = contents("", 0);
    return anyMark(s) ? s : reverseLines(s);
  }
  if (eq(n, "tr")) return anyMark(c.in) ? taint(c.in, kDecoded) : tr(c);
  if (anyOf(n, "xxd hexdump od")) {
    Str s = contents("-s -l -c -N -A -t", 0);
    if (eq(n, "xxd") && (option(c, 'r', "revert"))) return anyMark(s) ? taint(s, kDecoded) : safe(decodeHex(s));
    return hasMark(s, kSecret) ? WEIR_S("\x0e") : WEIR_S("\x01");
  }
  if (anyOf(n, "gunzip zcat bzcat xzcat zstdcat bunzip2 unxz uudecode")) return taint(contents("", 0), kDecoded);
  if (anyOf(n, "gzip bzip2 xz zstd") && option(c, 'd', "decompress")) return taint(contents("", 0), kDecoded);
  if (eq(n, "openssl")) {
    for (Str a : c.argv)
      if (anyOf(a, "-d -D")) return taint(c.in, kDecoded);
  }
  if (networkClient(c)) return WEIR_S("\x06");
  if (eq(n, "pwd")) return cwd;
  if (eq(n, "whoami") || (eq(n, "id") && option(c, 'n', nullptr) && option(c, 'u', nullptr))) return w->user;
  if (eq(n, "mktemp")) return WEIR_S("/tmp/tmp.\x01");
  if (anyOf(n, "which realpath readlink")) {
    Vec<Str> ops;
    operands(c, &ops);
    if (!ops.n) return WEIR_S("\x01");
    if (eq(n, "which") && eq(ops[0], "weir")) return WEIR_S("/usr/local/bin/weir");
    return eq(n, "which") ? ops[0] : resolve(ops[0]);
  }
  if (eq(n, "dirname") && c.argv.n > 1) {
    Str p = c.argv[c.argv.n - 1];
    Str b = baseName(p);
    size_t cut = static_cast<size_t>(b.p - p.p);
    return cut > 1 ? ::sub(p, 0, cut - 1) : cut == 1 ? WEIR_S("/") : WEIR_S(".");
  }
  if (eq(n, "basename") && c.argv.n > 1) return baseName(c.argv[1]);
  if (eq(n, "git")) {
    for (Str a : c.argv) {
      if (eq(a, "--show-toplevel")) return w->workspace;
      if (eq(a, "ls-files") && (option(c, 'd', "deleted"))) return WEIR_S("\x01\n"); // gone already
      if (anyOf(a, "ls-files ls-tree diff")) return WEIR_S("\x0f\n");
      if (anyOf(a, "branch tag for-each-ref")) return WEIR_S("\x0f\n");
    }
    return WEIR_S("\x01");
  }
  if (anyOf(n, "ls exa eza tree dir")) {
    Vec<Str> ops;
    operands(c, &ops);
    if (!ops.n) return WEIR_S("\x0f\n");
    Text t;
    for (Str o : ops) t.add(o).add('/').add(kFiles).add('\n');
    return t.str();
  }
  if (anyOf(n, "printenv env")) {
    if (c.argv.n == 1) return WEIR_S("\x10");
    return value(c.argv[c.argv.n - 1]);
  }
  if (eq(n, "ps")) {
    for (Str a : c.argv)
      if (containsFold(a, "ppid")) return WEIR_S("\x11");
    return WEIR_S("\x01");
  }
  if (anyOf(n, "pgrep pidof")) {
    for (Str a : c.argv)
      if (eq(a, "weir")) return WEIR_S("\x11");
    return WEIR_S("\x01");
  }
  if (isInterpreter(n) && c.piped && !hasMark(c.in, kNet)) return taint(WEIR_S(""), kDecoded);
  if (hasMark(c.in, kSecret) || hasMark(c.in, kEnviron)) return WEIR_S("\x0e"); // a hash or an encoding of a secret still tells
  return WEIR_S("\x01");
}

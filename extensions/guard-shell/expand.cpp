// Variables, words and paths.
#include "interp.hpp"

namespace {

constexpr char kOpen = 0x13, kComma = 0x14, kClose = 0x15; // active braces while a word is being built
constexpr size_t kMaxValue = 1 << 16;                      // longer values become "unknown"
constexpr uint32_t kMaxFields = 512;

bool secretName(Str n) {
  if (containsFold(n, "public") || containsFold(n, "_id") || containsFold(n, "_file") || containsFold(n, "_path")) {
    if (!containsFold(n, "access_key")) return false;
  }
  return containsFold(n, "secret") || containsFold(n, "token") || containsFold(n, "password") || containsFold(n, "passwd") ||
         containsFold(n, "api_key") || containsFold(n, "apikey") || containsFold(n, "access_key") || containsFold(n, "private_key") ||
         containsFold(n, "credential");
}

// findClose gives the } that ends the { at i, and how many commas lie between; 0 if there is none.
size_t findClose(Str t, size_t i, bool *list) {
  int open = 0;
  *list = false;
  for (size_t k = i; k < t.n; k++) {
    if (t.p[k] == kOpen) open++;
    else if (t.p[k] == kComma && open == 1) *list = true;
    else if (t.p[k] == kClose && --open == 0) return k;
  }
  return 0;
}
bool number(Str s, int64_t *v) {
  bool neg = s.n && s.p[0] == '-';
  if (s.n == neg || s.n > 9) return false;
  *v = 0;
  for (size_t i = neg; i < s.n; i++) {
    if (!isDigit(s.p[i])) return false;
    *v = *v * 10 + (s.p[i] - '0');
  }
  if (neg) *v = -*v;
  return true;
}
void braces(Str t, Vec<Str> *out) {
  if (out->n >= kMaxFields) return;
  for (size_t i = 0; i < t.n; i++) {
    if (t.p[i] != kOpen) continue;
    bool list = false;
    size_t close = findClose(t, i, &list);
    if (!close) continue;
    Str head = ::sub(t, 0, i), inner = ::sub(t, i + 1, close), tail = ::sub(t, close + 1, t.n);
    if (list) {
      int open = 0;
      size_t from = 0;
      for (size_t k = 0; k <= inner.n; k++) {
        if (k < inner.n && inner.p[k] == kOpen) open++;
        if (k < inner.n && inner.p[k] == kClose) open--;
        if (k == inner.n || (inner.p[k] == kComma && open == 0)) {
          Text n;
          n.add(head).add(::sub(inner, from, k)).add(tail);
          braces(n.str(), out);
          from = k + 1;
        }
      }
      return;
    }
    size_t dots = indexOf(inner, WEIR_S(".."));
    if (dots == static_cast<size_t>(-1)) continue;
    Str a = ::sub(inner, 0, dots), b = ::sub(inner, dots + 2, inner.n);
    int64_t x, y;
    bool letters = a.n == 1 && b.n == 1 && !isDigit(a.p[0]);
    if (letters) {
      x = a.p[0];
      y = b.p[0];
    } else if (!number(a, &x) || !number(b, &y)) continue;
    int64_t step = x <= y ? 1 : -1;
    if ((y - x) * step > 255) {
      Text n;
      n.add(head).add(kUnknown).add(tail);
      braces(n.str(), out);
      return;
    }
    for (;; x += step) {
      Text n;
      n.add(head);
      if (letters) n.add(static_cast<char>(x));
      else weir_add_int(&n.b, x);
      n.add(tail);
      braces(n.str(), out);
      if (x == y) return;
    }
  }
  char *p = static_cast<char *>(weir_alloc(t.n ? t.n : 1));
  for (size_t i = 0; i < t.n; i++) p[i] = t.p[i] == kOpen ? '{' : t.p[i] == kComma ? ',' : t.p[i] == kClose ? '}' : t.p[i];
  out->push(Str{p, t.n});
}

Str capped(Str s) { return s.n > kMaxValue ? WEIR_S("\x01") : s; }

// cut removes the shortest or longest match of pattern from the front or the back.
Str cut(Str v, Str pattern, bool front, bool longest) {
  for (size_t k = 0; k <= v.n; k++) {
    size_t n = longest ? v.n - k : k; // length of what goes
    Str piece = front ? ::sub(v, 0, n) : ::sub(v, v.n - n, v.n);
    if (globMatch(pattern, piece)) return front ? ::sub(v, n, v.n) : ::sub(v, 0, v.n - n);
  }
  return v;
}

} // namespace

Shell Shell::fork() const {
  Shell s = *this; // Vecs share their elements: copy what may change
  s.vars = {};
  for (const Variable &v : vars) s.vars.push(v);
  s.funcs = {};
  for (const Function &f : funcs) s.funcs.push(f);
  s.depth++;
  return s;
}

Vec<Str> *Shell::lookup(Str name) {
  for (Variable &v : vars)
    if (weir_same(v.name, name)) return &v.values;
  return nullptr;
}
void Shell::set(Str name, Str v) {
  Vec<Str> one;
  one.push(capped(v));
  for (Variable &x : vars)
    if (weir_same(x.name, name)) {
      x.values = one;
      return;
    }
  vars.push(Variable{name, one});
}
Str Shell::value(Str name) {
  if (Vec<Str> *v = lookup(name)) return v->n ? (*v)[0] : WEIR_S("");
  if (eq(name, "HOME")) return w->home;
  if (eq(name, "PWD")) return cwd;
  if (anyOf(name, "USER LOGNAME")) return w->user;
  if (anyOf(name, "SHELL BASH")) return WEIR_S("/bin/bash");
  if (eq(name, "IFS")) return WEIR_S(" \t\n");
  if (anyOf(name, "TMPDIR TMP TEMP RUNNER_TEMP")) return WEIR_S("/tmp");
  if (eq(name, "PPID")) return WEIR_S("\x11");
  if (eq(name, "OSTYPE")) return WEIR_S("linux-gnu");
  if (anyOf(name, "PATH RANDOM HOSTNAME UID EUID SECONDS LINENO OLDPWD ? $ ! - 0 _ COPROC BASHPID TERM LANG REPLY")) return WEIR_S("\x01");
  if (name.n == 1 && isDigit(name.p[0])) {
    uint32_t i = static_cast<uint32_t>(name.p[0] - '1');
    return i < args.n ? args[i] : args.n || depth == 0 ? WEIR_S("\x05") : WEIR_S("\x01");
  }
  if (eq(name, "#")) {
    Text t;
    weir_add_int(&t.b, args.n);
    return t.str();
  }
  if (secretName(name)) return WEIR_S("\x0e");
  return WEIR_S("\x05");
}

// variable is the value of ${…}; for several fields ("$@", arrays) they go to all.
Str Shell::variable(const Part &p, Vec<Str> *all) {
  Str name = p.text;
  Vec<Str> *values = nullptr;
  bool many = (name.n == 1 && (name.p[0] == '@' || name.p[0] == '*')) || (p.index.n == 1 && (p.index.p[0] == '@' || p.index.p[0] == '*'));
  Str v;
  if (name.n == 1 && (name.p[0] == '@' || name.p[0] == '*')) values = &args;
  else if (many) values = lookup(name);
  if (p.length) return WEIR_S("\x01");
  if (many && values) {
    if (!p.op.n && all) {
      for (Str x : *values) all->push(x);
      return WEIR_S("");
    }
    Text joined;
    for (uint32_t i = 0; i < values->n; i++) {
      if (i) joined.add(' ');
      joined.add((*values)[i]);
    }
    v = joined.str();
  } else if (many) {
    v = WEIR_S("\x05");
  } else if (p.index.n) {
    Vec<Str> *a = lookup(name);
    int64_t i;
    if (!a) v = value(name);
    else if (number(p.index, &i)) v = i >= 0 && i < a->n ? (*a)[static_cast<uint32_t>(i)] : WEIR_S("");
    else v = a->n == 1 ? (*a)[0] : WEIR_S("\x01");
  } else {
    v = value(name);
  }
  if (p.indirect) v = anyMark(v) ? WEIR_S("\x01") : value(v);
  if (!p.op.n) return v;

  bool unset = v.n == 0 || (v.n == 1 && v.p[0] == kUnset);
  char o = p.op.p[p.op.n - 1], first = p.op.p[0];
  if (o == '-' || o == '=') {
    if (v.n == 1 && v.p[0] == kSecret) return v;
    if (!unset) return v;
    Str d = expandOne(p.arg);
    if (o == '=') set(name, d);
    return d;
  }
  if (o == '+') return unset ? WEIR_S("") : expandOne(p.arg);
  if (o == '?') return v;
  Str arg = expandOne(p.arg);
  if (first == ':') { // offset[:length]
    size_t colon = indexOf(arg, WEIR_S(":"));
    Str a = ::sub(arg, 0, colon == static_cast<size_t>(-1) ? arg.n : colon);
    while (a.n && a.p[0] == ' ') a = ::sub(a, 1, a.n);
    int64_t from = 0, len = static_cast<int64_t>(v.n);
    if (anyMark(v) || !number(a, &from)) return WEIR_S("\x01");
    if (colon != static_cast<size_t>(-1) && !number(::sub(arg, colon + 1, arg.n), &len)) return WEIR_S("\x01");
    int64_t n = static_cast<int64_t>(v.n);
    if (from < 0) from = from + n < 0 ? 0 : from + n;
    int64_t to = len < 0 ? n + len : from + len;
    if (to < from) to = from;
    return ::sub(v, static_cast<size_t>(from), static_cast<size_t>(to));
  }
  if (unset) return v;
  if (first == '%' || first == '#') return cut(v, arg, first == '#', p.op.n == 2);
  if (first == '/') {
    size_t slash = indexOf(arg, WEIR_S("/"));
    Str what = ::sub(arg, 0, slash == static_cast<size_t>(-1) ? arg.n : slash);
    Str with = slash == static_cast<size_t>(-1) ? WEIR_S("") : ::sub(arg, slash + 1, arg.n);
    if (!what.n || anyMark(what)) return WEIR_S("\x01");
    Text t;
    size_t at = 0, hit;
    while ((hit = weir_find(v, what, at)) != static_cast<size_t>(-1)) {
      t.add(::sub(v, at, hit)).add(with);
      at = hit + what.n;
      if (p.op.n == 1) break;
    }
    t.add(::sub(v, at, v.n));
    return t.str();
  }
  if (first == ',' || first == '^') {
    Text t;
    for (size_t i = 0; i < v.n; i++) {
      char c = v.p[i];
      bool on = p.op.n == 2 || i == 0;
      t.add(!on ? c : first == ',' ? lower(c) : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c);
    }
    return t.str();
  }
  return v; // ${x@Q} and the like
}

Str Shell::tilde(Str t) {
  if (!t.n || t.p[0] != '~') return t;
  size_t end = 1;
  while (end < t.n && t.p[end] != '/' && t.p[end] != kComma && t.p[end] != kClose && t.p[end] != ':') end++;
  Str user = ::sub(t, 1, end), to;
  if (!user.n || weir_same(user, w->user)) to = w->home;
  else if (eq(user, "+")) to = cwd;
  else if (eq(user, "root")) to = WEIR_S("/root");
  else if (isName(user.p[0])) {
    Text other;
    to = other.add("/home/").add(user).str();
  } else return t;
  Text out;
  return out.add(to).add(::sub(t, end, t.n)).str();
}

void Shell::expand(const Word *word, Vec<Str> *fields) {
  Vec<Text> built;
  built.push(Text());
  bool any = false;
  Vec<Str> *ifsValue = lookup(WEIR_S("IFS"));
  Str ifs = ifsValue && ifsValue->n ? (*ifsValue)[0] : WEIR_S(" \t\n");
  for (uint32_t i = 0; i < word->parts.n; i++) {
    const Part &p = word->parts[i];
    Text &cur = built[built.n - 1];
    if (p.kind == PartKind::Text) {
      any |= p.quoted || p.text.n;
      if (p.quoted || (!word->brace && !(i == 0 && word->tilde))) {
        cur.add(p.text);
        continue;
      }
      Str t = i == 0 && word->tilde ? tilde(p.text) : p.text;
      for (size_t k = 0; k < t.n; k++) {
        char c = t.p[k];
        cur.add(!word->brace ? c : c == '{' ? kOpen : c == ',' ? kComma : c == '}' ? kClose : c);
      }
      continue;
    }
    Vec<Str> all;
    Str v;
    if (p.kind == PartKind::Var) v = variable(p, &all);
    else if (p.kind == PartKind::Arith) {
      expandOne(p.arg);
      v = WEIR_S("\x01");
    } else {
      Shell sub = fork();
      v = sub.run(p.body, WEIR_S(""), false);
      if (p.kind == PartKind::Process) {
        // A name under which the content can be read.
        Text name;
        name.add("/dev/fd/").add(S("proc"));
        weir_add_int(&name.b, w->written.n);
        w->written.push(Written{name.str(), v});
        cur.add(name.str());
        any = true;
        continue;
      }
      while (v.n && (v.p[v.n - 1] == '\n' || v.p[v.n - 1] == '\r')) v.n--;
    }
    v = capped(v);
    if (all.n) {
      for (uint32_t k = 0; k < all.n && built.n < kMaxFields; k++) {
        if (k) built.push(Text());
        built[built.n - 1].add(all[k]);
      }
      any = true;
      continue;
    }
    if (p.quoted) {
      cur.add(v);
      any = true;
      continue;
    }
    for (size_t k = 0; k < v.n; k++) {
      char c = v.p[k];
      if (has(ifs, c)) {
        if (built[built.n - 1].b.n && built.n < kMaxFields) built.push(Text());
        continue;
      }
      built[built.n - 1].add(c == '*' ? static_cast<char>(kStar) : c == '?' ? static_cast<char>(kQuery) : c);
      any = true;
    }
  }
  if (!any) return;
  for (uint32_t i = 0; i < built.n; i++) {
    Str t = built[i].str();
    if (!t.n && built.n > 1 && i + 1 == built.n) continue; // what trailing white space left
    if (word->brace) {
      uint32_t from = fields->n;
      braces(t, fields);
      for (; from < fields->n && !word->tilde; from++) (*fields)[from] = tilde((*fields)[from]); // braces come before ~
    }
    else fields->push(Str{t.p ? t.p : "", t.n});
    if (fields->n >= kMaxFields) w->tired = true;
  }
}

Str Shell::expandOne(const Word *word) {
  Vec<Str> f;
  if (!word) return WEIR_S("");
  // Field splitting does not apply: quote every part.
  Word q = *word;
  q.parts = {};
  q.brace = false;
  for (const Part &p : word->parts) {
    Part x = p;
    if (x.kind != PartKind::Text) x.quoted = true;
    q.parts.push(x);
  }
  expand(&q, &f);
  if (f.n == 0) return WEIR_S("");
  if (f.n == 1) return f[0];
  Text t;
  for (uint32_t i = 0; i < f.n; i++) {
    if (i) t.add(' ');
    t.add(f[i]);
  }
  return t.str();
}

Str Shell::resolve(Str path) const {
  path = without(path, kUnset);
  if (!path.n) return path;
  if (path.p[0] != '/' && isMark(path.p[0]) && !isGlob(path.p[0]) && path.p[0] != kFiles) return path;
  Text joined;
  if (path.p[0] != '/') joined.add(cwd).add('/');
  joined.add(path);
  Str in = joined.str();
  Vec<Str> parts;
  for (size_t i = 0; i < in.n;) {
    size_t end = i;
    while (end < in.n && in.p[end] != '/') end++;
    Str c = ::sub(in, i, end);
    i = end + 1;
    if (!c.n || eq(c, ".")) continue;
    if (eq(c, "..")) {
      if (parts.n) parts.n--;
      continue;
    }
    parts.push(c);
    if (parts.n == 3 && eq(parts[0], "proc") && (eq(parts[2], "root") || eq(parts[2], "cwd"))) { // a link to / or to here
      parts.n = 0;
      if (eq(c, "cwd")) parts.push(cwd);
    }
  }
  Text out;
  for (Str c : parts) {
    if (!c.n || c.p[0] != '/') out.add('/');
    out.add(c);
  }
  if (!parts.n) out.add(in.n && in.p[0] == '/' ? '/' : '.');
  return out.str();
}

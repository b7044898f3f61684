// Matching of words and patterns.
#include "interp.hpp"

[[gnu::noinline]] Text &Text::add(const Str &s) { return weir_add(&b, s), *this; }
[[gnu::noinline]] Text &Text::add(const char *s) { return weir_add_c(&b, s), *this; }
[[gnu::noinline]] Text &Text::add(char c) { return weir_add_char(&b, c), *this; }
[[gnu::noinline]] bool has(const Str &s, char c) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] == c) return true;
  return false;
}
[[gnu::noinline]] bool eq(const Str &a, const char *b) {
  size_t i = 0;
  for (; i < a.n; i++)
    if (a.p[i] != b[i] || !b[i]) return false;
  return b[i] == 0;
}
[[gnu::noinline]] bool starts(const Str &s, const char *w) { return weir_starts(s, w); }
[[gnu::noinline]] bool ends(const Str &s, const char *w) { return weir_ends(s, w); }
[[gnu::noinline]] Str sub(const Str &s, size_t from, size_t to) { return weir_sub(s, from, to); }
[[gnu::noinline]] size_t indexOf(const Str &s, const Str &what) { return weir_find(s, what, 0); }

[[gnu::noinline]] bool globMatch(Str p, Str t, bool loose) {
  size_t i = 0, j = 0, star = static_cast<size_t>(-1), back = 0;
  while (j < t.n) {
    char c = i < p.n ? p.p[i] : 0;
    bool many = i < p.n && (c == kStar || c == '*' || (loose && (isMark(c) && c != kQuery && c != kBracket)));
    if (many) {
      star = i++;
      back = j;
    } else if (i < p.n && (c == t.p[j] || c == kQuery || c == kBracket || c == '?')) {
      i++;
      j++;
    } else if (star != static_cast<size_t>(-1)) {
      i = star + 1;
      j = ++back;
    } else return false;
  }
  while (i < p.n && (p.p[i] == kStar || p.p[i] == '*' || (loose && isMark(p.p[i]) && !isGlob(p.p[i])))) i++;
  return i == p.n;
}

static bool nextWord(const char **list, Str *word) {
  while (**list == ' ') ++*list;
  if (!**list) return false;
  word->p = *list;
  while (**list && **list != ' ') ++*list;
  word->n = static_cast<size_t>(*list - word->p);
  return true;
}
[[gnu::noinline]] bool anyOf(const Str &s, const char *list) {
  Str w;
  if (!s.n) return false;
  while (nextWord(&list, &w))
    if (weir_same(w, s)) return true;
  return false;
}
[[gnu::noinline]] bool anyGlob(const Str &s, const char *list) {
  Str w;
  while (nextWord(&list, &w))
    if (globMatch(w, s)) return true;
  return false;
}
[[gnu::noinline]] bool containsFold(const Str &s, const char *what) {
  Str w = S(what);
  for (size_t i = 0; i + w.n <= s.n; i++) {
    size_t j = 0;
    while (j < w.n && lower(s.p[i + j]) == w.p[j]) j++;
    if (j == w.n) return true;
  }
  return false;
}
[[gnu::noinline]] Str without(const Str &s, char mark) {
  if (!has(s, mark)) return s;
  Text t;
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] != mark) t.add(s.p[i]);
  return Str{t.str().p ? t.str().p : "", t.str().n};
}
[[gnu::noinline]] Str baseName(Str p) {
  while (p.n > 1 && p.p[p.n - 1] == '/') p.n--;
  for (size_t i = p.n; i > 0; i--)
    if (p.p[i - 1] == '/' && i < p.n) return weir_sub(p, i, p.n);
  return p;
}

[[gnu::noinline]] bool option(const Command &c, char shortName, const char *longName, uint32_t from) {
  Str l = S(longName ? longName : "");
  for (uint32_t i = from; i < c.argv.n; i++) {
    Str a = without(c.argv[i], kUnset);
    if (a.n < 2 || a.p[0] != '-') continue;
    if (a.p[1] == '-') {
      if (a.n == 2) return false;
      Str n = weir_sub(a, 2, a.n);
      for (size_t k = 0; k < n.n; k++)
        if (n.p[k] == '=') n.n = k;
      if (l.n && n.n >= 3 && n.n <= l.n && weir_same(n, weir_sub(l, 0, n.n))) return true;
      continue;
    }
    if (shortName && has(weir_sub(a, 1, a.n), shortName)) return true;
  }
  return false;
}
void operands(const Command &c, Vec<Str> *out, const char *takesValue, uint32_t from) {
  bool done = false;
  for (uint32_t i = from; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (!done && a.n > 1 && a.p[0] == '-') {
      if (eq(a, "--")) done = true;
      else if (anyOf(a, takesValue)) i++;
      continue;
    }
    out->push(a);
  }
}
[[gnu::noinline]] bool anyArg(const Command &c, const char *list, uint32_t from) {
  for (uint32_t i = from; i < c.argv.n; i++)
    if (anyGlob(without(c.argv[i], kUnset), list)) return true;
  return false;
}
bool isShell(const Str &n) { return anyOf(n, "sh bash dash zsh ksh mksh ash fish rbash busybox-sh csh tcsh"); }
bool isInterpreter(const Str &n) {
  return anyOf(n, "python python2 python3 node nodejs deno bun perl ruby php lua tclsh pwsh powershell osascript Rscript julia") ||
         anyGlob(n, "python3.* python2.* ruby[0-9]* php[0-9]* lua5.*");
}

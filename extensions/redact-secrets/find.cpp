// One pass over the text as it is, one over the text with wrapped lines joined.
#include "secrets.hpp"

namespace {

void sortAndMerge(Vec<Span> *v) {
  for (uint32_t i = 1; i < v->n; i++) { // nearly sorted: the passes find from left to right
    Span x = (*v)[i];
    uint32_t k = i;
    while (k && (*v)[k - 1].from > x.from) {
      (*v)[k] = (*v)[k - 1];
      k--;
    }
    (*v)[k] = x;
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < v->n; i++) {
    if (n && (*v)[i].from < (*v)[n - 1].to) {
      if ((*v)[i].to > (*v)[n - 1].to) (*v)[n - 1].to = (*v)[i].to;
      continue;
    }
    (*v)[n++] = (*v)[i];
  }
  v->n = n;
}

bool tokenChar(char c) { return isWord(c) || c == '-' || c == '.' || c == '/' || c == '+' || c == '='; }

// The end of a data: address's base64 (images, fonts), or i.
uint32_t skipData(Str t, uint32_t i) {
  if (!startsAt(t, i, "data:")) return i;
  size_t mark = weir_find(weir_sub(t, i, i + 96), WEIR_S(";base64,"), 0);
  if (mark == static_cast<size_t>(-1)) return i;
  uint32_t k = i + static_cast<uint32_t>(mark) + 8;
  while (k < t.n && isBase64(t.p[k])) k++;
  return k;
}

// A text with its wrapped lines joined, and where each byte came from.
struct Joined {
  char *p;
  uint32_t *at;
  uint32_t n;
  bool any;
};

// Joins lines where a token may go on: at a line break (with a backslash, a + or quotes around it, indentation behind it) and at
// a spelled-out \n, if characters of a token stand on both sides.
Joined join(Str t) {
  Joined j{static_cast<char *>(weir_alloc(t.n + 1)), static_cast<uint32_t *>(weir_alloc((t.n + 1) * sizeof(uint32_t))), 0, false};
  auto quote = [](char c) { return c == '"' || c == '\'' || c == '`'; };
  for (uint32_t i = 0; i < t.n;) {
    bool spelled = t.p[i] == '\\' && i + 1 < t.n && t.p[i + 1] == 'n';
    bool slash = t.p[i] == '\\' && i + 1 < t.n && (t.p[i + 1] == '\n' || t.p[i + 1] == '\r');
    if (t.p[i] != '\n' && t.p[i] != '\r' && !spelled && !slash) {
      j.p[j.n] = t.p[i];
      j.at[j.n++] = i++;
      continue;
    }
    // What stands before the break, without blanks, a + or \ and a closing quote.
    uint32_t back = j.n;
    bool quoted = false;
    while (back && isBlank(j.p[back - 1])) back--;
    if (back && (j.p[back - 1] == '+' || j.p[back - 1] == '\\' || j.p[back - 1] == '.') && back > 1 && (isBlank(j.p[back - 2]) || quote(j.p[back - 2]) || j.p[back - 1] == '\\')) back--;
    while (back && isBlank(j.p[back - 1])) back--;
    if (back && quote(j.p[back - 1])) {
      quoted = true;
      back--;
    }
    uint32_t k = i;
    int breaks = 0;
    while (k < t.n && breaks < 3) {
      if (t.p[k] == '\n') breaks++;
      else if (t.p[k] == '\\' && k + 1 < t.n && t.p[k + 1] == 'n') {
        breaks++;
        k++;
      } else if (t.p[k] != '\r' && !isBlank(t.p[k]) && !(t.p[k] == '\\' && k + 1 < t.n && (t.p[k + 1] == '\n' || t.p[k + 1] == '\r'))) break;
      k++;
    }
    if (k < t.n && quoted && (t.p[k] == '+' || t.p[k] == '.')) {
      k++;
      while (k < t.n && isBlank(t.p[k])) k++;
    }
    if (k < t.n && quoted && quote(t.p[k])) k++;
    if (back && k < t.n && tokenChar(j.p[back - 1]) && tokenChar(t.p[k]) && (!quoted || quote(t.p[k - 1]))) {
      j.n = back;
      j.any = true;
      i = k;
      continue;
    }
    j.p[j.n] = t.p[i];
    j.at[j.n++] = i++;
  }
  return j;
}

bool covered(const Vec<Span> &v, uint32_t known, uint32_t at, uint32_t *to) {
  for (uint32_t i = 0; i < known; i++)
    if (v.p[i].from <= at && at < v.p[i].to) {
      *to = v.p[i].to;
      return true;
    }
  return false;
}

} // namespace

void findSecrets(Str t, const Options &o, Vec<Span> *out) {
  uint32_t line = 0;
  for (uint32_t i = 0; i < t.n;) {
    char c = t.p[i];
    if (c == '\n') {
      if (o.generic && i - line >= 12 && i - line < 400) matchLine(t, line, i, out);
      line = ++i;
      continue;
    }
    bool boundary = i == 0 || !isWord(t.p[i - 1]);
    if (!isAlnum(c) && c != '_') {
      if (c == ':' && startsAt(t, i, "://")) i = matchUrl(t, i, out);
      else if (c == '-' && startsAt(t, i, "-----")) i = matchPem(t, i, out);
      else if (c == '-' && o.generic) i = matchFlag(t, line, i, out);
      else i++;
      continue;
    }
    if (!boundary) {
      i++;
      continue;
    }
    if (c == 'd') {
      uint32_t after = skipData(t, i);
      if (after > i) {
        i = after;
        continue;
      }
    }
    const char *kind = nullptr;
    uint32_t end = matchFormat(t, i, &kind);
    if (end) {
      out->push(Span{i, end, kind});
      i = end;
      continue;
    }
    uint32_t next = matchNamed(t, i, o, out);
    // Behind a name its separator may start something itself (https:…); inside a word nothing starts.
    while (i < next && isWord(t.p[i])) i++;
    if (out->n && (*out)[out->n - 1].to > i) i = (*out)[out->n - 1].to;
  }
  if (o.generic && t.n - line >= 12 && t.n - line < 400) matchLine(t, line, static_cast<uint32_t>(t.n), out);
  sortAndMerge(out);

  Joined j = join(t);
  if (j.any) {
    Str text{j.p, j.n};
    uint32_t known = out->n;
    for (uint32_t i = 0; i < j.n; i++) {
      if (!isAlnum(j.p[i]) || (i && isWord(j.p[i - 1]) && j.at[i] == j.at[i - 1] + 1)) continue;
      uint32_t to = 0;
      bool had = covered(*out, known, j.at[i], &to);
      if (had && j.at[i] && covered(*out, known, j.at[i] - 1, &to)) continue; // inside one already found
      const char *kind = nullptr;
      uint32_t end = matchFormat(text, i, &kind);
      if (!end || j.at[end - 1] - j.at[i] == end - 1 - i) continue; // nothing, or nothing joined in it
      if (had) {
        // Complete on its line already. It goes on only if what follows the break looks like more of it: random, or a short
        // rest with a digit or a capital in it that has its line for itself.
        uint32_t first = i;
        while (first < end && j.at[first] < to) first++;
        Str more = weir_sub(text, first, end);
        bool alone = end == j.n || j.p[end] == '\n' || j.p[end] == '"' || j.p[end] == '\'' || j.p[end] == '\\';
        bool wide = j.at[first] - j.at[i] >= 60, mixed = false;
        for (size_t k = 0; k < more.n; k++) mixed |= isDigit(more.p[k]) || (k && isUpper(more.p[k]) && isLower(more.p[k - 1]));
        if (!looksRandom(more) && !(more.n < 8 && mixed && alone && wide)) continue;
      }
      out->push(Span{j.at[i], j.at[end - 1] + 1, kind});
      i = end - 1;
    }
    if (out->n > known) sortAndMerge(out);
  }
  if (o.off.n) {
    uint32_t n = 0;
    for (Span &s : *out) {
      bool skip = false;
      for (Str k : o.off) skip |= weir_eq(k, s.kind);
      if (!skip) (*out)[n++] = s;
    }
    out->n = n;
  }
}

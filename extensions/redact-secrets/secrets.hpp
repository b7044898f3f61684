// Finding credentials in text.
#pragma once
#include "../../guest-sdk/c/weir.h"

using Str = weir_str;

// Where a credential stands in a text, and of what kind it is ("github-token"). kind lives as long as the extension.
struct Span {
  uint32_t from, to;
  const char *kind;
};

// A growing array in the arena. Zero is an empty one.
template <class T> struct Vec {
  T *p = nullptr;
  uint32_t n = 0, cap = 0;
  void push(const T &v) {
    if (n == cap) {
      uint32_t c = cap ? cap * 2 : 8;
      p = static_cast<T *>(weir_realloc(p, cap * sizeof(T), c * sizeof(T)));
      cap = c;
    }
    p[n++] = v;
  }
  T &operator[](uint32_t i) { return p[i]; }
  T *begin() const { return p; }
  T *end() const { return p + n; }
};

// What the settings switch.
struct Options {
  bool generic = true; // values recognised only by the name beside them
  Vec<Str> off;        // kinds that are left alone
};

// findSecrets lists the credentials of text, in order, without overlaps.
void findSecrets(Str text, const Options &options, Vec<Span> *out);

// formats.cpp: tokens that their own spelling gives away. Returns the end of the token that starts at i, or 0.
uint32_t matchFormat(Str text, uint32_t i, const char **kind);

// context.cpp: values recognised by what stands beside them. Each returns the position to go on from and adds what it found.
uint32_t matchNamed(Str text, uint32_t i, const Options &o, Vec<Span> *out);
uint32_t matchUrl(Str text, uint32_t colon, Vec<Span> *out);
uint32_t matchPem(Str text, uint32_t i, Vec<Span> *out);
uint32_t matchFlag(Str text, uint32_t line, uint32_t i, Vec<Span> *out); // curl -u me:secret; line is where its line starts
void matchLine(Str text, uint32_t from, uint32_t to, Vec<Span> *out); // .pgpass

bool isPlaceholder(Str value); // xxxx, <your-key>, ${VAR}, …
bool looksRandom(Str value);   // letters and digits mixed as no word and no identifier mixes them

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool isLower(char c) { return c >= 'a' && c <= 'z'; }
inline bool isAlnum(char c) { return isDigit(c) || isUpper(c) || isLower(c); }
inline bool isWord(char c) { return isAlnum(c) || c == '_'; }
inline bool isHex(char c) { return isDigit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }
inline bool isBase64(char c) { return isAlnum(c) || c == '+' || c == '/' || c == '='; }
inline bool isBlank(char c) { return c == ' ' || c == '\t'; }
inline bool containsFold(Str s, const char *what) {
  Str w = weir_cstr(what);
  for (size_t i = 0; i + w.n <= s.n; i++) {
    size_t j = 0;
    while (j < w.n && lower(s.p[i + j]) == w.p[j]) j++;
    if (j == w.n) return true;
  }
  return false;
}
inline bool startsAt(Str t, size_t i, const char *with) {
  for (; *with; with++, i++)
    if (i >= t.n || t.p[i] != *with) return false;
  return true;
}

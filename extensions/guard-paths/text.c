/* Text of paths: comparing, walking, and what a path looks like to an eye or another system. */
#include "paths.h"

/* A pattern with * for any text. */
bool matches(weir_str p, weir_str s) {
  size_t i = 0, j = 0, star = (size_t)-1, back = 0;
  while (j < s.n) {
    if (i < p.n && p.p[i] == '*') {
      star = i++;
      back = j;
    } else if (i < p.n && p.p[i] == s.p[j]) {
      i++;
      j++;
    } else if (star != (size_t)-1) {
      i = star + 1;
      j = ++back;
    } else {
      return false;
    }
  }
  while (i < p.n && p.p[i] == '*') i++;
  return i == p.n;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

bool equals_fold(weir_str s, const char *want) {
  weir_str w = weir_cstr(want);
  if (s.n != w.n) return false;
  for (size_t i = 0; i < s.n; i++)
    if (lower(s.p[i]) != w.p[i]) return false;
  return true;
}

bool ends_fold(weir_str s, const char *want) {
  size_t n = weir_cstr(want).n;
  return s.n >= n && equals_fold(weir_sub(s, s.n - n, s.n), want);
}

/* Both are clean: no /./, no trailing slash but that of /. */
bool within(weir_str path, weir_str folder) {
  if (!folder.n || path.n < folder.n || !weir_same(weir_sub(path, 0, folder.n), folder)) return false;
  return path.n == folder.n || path.p[folder.n] == '/' || folder.p[folder.n - 1] == '/';
}

/* The parts between slashes, without empty ones. */
bool next_part(weir_str path, size_t *at, weir_str *part) {
  while (*at < path.n && path.p[*at] == '/') ++*at;
  size_t from = *at;
  while (*at < path.n && path.p[*at] != '/') ++*at;
  *part = weir_sub(path, from, *at);
  return part->n > 0;
}

weir_str last_part(weir_str path) {
  weir_str part, last = {path.p, 0};
  for (size_t at = 0; next_part(path, &at, &part);) last = part;
  return last;
}

/* Whether .. leads above where a relative path starts. */
bool climbs_out(weir_str path) {
  int depth = 0;
  weir_str part;
  for (size_t at = 0; next_part(path, &at, &part);) {
    if (weir_eq(part, "..")) {
      if (--depth < 0) return true;
    } else if (!weir_eq(part, ".")) {
      depth++;
    }
  }
  return false;
}

static uint32_t rune_at(weir_str s, size_t at, size_t *n) {
  const unsigned char *u = (const unsigned char *)s.p + at;
  *n = weir_utf8(s.p + at, s.p + s.n);
  switch (*n) {
  case 1: return u[0];
  case 2: return (u[0] & 31u) << 6 | (u[1] & 63u);
  case 3: return (u[0] & 15u) << 12 | (u[1] & 63u) << 6 | (u[2] & 63u);
  case 4: return (u[0] & 7u) << 18 | (u[1] & 63u) << 12 | (u[2] & 63u) << 6 | (u[3] & 63u);
  }
  *n = 1;
  return 0xfffd;
}

/* Characters that show nothing (Unicode's Default_Ignorable_Code_Point, and accents that stand alone). */
static bool invisible(uint32_t c) {
  return c == 0xad || (c >= 0x300 && c <= 0x36f) || c == 0x61c || c == 0x115f || c == 0x1160 || (c >= 0x17b4 && c <= 0x17b5) || (c >= 0x180b && c <= 0x180f) ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0x3164 || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff || c == 0xffa0 ||
         (c >= 0xe0000 && c <= 0xe0fff);
}

/* Letters of other scripts that look like Latin ones (a selection of Unicode's confusables.txt), as pairs. */
static const struct {
  uint16_t from;
  char to;
} kAlike[] = {{0x131, 'i'}, {0x17f, 's'}, {0x251, 'a'}, {0x261, 'g'}, {0x26a, 'i'}, {0x274, 'n'}, {0x280, 'r'}, {0x28f, 'y'}, {0x3b1, 'a'}, {0x3b5, 'e'}, {0x3b9, 'i'}, {0x3ba, 'k'},
              {0x3bd, 'v'}, {0x3bf, 'o'}, {0x3c1, 'p'}, {0x3c3, 'o'}, {0x3c4, 't'}, {0x3c5, 'u'}, {0x3c7, 'x'}, {0x391, 'a'}, {0x392, 'b'}, {0x395, 'e'}, {0x396, 'z'}, {0x397, 'h'},
              {0x399, 'i'}, {0x39a, 'k'}, {0x39c, 'm'}, {0x39d, 'n'}, {0x39f, 'o'}, {0x3a1, 'p'}, {0x3a4, 't'}, {0x3a5, 'y'}, {0x3a7, 'x'}, {0x3f2, 'c'}, {0x405, 's'}, {0x406, 'i'},
              {0x408, 'j'}, {0x410, 'a'}, {0x412, 'b'}, {0x415, 'e'}, {0x41a, 'k'}, {0x41c, 'm'}, {0x41d, 'h'}, {0x41e, 'o'}, {0x420, 'p'}, {0x421, 'c'}, {0x422, 't'}, {0x423, 'y'},
              {0x425, 'x'}, {0x430, 'a'}, {0x435, 'e'}, {0x43a, 'k'}, {0x43c, 'm'}, {0x43e, 'o'}, {0x440, 'p'}, {0x441, 'c'}, {0x442, 't'}, {0x443, 'y'}, {0x445, 'x'}, {0x450, 'e'},
              {0x451, 'e'}, {0x455, 's'}, {0x456, 'i'}, {0x457, 'i'}, {0x458, 'j'}, {0x475, 'v'}, {0x4bb, 'h'}, {0x501, 'd'}, {0x51b, 'q'}, {0x51d, 'w'}, {0x578, 'n'}, {0x57d, 'u'},
              {0x585, 'o'}, {0x1d0f, 'o'}, {0x1d1c, 'u'}, {0x1d20, 'v'}, {0x2113, 'l'}, {0x2170, 'i'}, {0x217c, 'l'}, {0x217d, 'c'}, {0x217e, 'd'}, {0x217f, 'm'}, {0x212a, 'k'}, {0x2139, 'i'}};

static char latin(uint32_t c) {
  if (c >= 0xff01 && c <= 0xff5e) return lower((char)(c - 0xfee0)); /* full width */
  if (c >= 0x24d0 && c <= 0x24e9) return (char)('a' + (c - 0x24d0)); /* in circles */
  if (c >= 0x24b6 && c <= 0x24cf) return (char)('a' + (c - 0x24b6));
  if (c >= 0x1d400 && c <= 0x1d6a3) return (char)('a' + (c - 0x1d400) % 26); /* mathematical */
  if (c == 0x2044 || c == 0x2215 || c == 0x29f8 || c == 0x2571) return '/';
  if (c == 0x2216 || c == 0x29f5 || c == 0x29f9) return '/';
  if (c == 0x3002 || c == 0xff61 || c == 0xfe52 || c == 0x2024 || c == 0xb7 || c == 0x2e31) return '.';
  if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212 || c == 0xfe58 || c == 0xfe63) return '-';
  if (c == 0xa0 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000) return ' ';
  for (size_t i = 0; i < sizeof kAlike / sizeof *kAlike; i++)
    if (kAlike[i].from == c) return kAlike[i].to;
  return 0;
}

static int hex(char c) {
  c = lower(c);
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parts without what other systems and tools leave off: quotes around, blanks and dots behind, a stream's name. */
static weir_str trimmed(weir_str part) {
  size_t dots = 0;
  while (dots < part.n && part.p[dots] == '.') dots++;
  if (dots == part.n) return part;
  size_t colon = weir_find(part, WEIR_S("::$"), 0);
  if (colon != (size_t)-1) part = weir_sub(part, 0, colon);
  for (bool again = true; again && part.n;) {
    char a = part.p[0], z = part.p[part.n - 1];
    again = true;
    if (a == '"' || a == '\'' || a == '`' || a == ' ' || a == '\t' || a == '\n' || a == '@') part = weir_sub(part, 1, part.n);
    else if (z == '"' || z == '\'' || z == '`' || z == ' ' || z == '\t' || z == '\n' || z == '\r' || (z == '.' && part.n > 2)) part = weir_sub(part, 0, part.n - 1);
    else again = false;
  }
  return part;
}

/* Whether a run of letters mixes Latin ones with look-alikes of another script. */
bool mixes_scripts(weir_str s) {
  bool ascii = false, alike = false;
  for (size_t i = 0, n = 1; i < s.n; i += n) {
    uint32_t c = rune_at(s, i, &n);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) ascii = true;
    else if (c >= 0x370 && c < 0x590 && latin(c)) alike = true;
    else if (c < 0x80) ascii = alike = false;
    if (ascii && alike) return true;
  }
  return false;
}

/* fold is a path as it looks, or as other file systems and careless tools read it: case, look-alikes, invisible characters,
 * backslashes, %2e and %2f, quotes and trailing blanks and dots make no difference. .. is resolved by the text. */
weir_str fold(weir_str path) {
  char *b = (char *)weir_alloc(path.n + 4), *o = b;
  for (size_t i = 0, n = 1; i < path.n; i += n) {
    uint32_t c = rune_at(path, i, &n);
    char l;
    if (c < 0x80) {
      if (c == '%' && i + 2 < path.n && hex(path.p[i + 1]) >= 0 && hex(path.p[i + 2]) >= 0) {
        c = (uint32_t)(hex(path.p[i + 1]) << 4 | hex(path.p[i + 2]));
        n = 3;
        if (c >= 0x80 || c < 0x20) continue;
      }
      *o++ = c == '\\' ? '/' : lower((char)c);
    } else if (invisible(c)) {
      continue;
    } else if ((l = latin(c)) != 0) {
      *o++ = l == '\\' ? '/' : l;
    } else if (c == 0x2025 || c == 0x2026) {
      *o++ = '.';
      *o++ = '.';
      if (c == 0x2026) *o++ = '.';
    } else {
      __builtin_memcpy(o, path.p + i, n);
      o += n;
    }
  }
  weir_str flat = {b, (size_t)(o - b)}, part;
  char *d = (char *)weir_alloc(flat.n + 2), *e = d;
  if (flat.n && trimmed(flat).n && trimmed(flat).p[0] == '/') *e++ = '/';
  for (size_t at = 0; next_part(flat, &at, &part);) {
    part = trimmed(part);
    if (!part.n || weir_eq(part, ".")) continue;
    weir_str so_far = {d, (size_t)(e - d)}, before = last_part(so_far);
    if (weir_eq(part, "..") && before.n && !weir_eq(before, "..")) {
      e = d + (before.p - d);
      while (e > d + 1 && e[-1] == '/') e--;
      continue;
    }
    if (e > d && e[-1] != '/') *e++ = '/';
    __builtin_memcpy(e, part.p, part.n);
    e += part.n;
  }
  weir_str r = {d, (size_t)(e - d)};
  return r;
}

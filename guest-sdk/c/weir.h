/*
 * weir.h: write a weir extension in C (C11) or C++ (C++17), in one header, without a libc.
 *
 *   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,--strip-all -o policy.wasm policy.c
 *
 * Life of an extension:
 *   1. The host calls what WEIR_DESCRIBE declares, once per digest, and learns name, hooks and settings.
 *   2. Before the first hook of an instance runs, WEIR_SETUP runs, if there is one. What it allocates stays.
 *   3. Each hook (WEIR_ON, WEIR_ON_TABLE) gets its event, writes one answer and returns. Its memory is then free.
 *
 * A hook returns 0 when its answer counts and non-zero when it could not decide; the host treats the latter as a fault,
 * and a faulting tool_call gate blocks. Every function below that "answers" returns 0, so that `return weir_allow();` reads
 * well. A hook that answers nothing is a fault as well: there is no silent way to allow.
 *
 * Memory: one arena, empty at the start of every call. It grows with memory.grow; when the host refuses, the call ends with
 * a trap after weir_error("out of memory"), which is a fault, never a decision. Nothing has to be freed. Views (weir_str,
 * weir_val) point into the arena and are valid until the hook returns.
 *
 * Imports: each host function below is imported only if the policy uses it. What a module imports is what it may ask for.
 *
 * With wasi-libc the header works as well (--target=wasm32-wasi -mexec-model=reactor): the arena then takes large
 * pieces from malloc. With WEIR_NATIVE defined it compiles for the machine at hand; the host functions and
 * weir_native_pages are then ordinary functions that the test supplies.
 *
 * Not safe for threads: an instance runs one call at a time.
 */
#ifndef WEIR_H
#define WEIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__wasi__) && !defined(WEIR_NATIVE)
#include <stdlib.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_FN static inline __attribute__((unused))

/* ------------------------------------------------------------------ host functions (raw; abi.md, section 2) */

#ifdef WEIR_NATIVE
#define WEIR_IMPORT(name) extern
#define WEIR_EXPORT(name)
#else
#define WEIR_IMPORT(name) __attribute__((import_module("extism:host/user"), import_name(name))) extern
#define WEIR_EXPORT(name) __attribute__((export_name(name)))
#endif

/* The readers copy at most len bytes from offset on and return how many; len 0 returns the total length. */
WEIR_IMPORT("weir_input_read") uint32_t weir_host_input_read(void *ptr, uint32_t offset, uint32_t len);
WEIR_IMPORT("weir_config_read") uint32_t weir_host_config_read(void *ptr, uint32_t offset, uint32_t len);
WEIR_IMPORT("weir_response_read") uint32_t weir_host_response_read(void *ptr, uint32_t offset, uint32_t len);
WEIR_IMPORT("weir_message_read") uint32_t weir_host_message_read(uint32_t index, void *ptr, uint32_t offset, uint32_t len);
WEIR_IMPORT("weir_output_write") void weir_host_output_write(const void *ptr, uint32_t len);
WEIR_IMPORT("weir_error") void weir_host_error(const void *ptr, uint32_t len);
WEIR_IMPORT("weir_log") void weir_host_log(int32_t level, const void *ptr, uint32_t len);
WEIR_IMPORT("weir_tool_update") void weir_host_tool_update(const void *ptr, uint32_t len);
/* Capabilities: each needs a grant in the set. They return the response's length, or a negative error code. */
WEIR_IMPORT("weir_kv") int32_t weir_host_kv(const void *ptr, uint32_t len);
WEIR_IMPORT("weir_http") int32_t weir_host_http(const void *ptr, uint32_t len);
WEIR_IMPORT("weir_file") int32_t weir_host_file(const void *ptr, uint32_t len);
WEIR_IMPORT("weir_ui") int32_t weir_host_ui(const void *ptr, uint32_t len);
WEIR_IMPORT("weir_session") int32_t weir_host_session(const void *ptr, uint32_t len);
WEIR_IMPORT("weir_journal") int32_t weir_host_journal(const void *ptr, uint32_t len);

/* ------------------------------------------------------------------ bytes */

/* A view of bytes, not terminated. An absent string has p == NULL and n == 0; an empty one may have either p. */
typedef struct {
  const char *p;
  size_t n;
} weir_str;

/* WEIR_S("text") is the view of a literal. */
#ifdef __cplusplus
#define WEIR_S(lit) (weir_str{(lit), sizeof(lit) - 1})
#else
#define WEIR_S(lit) ((weir_str){(lit), sizeof(lit) - 1})
#endif

/* A clang that sees loops like these turns them into calls of memcpy and friends; without a libc they must exist. */
#if !defined(WEIR_NATIVE) && !defined(__wasi__)
#define WEIR__LIBC(fn) __attribute__((weak, no_builtin(fn)))
WEIR__LIBC("memcpy") void *memcpy(void *d, const void *s, size_t n) {
  char *o = (char *)d;
  const char *i = (const char *)s;
  for (; n >= 8; n -= 8, o += 8, i += 8) {
    uint64_t w;
    __builtin_memcpy(&w, i, 8);
    __builtin_memcpy(o, &w, 8);
  }
  while (n--) *o++ = *i++;
  return d;
}
WEIR__LIBC("memmove") void *memmove(void *d, const void *s, size_t n) {
  char *o = (char *)d;
  const char *i = (const char *)s;
  if (o <= i || o >= i + n) return memcpy(d, s, n); /* which goes forward */
  while (n--) o[n] = i[n];
  return d;
}
WEIR__LIBC("memset") void *memset(void *d, int c, size_t n) {
  char *o = (char *)d;
  while (n--) *o++ = (char)c;
  return d;
}
WEIR__LIBC("strlen") size_t strlen(const char *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}
WEIR__LIBC("memcmp") int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
  for (; n--; x++, y++)
    if (*x != *y) return *x < *y ? -1 : 1;
  return 0;
}
#endif

/* weir_cstr is the view of a terminated string; NULL gives the absent string. */
WEIR_FN weir_str weir_cstr(const char *s) {
  weir_str r = {s, s ? __builtin_strlen(s) : 0};
  return r;
}
/* weir_sub is s[from, to), cut to what s has. */
WEIR_FN weir_str weir_sub(weir_str s, size_t from, size_t to) {
  if (to > s.n) to = s.n;
  if (from > to) from = to;
  weir_str r = {s.p + from, to - from};
  return r;
}
WEIR_FN bool weir_same(weir_str a, weir_str b) { return a.n == b.n && (a.n == 0 || __builtin_memcmp(a.p, b.p, a.n) == 0); }
WEIR_FN bool weir_eq(weir_str a, const char *b) { return weir_same(a, weir_cstr(b)); }
WEIR_FN bool weir_starts(weir_str s, const char *with) {
  weir_str w = weir_cstr(with);
  return s.n >= w.n && weir_same(weir_sub(s, 0, w.n), w);
}
WEIR_FN bool weir_ends(weir_str s, const char *with) {
  weir_str w = weir_cstr(with);
  return s.n >= w.n && weir_same(weir_sub(s, s.n - w.n, s.n), w);
}
/* weir_find is the position of what in s at or after from, or (size_t)-1. An empty what is found at from. */
WEIR_FN size_t weir_find(weir_str s, weir_str what, size_t from) {
  for (size_t i = from; i + what.n <= s.n; i++)
    if (what.n == 0 || (s.p[i] == what.p[0] && __builtin_memcmp(s.p + i, what.p, what.n) == 0)) return i;
  return (size_t)-1;
}
WEIR_FN bool weir_contains(weir_str s, const char *what) { return weir_find(s, weir_cstr(what), 0) != (size_t)-1; }

/* ------------------------------------------------------------------ the arena */

#define WEIR__CHUNKS 24
typedef struct {
  uintptr_t start[WEIR__CHUNKS], end[WEIR__CHUNKS]; /* memory that is ours, in the order it came */
  uint32_t chunks, chunk;                           /* how many; the one that top points into */
  uint32_t base_chunk;                              /* where a call starts: behind what WEIR_SETUP allocated */
  uintptr_t top, base;
  bool ready;
} weir__arena;
/* Weak, so that several source files of one extension share it. */
__attribute__((weak)) weir__arena weir__a;

__attribute__((unused)) static void weir__out_of_memory(void) {
  weir_host_error("out of memory", 13);
  __builtin_trap();
}

#ifdef WEIR_NATIVE
/* Supplied by the test: pages * 64 KiB of fresh memory, or NULL. */
extern void *weir_native_pages(size_t pages);
#elif !defined(__wasi__)
extern unsigned char __heap_base;
#endif

__attribute__((noinline, unused)) static void weir__more(size_t need) {
  weir__arena *a = &weir__a;
#if !defined(WEIR_NATIVE) && !defined(__wasi__)
  if (a->chunks == 0) { /* the linker's memory behind the data is free */
    a->start[0] = a->top = a->base = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
    a->end[0] = (uintptr_t)__builtin_wasm_memory_size(0) << 16;
    a->chunks = 1;
    if (a->end[0] - a->top >= need) return;
  }
#endif
  while (a->chunk + 1 < a->chunks) { /* left by an earlier, larger call */
    a->chunk++;
    a->top = a->start[a->chunk];
    if (a->end[a->chunk] - a->top >= need) return;
  }
  if (need > 0x7fff0000u) weir__out_of_memory();
  /* Half as much again as there is, so that chunks stay few even when malloc takes pages in between. */
  size_t total = 0;
  for (uint32_t i = 0; i < a->chunks; i++) total += a->end[i] - a->start[i];
  size_t pages = ((need + 65535) >> 16) + (total >> 17);
#if defined(WEIR_NATIVE) || defined(__wasi__)
#ifdef WEIR_NATIVE
  void *m = weir_native_pages(pages);
#else
  void *m = malloc(pages << 16); /* malloc takes all memory there is for its own when it starts */
#endif
  if (!m) weir__out_of_memory();
  uintptr_t got = (uintptr_t)m;
#else
  size_t before = __builtin_wasm_memory_grow(0, pages);
  if (before == (size_t)-1) {
    size_t left = a->chunks ? a->end[a->chunk] - a->top : 0;
    pages = (need - (left < need ? left : 0) + 65535) >> 16; /* perhaps just what is needed fits */
    before = __builtin_wasm_memory_grow(0, pages);
    if (before == (size_t)-1) weir__out_of_memory();
  }
  uintptr_t got = (uintptr_t)before << 16;
#endif
  if (a->chunks && got == a->end[a->chunk]) {
    a->end[a->chunk] = got + (pages << 16);
    if (a->end[a->chunk] - a->top >= need) return;
    weir__out_of_memory();
  }
  if (a->chunks == WEIR__CHUNKS || (pages << 16) < need) weir__out_of_memory();
  a->start[a->chunks] = got;
  a->end[a->chunks] = got + (pages << 16);
  a->chunk = a->chunks++;
  a->top = got;
  if (a->chunks == 1) {
    a->base = got;
    a->base_chunk = 0;
  }
}

/* weir_alloc gives n bytes, aligned to 16, not cleared, valid until the hook returns (in WEIR_SETUP: for ever). Never NULL. */
WEIR_FN void *weir_alloc(size_t n) {
  weir__arena *a = &weir__a;
  if (n > 0x7fff0000u) weir__out_of_memory();
  n = (n + 15) & ~(size_t)15;
  if (a->chunks == 0 || a->end[a->chunk] - a->top < n) weir__more(n);
  void *r = (void *)a->top;
  a->top += n;
  return r;
}

/* weir_realloc makes room for n bytes and keeps the first old; in place when p was the last allocation. p may be NULL. */
__attribute__((noinline, unused)) static void *weir_realloc(void *p, size_t old, size_t n) {
  weir__arena *a = &weir__a;
  size_t olda = (old + 15) & ~(size_t)15;
  if (p && (uintptr_t)p + olda == a->top && n <= 0x7fff0000u) {
    size_t na = (n + 15) & ~(size_t)15;
    if (a->end[a->chunk] - (uintptr_t)p >= na) {
      a->top = (uintptr_t)p + na;
      return p;
    }
  }
  void *r = weir_alloc(n);
  if (old) __builtin_memmove(r, p, old < n ? old : n);
  return r;
}

/* ------------------------------------------------------------------ errors and logging */

/* weir_fail ends the hook without a decision: `return weir_fail("why");`. For a tool_call gate the host then blocks. */
WEIR_FN int weir_fail(const char *why) {
  weir_host_error(why, (uint32_t)__builtin_strlen(why));
  return 1;
}

enum { WEIR_DEBUG = 0, WEIR_INFO = 1, WEIR_WARN = 2, WEIR_ERROR = 3 };
/* weir_log writes a line to the host's log. The host cuts what exceeds its limits (256 lines, 64 KiB a call). */
WEIR_FN void weir_log(int level, weir_str text) { weir_host_log(level, text.p, (uint32_t)text.n); }

/* ------------------------------------------------------------------ reading JSON */

/* What a value is. Absent values (a missing key, a NULL weir_val) are WEIR_NONE, and every accessor accepts them. */
enum { WEIR_NONE = 0, WEIR_NULL, WEIR_BOOL, WEIR_NUMBER, WEIR_STRING, WEIR_ARRAY, WEIR_OBJECT };

/* A value of a parsed document. Use the accessors, not the fields. */
typedef struct weir_node {
  const char *p;  /* its JSON text */
  uint32_t n;     /* length of that */
  uint32_t skip;  /* nodes in it, itself included: the next sibling is this far away */
  uint32_t kind;  /* WEIR_… */
  uint32_t plain; /* string without escapes; bool: its value */
} weir_node;
typedef const weir_node *weir_val;

/* The deepest nesting of arrays and objects that is read; the same bound as the host's (abi.md, section 4). */
#define WEIR_MAX_DEPTH 64

#define WEIR__ONES 0x0101010101010101ull
#define WEIR__HIGH 0x8080808080808080ull

/* weir__plain_run skips bytes that need no attention inside a string: not '"', '\', below 0x20 or above 0x7f. */
WEIR_FN const char *weir__plain_run(const char *s, const char *e) {
  while (e - s >= 8) {
    uint64_t x, q, b, hit;
    __builtin_memcpy(&x, s, 8);
    q = x ^ (WEIR__ONES * '"');
    b = x ^ (WEIR__ONES * '\\');
    hit = ((x - WEIR__ONES * 0x20) | (q - WEIR__ONES) | (b - WEIR__ONES) | x) & WEIR__HIGH;
    /* A borrow can only mark bytes above a true hit, and a byte above 0x7f is a hit itself: the lowest mark is exact. */
    if (hit) {
      return s + (__builtin_ctzll(hit) >> 3);
    }
    s += 8;
  }
  while (s < e && *s != '"' && *s != '\\' && (unsigned char)*s >= 0x20 && (unsigned char)*s < 0x80) s++;
  return s;
}

/* weir_utf8 is the length of the well-formed UTF-8 sequence at s, or 0 (overlong, surrogate, too large, cut off). */
WEIR_FN size_t weir_utf8(const char *s, const char *e) {
  const unsigned char *u = (const unsigned char *)s;
  size_t n = (size_t)(e - s);
  if (n == 0) return 0;
  if (u[0] < 0x80) return 1;
  if (u[0] < 0xc2) return 0;
#define WEIR__TAIL(i) ((u[i] & 0xc0) == 0x80)
  if (u[0] < 0xe0) return n >= 2 && WEIR__TAIL(1) ? 2 : 0;
  if (u[0] < 0xf0) {
    if (n < 3 || !WEIR__TAIL(1) || !WEIR__TAIL(2)) return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f)) return 0;
    return 3;
  }
  if (u[0] > 0xf4 || n < 4 || !WEIR__TAIL(1) || !WEIR__TAIL(2) || !WEIR__TAIL(3)) return 0;
  if ((u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f)) return 0;
#undef WEIR__TAIL
  return 4;
}

WEIR_FN int32_t weir__hex4(const char *s, const char *e) {
  if (e - s < 4) return -1;
  int32_t v = 0;
  for (int i = 0; i < 4; i++) {
    char c = s[i];
    int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (d < 0) return -1;
    v = v << 4 | d;
  }
  return v;
}

/* weir__string checks the string that starts behind its opening quote; returns what follows the closing one, or NULL. */
WEIR_FN const char *weir__string(const char *s, const char *e, uint32_t *plain, const char **why) {
  *plain = 1;
  for (;;) {
    s = weir__plain_run(s, e);
    if (s >= e) {
      *why = "a string does not end";
      return NULL;
    }
    unsigned char c = (unsigned char)*s;
    if (c == '"') return s + 1;
    if (c < 0x20) {
      *why = "a control character in a string";
      return NULL;
    }
    if (c >= 0x80) {
      size_t n = weir_utf8(s, e);
      if (!n) {
        *why = "invalid UTF-8";
        return NULL;
      }
      s += n;
      continue;
    }
    *plain = 0;
    if (e - s < 2) {
      *why = "a string does not end";
      return NULL;
    }
    switch (s[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
      s += 2;
      continue;
    case 'u': {
      int32_t u = weir__hex4(s + 2, e);
      if (u < 0) break;
      s += 6;
      if (u < 0xd800 || u > 0xdfff) continue;
      int32_t low = u < 0xdc00 && e - s >= 6 && s[0] == '\\' && s[1] == 'u' ? weir__hex4(s + 2, e) : -1;
      if (low < 0xdc00 || low > 0xdfff) {
        *why = "half a surrogate pair";
        return NULL;
      }
      s += 6;
      continue;
    }
    }
    *why = "an unknown escape in a string";
    return NULL;
  }
}

/* weir__number returns what follows the number at s, or NULL when there is none. */
WEIR_FN const char *weir__number(const char *s, const char *e) {
#define WEIR__DIGIT(p) ((p) < e && *(p) >= '0' && *(p) <= '9')
  if (s < e && *s == '-') s++;
  if (!WEIR__DIGIT(s)) return NULL;
  if (*s == '0') s++;
  else
    while (WEIR__DIGIT(s)) s++;
  if (s < e && *s == '.') {
    s++;
    if (!WEIR__DIGIT(s)) return NULL;
    while (WEIR__DIGIT(s)) s++;
  }
  if (s < e && (*s == 'e' || *s == 'E')) {
    s++;
    if (s < e && (*s == '+' || *s == '-')) s++;
    if (!WEIR__DIGIT(s)) return NULL;
    while (WEIR__DIGIT(s)) s++;
  }
#undef WEIR__DIGIT
  return s;
}

/*
 * weir_parse reads one JSON document, strictly: one pass that checks and indexes, strings decoded only when asked for.
 * Returns NULL for what is not valid JSON, not valid UTF-8, holds half a surrogate pair, has anything behind it or nests deeper
 * than WEIR_MAX_DEPTH; *why (if why is not NULL) then says which. Of duplicate keys the last counts, as in Go's encoding/json
 * and JavaScript. text must stay unchanged as long as values are used.
 */
__attribute__((unused)) static weir_val weir_parse(weir_str text, const char **why) {
  const char *ignored, *s = text.p, *e = text.p + text.n;
  uint32_t open[WEIR_MAX_DEPTH], depth = 0, count = 0, cap = 32;
  if (!why) why = &ignored;
  weir_node *nodes = (weir_node *)weir_alloc(cap * sizeof *nodes), *v;
#define WEIR__WS() \
  while (s < e && (*s == ' ' || *s == '\n' || *s == '\r' || *s == '\t')) s++
#define WEIR__NODE() \
  do { \
    if (count == cap) { \
      nodes = (weir_node *)weir_realloc(nodes, cap * sizeof *nodes, cap * 2 * sizeof *nodes); \
      cap *= 2; \
    } \
    v = &nodes[count++]; \
    v->p = s; \
    v->skip = 1; \
  } while (0)
value:
  WEIR__WS();
  if (s >= e) {
    *why = "the document ends early";
    return NULL;
  }
  WEIR__NODE();
  switch (*s) {
  case '{': case '[':
    if (depth == WEIR_MAX_DEPTH) {
      *why = "nested too deeply";
      return NULL;
    }
    v->kind = *s == '{' ? WEIR_OBJECT : WEIR_ARRAY;
    open[depth++] = count - 1;
    s++;
    WEIR__WS();
    if (s < e && *s == (v->kind == WEIR_OBJECT ? '}' : ']')) goto close;
    if (v->kind == WEIR_ARRAY) goto value;
    goto key;
  case '"':
    v->kind = WEIR_STRING;
    s = weir__string(s + 1, e, &v->plain, why);
    if (!s) return NULL;
    break;
  case 't':
    if (e - s < 4 || __builtin_memcmp(s, "true", 4) != 0) goto bad;
    v->kind = WEIR_BOOL;
    v->plain = 1;
    s += 4;
    break;
  case 'f':
    if (e - s < 5 || __builtin_memcmp(s, "false", 5) != 0) goto bad;
    v->kind = WEIR_BOOL;
    v->plain = 0;
    s += 5;
    break;
  case 'n':
    if (e - s < 4 || __builtin_memcmp(s, "null", 4) != 0) goto bad;
    v->kind = WEIR_NULL;
    s += 4;
    break;
  default:
    v->kind = WEIR_NUMBER;
    s = weir__number(s, e);
    if (!s) goto bad;
  }
  v->n = (uint32_t)(s - v->p);
after:
  WEIR__WS();
  if (depth == 0) {
    if (s == e) return nodes;
    *why = "text behind the document";
    return NULL;
  }
  if (s >= e) {
    *why = "the document ends early";
    return NULL;
  }
  v = &nodes[open[depth - 1]];
  if (*s == ',') {
    s++;
    if (v->kind == WEIR_ARRAY) goto value;
    WEIR__WS();
    goto key;
  }
  if (*s != (v->kind == WEIR_OBJECT ? '}' : ']')) goto bad;
close:
  s++;
  v = &nodes[open[--depth]];
  v->n = (uint32_t)(s - v->p);
  v->skip = count - open[depth];
  goto after;
key:
  if (s >= e || *s != '"') goto bad;
  WEIR__NODE();
  v->kind = WEIR_STRING;
  s = weir__string(s + 1, e, &v->plain, why);
  if (!s) return NULL;
  v->n = (uint32_t)(s - v->p);
  WEIR__WS();
  if (s >= e || *s != ':') goto bad;
  s++;
  goto value;
bad:
  *why = "not JSON";
  return NULL;
#undef WEIR__WS
#undef WEIR__NODE
}

WEIR_FN int weir_kind(weir_val v) { return v ? (int)v->kind : WEIR_NONE; }
/* weir_raw is the JSON text of a value, as received. */
WEIR_FN weir_str weir_raw(weir_val v) {
  weir_str r = {v ? v->p : NULL, v ? v->n : 0};
  return r;
}

/* weir_put_utf8 writes a code point and returns the end; at most 4 bytes. */
WEIR_FN char *weir_put_utf8(char *o, uint32_t u) {
  if (u < 0x80) {
    *o++ = (char)u;
  } else if (u < 0x800) {
    *o++ = (char)(0xc0 | u >> 6);
    *o++ = (char)(0x80 | (u & 63));
  } else if (u < 0x10000) {
    *o++ = (char)(0xe0 | u >> 12);
    *o++ = (char)(0x80 | (u >> 6 & 63));
    *o++ = (char)(0x80 | (u & 63));
  } else {
    *o++ = (char)(0xf0 | u >> 18);
    *o++ = (char)(0x80 | (u >> 12 & 63));
    *o++ = (char)(0x80 | (u >> 6 & 63));
    *o++ = (char)(0x80 | (u & 63));
  }
  return o;
}

/* weir_string is the decoded text of a string, without a copy if it holds no escape; the absent string for any other value. */
__attribute__((unused)) static weir_str weir_string(weir_val v) {
  weir_str r = {NULL, 0};
  if (weir_kind(v) != WEIR_STRING) return r;
  const char *s = v->p + 1, *e = v->p + v->n - 1;
  r.p = s;
  r.n = (size_t)(e - s);
  if (v->plain) return r;
  char *b = (char *)weir_alloc(r.n), *o = b; /* an escape is never shorter than what it stands for */
  while (s < e) {
    if (*s != '\\') {
      *o++ = *s++;
      continue;
    }
    char c = s[1];
    s += 2;
    switch (c) {
    case 'n': *o++ = '\n'; break;
    case 't': *o++ = '\t'; break;
    case 'r': *o++ = '\r'; break;
    case 'b': *o++ = '\b'; break;
    case 'f': *o++ = '\f'; break;
    case 'u': {
      uint32_t u = (uint32_t)weir__hex4(s, e);
      s += 4;
      if (u >= 0xd800 && u < 0xdc00) {
        u = 0x10000 + ((u & 0x3ff) << 10 | ((uint32_t)weir__hex4(s + 2, e) & 0x3ff));
        s += 6;
      }
      o = weir_put_utf8(o, u);
      break;
    }
    default: *o++ = c;
    }
  }
  r.p = b;
  r.n = (size_t)(o - b);
  return r;
}

/* Iteration: `for (weir_val e = weir_first(a); e; e = weir_next(a, e))` visits an array's elements, or an object's keys
 * (duplicates included, in their order); weir_value gives the value of such a key. */
WEIR_FN weir_val weir_first(weir_val v) {
  return v && (v->kind == WEIR_ARRAY || v->kind == WEIR_OBJECT) && v->skip > 1 ? v + 1 : NULL;
}
WEIR_FN weir_val weir_next(weir_val parent, weir_val e) {
  weir_val n = parent->kind == WEIR_OBJECT ? e + 1 + e[1].skip : e + e->skip;
  return n < parent + parent->skip ? n : NULL;
}
WEIR_FN weir_val weir_value(weir_val key) { return key + 1; }
/* weir_count is the number of elements of an array or of keys of an object; it walks them. */
WEIR_FN size_t weir_count(weir_val v) {
  size_t n = 0;
  for (weir_val e = weir_first(v); e; e = weir_next(v, e)) n++;
  return n;
}

/* weir_get is a member of an object, the last one of that name; NULL when there is none or v is no object. */
WEIR_FN weir_val weir_get(weir_val v, const char *name) {
  weir_val hit = NULL;
  size_t n = __builtin_strlen(name);
  if (weir_kind(v) != WEIR_OBJECT) return NULL;
  for (weir_val k = weir_first(v); k; k = weir_next(v, k)) {
    if (k->plain) {
      if (k->n == n + 2 && __builtin_memcmp(k->p + 1, name, n) == 0) hit = k + 1;
    } else if (weir_eq(weir_string(k), name)) {
      hit = k + 1;
    }
  }
  return hit;
}
/* weir_get_string is a member's text; the absent string when it is missing or not a string. */
WEIR_FN weir_str weir_get_string(weir_val v, const char *name) { return weir_string(weir_get(v, name)); }
/* weir_bool is a boolean's value, otherwise or. */
WEIR_FN bool weir_bool(weir_val v, bool otherwise) { return weir_kind(v) == WEIR_BOOL ? v->plain != 0 : otherwise; }

/* weir_int is a number's value if it is written as an integer that fits 64 bits, otherwise or. */
WEIR_FN int64_t weir_int(weir_val v, int64_t otherwise) {
  if (weir_kind(v) != WEIR_NUMBER) return otherwise;
  const char *s = v->p, *e = v->p + v->n;
  bool neg = *s == '-';
  uint64_t u = 0, max = neg ? 1ull << 63 : (1ull << 63) - 1;
  for (s += neg; s < e; s++) {
    if (*s < '0' || *s > '9') return otherwise;
    uint64_t d = (uint64_t)(*s - '0');
    if (u > (max - d) / 10) return otherwise;
    u = u * 10 + d;
  }
  return neg ? (int64_t)(0 - u) : (int64_t)u;
}

/* weir_number is a number's value, otherwise or. Exact for up to 15 digits and exponents up to 22, else within 1e-14 of it;
 * out of range gives 0 or infinity. */
WEIR_FN double weir_number(weir_val v, double otherwise) {
  if (weir_kind(v) != WEIR_NUMBER) return otherwise;
  const char *s = v->p, *e = v->p + v->n;
  bool neg = *s == '-', dot = false;
  uint64_t m = 0;
  int64_t exp = 0;
  for (s += neg; s < e && *s != 'e' && *s != 'E'; s++) {
    if (*s == '.') {
      dot = true;
    } else if (m < 100000000000000000ull) {
      m = m * 10 + (uint64_t)(*s - '0');
      exp -= dot;
    } else {
      exp += !dot;
    }
  }
  if (s < e) {
    bool down = s[1] == '-';
    int64_t x = 0;
    for (s += 1 + (s[1] == '-' || s[1] == '+'); s < e; s++)
      if (x < 100000) x = x * 10 + (*s - '0');
    exp += down ? -x : x;
  }
  double d = (double)m, p = 10, f = 1;
  uint64_t n = (uint64_t)(exp < 0 ? -exp : exp);
  if (m != 0 && n > 300) { /* in two steps, so that the factor itself stays in range */
    uint64_t rest = n - 300 > 400 ? 400 : n - 300;
    for (; rest; rest--) d = exp < 0 ? d / 10 : d * 10;
    n = 300;
  }
  if (m == 0) n = 0;
  for (; n; n >>= 1, p *= p)
    if (n & 1) f *= p;
  d = exp < 0 ? d / f : d * f;
  return neg ? -d : d;
}

/* ------------------------------------------------------------------ building text and JSON */

/* A growing text. {0} is an empty one. As a JSON writer it sets the commas; keys, brackets and values must come in order. */
typedef struct {
  char *p;
  size_t n, cap;
  bool comma;
} weir_buf;

__attribute__((noinline, unused)) static void weir__grow(weir_buf *b, size_t n) {
  size_t cap = b->cap * 2 > b->n + n ? b->cap * 2 : b->n + n + 64;
  cap = (cap + 15) & ~(size_t)15;
  b->p = (char *)weir_realloc(b->p, b->cap, cap);
  b->cap = cap;
}
WEIR_FN char *weir__room(weir_buf *b, size_t n) {
  if (b->cap - b->n < n) weir__grow(b, n);
  return b->p + b->n;
}
/* weir_add appends bytes as they are. */
WEIR_FN void weir_add(weir_buf *b, weir_str s) {
  if (!s.n) return;
  char *o = weir__room(b, s.n);
  __builtin_memcpy(o, s.p, s.n);
  b->n += s.n;
}
WEIR_FN void weir_add_c(weir_buf *b, const char *s) { weir_add(b, weir_cstr(s)); }
WEIR_FN void weir_add_char(weir_buf *b, char c) {
  *weir__room(b, 1) = c;
  b->n++;
}
WEIR_FN void weir_add_int(weir_buf *b, int64_t v) {
  char t[24];
  size_t i = sizeof t;
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do t[--i] = (char)('0' + u % 10);
  while (u /= 10);
  if (v < 0) t[--i] = '-';
  weir_str s = {t + i, sizeof t - i};
  weir_add(b, s);
}
/* weir_text is what has been written so far. */
WEIR_FN weir_str weir_text(const weir_buf *b) {
  weir_str r = {b->p, b->n};
  return r;
}

WEIR_FN void weir__sep(weir_buf *b) {
  if (b->comma) weir_add_char(b, ',');
  b->comma = true;
}
/* weir__quote appends s as a JSON string. What is not UTF-8 becomes U+FFFD, so that the output is always valid. */
__attribute__((unused)) static void weir__quote(weir_buf *b, weir_str s) {
  const char *i = s.p, *e = s.p + s.n;
  weir_add_char(b, '"');
  while (i < e) {
    const char *run = weir__plain_run(i, e);
    weir_str r = {i, (size_t)(run - i)};
    weir_add(b, r);
    i = run;
    if (i >= e) break;
    unsigned char c = (unsigned char)*i;
    if (c >= 0x80) {
      size_t n = weir_utf8(i, e);
      weir_str u = {i, n};
      if (n) weir_add(b, u);
      else weir_add_c(b, "\xef\xbf\xbd");
      i += n ? n : 1;
      continue;
    }
    i++;
    char *o = weir__room(b, 6);
    char esc = c == '"' || c == '\\' ? (char)c : c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : 0;
    *o++ = '\\';
    b->n += 2;
    if (esc) {
      *o = esc;
      continue;
    }
    b->n += 4;
    *o++ = 'u';
    *o++ = '0';
    *o++ = '0';
    *o++ = (char)('0' + (c >> 4));
    *o = "0123456789abcdef"[c & 15];
  }
  weir_add_char(b, '"');
}
/* Values. weir_json_raw and weir_json_val insert JSON text unchanged; the caller vouches for raw. */
WEIR_FN void weir_json_string(weir_buf *b, weir_str s) {
  weir__sep(b);
  weir__quote(b, s);
}
WEIR_FN void weir_json_int(weir_buf *b, int64_t v) {
  weir__sep(b);
  weir_add_int(b, v);
}
WEIR_FN void weir_json_bool(weir_buf *b, bool v) {
  weir__sep(b);
  weir_add_c(b, v ? "true" : "false");
}
WEIR_FN void weir_json_raw(weir_buf *b, weir_str json) {
  weir__sep(b);
  weir_add(b, json);
}
WEIR_FN void weir_json_val(weir_buf *b, weir_val v) { weir_json_raw(b, v ? weir_raw(v) : WEIR_S("null")); }
/* Containers: weir_json_open(b, '{') … weir_json_close(b, '}'); inside an object weir_json_key comes before each value. */
WEIR_FN void weir_json_open(weir_buf *b, char bracket) {
  weir__sep(b);
  weir_add_char(b, bracket);
  b->comma = false;
}
WEIR_FN void weir_json_close(weir_buf *b, char bracket) {
  weir_add_char(b, bracket);
  b->comma = true;
}
WEIR_FN void weir_json_key(weir_buf *b, const char *name) {
  weir__sep(b);
  weir__quote(b, weir_cstr(name));
  weir_add_char(b, ':');
  b->comma = false;
}

/* ------------------------------------------------------------------ answers */

/* weir_answer answers with JSON text. The host reads it strictly (abi.md, section 4). */
WEIR_FN int weir_answer(weir_str json) {
  weir_host_output_write(json.p, (uint32_t)json.n);
  return 0;
}
WEIR_FN int weir_answer_buf(const weir_buf *b) { return weir_answer(weir_text(b)); }
/* weir_allow answers "no opinion": the call goes on, the result or the messages stay as they are. For every hook. */
WEIR_FN int weir_allow(void) { return weir_answer(WEIR_S("{}")); }
/* weir_block_str answers that a tool call must not run. The model is shown the reason. */
WEIR_FN int weir_block_str(weir_str reason) {
  weir_buf b = {0, 0, 0, false};
  weir_add_c(&b, "{\"block\":true,\"reason\":");
  weir__quote(&b, reason);
  weir_add_char(&b, '}');
  return weir_answer_buf(&b);
}
WEIR_FN int weir_block(const char *reason) { return weir_block_str(weir_cstr(reason)); }
/* weir_ask_str answers that a person must agree to a tool call; where there is none the host blocks. message may be absent. */
WEIR_FN int weir_ask_str(weir_str title, weir_str message) {
  weir_buf b = {0, 0, 0, false};
  weir_add_c(&b, "{\"ask\":{\"title\":");
  weir__quote(&b, title);
  if (message.p) {
    weir_add_c(&b, ",\"message\":");
    weir__quote(&b, message);
  }
  weir_add_c(&b, "}}");
  return weir_answer_buf(&b);
}
WEIR_FN int weir_ask(const char *title, const char *message) { return weir_ask_str(weir_cstr(title), weir_cstr(message)); }

/* weir_with copies an object and sets one member to json (JSON text): appended if missing, duplicates removed. */
WEIR_FN void weir_with(weir_buf *b, weir_val object, const char *name, weir_str json) {
  weir_json_open(b, '{');
  for (weir_val k = weir_first(object); k; k = weir_next(object, k)) {
    weir_str key = weir_string(k);
    if (weir_eq(key, name)) continue;
    weir__sep(b);
    weir_add(b, weir_raw(k));
    weir_add_char(b, ':');
    weir_add(b, weir_raw(weir_value(k)));
  }
  weir_json_key(b, name);
  weir_json_raw(b, json);
  weir_json_close(b, '}');
}
/* weir_rewrite answers that a tool call runs with one argument set to text; the other arguments keep their bytes. */
WEIR_FN int weir_rewrite(weir_val ev, const char *argument, weir_str text) {
  weir_buf b = {0, 0, 0, false}, v = {0, 0, 0, false};
  weir__quote(&v, text);
  weir_add_c(&b, "{\"input\":");
  weir_with(&b, weir_get(ev, "input"), argument, weir_text(&v));
  weir_add_char(&b, '}');
  return weir_answer_buf(&b);
}
/* weir_result_text answers that a tool result's content becomes one block of text. */
WEIR_FN int weir_result_text(weir_str text) {
  weir_buf b = {0, 0, 0, false};
  weir_add_c(&b, "{\"content\":[{\"type\":\"text\",\"text\":");
  weir__quote(&b, text);
  weir_add_c(&b, "}]}");
  return weir_answer_buf(&b);
}

/* ------------------------------------------------------------------ input, settings, capabilities */

/* weir__read copies what a reader has. One host call when it fits 16 KiB, three otherwise. 8 bytes of room stay behind it. */
#define WEIR__READ(result, READ) \
  do { \
    uint32_t weir__cap = 16384, weir__n; \
    char *weir__b = (char *)weir_alloc(weir__cap); \
    weir__n = READ(weir__b, 0, weir__cap); \
    if (weir__n == weir__cap) { \
      uint32_t weir__all = READ(weir__b, 0, 0); \
      weir__b = (char *)weir_realloc(weir__b, weir__cap, (size_t)weir__all + 16); \
      while (weir__n < weir__all) { \
        uint32_t weir__got = READ(weir__b + weir__n, weir__n, weir__all - weir__n); \
        if (!weir__got) break; \
        weir__n += weir__got; \
      } \
    } else { \
      weir__b = (char *)weir_realloc(weir__b, weir__cap, (size_t)weir__n + 16); \
    } \
    (result).p = weir__b; \
    (result).n = weir__n; \
  } while (0)

/* weir_input is the event's bytes, for hooks that do without WEIR_ON's parsing. */
WEIR_FN weir_str weir_input(void) {
  weir_str r;
  WEIR__READ(r, weir_host_input_read);
  return r;
}

/* weir_config is the extension's settings, checked by the host against the schema of WEIR_DESCRIBE; NULL when there are none.
 * They do not change while an instance lives: read them in WEIR_SETUP. */
WEIR_FN weir_val weir_config(void) {
  weir_str r;
  WEIR__READ(r, weir_host_config_read);
  return r.n ? weir_parse(r, NULL) : NULL;
}

/* Capability calls: request is JSON {"op":…}; the response is copied. *ok tells a response from an error text. */
WEIR_FN weir_str weir__response(int32_t n, bool *ok) {
  weir_str r;
  WEIR__READ(r, weir_host_response_read);
  *ok = n >= 0;
  return r;
}
WEIR_FN weir_str weir_kv(weir_str request, bool *ok) { return weir__response(weir_host_kv(request.p, (uint32_t)request.n), ok); }
WEIR_FN weir_str weir_http(weir_str request, bool *ok) { return weir__response(weir_host_http(request.p, (uint32_t)request.n), ok); }
WEIR_FN weir_str weir_file(weir_str request, bool *ok) { return weir__response(weir_host_file(request.p, (uint32_t)request.n), ok); }
WEIR_FN weir_str weir_ui(weir_str request, bool *ok) { return weir__response(weir_host_ui(request.p, (uint32_t)request.n), ok); }
WEIR_FN weir_str weir_session(weir_str request, bool *ok) {
  return weir__response(weir_host_session(request.p, (uint32_t)request.n), ok);
}
WEIR_FN weir_str weir_journal(weir_str request, bool *ok) {
  return weir__response(weir_host_journal(request.p, (uint32_t)request.n), ok);
}
/* weir_tool_update sends a partial result; only inside tool_execute. */
WEIR_FN void weir_tool_update(weir_str json) { weir_host_tool_update(json.p, (uint32_t)json.n); }

/* ------------------------------------------------------------------ facts (abi.md, section 5) */

/*
 * Facts are what the host worked out about a call before it asked. A hook has the kinds that its description names:
 *
 *   "hooks":{"tool_call":{"facts":["shell","paths","net"]},"tool_result":{"facts":["secrets"]}}
 *
 * Of the others, and where the host sent none, known is false: treat that as a call of which nothing is known. Lists are
 * read element by element:
 *
 *   weir_shell shell = weir_shell_facts(ev);
 *   for (weir_val e = weir_first(shell.commands); e; e = weir_next(shell.commands, e)) {
 *     weir_command c = weir_command_of(e);
 *
 * What the facts leave out is the absent string, false, 0 or an empty list, unless a field says otherwise.
 */

/* The commands that the text of a call would run. */
typedef struct {
  bool known;
  bool understood;   /* the text was followed to its end; otherwise commands are those found until then */
  weir_str reason;   /* why it was not */
  weir_val commands; /* weir_command_of: every simple command, at any depth */
} weir_shell;
WEIR_FN weir_val weir__facts(weir_val ev, const char *kind) {
  weir_val v = weir_get(weir_get(ev, "facts"), kind);
  return weir_kind(v) == WEIR_OBJECT ? v : NULL;
}
WEIR_FN bool weir__is(weir_val v, const char *name) { return weir_bool(weir_get(v, name), false); }
WEIR_FN weir_shell weir_shell_facts(weir_val ev) {
  weir_val v = weir__facts(ev, "shell");
  weir_shell r = {v != NULL, weir__is(v, "understood"), weir_get_string(v, "reason"), weir_get(v, "commands")};
  return r;
}

/* A simple command. */
typedef struct {
  size_t words;       /* weir_word: how many there are; none for a redirection or an assignment that stands alone */
  bool dynamic;       /* a word, an assignment or a target is not known before it runs */
  weir_val argv;      /* its words as the shell would resolve them, those that are not known as the text has them */
  weir_val unknown;   /* indexes of the words that are not known */
  weir_val globs;     /* indexes of the words that stand for names of files */
  weir_val assigns;   /* weir_assign_of: NAME=VALUE before it, or alone */
  weir_val redirects; /* weir_redirect_of */
  weir_val in;        /* texts, the way in, outermost first: subshell, loop, sudo, "bash -c" … */
  weir_str code;      /* what else runs with it: known (text that was read), unknown, file, other (another language) */
  weir_str cwd;       /* the folder it runs in, where cd changed it */
  bool cwd_unknown;   /* that cannot be known */
  int64_t pipeline;   /* its pipeline, from 1; 0 outside of one */
  int64_t stage;      /* its place there, from 0 */
  weir_str input;     /* where its input comes from: pipe, file, heredoc, herestring */
} weir_command;
WEIR_FN weir_command weir_command_of(weir_val e) {
  weir_command c;
  c.argv = weir_get(e, "argv");
  c.words = weir_count(c.argv);
  c.dynamic = weir__is(e, "dynamic");
  c.unknown = weir_get(e, "unknown");
  c.globs = weir_get(e, "globs");
  c.assigns = weir_get(e, "assigns");
  c.redirects = weir_get(e, "redirects");
  c.in = weir_get(e, "in");
  c.code = weir_get_string(e, "code");
  c.cwd = weir_get_string(e, "cwd");
  c.cwd_unknown = weir__is(e, "cwdUnknown");
  c.pipeline = weir_int(weir_get(e, "pipeline"), 0);
  c.stage = weir_int(weir_get(e, "stage"), 0);
  c.input = weir_get_string(e, "stdin");
  return c;
}
/* weir_word is word i of a command; the absent string when there is none, or it is not known before the command runs. Linear in i. */
__attribute__((unused)) static weir_str weir_word(const weir_command *c, size_t i) {
  weir_str none = {NULL, 0};
  for (weir_val u = weir_first(c->unknown); u; u = weir_next(c->unknown, u))
    if (weir_int(u, -1) == (int64_t)i) return none;
  for (weir_val w = weir_first(c->argv); w; w = weir_next(c->argv, w))
    if (i-- == 0) return weir_string(w);
  return none;
}
/* weir_program is the name of a command's program, "rm" of /bin/rm; the absent string when it has none or it is not known. */
WEIR_FN weir_str weir_program(const weir_command *c) {
  weir_str w = weir_word(c, 0);
  size_t at = w.n;
  while (at && w.p[at - 1] != '/') at--;
  return at ? weir_sub(w, at, w.n) : w;
}

/* NAME=VALUE. */
typedef struct {
  weir_str name, value;
  bool dynamic; /* the value is not known before it runs */
} weir_assign;
WEIR_FN weir_assign weir_assign_of(weir_val e) {
  weir_assign r = {weir_get_string(e, "name"), weir_get_string(e, "value"), weir__is(e, "dynamic")};
  return r;
}

/* A redirection. */
typedef struct {
  weir_str op;  /* as the text has it: > >> < … */
  int64_t fd;   /* the descriptor; -1 when the text names none, or a variable */
  weir_str target;
  bool dynamic; /* the target is not known before it runs */
} weir_redirect;
WEIR_FN weir_redirect weir_redirect_of(weir_val e) {
  weir_redirect r = {weir_get_string(e, "op"), weir_int(weir_get(e, "fd"), -1), weir_get_string(e, "target"), weir__is(e, "dynamic")};
  return r;
}

/* The paths that a call names. */
typedef struct {
  bool known;
  bool truncated;     /* there are more */
  weir_str workspace; /* with symbolic links resolved */
  weir_val paths;     /* weir_path_of */
} weir_paths;
WEIR_FN weir_paths weir_path_facts(weir_val ev) {
  weir_val v = weir__facts(ev, "paths");
  weir_paths r = {v != NULL, weir__is(v, "truncated"), weir_get_string(v, "workspace"), weir_get(v, "paths")};
  return r;
}

/* A path. Of a dynamic one only raw, op, arg, command and glob say something. */
typedef struct {
  weir_str raw;    /* as the argument has it */
  weir_str abs;    /* absolute */
  weir_str real;   /* with symbolic links resolved */
  bool unresolved; /* as far as that went */
  bool inside;     /* in the workspace */
  bool own;        /* a file of weir itself */
  bool holds_own;  /* a folder with one */
  bool exists;
  bool glob;       /* it holds a wildcard; abs and real are of the part before */
  bool dynamic;    /* it is not known before the call runs */
  weir_str kind;   /* file, dir, symlink, fifo, socket, device, missing */
  weir_str op;     /* read, write, list, search, delete, execute, use */
  weir_str arg;    /* the argument it comes from */
  int64_t command; /* for the argument command, its index in weir_shell.commands; otherwise -1 */
  int64_t links;   /* hard links, where a file has more than one */
} weir_path;
WEIR_FN weir_path weir_path_of(weir_val e) {
  weir_path p;
  p.raw = weir_get_string(e, "raw");
  p.abs = weir_get_string(e, "abs");
  p.real = weir_get_string(e, "real");
  p.unresolved = weir__is(e, "unresolved");
  p.inside = weir__is(e, "inside");
  p.own = weir__is(e, "own");
  p.holds_own = weir__is(e, "holdsOwn");
  p.exists = weir__is(e, "exists");
  p.glob = weir__is(e, "glob");
  p.dynamic = weir__is(e, "dynamic");
  p.kind = weir_get_string(e, "kind");
  p.op = weir_get_string(e, "op");
  p.arg = weir_get_string(e, "arg");
  p.command = weir_int(weir_get(e, "command"), -1);
  p.links = weir_int(weir_get(e, "links"), 0);
  return p;
}

/* The hosts that a call names. */
typedef struct {
  bool known;
  bool truncated; /* there are more */
  weir_val hosts; /* weir_host_of */
} weir_net;
WEIR_FN weir_net weir_net_facts(weir_val ev) {
  weir_val v = weir__facts(ev, "net");
  weir_net r = {v != NULL, weir__is(v, "truncated"), weir_get(v, "hosts")};
  return r;
}

/* A host. */
typedef struct {
  weir_str raw;    /* the text that it was found in */
  weir_str scheme; /* empty when there was none */
  weir_str host;   /* lower case, punycode; an address in its usual form */
  int64_t port;    /* 0 when it is not known */
  bool userinfo;   /* a user or a password stands before it */
  bool ip;         /* it is an address */
  bool odd;        /* in an unusual form */
  bool dynamic;    /* a part is not known before the call runs */
  weir_str scope;  /* public, loopback, private, linklocal, unspecified, multicast; empty for most names */
} weir_host;
WEIR_FN weir_host weir_host_of(weir_val e) {
  weir_host h;
  h.raw = weir_get_string(e, "raw");
  h.scheme = weir_get_string(e, "scheme");
  h.host = weir_get_string(e, "host");
  h.port = weir_int(weir_get(e, "port"), 0);
  h.userinfo = weir__is(e, "userinfo");
  h.ip = weir__is(e, "ip");
  h.odd = weir__is(e, "odd");
  h.dynamic = weir__is(e, "dynamic");
  h.scope = weir_get_string(e, "scope");
  return h;
}

/* Places in a result that look like credentials; a tool_call has none. */
typedef struct {
  bool known;
  bool truncated;  /* there are more */
  weir_val spans;  /* weir_span_of */
  weir_val base64; /* weir_span_of: encoded blocks in which no secret was looked for */
} weir_secrets;
WEIR_FN weir_secrets weir_secret_facts(weir_val ev) {
  weir_val v = weir__facts(ev, "secrets");
  weir_secrets r = {v != NULL, weir__is(v, "truncated"), weir_get(v, "spans"), weir_get(v, "base64")};
  return r;
}

/* The bytes [start, end) of the text of a content block. */
typedef struct {
  int64_t block, start, end;
  weir_str kind; /* what it looks like; absent in base64 */
} weir_span;
WEIR_FN weir_span weir_span_of(weir_val e) {
  weir_span r = {weir_int(weir_get(e, "block"), -1), weir_int(weir_get(e, "start"), -1), weir_int(weir_get(e, "end"), -1), weir_get_string(e, "kind")};
  return r;
}

/* ------------------------------------------------------------------ the session (abi.md, section 10) */

/*
 * The requests of the capability session. Each needs the grant session with the right that stands at it. When the host
 * refuses, what is returned is false, NULL or the absent string, and *why (if why is not NULL) is the host's text. Texts that
 * are empty or absent are left out of the request, where the operation allows that.
 */

/* weir_quoted is a text as JSON, for the places that want JSON. */
WEIR_FN weir_str weir_quoted(weir_str text) {
  weir_buf b = {0, 0, 0, false};
  weir__quote(&b, text);
  return weir_text(&b);
}

__attribute__((unused)) static void weir__put(weir_buf *b, const char *name, weir_str text) {
  weir_json_key(b, name);
  weir_json_string(b, text);
}
WEIR_FN void weir__put_some(weir_buf *b, const char *name, weir_str text) {
  if (text.n) weir__put(b, name, text);
}
WEIR_FN void weir__put_set(weir_buf *b, const char *name, bool flag) {
  if (!flag) return;
  weir_json_key(b, name);
  weir_json_bool(b, true);
}
WEIR_FN void weir__put_json(weir_buf *b, const char *name, weir_str json) {
  if (!json.n) return;
  weir_json_key(b, name);
  weir_json_raw(b, json);
}
WEIR_FN void weir__put_limit(weir_buf *b, uint32_t limit) {
  if (!limit) return;
  weir_json_key(b, "limit");
  weir_json_int(b, limit);
}
WEIR_FN weir_buf weir__op(const char *op) {
  weir_buf b = {0, 0, 0, false};
  weir_json_open(&b, '{');
  weir__put(&b, "op", weir_cstr(op));
  return b;
}
/* weir__ask ends the request, makes it, and returns the response, an object; NULL when the host refused. */
__attribute__((unused)) static weir_val weir__ask(weir_buf *b, weir_str *why) {
  bool ok;
  const char *bad = "the response is not an object";
  weir_json_close(b, '}');
  weir_str text = weir_session(weir_text(b), &ok);
  weir_val v = ok ? weir_parse(text, &bad) : NULL;
  if (weir_kind(v) == WEIR_OBJECT) return v;
  if (why) *why = ok ? weir_cstr(bad) : text;
  return NULL;
}

/* What the session is and does. */
typedef struct {
  weir_str id, name, cwd, file; /* absent for what there is none of */
  weir_str leaf;                /* id of the last entry */
  int64_t entries, messages, queued;
  bool idle, streaming, compacting, retrying;
  bool aborted;                 /* what runs is aborted */
  weir_str provider, model, thinking_level, system_prompt;
  weir_val context_usage;       /* {tokens, contextWindow, percent}, or null */
} weir_state;
/* weir_session_state reads the state of the session; false when the host refused. Right: read. */
WEIR_FN bool weir_session_state(weir_state *s, weir_str *why) {
  weir_buf b = weir__op("state");
  weir_val v = weir__ask(&b, why), model = weir_get(v, "model");
  s->id = weir_get_string(v, "id");
  s->name = weir_get_string(v, "name");
  s->cwd = weir_get_string(v, "cwd");
  s->file = weir_get_string(v, "file");
  s->leaf = weir_get_string(v, "leaf");
  s->entries = weir_int(weir_get(v, "entries"), 0);
  s->messages = weir_int(weir_get(v, "messages"), 0);
  s->queued = weir_int(weir_get(v, "queued"), 0);
  s->idle = weir__is(v, "idle");
  s->streaming = weir__is(v, "streaming");
  s->compacting = weir__is(v, "compacting");
  s->retrying = weir__is(v, "retrying");
  s->aborted = weir__is(v, "aborted");
  s->provider = weir_get_string(model, "provider");
  s->model = weir_get_string(model, "id");
  s->thinking_level = weir_get_string(v, "thinkingLevel");
  s->system_prompt = weir_get_string(v, "systemPrompt");
  s->context_usage = weir_get(v, "contextUsage");
  return v != NULL;
}
/* weir_session_entries is an array of up to limit entries of the session's file, those after the one of the id after, or from
 * the first. limit is 1 to 1000; 0 means 100. *more (if more is not NULL) says that further ones follow. Right: read. */
WEIR_FN weir_val weir_session_entries(weir_str after, uint32_t limit, bool *more, weir_str *why) {
  weir_buf b = weir__op("entries");
  weir__put_some(&b, "after", after);
  weir__put_limit(&b, limit);
  weir_val v = weir__ask(&b, why);
  if (more) *more = weir__is(v, "more");
  return weir_get(v, "entries");
}
/* weir_session_entry is an entry by its id. Right: read. */
WEIR_FN weir_val weir_session_entry(weir_str id, weir_str *why) {
  weir_buf b = weir__op("entry");
  weir__put(&b, "id", id);
  return weir_get(weir__ask(&b, why), "entry");
}
/* weir_session_messages is an array of up to limit of the messages that the model works with, from the index from on; *total
 * (if total is not NULL) is how many there are. limit is as above. Right: read. */
WEIR_FN weir_val weir_session_messages(uint32_t from, uint32_t limit, int64_t *total, weir_str *why) {
  weir_buf b = weir__op("messages");
  weir_json_key(&b, "from");
  weir_json_int(&b, from);
  weir__put_limit(&b, limit);
  weir_val v = weir__ask(&b, why);
  if (total) *total = weir_int(weir_get(v, "total"), 0);
  return weir_get(v, "messages");
}
/* weir_session_tools is an array of the session's tools, each for weir_tool_of. Right: read. */
WEIR_FN weir_val weir_session_tools(weir_str *why) {
  weir_buf b = weir__op("tools");
  return weir_get(weir__ask(&b, why), "tools");
}
/* A tool of the session. */
typedef struct {
  weir_str name, description;
  bool active; /* offered to the model */
} weir_tool;
WEIR_FN weir_tool weir_tool_of(weir_val e) {
  weir_tool r = {weir_get_string(e, "name"), weir_get_string(e, "description"), weir__is(e, "active")};
  return r;
}

/* weir_session_append keeps data, which is JSON or absent, in the session's file and out of the conversation, and returns the
 * entry's id. Right: append. */
WEIR_FN weir_str weir_session_append(weir_str custom_type, weir_str data, weir_str *why) {
  weir_buf b = weir__op("append");
  weir__put(&b, "customType", custom_type);
  weir__put_json(&b, "data", data);
  return weir_get_string(weir__ask(&b, why), "id");
}
/* weir_session_label labels an entry; the empty text takes the label away. Right: append. */
WEIR_FN bool weir_session_label(weir_str entry, weir_str label, weir_str *why) {
  weir_buf b = weir__op("label");
  weir__put(&b, "entryId", entry);
  weir__put(&b, "label", label);
  return weir__ask(&b, why) != NULL;
}
/* weir_session_name names the session; the empty text takes the name away. Right: append. */
WEIR_FN bool weir_session_name(weir_str name, weir_str *why) {
  weir_buf b = weir__op("name");
  weir__put(&b, "name", name);
  return weir__ask(&b, why) != NULL;
}

/* A message for the model. */
typedef struct {
  weir_str custom_type;
  weir_str content; /* JSON: a text, as by weir_quoted, or an array of blocks */
  weir_str details; /* JSON or absent; the model does not see it */
  weir_str deliver; /* steer, followUp, nextTurn, or absent for before the next turn */
  bool display;     /* a person sees it too */
  bool trigger;     /* it starts a run when none is under way */
} weir_session_message;
/* weir_session_send gives the model a message and does not wait for a run that it starts. Right: send. */
WEIR_FN bool weir_session_send(const weir_session_message *m, weir_str *why) {
  weir_buf b = weir__op("send");
  weir__put(&b, "customType", m->custom_type);
  weir__put_json(&b, "content", m->content);
  weir__put_set(&b, "display", m->display);
  weir__put_json(&b, "details", m->details);
  weir__put_set(&b, "trigger", m->trigger);
  weir__put_some(&b, "deliver", m->deliver);
  return weir__ask(&b, why) != NULL;
}
/* weir_session_prompt says content, JSON as above, as if the user had. deliver, steer or followUp, is needed during a run and
 * otherwise absent. Right: send. */
WEIR_FN bool weir_session_prompt(weir_str content, weir_str deliver, weir_str *why) {
  weir_buf b = weir__op("prompt");
  weir__put_json(&b, "content", content);
  weir__put_some(&b, "deliver", deliver);
  return weir__ask(&b, why) != NULL;
}

/* weir_session_set_tools sets the tools that the model is offered from the next turn on, and returns an array of their names;
 * unknown ones are left out. Right: control. */
WEIR_FN weir_val weir_session_set_tools(const weir_str *names, size_t count, weir_str *why) {
  weir_buf b = weir__op("set_tools");
  weir_json_key(&b, "tools");
  weir_json_open(&b, '[');
  for (size_t i = 0; i < count; i++) weir_json_string(&b, names[i]);
  weir_json_close(&b, ']');
  return weir_get(weir__ask(&b, why), "tools");
}
/* weir_session_set_model sets the model. Right: control. */
WEIR_FN bool weir_session_set_model(weir_str provider, weir_str id, weir_str *why) {
  weir_buf b = weir__op("set_model");
  weir__put(&b, "provider", provider);
  weir__put(&b, "id", id);
  return weir__ask(&b, why) != NULL;
}
/* weir_session_set_thinking_level sets the level as far as the model allows, and returns it. Right: control. */
WEIR_FN weir_str weir_session_set_thinking_level(weir_str level, weir_str *why) {
  weir_buf b = weir__op("set_thinking_level");
  weir__put(&b, "level", level);
  return weir_get_string(weir__ask(&b, why), "level");
}
/* weir_session_abort ends the run, a retry, a compaction, when the hook has returned, as the functions below begin then.
 * Right: control. */
WEIR_FN bool weir_session_abort(weir_str *why) {
  weir_buf b = weir__op("abort");
  return weir__ask(&b, why) != NULL;
}
/* weir_session_compact compacts the conversation; instructions may be absent. Right: control. */
WEIR_FN bool weir_session_compact(weir_str instructions, weir_str *why) {
  weir_buf b = weir__op("compact");
  weir__put_some(&b, "instructions", instructions);
  return weir__ask(&b, why) != NULL;
}
/* weir_session_new puts a new session in the place of this one. Right: control. */
WEIR_FN bool weir_session_new(weir_str *why) {
  weir_buf b = weir__op("new");
  return weir__ask(&b, why) != NULL;
}
/* weir_session_fork continues in a new session from before an entry, or at it. Right: control. */
WEIR_FN bool weir_session_fork(weir_str entry, bool at, weir_str *why) {
  weir_buf b = weir__op("fork");
  weir__put(&b, "entryId", entry);
  weir__put(&b, "position", at ? WEIR_S("at") : WEIR_S("before"));
  return weir__ask(&b, why) != NULL;
}
/* How a branch is left. */
typedef struct {
  bool summarize;
  bool replace;          /* the instructions are all that the model is told */
  weir_str instructions; /* for the summary; may be absent */
  weir_str label;        /* may be absent */
} weir_navigation;
/* weir_session_navigate moves to another entry, when no run is under way; how may be NULL. Right: control. */
WEIR_FN bool weir_session_navigate(weir_str entry, const weir_navigation *how, weir_str *why) {
  weir_buf b = weir__op("navigate");
  weir__put(&b, "entryId", entry);
  if (how) {
    weir__put_set(&b, "summarize", how->summarize);
    weir__put_some(&b, "instructions", how->instructions);
    weir__put_set(&b, "replace", how->replace);
    weir__put_some(&b, "label", how->label);
  }
  return weir__ask(&b, why) != NULL;
}

/* ------------------------------------------------------------------ context: the table view (abi.md, section 7) */

enum { WEIR_USER = 1, WEIR_ASSISTANT, WEIR_TOOL_RESULT, WEIR_CUSTOM, WEIR_BASH, WEIR_BRANCH_SUMMARY, WEIR_COMPACTION_SUMMARY, WEIR_OTHER = 255 };
enum { WEIR_IS_ERROR = 1, WEIR_HAS_IMAGE = 2, WEIR_HAS_TOOL_CALL = 4, WEIR_HAS_THINKING = 8, WEIR_DISPLAY = 16 };
#define WEIR_NO_PAIR 0xffffffffu

/* One message, 32 bytes, as the host lays it out. */
typedef struct {
  uint8_t role, flags;
  uint16_t name;          /* weir_name: tool name or customType */
  uint32_t text_bytes;    /* of all text blocks */
  uint32_t encoded_bytes; /* of its JSON */
  uint32_t pair;          /* tool result: index of the message with its call; else WEIR_NO_PAIR */
  uint64_t id;            /* its number in the session, kept when it is replaced; 0 if an extension inserted it */
  int64_t time;           /* ms since 1970 */
} weir_record;

/* The messages of a context event. rec[i] is message i of count. */
typedef struct {
  uint32_t count;
  const weir_record *rec;
  weir_str context, strings; /* raw parts: the `context` object's JSON, the string table */
} weir_table;

/* weir_table_open checks a table's bytes; false if they are not one. */
__attribute__((unused)) static bool weir_table_open(weir_table *t, weir_str in) {
  uint32_t h[8];
  if (in.n < 32 || __builtin_memcmp(in.p, "WMT1", 4) != 0 || ((uintptr_t)in.p & 7) != 0) return false;
  __builtin_memcpy(h, in.p, 32);
  if (h[1] > (in.n - 32) / sizeof(weir_record)) return false;
  if (h[2] > in.n || h[3] > in.n - h[2] || h[4] > in.n || h[5] > in.n - h[4]) return false;
  t->count = h[1];
  t->rec = (const weir_record *)(const void *)(in.p + 32);
  t->context.p = in.p + h[2];
  t->context.n = h[3];
  t->strings.p = in.p + h[4];
  t->strings.n = h[5];
  return true;
}
/* weir_name is a message's tool name or customType; empty when it has none. Linear in the number of distinct names. */
__attribute__((unused)) static weir_str weir_name(const weir_table *t, uint32_t index) {
  weir_str none = {NULL, 0}, s = t->strings;
  if (index >= t->count || s.n < 2) return none;
  uint32_t want = t->rec[index].name, count = (uint8_t)s.p[0] | (uint32_t)(uint8_t)s.p[1] << 8;
  size_t at = 2;
  for (uint32_t i = 0; i < count && at + 2 <= s.n; i++) {
    uint32_t n = (uint8_t)s.p[at] | (uint32_t)(uint8_t)s.p[at + 1] << 8;
    at += 2;
    if (n > s.n - at) break;
    if (i == want) return weir_sub(s, at, at + n);
    at += n;
  }
  return none;
}
/* weir_message is the body of a message, read from the host and parsed; NULL when there is none. */
__attribute__((unused)) static weir_val weir_message(uint32_t index) {
  weir_str r;
#define WEIR__MESSAGE(p, off, len) weir_host_message_read(index, p, off, len)
  WEIR__READ(r, WEIR__MESSAGE);
#undef WEIR__MESSAGE
  return r.n ? weir_parse(r, NULL) : NULL;
}

/* Edits of a context, both views. {0} changes nothing. Indexes are of the messages as received; the same index at most once in
 * drop and replace together. The host refuses edits that part a tool call from its result or leave no message. */
typedef struct {
  weir_buf drop, replace, insert;
} weir_edit;

WEIR_FN void weir_drop(weir_edit *e, uint32_t index) { weir_json_int(&e->drop, index); }
WEIR_FN void weir__edit_at(weir_buf *b, uint32_t at, weir_str message) {
  weir_json_open(b, '{');
  weir_json_key(b, "at");
  weir_json_int(b, at);
  weir_json_key(b, "message");
  weir_json_raw(b, message);
  weir_json_close(b, '}');
}
/* weir_replace puts message (JSON, of the same role) in place of one. */
WEIR_FN void weir_replace(weir_edit *e, uint32_t index, weir_str message) { weir__edit_at(&e->replace, index, message); }
/* weir_insert puts message before index; index == count appends. Inserts at one index keep their order. */
WEIR_FN void weir_insert(weir_edit *e, uint32_t index, weir_str message) { weir__edit_at(&e->insert, index, message); }
/* weir_edit_answer answers a context hook with the edits. */
WEIR_FN int weir_edit_answer(const weir_edit *e) {
  weir_buf b = {0, 0, 0, false};
  weir_json_open(&b, '{');
#define WEIR__PART(name) \
  if (e->name.n) { \
    weir_json_key(&b, #name); \
    weir_json_open(&b, '['); \
    weir_add(&b, weir_text(&e->name)); \
    weir_json_close(&b, ']'); \
  }
  WEIR__PART(drop)
  WEIR__PART(replace)
  WEIR__PART(insert)
#undef WEIR__PART
  weir_json_close(&b, '}');
  return weir_answer_buf(&b);
}

/* ------------------------------------------------------------------ entry points */

/* Defined by WEIR_SETUP, if at all. */
__attribute__((weak)) int weir__setup(void);

/* weir__enter empties the arena; before an instance's first hook it runs the setup and keeps what that allocated. */
WEIR_FN int weir__enter(void) {
  weir__arena *a = &weir__a;
  if (!a->ready) {
    if (weir__setup) {
      int rc = weir__setup();
      if (rc) return rc;
    }
    a->ready = true;
    a->base = a->top;
    a->base_chunk = a->chunk;
  }
  a->top = a->base;
  a->chunk = a->base_chunk;
  return 0;
}
WEIR_FN int weir__run(int (*hook)(weir_val)) {
  const char *why = "";
  int rc = weir__enter();
  if (rc) return rc;
  weir_val ev = weir_parse(weir_input(), &why);
  if (!ev || ev->kind != WEIR_OBJECT) return weir_fail(ev ? "the event is not a JSON object" : why);
  return hook(ev);
}
WEIR_FN int weir__run_table(int (*hook)(const weir_table *)) {
  weir_table t;
  int rc = weir__enter();
  if (rc) return rc;
  if (!weir_table_open(&t, weir_input())) return weir_fail("the context is not a WMT1 table: describe the hook with \"view\":\"table\"");
  return hook(&t);
}

/* WEIR_DESCRIBE("{…}") declares the extension (abi.md, section 3); the text is a JSON literal. Once per extension. */
#define WEIR_DESCRIBE(json) \
  WEIR__EXTERN WEIR_EXPORT("weir_describe") int weir__describe(void) { return weir_answer(WEIR_S(json)); } \
  WEIR__EXTERN int weir__describe(void)

/* WEIR_ON(tool_call) { … ev … } defines a hook. ev is the event, a parsed JSON object; an event that cannot be read never gets
 * here: the hook then fails, and a gate blocks. */
#define WEIR_ON(hook) \
  static int weir__on_##hook(weir_val ev); \
  WEIR__EXTERN WEIR_EXPORT(#hook) int weir__export_##hook(void) { return weir__run(weir__on_##hook); } \
  static int weir__on_##hook(weir_val ev)

/* WEIR_ON_TABLE { … t … } defines the context hook of an extension that asked for "view":"table"; t is the weir_table. */
#define WEIR_ON_TABLE \
  static int weir__on_context(const weir_table *t); \
  WEIR__EXTERN WEIR_EXPORT("context") int weir__export_context(void) { return weir__run_table(weir__on_context); } \
  static int weir__on_context(const weir_table *t)

/* WEIR_SETUP { …; return 0; } runs once in an instance, before its first hook and never before describe; what it allocates
 * stays. A result other than 0 fails every hook until it succeeds. */
#define WEIR_SETUP WEIR__EXTERN int weir__setup(void)

#ifdef __cplusplus
}
#define WEIR__EXTERN extern "C"
#else
#define WEIR__EXTERN
#endif

#endif

// The shell language as guard-shell sees it: syntax tree, abstract text, and the interpreter that walks one over the other.
//
// Nothing is run. The interpreter follows what a POSIX shell (with bash's common additions) would do, keeps what it can know
// (variables, the current folder, constant output) and marks what it cannot.
#pragma once
#include "../../guest-sdk/c/weir.h"

using Str = weir_str;

// A growing array in the arena. Zero is an empty one. Copies share their elements.
template <class T> struct Vec {
  T *p = nullptr;
  uint32_t n = 0, cap = 0;
  [[gnu::noinline]] void push(const T &v) {
    if (n == cap) {
      uint32_t c = cap ? cap * 2 : 1;
      p = static_cast<T *>(weir_realloc(p, cap * sizeof(T), c * sizeof(T)));
      cap = c;
    }
    p[n++] = v;
  }
  T &operator[](uint32_t i) { return p[i]; }
  const T &operator[](uint32_t i) const { return p[i]; }
  T *begin() const { return p; }
  T *end() const { return p + n; }
};

template <class T> T *make() { return new (weir_alloc(sizeof(T))) T(); }
inline void *operator new(size_t, void *p) noexcept { return p; }

// Bytes that stand for what is not known. Text of the interpreter is ordinary bytes and these; a control byte of the same value
// in the source becomes kUnknown.
enum Mark : char {
  kUnknown = 1,   // any text, perhaps none
  kStar = 2,      // an active *
  kQuery = 3,     // an active ?
  kBracket = 4,   // an active [...] (the whole of it)
  kUnset = 5,     // a variable that nothing here sets: most likely empty
  kNet = 6,       // content from the network
  kDecoded = 7,   // content that was encoded to hide it or decoded from unknown text
  kSecret = 0x0e, // content of a secret file or variable
  kFiles = 0x0f,  // names of any files below what stands before it
  kEnviron = 0x10, // the whole environment
  kParent = 0x11, // the process id of the agent
  kContent = 0x12, // content of an ordinary file
};
inline bool isMark(char c) { return (c >= 1 && c <= 7) || (c >= 0x0e && c <= 0x12); }
inline bool isGlob(char c) { return c >= kStar && c <= kBracket; }

struct Node;
struct Word;

enum class PartKind : uint8_t { Text, Var, Command, Arith, Process };
struct Part {
  PartKind kind = PartKind::Text;
  bool quoted = false;
  bool length = false;   // ${#x}
  bool indirect = false; // ${!x}
  Str text{};            // Text: bytes, marks for active globs; Var: name, with [index] apart
  Str index{};           // Var: what stands in [ ]
  Str op{};              // Var: the operator: ":-" "%" "##" ":" "/" "^^" ...
  Word *arg = nullptr;   // Var: its operand
  Node *body = nullptr;  // Command, Process
};
struct Word {
  Vec<Part> parts;
  bool tilde = false; // starts with an unquoted ~
  bool brace = false; // holds an unquoted {
};
struct Redirect {
  int fd = -1;
  Str op{}; // < > >> >| <> << <<< >& <& &> &>>
  Word *target = nullptr; // for << the body
};
enum class Kind : uint8_t { Simple, Pipe, List, Subshell, Group, If, Loop, For, Case, Function, Test };
struct Assign {
  Str name{}, index{};
  bool append = false, array = false;
  Word *value = nullptr;
  Vec<Word *> values;
};
struct Node {
  Kind kind = Kind::Simple;
  Vec<Assign> assigns;
  Vec<Word *> words;
  Vec<Redirect> redirects;
  Vec<Node *> kids;  // Pipe, List: members; others: their lists
  Vec<char> seps;    // List: what follows member i: ; & A (&&) O (||)
  Str name{};        // For, Function
};

// parse reads a command text. nullptr when it is not understood; *why says what.
Node *parse(Str source, const char **why);

// Text built by pieces. Out of line, like the other small helpers: they are called from everywhere, and size counts.
struct Text {
  weir_buf b{nullptr, 0, 0, false};
  Text &add(const Str &s);
  Text &add(const char *s);
  Text &add(char c);
  Str str() const { return weir_text(&b); }
};
inline Str S(const char *s) { return weir_cstr(s); }
bool has(const Str &s, char c);
bool eq(const Str &a, const char *b);
bool starts(const Str &s, const char *with);
bool ends(const Str &s, const char *with);
Str sub(const Str &s, size_t from, size_t to);
size_t indexOf(const Str &s, const Str &what);
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline bool isName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isBlank(char c) { return c == ' ' || c == '\t'; }
inline bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Pattern matching: * ? [ ] in pattern, or their marks. A mark for unknown text in either side matches anything when loose.
bool globMatch(Str pattern, Str text, bool loose = false);
// anyOf: is s one of the words in list ("rm unlink shred")?
bool anyOf(const Str &s, const char *list);
// anyGlob: does s match one of the patterns in list?
bool anyGlob(const Str &s, const char *list);
bool containsFold(const Str &s, const char *what);

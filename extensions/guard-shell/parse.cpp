// The parser: command text to syntax tree, in one pass, with bounds on depth and size.
#include "shell.hpp"

namespace {

constexpr int kMaxDepth = 64;         // nesting of constructs; people write 5
constexpr uint32_t kMaxNodes = 300000; // commands and parts in one text

struct Parser {
  explicit Parser(Str text) : s(text.p), e(text.p + text.n) {}
  const char *s, *e;
  const char *why = nullptr;
  int depth = 0;
  uint32_t nodes = 0;
  struct Pending {
    Word *into;
    Str end;
    bool quoted, dash;
  };
  Vec<Pending> pending; // heredocs whose bodies start behind the next newline

  bool fail(const char *reason) {
    if (!why) why = reason;
    return false;
  }
  bool more() const { return s < e; }
  char at(int i = 0) const { return e - s > i ? s[i] : 0; }

  void blanks() {
    for (;;) {
      if (more() && (isBlank(*s) || *s == '\r')) s++;
      else if (at() == '\\' && at(1) == '\n') s += 2;
      else if (at() == '#') {
        while (more() && *s != '\n') s++;
      } else return;
    }
  }
  void newlines() {
    for (;;) {
      blanks();
      if (at() != '\n') return;
      newline();
    }
  }
  void newline() {
    s++;
    for (uint32_t i = 0; i < pending.n; i++) heredoc(pending[i]);
    pending.n = 0;
  }
  void heredoc(Pending &h) {
    Text body;
    for (;;) {
      if (!more()) return finish(h, body.str()); // bash only warns when the delimiter is missing
      const char *line = s;
      while (more() && *s != '\n') s++;
      Str l{line, static_cast<size_t>(s - line)};
      if (more()) s++;
      if (h.dash)
        while (l.n && *l.p == '\t') l = ::sub(l, 1, l.n);
      if (weir_same(l, h.end)) return finish(h, body.str());
      body.add(l).add('\n');
    }
  }
  void finish(Pending &h, Str body) {
    if (h.quoted) {
      text(h.into, body, true);
      return;
    }
    Parser p(body);
    p.depth = depth + 1;
    p.nodes = nodes;
    p.quotedRun(h.into, 0);
    nodes = p.nodes;
    if (p.why) fail(p.why);
  }

  void text(Word *w, Str t, bool quoted) {
    if (w->parts.n) {
      Part &last = w->parts[w->parts.n - 1];
      if (last.kind == PartKind::Text && last.quoted == quoted && last.text.p + last.text.n == t.p) {
        last.text.n += t.n;
        return;
      }
    }
    Part p;
    p.text = t;
    p.quoted = quoted;
    w->parts.push(p);
    nodes++;
  }
  void chr(Word *w, char c, bool quoted) {
    char *m = static_cast<char *>(weir_alloc(1));
    *m = c;
    text(w, Str{m, 1}, quoted);
  }

  // What stands between double quotes, or in a heredoc (end 0: to the end of the text).
  bool quotedRun(Word *w, char end) {
    bool any = false;
    while (more()) {
      char c = *s;
      if (end && c == end) {
        s++;
        if (!any) text(w, Str{"", 0}, true);
        return true;
      }
      any = true;
      if (c == '\\' && e - s > 1) {
        char n = s[1];
        if (n == '\n') {
          s += 2;
          continue;
        }
        if (n == '$' || n == '`' || n == '\\' || (n == '"' && end)) {
          text(w, Str{s + 1, 1}, true);
          s += 2;
          continue;
        }
      }
      if (c == '$' || c == '`') {
        if (!dollar(w, true)) return false;
        continue;
      }
      literal(w, true);
    }
    return end ? fail("a quote does not end") : true;
  }
  void literal(Word *w, bool quoted) {
    if (static_cast<unsigned char>(*s) < 0x20 && !isSpace(*s)) {
      chr(w, kUnknown, quoted);
      s++;
    } else {
      text(w, Str{s, 1}, quoted);
      s++;
    }
  }

  bool ansiQuote(Word *w) { // $'…', s behind the quote
    Text t;
    while (more() && *s != '\'') {
      char c = *s++;
      if (c != '\\' || !more()) {
        t.add(c);
        continue;
      }
      c = *s++;
      switch (c) {
      case 'n': t.add('\n'); break;
      case 't': t.add('\t'); break;
      case 'r': t.add('\r'); break;
      case 'a': case 'b': case 'f': case 'v': case 'e': case 'E': t.add(kUnknown); break;
      case 'x': case 'u': case 'U': {
        uint32_t v = 0;
        int max = c == 'x' ? 2 : c == 'u' ? 4 : 8, i = 0;
        for (; i < max && more(); i++) {
          char h = lower(*s);
          if (isDigit(h)) v = v << 4 | static_cast<uint32_t>(h - '0');
          else if (h >= 'a' && h <= 'f') v = v << 4 | static_cast<uint32_t>(h - 'a' + 10);
          else break;
          s++;
        }
        point(t, v);
        break;
      }
      case 'c': if (more()) s++; t.add(kUnknown); break;
      default:
        if (c >= '0' && c <= '7') {
          uint32_t v = static_cast<uint32_t>(c - '0');
          for (int i = 0; i < 2 && more() && *s >= '0' && *s <= '7'; i++) v = v * 8 + static_cast<uint32_t>(*s++ - '0');
          point(t, v & 255);
        } else t.add(c);
      }
    }
    if (!more()) return fail("a quote does not end");
    s++;
    text(w, t.str(), true);
    return true;
  }
  static void point(Text &t, uint32_t v) {
    if (v < 0x20 && (v == 0 || !isSpace(static_cast<char>(v)))) {
      t.add(kUnknown);
      return;
    }
    char b[4];
    char *o = weir_put_utf8(b, v > 0x10ffff ? 0xfffd : v);
    t.add(Str{b, static_cast<size_t>(o - b)});
  }

  bool substitution(Word *w, bool quoted, PartKind kind) { // s behind "("
    Part p;
    p.kind = kind;
    p.quoted = quoted;
    p.body = list(")");
    if (!p.body) return false;
    newlines();
    if (at() != ')') return fail("a substitution does not end");
    s++;
    w->parts.push(p);
    return true;
  }
  bool backtick(Word *w, bool quoted) { // s behind the first `
    Text t;
    while (more() && *s != '`') {
      if (*s == '\\' && (at(1) == '`' || at(1) == '\\' || at(1) == '$' || (quoted && at(1) == '"'))) s++;
      t.add(*s++);
    }
    if (!more()) return fail("a backtick does not end");
    s++;
    Part p;
    p.kind = PartKind::Command;
    p.quoted = quoted;
    Str inner = t.str();
    Parser sub(inner);
    sub.depth = depth + 1;
    sub.nodes = nodes;
    p.body = sub.all();
    nodes = sub.nodes;
    if (!p.body) return fail(sub.why);
    w->parts.push(p);
    return true;
  }
  bool arith(Word *w, bool quoted) { // s behind "$((" ; substitutions inside still run
    Part p;
    p.kind = PartKind::Arith;
    p.quoted = quoted;
    Word *inner = make<Word>();
    int open = 2;
    while (more()) {
      char c = *s;
      if (c == '(') open++;
      if (c == ')' && --open == 0) {
        s++;
        p.arg = inner;
        w->parts.push(p);
        return true;
      }
      if (c == '$' || c == '`') {
        if (!dollar(inner, true)) return false;
      } else literal(inner, true);
    }
    return fail("an arithmetic expression does not end");
  }
  bool dollar(Word *w, bool quoted) { // at $ or `
    if (++nodes > kMaxNodes) return fail("too long");
    if (++depth > kMaxDepth) return fail("nested too deeply");
    bool ok = dollarInner(w, quoted);
    depth--;
    return ok;
  }
  bool dollarInner(Word *w, bool quoted) {
    if (*s == '`') {
      s++;
      return backtick(w, quoted);
    }
    char c = at(1);
    if (c == '(') {
      if (at(2) == '(') {
        const char *save = s;
        uint32_t parts = w->parts.n;
        s += 3;
        if (arith(w, quoted)) return true;
        s = save; // $((cmd); cmd): a subshell first in a substitution
        w->parts.n = parts;
        why = nullptr;
      }
      s += 2;
      return substitution(w, quoted, PartKind::Command);
    }
    if (c == '{') {
      s += 2;
      return braceVar(w, quoted);
    }
    if (!quoted && c == '\'') {
      s += 2;
      return ansiQuote(w);
    }
    if (!quoted && c == '"') {
      s += 2;
      return quotedRun(w, '"');
    }
    Part p;
    p.kind = PartKind::Var;
    p.quoted = quoted;
    const char *b = s + 1;
    if (isName(c) && !isDigit(c)) {
      s++;
      while (more() && isName(*s)) s++;
      p.text = Str{b, static_cast<size_t>(s - b)};
    } else if (isDigit(c) || c == '@' || c == '*' || c == '#' || c == '?' || c == '$' || c == '!' || c == '-') {
      s += 2;
      p.text = Str{b, 1};
    } else {
      text(w, Str{s, 1}, true);
      s++;
      return true;
    }
    w->parts.push(p);
    return true;
  }
  bool braceVar(Word *w, bool quoted) { // s behind "${"
    Part p;
    p.kind = PartKind::Var;
    p.quoted = quoted;
    if (at() == '#' && at(1) != '}') {
      p.length = true;
      s++;
    } else if (at() == '!') {
      p.indirect = true;
      s++;
    }
    const char *b = s;
    if (more() && !isName(*s)) s++;
    else
      while (more() && isName(*s)) s++;
    p.text = Str{b, static_cast<size_t>(s - b)};
    if (at() == '[') {
      b = ++s;
      while (more() && *s != ']' && *s != '}') s++;
      p.index = Str{b, static_cast<size_t>(s - b)};
      if (at() == ']') s++;
    }
    b = s;
    if (at() == ':' && (at(1) == '-' || at(1) == '=' || at(1) == '+' || at(1) == '?')) s += 2;
    else if ((at() == '%' || at() == '#' || at() == '/' || at() == '^' || at() == ',') && at(1) == at()) s += 2;
    else if (more() && *s != '}') s++;
    p.op = Str{b, static_cast<size_t>(s - b)};
    p.arg = make<Word>();
    if (!wordUntil(p.arg, '}', quoted)) return false;
    w->parts.push(p);
    return true;
  }
  bool wordUntil(Word *w, char end, bool quoted) {
    if (at() == '~') w->tilde = true;
    while (more()) {
      char c = *s;
      if (c == end) {
        s++;
        return true;
      }
      if (!piece(w, quoted)) return false;
    }
    return fail("${ does not end");
  }
  // One piece of a word: a quote, an escape, a substitution or a byte.
  bool piece(Word *w, bool quoted) {
    char c = *s;
    if (c == '\\') {
      if (at(1) == '\n') {
        s += 2;
        return true;
      }
      s++;
      if (more()) literal(w, true);
      return true;
    }
    if (c == '"') {
      s++;
      return quotedRun(w, '"');
    }
    if (c == '\'' && !quoted) {
      const char *b = ++s;
      while (more() && *s != '\'') {
        if (static_cast<unsigned char>(*s) < 0x20 && !isSpace(*s)) {
          text(w, Str{b, static_cast<size_t>(s - b)}, true);
          chr(w, kUnknown, true);
          b = s + 1;
        }
        s++;
      }
      if (!more()) return fail("a quote does not end");
      text(w, Str{b, static_cast<size_t>(s - b)}, true);
      s++;
      return true;
    }
    if (c == '$' || c == '`') return dollar(w, quoted);
    if (!quoted && (c == '*' || c == '?')) {
      chr(w, c == '*' ? kStar : kQuery, false);
      s++;
      return true;
    }
    if (!quoted && c == '[') {
      const char *q = s + 1;
      if (q < e && (*q == '!' || *q == '^')) q++;
      if (q < e && *q == ']') q++;
      while (q < e && *q != ']' && !isSpace(*q) && *q != '/' && *q != '$' && *q != '"' && *q != '\'' && *q != '=') q++;
      if (q < e && *q == ']') {
        // A bracket of one character is that character.
        if (q - s == 2) text(w, Str{s + 1, 1}, false);
        else chr(w, kBracket, false);
        s = q + 1;
        return true;
      }
    }
    literal(w, false);
    return !why;
  }

  static bool metachar(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '(' || c == ')';
  }
  Word *word() {
    Word *w = make<Word>();
    if (++nodes > kMaxNodes) {
      fail("too long");
      return nullptr;
    }
    if (at() == '~') w->tilde = true;
    bool any = false;
    while (more()) {
      char c = *s;
      if ((c == '<' || c == '>') && at(1) == '(') {
        if (++depth > kMaxDepth) return fail("nested too deeply"), nullptr;
        s += 2;
        if (!substitution(w, false, PartKind::Process)) return nullptr;
        depth--;
        any = true;
        continue;
      }
      if (c == '(' && any && w->parts.n) { // extglob: !(a|b) @(…) ?(…) *(…) +(…)
        char before = s[-1];
        if (before == '!' || before == '@' || before == '+' || before == '*' || before == '?') {
          int open = 0;
          const char *q = s;
          for (; q < e && *q != '\n'; q++) {
            if (*q == '(') open++;
            if (*q == ')' && --open == 0) break;
          }
          if (q < e && *q == ')') {
            Part &last = w->parts[w->parts.n - 1];
            if (last.kind == PartKind::Text && last.text.n) last.text.n--;
            chr(w, kStar, false);
            s = q + 1;
            continue;
          }
        }
      }
      if (metachar(c)) break;
      if (c == '{') w->brace = true;
      any = true;
      if (!piece(w, false)) return nullptr;
      if (why) return nullptr;
    }
    return w;
  }

  // The bytes of an unquoted plain word at s (for reserved words), without consuming it.
  Str peek() const {
    const char *q = s;
    while (q < e && !metachar(*q) && *q != '\'' && *q != '"' && *q != '\\' && *q != '$' && *q != '`') q++;
    if (q < e && !metachar(*q)) return Str{s, 0};
    return Str{s, static_cast<size_t>(q - s)};
  }
  bool reserved(const char *word) {
    if (!weir_same(peek(), S(word))) return false;
    s += S(word).n;
    return true;
  }

  bool redirect(Node *n) { // at an operator, with or without a number; false: none here or failed
    const char *save = s;
    Redirect r;
    if (isDigit(at())) {
      const char *q = s;
      int fd = 0;
      while (q < e && isDigit(*q) && q - s < 6) fd = fd * 10 + (*q++ - '0');
      if (q >= e || (*q != '<' && *q != '>')) return false;
      r.fd = fd;
      s = q;
    } else if (at() == '{') {
      const char *q = s + 1;
      while (q < e && isName(*q)) q++;
      if (q >= e || *q != '}' || q + 1 >= e || (q[1] != '<' && q[1] != '>')) return false;
      s = q + 1;
    }
    static const char *const ops[] = {"&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">"};
    const char *op = nullptr;
    for (const char *o : ops)
      if (starts(Str{s, static_cast<size_t>(e - s)}, o)) {
        op = o;
        break;
      }
    if (!op || ((eq(S(op), "<") || eq(S(op), ">")) && at(1) == '(')) {
      s = save;
      return false;
    }
    r.op = S(op);
    s += r.op.n;
    blanks();
    if (eq(r.op, "<<") || eq(r.op, "<<-")) {
      const char *b = s;
      Word *w = word();
      if (!w) return false;
      bool quoted = false;
      Text end;
      for (const char *q = b; q < s; q++) quoted |= *q == '\'' || *q == '"' || *q == '\\';
      for (Part &p : w->parts) end.add(p.text);
      r.target = make<Word>();
      pending.push(Pending{r.target, end.str(), quoted, eq(r.op, "<<-")});
      r.op = S("<<");
    } else {
      r.target = word();
      if (!r.target) return false;
      if (!r.target->parts.n) return fail("a redirection without a target");
    }
    n->redirects.push(r);
    return true;
  }

  // NAME=, NAME+=, NAME[i]= at s?
  bool assignment(Node *n) {
    const char *q = s;
    if (isDigit(at())) return false;
    while (q < e && isName(*q)) q++;
    if (q == s) return false;
    Assign a;
    a.name = Str{s, static_cast<size_t>(q - s)};
    if (q < e && *q == '[') {
      const char *b = q + 1;
      while (q < e && *q != ']' && !isSpace(*q)) q++;
      if (q >= e || *q != ']') return false;
      a.index = Str{b, static_cast<size_t>(q - b)};
      q++;
    }
    if (q + 1 < e && *q == '+' && q[1] == '=') {
      a.append = true;
      q++;
    }
    if (q >= e || *q != '=') return false;
    s = q + 1;
    if (at() == '(') {
      s++;
      a.array = true;
      for (;;) {
        newlines();
        if (!more()) return fail("an array does not end"), true;
        if (at() == ')') break;
        Word *w = word();
        if (!w) return true;
        if (!w->parts.n) return fail("an array holds an operator"), true;
        a.values.push(w);
      }
      s++;
    } else {
      a.value = word();
      if (!a.value) return true;
    }
    n->assigns.push(a);
    return true;
  }

  Node *simple() {
    Node *n = make<Node>();
    for (;;) {
      blanks();
      if (why) return nullptr;
      if (!more()) break;
      if (redirect(n)) continue;
      if (why) return nullptr;
      char c = *s;
      if (c == '(' ) {
        if (n->words.n == 1 && !n->assigns.n) { // name() { … }
          const char *save = s++;
          blanks();
          if (at() == ')') {
            s++;
            Part &p = n->words[0]->parts[0];
            n->kind = Kind::Function;
            n->name = p.text;
            newlines();
            Node *body = command();
            if (!body) return nullptr;
            n->kids.push(body);
            return n;
          }
          s = save;
        }
        fail("an unexpected (");
        return nullptr;
      }
      if (metachar(c) && !((c == '<' || c == '>') && at(1) == '(')) break;
      bool declares = n->words.n && n->words[0]->parts.n == 1 && anyOf(n->words[0]->parts[0].text, "declare typeset local export readonly");
      if ((!n->words.n || declares) && assignment(n)) {
        if (why) return nullptr;
        continue;
      }
      Word *w = word();
      if (!w) return nullptr;
      n->words.push(w);
    }
    if (!n->words.n && !n->assigns.n && !n->redirects.n) {
      fail("a command is missing");
      return nullptr;
    }
    return n;
  }

  bool trailingRedirects(Node *n) {
    for (;;) {
      blanks();
      if (!redirect(n)) return !why;
    }
  }

  // A list up to (not including) one of the reserved words in end, or ")".
  Node *list(const char *end) {
    if (++depth > kMaxDepth) {
      fail("nested too deeply");
      return nullptr;
    }
    Node *n = make<Node>();
    n->kind = Kind::List;
    for (;;) {
      newlines();
      if (why) return nullptr;
      while (at() == ';' && at(1) != ';') { // an empty statement is an error in bash, but harmless here
        s++;
        newlines();
      }
      if (!more() || at() == ')' || (at() == ';' && at(1) == ';')) break;
      if (end[0] != ')' && anyOf(peek(), end)) break;
      Node *k = pipeline();
      if (!k) return nullptr;
      n->kids.push(k);
      blanks();
      char sep = ';';
      if (at() == '&' && at(1) == '&') {
        sep = 'A';
        s += 2;
      } else if (at() == '|' && at(1) == '|') {
        sep = 'O';
        s += 2;
      } else if (at() == '&') {
        sep = '&';
        s++;
      } else if (at() == ';' && at(1) != ';') {
        s++;
      } else if (at() == '\n') {
        newline();
      } else if (more() && at() != ')' && !(at() == ';')) {
        if (end[0] == 0 || !anyOf(peek(), end)) {
          fail("an unexpected character");
          return nullptr;
        }
      }
      n->seps.push(sep);
    }
    depth--;
    return n;
  }

  Node *pipeline() {
    for (;;) {
      blanks();
      if (reserved("!")) continue;
      break;
    }
    Node *first = command();
    if (!first) return nullptr;
    blanks();
    if (at() != '|' || at(1) == '|') return first;
    Node *n = make<Node>();
    n->kind = Kind::Pipe;
    n->kids.push(first);
    while (at() == '|' && at(1) != '|') {
      s++;
      if (at() == '&') s++;
      newlines();
      Node *k = command();
      if (!k) return nullptr;
      n->kids.push(k);
      blanks();
    }
    return n;
  }

  bool body(Node *n, const char *open, const char *end) { // open list end
    newlines();
    if (open && !reserved(open)) return fail("a keyword is missing");
    Node *l = list(end);
    if (!l) return false;
    n->kids.push(l);
    return true;
  }

  Node *command() {
    blanks();
    if (why) return nullptr;
    if (++nodes > kMaxNodes) {
      fail("too long");
      return nullptr;
    }
    Node *n = make<Node>();
    if (at() == '(') {
      if (at(1) == '(') { // (( … )): arithmetic, unless it does not close as such
        const char *save = s;
        s += 2;
        Word *w = make<Word>();
        if (arith(w, true)) {
          n->kind = Kind::Test;
          n->words.push(w);
          return trailingRedirects(n) ? n : nullptr;
        }
        s = save;
        why = nullptr;
      }
      s++;
      n->kind = Kind::Subshell;
      Node *l = list(")");
      if (!l) return nullptr;
      n->kids.push(l);
      if (at() != ')') return fail("a ( does not end"), nullptr;
      s++;
      return trailingRedirects(n) ? n : nullptr;
    }
    if (reserved("{")) {
      n->kind = Kind::Group;
      if (!body(n, nullptr, "}") || !reserved("}")) return fail("a { does not end"), nullptr;
      return trailingRedirects(n) ? n : nullptr;
    }
    if (reserved("if")) {
      n->kind = Kind::If;
      if (!body(n, nullptr, "then") || !body(n, "then", "elif else fi")) return nullptr;
      for (;;) {
        if (reserved("elif")) {
          if (!body(n, nullptr, "then") || !body(n, "then", "elif else fi")) return nullptr;
        } else if (reserved("else")) {
          if (!body(n, nullptr, "fi")) return nullptr;
        } else break;
      }
      if (!reserved("fi")) return fail("an if does not end"), nullptr;
      return trailingRedirects(n) ? n : nullptr;
    }
    if (reserved("while") || reserved("until")) {
      n->kind = Kind::Loop;
      if (!body(n, nullptr, "do") || !body(n, "do", "done") || !reserved("done")) return fail("a loop does not end"), nullptr;
      return trailingRedirects(n) ? n : nullptr;
    }
    if (reserved("for") || reserved("select")) return loop(n);
    if (reserved("case")) return caseOf(n);
    if (reserved("function")) {
      blanks();
      n->kind = Kind::Function;
      n->name = peek();
      s += n->name.n;
      blanks();
      if (at() == '(') {
        s++;
        blanks();
        if (at() == ')') s++;
      }
      newlines();
      Node *b = command();
      if (!b) return nullptr;
      n->kids.push(b);
      return n;
    }
    if (reserved("coproc")) return command();
    if (reserved("[[")) {
      n->kind = Kind::Test;
      while (more()) {
        newlines();
        if (reserved("]]")) return trailingRedirects(n) ? n : nullptr;
        if (metachar(at())) {
          s++;
          continue;
        }
        Word *w = word();
        if (!w) return nullptr;
        n->words.push(w);
      }
      return fail("a [[ does not end"), nullptr;
    }
    return simple();
  }
  Node *loop(Node *n) {
    n->kind = Kind::For;
    blanks();
    if (at() == '(' && at(1) == '(') {
      s += 2;
      Word *w = make<Word>();
      if (!arith(w, true)) return nullptr;
      n->kind = Kind::Loop;
    } else {
      n->name = peek();
      s += n->name.n;
      newlines();
      if (reserved("in")) {
        for (;;) {
          blanks();
          if (!more() || at() == ';' || at() == '\n') break;
          Word *w = word();
          if (!w) return nullptr;
          if (!w->parts.n) return fail("an unexpected operator in for"), nullptr;
          n->words.push(w);
        }
      }
    }
    blanks();
    if (at() == ';') s++;
    newlines();
    if (reserved("{")) {
      if (!body(n, nullptr, "}") || !reserved("}")) return fail("a loop does not end"), nullptr;
    } else if (!body(n, "do", "done") || !reserved("done")) return fail("a loop does not end"), nullptr;
    return trailingRedirects(n) ? n : nullptr;
  }
  Node *caseOf(Node *n) {
    n->kind = Kind::Case;
    blanks();
    Word *w = word();
    if (!w) return nullptr;
    n->words.push(w);
    newlines();
    if (!reserved("in")) return fail("a case without in"), nullptr;
    for (;;) {
      newlines();
      if (reserved("esac")) return trailingRedirects(n) ? n : nullptr;
      if (!more()) return fail("a case does not end"), nullptr;
      if (at() == '(') s++;
      for (;;) {
        blanks();
        Word *pattern = word();
        if (!pattern) return nullptr;
        blanks();
        if (at() == '|') {
          s++;
          continue;
        }
        break;
      }
      if (at() != ')') return fail("a case pattern does not end"), nullptr;
      s++;
      Node *l = list("esac");
      if (!l) return nullptr;
      n->kids.push(l);
      if (at() == ';' && at(1) == ';') {
        s += 2;
        if (at() == '&') s++;
      } else if (at() == ';' && at(1) == '&') s += 2;
    }
  }

  Node *all() {
    Node *n = list("");
    if (!n) return nullptr;
    newlines();
    if (more()) return fail("an unexpected character"), nullptr;
    for (uint32_t i = 0; i < pending.n; i++) heredoc(pending[i]);
    return why ? nullptr : n;
  }
};

} // namespace

Node *parse(Str source, const char **why) {
  Parser p(source);
  Node *n = p.all();
  *why = p.why ? p.why : "";
  return n;
}

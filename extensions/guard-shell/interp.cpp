// Walking the tree: lists, pipes, loops, functions, redirections.
#include "interp.hpp"

namespace {
constexpr int kMaxShellDepth = 24;       // shells in shells, functions in functions
constexpr uint32_t kMaxSteps = 4000;     // simple commands interpreted in one judgement
constexpr size_t kMaxOutput = 1 << 16;   // remembered output; more becomes "unknown"
constexpr int kMaxLines = 32;            // turns of a loop that reads lines

Str clip(const Text &t) { return t.b.n > kMaxOutput ? WEIR_S("\x01") : Str{t.b.p ? t.b.p : "", t.b.n}; }
} // namespace

void World::find(Family f, Level l, const Str &what) {
  for (Finding &x : findings)
    if (x.family == f && x.level == l) return;
  findings.push(Finding{f, l, what});
}

void World::find(Family f, Level l, const char *what) { find(f, l, S(what)); }

Str Shell::run(Node *n, Str input, bool hasInput) {
  if (!n || w->tired) return WEIR_S("");
  if (depth > kMaxShellDepth || ++w->steps > kMaxSteps) {
    w->tired = true;
    return WEIR_S("");
  }
  switch (n->kind) {
  case Kind::Simple: return runSimple(n, input, hasInput);
  case Kind::List: return runList(n, input, hasInput);
  case Kind::Function: {
    for (Function &f : funcs)
      if (weir_same(f.name, n->name)) {
        f.body = n->kids[0];
        return WEIR_S("");
      }
    funcs.push(Function{n->name, n->kids[0], false});
    return WEIR_S("");
  }
  case Kind::Pipe: {
    Str out = input;
    bool has = hasInput;
    for (Node *k : n->kids) {
      Shell sub = fork();
      sub.background = true;
      out = sub.run(k, out, has);
      has = true;
    }
    return out;
  }
  default: break;
  }
  // Compound commands: redirections first, then the parts one after the other.
  Str file{};
  bool toFile = false;
  Shell sub = n->kind == Kind::Subshell ? fork() : Shell();
  Shell &sh = n->kind == Kind::Subshell ? sub : *this;
  sh.redirects(n, &input, &hasInput, &toFile, &file);
  Text out;
  switch (n->kind) {
  case Kind::Test:
    for (Word *word : n->words) sh.expandOne(word);
    break;
  case Kind::For: {
    Vec<Str> values;
    for (Word *word : n->words) sh.expand(word, &values);
    if (!n->words.n) values = sh.args;
    for (Str v : values) {
      sh.set(n->name, v);
      out.add(sh.run(n->kids[0], input, hasInput));
      if (w->tired) break;
    }
    break;
  }
  case Kind::Loop: {
    if (n->kids.n > 1 && n->kids[0]->kids.n == 1 && n->kids[0]->kids[0]->kind == Kind::Simple && n->kids[0]->kids[0]->words.n == 1) {
      Str cond = expandOne(n->kids[0]->kids[0]->words[0]);
      bool starts = false;
      for (char sep : n->kids[1]->seps) starts |= sep == '&';
      if (starts && anyOf(cond, "true :")) w->find(Family::Resource, Level::Sure, "starts processes without end");
    }
    // A loop over lines is run for each known line; any other loop once.
    Str saved = in;
    bool savedPiped = piped;
    if (hasInput) {
      in = input;
      piped = true;
    }
    for (int turn = 0; turn < kMaxLines; turn++) {
      size_t before = in.n;
      for (Node *k : n->kids) out.add(run(k, in, piped));
      if (!in.n || in.n >= before || w->tired) break;
    }
    in = saved;
    piped = savedPiped;
    break;
  }
  default:
    if (hasInput) {
      sh.in = input;
      sh.piped = true;
    }
    for (Word *word : n->words) sh.expandOne(word);
    for (Node *k : n->kids) out.add(sh.run(k, input, hasInput));
  }
  if (toFile) {
    if (file.n) w->written.push(Written{file, clip(out)});
    return WEIR_S("");
  }
  return clip(out);
}

Str Shell::runList(Node *n, Str input, bool hasInput) {
  Text out;
  for (uint32_t i = 0; i < n->kids.n; i++) {
    bool was = background;
    background |= n->seps[i] == '&';
    out.add(run(n->kids[i], input, hasInput));
    background = was;
    if (w->tired) break;
  }
  return clip(out);
}

Str Shell::runText(Str source, Str input, bool hasInput) {
  const char *why = "";
  if (depth >= kMaxShellDepth) {
    w->tired = true;
    return WEIR_S("");
  }
  Node *n = parse(source, &why);
  if (!n) {
    w->find(Family::Unparsable, Level::Sure, why);
    return WEIR_S("");
  }
  depth++;
  Str out = run(n, input, hasInput);
  depth--;
  return out;
}

void Shell::redirects(Node *n, Str *input, bool *hasInput, bool *toFile, Str *outPath) {
  auto literal = [&](uint32_t i) { return n->words[i]->parts.n == 1 ? n->words[i]->parts[0].text : WEIR_S(n->words[i]->parts.n ? "?" : ""); };
  for (Redirect &r : n->redirects) {
    Str target = expandOne(r.target);
    if (eq(r.op, "<<") || eq(r.op, "<<<")) {
      Text t;
      t.add(target);
      if (r.op.n == 3) t.add('\n');
      *input = t.str();
      *hasInput = true;
      continue;
    }
    bool descriptor = r.op.p[r.op.n - 1] == '&' && (eq(target, "-") || (target.n && (isDigit(target.p[0]) || isMark(target.p[0]))));
    if (descriptor) {
      if (r.fd <= 0 && eq(r.op, "<&")) { // bash <&5: something opened before
        *input = WEIR_S("\x01");
        *hasInput = true;
        for (Written &x : w->written)
          if (eq(x.path, "/dev/tcp")) *input = WEIR_S("\x06");
      }
      continue;
    }
    if (!target.n) continue;
    if (starts(target, "/dev/tcp/") || starts(target, "/dev/udp/")) {
      w->written.push(Written{WEIR_S("/dev/tcp"), WEIR_S("")});
      *input = WEIR_S("\x06");
      if (r.op.p[0] == '<') *hasInput = true;
      if (r.fd <= 0 || r.op.p[0] == '<') w->find(Family::RemoteCode, Level::Doubt, "a raw network connection");
      continue;
    }
    if (r.op.p[0] == '<') {
      if (r.fd <= 0) {
        *input = eq(target, "/dev/stdin") ? *input : contentOf(*this, target);
        *hasInput = true;
      }
      if (!n->words.n || !eq(literal(0), "wc")) judgeRead(*this, target); // a count shows nothing
      if (eq(r.op, "<>")) judgeWrite(*this, target, false, false);
      continue;
    }
    bool append = eq(r.op, ">>") || eq(r.op, "&>>");
    if (r.fd != 2) {
      *toFile = true;
      *outPath = resolve(target);
      if (target.n >= 5 && starts(target, "/dev/fd/")) *toFile = false;
      if (anyOf(target, "/dev/stdout /dev/tty /dev/stderr")) *toFile = false;
    }
    bool empty = !n->words.n || (n->words.n == 1 && n->kids.n == 0 && anyOf(literal(0), ": true echo")) ||
                 (n->words.n == 2 && n->kids.n == 0 && anyOf(literal(0), "echo printf") && (eq(literal(1), "-n") || !literal(1).n));
    judgeWrite(*this, target, !append, empty && !append);
  }
}

Str Shell::runSimple(Node *n, Str input, bool hasInput) {
  Command c;
  bool toFile = false;
  Str file{};
  for (Word *word : n->words) {
    Vec<Str> f;
    expand(word, &f);
    for (Str x : f) c.argv.push(x);
    if (w->tired) return WEIR_S("");
  }
  if (piped && !hasInput) {
    input = in;
    hasInput = true;
  }
  redirects(n, &input, &hasInput, &toFile, &file);
  bool declares = c.argv.n && anyOf(c.argv[0], "declare typeset local export readonly");
  for (Assign &a : n->assigns) {
    if (c.argv.n && !declares) {
      Text t;
      c.env.push(t.add(a.name).add('=').add(a.array ? WEIR_S("\x01") : expandOne(a.value)).str());
      continue;
    }
    if (a.array) {
      Vec<Str> f;
      for (Word *word : a.values) expand(word, &f);
      set(a.name, WEIR_S(""));
      *lookup(a.name) = f;
      continue;
    }
    // ~ is expanded behind = as well.
    Str v = expandOne(a.value);
    if (a.value->tilde) v = tilde(v);
    if (a.append) {
      Text t;
      v = t.add(lookup(a.name) ? value(a.name) : WEIR_S("")).add(v).str();
    }
    set(a.name, v);
    Text assignment;
    judgeAssignment(*this, assignment.add(a.name).add('=').add(v).str());
  }
  Str out = WEIR_S("");
  if (c.argv.n) {
    c.in = input;
    c.piped = hasInput;
    out = runCommand(c);
  }
  if (toFile && hasMark(out, kEnviron)) w->find(Family::Secrets, Level::Doubt, "writes the whole environment to a file");
  if (toFile && (eq(c.name, "yes") || (eq(c.name, "cat") && (eq(c.arg(1), "/dev/zero") || eq(c.arg(1), "/dev/urandom") || eq(c.arg(1), "/dev/random")))))
    w->find(Family::Resource, Level::Sure, "writes without end");
  if (toFile) {
    // curl x > f: what was fetched is what lies there.
    if (file.n) w->written.push(Written{file, out.n || !c.argv.n ? out : WEIR_S("\x01")});
    return WEIR_S("");
  }
  return out;
}

Str Shell::runCommand(Command &c) {
  if (++w->steps > kMaxSteps || depth > kMaxShellDepth) {
    w->tired = true;
    return WEIR_S("");
  }
  Str word = without(c.argv[0], kUnset);
  if (!word.n && c.argv[0].n) {
    // $CMD args: the variable is not set here. Alone it does nothing that can be known.
    w->find(Family::Dynamic, Level::Sure, "a command whose name is in a variable that is not set here");
    return WEIR_S("\x01");
  }
  if (!word.n) return WEIR_S("");
  if (hasMark(word, kNet)) w->find(Family::RemoteCode, Level::Sure, "runs what came from the network");
  else if (hasMark(word, kDecoded)) w->find(Family::RemoteCode, Level::Sure, "runs decoded text");
  c.argv[0] = word;
  c.name = baseName(word);
  bool unknown = false;
  for (size_t i = 0; i < c.name.n; i++) unknown |= isMark(c.name.p[i]);
  if (unknown) {
    // A pattern such as /bin/r? or */rm: what it can mean that matters.
    static const char *const known[] = {"rm", "dd", "bash", "sh", "chmod", "git", "shred", "cat", "curl"};
    const char *hit = nullptr;
    for (const char *k : known)
      if (!hit && c.name.n > 1 && globMatch(c.name, S(k), true) && !(isMark(c.name.p[0]) && !isGlob(c.name.p[0]))) hit = k;
    if (!hit) {
      w->find(Family::Dynamic, Level::Sure, "a command whose name is not known before it runs");
      return WEIR_S("\x01");
    }
    c.name = S(hit);
  }
  // A command written with spaces in one word ("rm -rf x" from IFS tricks) does not exist as such.
  for (uint32_t i = 0; i < funcs.n; i++) {
    if (!weir_same(funcs[i].name, c.name)) continue;
    if (funcs[i].active) {
      if (background) w->find(Family::Resource, Level::Sure, "a function that starts itself again and again");
      return WEIR_S("");
    }
    funcs[i].active = true;
    Vec<Str> saved = args;
    args = {};
    for (uint32_t k = 1; k < c.argv.n; k++) args.push(c.argv[k]);
    depth++;
    Str out = run(funcs[i].body, c.in, c.piped);
    depth--;
    args = saved;
    funcs[i].active = false;
    return out;
  }
  Str out = WEIR_S("");
  for (Str e : c.env) judgeAssignment(*this, e);
  if (builtin(c, &out) || wrapper(c, &out)) return out;
  judge(*this, c);
  return output(c);
}

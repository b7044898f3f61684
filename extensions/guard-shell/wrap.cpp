// Commands that run other commands, and the builtins that change what later ones mean.
#include "interp.hpp"

namespace {

struct Prefix {
  const char *names;
  const char *takesValue; // options followed by a value
  int skip;               // operands before the command
};
// What stands before another command and runs it. Facts from the manual pages.
const Prefix kPrefixes[] = {
    {"nohup setsid stdbuf unbuffer fakeroot catchsegv chronic linux32 linux64 setarch dbus-run-session caffeinate rlwrap firejail proot "
     "eatmydata busybox toybox cgexec systemd-inhibit systemd-run tsocks torsocks proxychains proxychains4",
     "-i -o -e -p -u -g -b -r -w -l -n --input --output --error", 0},
    {"nice", "-n --adjustment", 0},
    {"ionice", "-c -n -p --class --classdata", 0},
    {"time", "-f -o --format --output", 0},
    {"timeout gtimeout", "-s -k --signal --kill-after", 1},
    {"taskset chrt flock", "-p -w -E --timeout", 1},
    {"strace ltrace valgrind", "-o -e -p -s -n -a -l -x", 0},
    {"chroot", "", 1},
    {"gosu su-exec", "", 1},
    {"nsenter", "-t --target -S -G", 0},
    {"unshare", "-S -G", 0},
    {"bwrap", "--bind --ro-bind --dev-bind --proc --dev --tmpfs --chdir --setenv", 0},
    {"runuser", "-u -g -G --user", 0},
    {"numactl prlimit", "-N -C", 0},
    {"entr", "", 0},
    {"arch", "", 0},
    {"xvfb-run", "-s -n -e", 0},
    {"faketime", "", 1},
    {"npx bunx pnpx", "-p --package", 0},
};

void rest(const Command &c, uint32_t from, Command *to) {
  for (uint32_t i = from; i < c.argv.n; i++) to->argv.push(c.argv[i]);
  to->in = c.in;
  to->piped = c.piped;
  to->env = c.env;
}
Str joined(const Command &c, uint32_t from) {
  Text t;
  for (uint32_t i = from; i < c.argv.n; i++) {
    if (i > from) t.add(' ');
    t.add(c.argv[i]);
  }
  return t.str();
}
// Index of the first operand, skipping options and their values.
uint32_t firstOperand(const Command &c, const char *takesValue) {
  uint32_t i = 1;
  for (; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (eq(a, "--")) return i + 1;
    if (a.n < 2 || a.p[0] != '-') return i;
    if (anyOf(a, takesValue)) i++;
  }
  return i;
}

bool isAssignment(Str a) {
  size_t i = 0;
  while (i < a.n && isName(a.p[i])) i++;
  return i > 0 && i < a.n && a.p[i] == '=';
}

// Text that reaches a shell as its program.
void program(Shell &sh, Str text, const char *how) {
  if (hasMark(text, kNet)) sh.w->find(Family::RemoteCode, Level::Sure, "runs what came from the network");
  else if (hasMark(text, kDecoded)) sh.w->find(Family::RemoteCode, Level::Sure, "runs decoded text");
  else if (text.n && anyMark(text)) {
    // All of it unknown: nothing to read. Part of it unknown: read the rest.
    bool known = false;
    for (size_t i = 0; i < text.n; i++) known |= !isMark(text.p[i]) && !isSpace(text.p[i]);
    if (!known) {
      if (!hasMark(text, kContent)) sh.w->find(Family::Dynamic, Level::Sure, how);
      return;
    }
  }
}
// Marks in source text would be read as unknown bytes; unset variables vanish, globs are themselves again.
Str asSource(Str t) {
  if (!anyMark(t)) return t;
  char *p = static_cast<char *>(weir_alloc(t.n));
  size_t n = 0;
  for (size_t i = 0; i < t.n; i++) {
    char c = t.p[i];
    if (c == kUnset) continue;
    p[n++] = c == kStar ? '*' : c == kQuery ? '?' : c;
  }
  return Str{p, n};
}

void shell(Shell &sh, Command &c, uint32_t at, Str *out) {
  Shell sub = sh.fork();
  sub.funcs = {};
  uint32_t i = at;
  bool fromStdin = false;
  for (; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (a.n < 2 || (a.p[0] != '-' && a.p[0] != '+')) break;
    if (eq(a, "--")) {
      i++;
      break;
    }
    if (anyOf(a, "-O +O -o +o --rcfile --init-file")) {
      i++;
      continue;
    }
    if (a.p[1] == '-') continue;
    if (a.p[0] == '-' && has(a, 'n') && !has(a, 'c')) return; // only checks the syntax
    if (has(a, 's')) fromStdin = true;
    if (a.p[0] == '-' && has(a, 'c')) {
      // Options may follow -c; the program is the first operand.
      for (i++; i < c.argv.n && c.argv[i].n > 1 && c.argv[i].p[0] == '-'; i++) {}
      if (i >= c.argv.n) return;
      Str text = c.argv[i];
      for (uint32_t k = i + 2; k < c.argv.n; k++) sub.args.push(c.argv[k]);
      if (sub.args.n == 0) sub.args = {};
      program(sh, text, "a shell runs text that is not known before it runs");
      *out = sub.runText(asSource(text), c.in, c.piped);
      return;
    }
  }
  if (i < c.argv.n && !fromStdin && !anyOf(c.argv[i], "- /dev/stdin")) {
    Str file = c.argv[i];
    for (uint32_t k = i + 1; k < c.argv.n; k++) sub.args.push(c.argv[k]);
    Str path = sh.resolve(file);
    for (uint32_t k = sh.w->written.n; k > 0; k--) {
      Written &x = sh.w->written[k - 1];
      if (!weir_same(x.path, path)) continue;
      program(sh, x.text, "a shell runs a file whose content is not known");
      sub.depth++;
      *out = sub.runText(asSource(x.text), c.in, c.piped);
      return;
    }
    if (hasMark(file, kNet)) program(sh, file, "");
    return;
  }
  if (!c.piped) return; // an interactive shell
  program(sh, c.in, "a shell runs text that is not known before it runs");
  if (c.in.n) *out = sub.runText(asSource(c.in), WEIR_S(""), false);
}

// placed is a word with the placeholder replaced by what is found. In a shell's program it becomes a variable, since what is found may
// hold marks, which have no meaning in source.
Str placed(Shell &sh, Str word, Str placeholder, Str found, bool program) {
  size_t at = indexOf(word, placeholder);
  if (at == static_cast<size_t>(-1)) return word;
  Text t;
  t.add(::sub(word, 0, at));
  if (program) {
    sh.set(WEIR_S("__found"), found);
    t.add("${__found}");
  } else t.add(found);
  return t.add(::sub(word, at + placeholder.n, word.n)).str();
}

// find: the operands before the first test are its roots; -exec runs for what it finds.
void find(Shell &sh, Command &c, Str *out) {
  Vec<Str> roots;
  Str name{};
  bool tests = false, alternatives = false, narrow = false;
  uint32_t i = 1;
  for (; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (anyOf(a, "-H -L -P")) continue;
    if (a.n && (a.p[0] == '-' || a.p[0] == '(' || a.p[0] == '!')) break;
    roots.push(a);
  }
  if (!roots.n) roots.push(WEIR_S("."));
  Text result;
  auto each = [&](void (*f)(Shell &, Command &, uint32_t, uint32_t, Str), uint32_t from, uint32_t to) {
    for (Str root : roots) {
      Text t;
      t.add(root).add('/').add(kFiles);
      if (name.n && !alternatives) {
        t.add('/');
        for (size_t k = 0; k < name.n; k++) t.add(name.p[k] == '*' ? static_cast<char>(kStar) : name.p[k] == '?' ? static_cast<char>(kQuery) : name.p[k]);
      }
      f(sh, c, from, to, t.str());
    }
  };
  bool selects = false;
  for (; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (anyOf(a, "-o -or ,")) {
      alternatives = tests;
      if (!selects) name = Str{nullptr, 0};
      // find . -name x -o -delete: what follows applies to everything else
      bool grouped = false;
      for (uint32_t k = 1; k < i; k++) grouped |= eq(c.argv[k], "(");
      if (!grouped && !selects) name = Str{nullptr, 0};
    } else if (anyOf(a, "-name -iname -path -ipath -wholename -regex -iregex")) {
      if (i + 1 < c.argv.n && !(i > 1 && anyOf(c.argv[i - 1], "! -not"))) {
        // Of several alternatives the first stands for all: they are of one kind in practice.
        if (!name.n) name = anyOf(a, "-name -iname") ? c.argv[i + 1] : baseName(c.argv[i + 1]);
        else alternatives = false;
      }
      tests = true;
      selects = true;
      i++;
    } else if (anyOf(a, "-type -maxdepth -mindepth -newer -user -group -perm -printf -fprintf -links -inum")) {
      i++;
    } else if (anyOf(a, "-mtime -mmin -atime -ctime -size -amin -cmin")) {
      narrow = true;
      i++;
    } else if (anyOf(a, "-empty")) {
      narrow = true;
      name = WEIR_S("*.empty~");
    } else if (eq(a, "-delete")) {
      each([](Shell &s, Command &, uint32_t, uint32_t, Str path) { judgeRemoval(s, path, false); }, 0, 0);
    } else if (anyOf(a, "-exec -execdir -ok -okdir")) {
      uint32_t from = i + 1, to = from;
      while (to < c.argv.n && !eq(c.argv[to], ";") && !(eq(c.argv[to], "+") && to > from && eq(c.argv[to - 1], "{}"))) to++;
      each(
          [](Shell &s, Command &cc, uint32_t f, uint32_t t, Str path) {
            Command x;
            for (uint32_t k = f; k < t; k++) {
              x.argv.push(placed(s, cc.argv[k], WEIR_S("{}"), path, isShell(baseName(cc.argv[f])) && has(cc.argv[k], ' ')));
            }
            if (x.argv.n) s.runCommand(x);
          },
          from, to);
      i = to;
    } else if (anyOf(a, "-fprint -fls")) {
      if (i + 1 < c.argv.n) judgeWrite(sh, c.argv[i + 1], true, false);
      i++;
    }
  }
  (void)narrow;
  for (Str root : roots) {
    result.add(root).add('/').add(kFiles);
    if (name.n) {
      result.add('/');
      for (size_t k = 0; k < name.n; k++) result.add(name.p[k] == '*' ? static_cast<char>(kStar) : name.p[k] == '?' ? static_cast<char>(kQuery) : name.p[k]);
    }
    result.add('\n');
  }
  *out = result.str();
}

// xargs and parallel: operands from standard input (or a file).
bool fed(Shell &sh, Command &c, Str *out) {
  const bool parallel = eq(c.name, "parallel");
  Str replace{};
  uint32_t i = 1;
  Str input = c.piped ? c.in : WEIR_S("");
  for (; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (a.n < 2 || a.p[0] != '-') break;
    if (eq(a, "--")) {
      i++;
      break;
    }
    if (anyOf(a, "-I -i --replace")) {
      if (eq(a, "-I") && i + 1 < c.argv.n) replace = c.argv[++i];
      else replace = WEIR_S("{}");
    } else if (starts(a, "-I")) replace = ::sub(a, 2, a.n);
    else if (anyOf(a, "-a --arg-file")) {
      if (i + 1 < c.argv.n) input = contentOf(sh, c.argv[++i]);
    } else if (anyOf(a, "-n -P -L -s -d -E -l --max-args --max-procs --delimiter -j --jobs --colsep")) i++;
  }
  Command x;
  x.env = c.env;
  Vec<Str> extra;
  for (uint32_t k = i; k < c.argv.n; k++) {
    if (parallel && anyOf(c.argv[k], "::: ::::")) {
      for (uint32_t m = k + 1; m < c.argv.n; m++) extra.push(c.argv[m]);
      break;
    }
    x.argv.push(c.argv[k]);
  }
  for (size_t k = 0; k < input.n && extra.n < 64;) {
    // With a placeholder a line is an operand, otherwise a word.
    auto parts = [&](char ch) { return replace.n ? ch == '\n' : isSpace(ch); };
    while (k < input.n && parts(input.p[k])) k++;
    size_t b = k;
    while (k < input.n && !parts(input.p[k])) k++;
    if (k > b) extra.push(::sub(input, b, k));
  }
  if (!x.argv.n) {
    if (!parallel) return true; // xargs alone prints
    for (Str e : extra) {
      program(sh, e, "parallel runs text that is not known before it runs");
      if (!anyMark(e)) sh.runText(e, WEIR_S(""), false);
    }
    return true;
  }
  if (parallel && x.argv.n == 1 && has(x.argv[0], ' ')) {
    Text t;
    t.add(x.argv[0]);
    for (Str e : extra) t.add(' ').add(e);
    sh.runText(t.str(), WEIR_S(""), false);
    return true;
  }
  if (!extra.n) extra.push(WEIR_S("\x01"));
  bool replaced = false;
  if (parallel && !replace.n) replace = WEIR_S("{}");
  if (replace.n) {
    for (Str e : extra) {
      Command y;
      bool any = false;
      for (Str a : x.argv) {
        any |= indexOf(a, replace) != static_cast<size_t>(-1);
        y.argv.push(placed(sh, a, replace, e, isShell(baseName(x.argv[0])) && has(a, ' ')));
      }
      if (!any) break;
      replaced = true;
      *out = sh.runCommand(y);
      if (sh.w->tired) break;
    }
    if (replaced) return true;
  }
  for (Str e : extra) x.argv.push(e);
  *out = sh.runCommand(x);
  return true;
}

} // namespace

bool Shell::builtin(Command &c, Str *out) {
  Str n = c.name;
  if (anyOf(n, "cd pushd")) {
    Vec<Str> ops;
    operands(c, &ops);
    Str to = ops.n ? ops[0] : w->home;
    if (eq(to, "-")) to = WEIR_S("\x01");
    cwd = resolve(to);
    if (cwd.n && isMark(cwd.p[0])) {
      Text t;
      cwd = t.add('/').add(kUnknown).str();
    }
    return true;
  }
  if (eq(n, "popd")) return cwd = w->workspace, true;
  if (eq(n, "set")) {
    for (uint32_t i = 1; i < c.argv.n; i++)
      if (eq(c.argv[i], "--")) {
        args = {};
        for (uint32_t k = i + 1; k < c.argv.n; k++) args.push(c.argv[k]);
        break;
      } else if (c.argv[i].n && c.argv[i].p[0] != '-' && c.argv[i].p[0] != '+') {
        args = {};
        for (uint32_t k = i; k < c.argv.n; k++) args.push(c.argv[k]);
        break;
      }
    if (c.argv.n == 1) {
      if (w->sourced) w->find(Family::Secrets, Level::Sure, "prints secrets that were read into the environment");
      *out = WEIR_S("\x10");
    }
    return true;
  }
  if (eq(n, "shift")) {
    Vec<Str> left;
    for (uint32_t k = 1; k < args.n; k++) left.push(args[k]);
    args = left;
    return true;
  }
  if (anyOf(n, "read mapfile readarray")) {
    Str src = c.piped ? c.in : WEIR_S("\x01");
    size_t end = 0;
    while (end < src.n && src.p[end] != '\n') end++;
    Str line = eq(n, "read") ? ::sub(src, 0, end) : src;
    if (piped && c.in.p == in.p) in = end + 1 < src.n ? ::sub(src, end + 1, src.n) : WEIR_S("");
    Str ifs = value(WEIR_S("IFS"));
    for (Str e : c.env)
      if (starts(e, "IFS=")) ifs = ::sub(e, 4, e.n);
    Vec<Str> ops;
    operands(c, &ops, "-a -d -i -n -N -p -t -u");
    if (!ops.n) ops.push(WEIR_S("REPLY"));
    for (uint32_t i = 0; i < ops.n; i++) { // the last variable takes the rest of the line
      size_t k = 0;
      while (k < line.n && has(ifs, line.p[k])) k++;
      size_t b = k;
      while (k < line.n && !has(ifs, line.p[k])) k++;
      set(ops[i], i + 1 == ops.n ? ::sub(line, b, line.n) : ::sub(line, b, k));
      line = ::sub(line, k, line.n);
    }
    return true;
  }
  if (anyOf(n, "declare typeset local export readonly")) {
    for (uint32_t i = 1; i < c.argv.n; i++) {
      Str a = c.argv[i];
      size_t k = 0;
      while (k < a.n && isName(a.p[k])) k++;
      if (!k || k >= a.n || a.p[k] != '=') continue;
      set(::sub(a, 0, k), ::sub(a, k + 1, a.n));
      judgeAssignment(*this, a);
    }
    if (c.argv.n == 1 || (c.argv.n == 2 && anyOf(c.argv[1], "-p -x -xp -px"))) {
      if (w->sourced) w->find(Family::Secrets, Level::Sure, "prints secrets that were read into the environment");
      *out = WEIR_S("\x10");
    }
    return true;
  }
  if (eq(n, "unset")) {
    for (uint32_t i = 1; i < c.argv.n; i++)
      if (lookup(c.argv[i])) set(c.argv[i], WEIR_S(""));
    return true;
  }
  if (eq(n, "alias")) {
    for (uint32_t i = 1; i < c.argv.n; i++) { // may be used by a later line
      size_t e = indexOf(c.argv[i], WEIR_S("="));
      if (e == static_cast<size_t>(-1)) continue;
      Str body = ::sub(c.argv[i], e + 1, c.argv[i].n);
      const char *why;
      if (Node *b = parse(body, &why)) {
        // The words that follow the alias belong to its last command: "$@" stands for them.
        Text t;
        t.add(body).add(" \"$@\"");
        if (Node *with = parse(t.str(), &why)) b = with;
        funcs.push(Function{::sub(c.argv[i], 0, e), b, false});
      }
    }
    return true;
  }
  if (eq(n, "trap")) {
    if (c.argv.n > 2 && c.argv[1].n && c.argv[1].p[0] != '-') runText(asSource(c.argv[1]), WEIR_S(""), false);
    return true;
  }
  if (eq(n, "eval")) {
    Str text = joined(c, 1);
    if (hasMark(text, kNet) || hasMark(text, kDecoded)) program(*this, text, "");
    else {
      // eval "$(tool env)" is how many tools set up a shell: what an ordinary command prints is let through.
      bool known = false, doubt = false;
      for (size_t i = 0; i < text.n; i++) {
        known |= !isMark(text.p[i]) && !isSpace(text.p[i]);
        doubt |= text.p[i] == kUnset || text.p[i] == kSecret;
      }
      if (!known && doubt) w->find(Family::Dynamic, Level::Sure, "eval of a variable that is not set here");
      if (known) *out = runText(asSource(text), c.in, c.piped);
    }
    return true;
  }
  if (anyOf(n, "source .")) {
    Str f = c.arg(1);
    w->sourced |= isSecretPath(*this, f);
    Str path = resolve(f);
    for (uint32_t k = w->written.n; k > 0; k--)
      if (weir_same(w->written[k - 1].path, path)) {
        Str text = w->written[k - 1].text;
        // source <(tool completion): like eval "$(tool env)", what an ordinary command prints is let through.
        if (starts(path, "/dev/fd/") && text.n == 1 && text.p[0] == kUnknown) return true;
        program(*this, text, "source of a file whose content is not known");
        *out = runText(asSource(text), WEIR_S(""), false);
        return true;
      }
    if (anyOf(f, "/dev/stdin") || hasMark(f, kNet)) program(*this, f.n && hasMark(f, kNet) ? f : c.in, "source of text that is not known");
    return true;
  }
  return anyOf(n, ": true false break continue return exit wait jobs fg bg disown umask ulimit hash help getopts shopt let test [ type complete bind history");
}

bool Shell::wrapper(Command &c, Str *out) {
  Str n = c.name;
  if (isShell(n)) return shell(*this, c, 1, out), true;
  if (anyOf(n, "command builtin exec")) {
    if (eq(n, "command") && c.argv.n > 1 && anyOf(c.argv[1], "-v -V")) {
      *out = c.arg(2);
      return true;
    }
    Command x;
    rest(c, firstOperand(c, "-a"), &x);
    if (x.argv.n) *out = runCommand(x);
    return true;
  }
  if (anyOf(n, "sudo doas pkexec run0")) {
    uint32_t i = firstOperand(c, "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot");
    while (i < c.argv.n && isAssignment(c.argv[i])) i++;
    Text t;
    t.add("runs with ").add(n);
    if (!(c.argv.n == 2 && anyOf(c.argv[1], "-v -k -K -l -n -V --version")) && !option(c, 0, "version"))
      w->find(Family::Privilege, Level::Sure, t.str());
    Command x;
    rest(c, i, &x);
    if (x.argv.n) *out = runCommand(x);
    else if (option(c, 's', "shell") || option(c, 'i', "login")) {
      if (c.piped) program(*this, c.in, "a root shell reads its commands");
      if (c.in.n && c.piped) runText(asSource(c.in), WEIR_S(""), false);
    }
    return true;
  }
  if (anyOf(n, "su runuser") && c.argv.n > 1) {
    w->find(Family::Privilege, Level::Sure, "becomes another user");
    for (uint32_t i = 1; i + 1 < c.argv.n; i++)
      if (anyOf(c.argv[i], "-c --command")) *out = runText(asSource(c.argv[i + 1]), c.in, c.piped);
    if (eq(n, "su")) return true;
  }
  if (eq(n, "env")) {
    uint32_t i = 1;
    Command x;
    Shell sub = fork();
    for (; i < c.argv.n; i++) {
      Str a = c.argv[i];
      if (anyOf(a, "-u --unset")) i++;
      else if (anyOf(a, "-C --chdir") && i + 1 < c.argv.n) sub.cwd = sub.resolve(c.argv[++i]);
      else if (starts(a, "--chdir=")) sub.cwd = sub.resolve(::sub(a, 8, a.n));
      else if (anyOf(a, "-S --split-string") && i + 1 < c.argv.n) {
        Text t;
        t.add(c.argv[i + 1]);
        for (uint32_t k = i + 2; k < c.argv.n; k++) t.add(' ').add(c.argv[k]);
        *out = sub.runText(asSource(t.str()), c.in, c.piped);
        return true;
      } else if (starts(a, "-S") && a.n > 2) {
        *out = sub.runText(asSource(::sub(a, 2, a.n)), c.in, c.piped);
        return true;
      } else if (isAssignment(a)) x.env.push(a);
      else if (a.n > 1 && a.p[0] == '-') continue;
      else break;
    }
    rest(c, i, &x);
    if (x.argv.n) *out = sub.runCommand(x);
    else {
      if (w->sourced) w->find(Family::Secrets, Level::Sure, "prints secrets that were read into the environment");
      *out = WEIR_S("\x10");
    }
    return true;
  }
  if (eq(n, "find")) return find(*this, c, out), true;
  if (anyOf(n, "fd fdfind")) {
    for (uint32_t i = 1; i < c.argv.n; i++)
      if (anyOf(c.argv[i], "-x -X --exec --exec-batch")) {
        Command x;
        rest(c, i + 1, &x);
        Text found; // with -e, files of that kind
        for (uint32_t k = 1; k + 1 < i; k++)
          if (anyOf(c.argv[k], "-e --extension")) found.add("./").add(kFiles).add('.').add(c.argv[k + 1]);
        x.argv.push(found.b.n ? found.str() : WEIR_S("./\x0f"));
        runCommand(x);
        break;
      }
    *out = WEIR_S("\x0f\n");
    return true;
  }
  if (anyOf(n, "xargs parallel gxargs")) return fed(*this, c, out);
  if (anyOf(n, "watch")) {
    uint32_t i = firstOperand(c, "-n -d --interval");
    *out = runText(asSource(joined(c, i)), WEIR_S(""), false);
    return true;
  }
  if (eq(n, "ssh")) {
    uint32_t i = firstOperand(c, "-i -p -l -o -F -J -L -R -D -W -b -c -E -e -m -O -Q -S -w -B -I");
    judge(*this, c);
    if (i + 1 < c.argv.n) {
      Shell sub = fork();
      sub.container = true;
      sub.cwd = w->home;
      sub.runText(asSource(joined(c, i + 1)), c.in, c.piped);
    } else if (c.piped && i < c.argv.n && c.in.n) {
      Shell sub = fork();
      sub.container = true;
      sub.runText(asSource(c.in), WEIR_S(""), false);
    }
    return true;
  }
  if (eq(n, "script")) {
    for (uint32_t i = 1; i + 1 < c.argv.n; i++)
      if (anyOf(c.argv[i], "-c --command -qc")) *out = runText(asSource(c.argv[i + 1]), c.in, c.piped);
    return true;
  }
  if (eq(n, "flock")) {
    for (uint32_t i = 1; i + 1 < c.argv.n; i++)
      if (anyOf(c.argv[i], "-c --command")) {
        *out = runText(asSource(c.argv[i + 1]), c.in, c.piped);
        return true;
      }
  }
  // Tools with a subcommand that runs a command.
  struct Runner {
    const char *names, *subcommands;
  };
  static const Runner runners[] = {
      {"bundle npm pnpm yarn direnv mise rtx asdf volta fnm dotenvx doppler infisical op aws-vault chamber", "exec x dlx run -- "},
      {"poetry pipenv uv pdm rye hatch conda mamba micromamba pixi bunx bun deno nix devbox flox pipx uvx", "run exec x shell develop tool"},
      {"heroku dokku convox scalingo", "run run:detached run:inside"},
      {"distrobox toolbox lima colima vagrant multipass wsl", "enter run shell exec ssh"},
  };
  for (const Runner &r : runners) {
    if (!anyOf(n, r.names) || c.argv.n < 3 || !anyOf(c.argv[1], r.subcommands)) continue;
    if (anyOf(n, "npm pnpm yarn bun deno") && eq(c.argv[1], "run")) break; // a script of the project
    uint32_t i = 2;
    while (i < c.argv.n && c.argv[i].n && c.argv[i].p[0] == '-') {
      if (eq(c.argv[i], "--")) {
        i++;
        break;
      }
      i += anyOf(c.argv[i], "-n -p -e --name --package --python --with --prefix --env --extra --group") ? 2 : 1;
    }
    if (eq(n, "direnv")) i++;
    Command x;
    rest(c, i, &x);
    if (x.argv.n && anyGlob(x.argv[0], "http://* https://* git+* github:* gitlab:* gist:*")) w->find(Family::RemoteCode, Level::Doubt, "runs a package from an address");
    if (x.argv.n == 1 && has(x.argv[0], ' ')) *out = runText(asSource(x.argv[0]), c.in, c.piped);
    else if (x.argv.n) *out = runCommand(x);
    return true;
  }
  if (anyOf(n, "nix-shell nix tmux screen ansible zellij dtach abduco at-run")) { // a command text among the options
    for (uint32_t i = 1; i < c.argv.n; i++)
      if (has(c.argv[i], ' ')) {
        Shell sub = fork();
        sub.container = eq(n, "ansible");
        sub.runText(asSource(c.argv[i]), WEIR_S(""), false);
      }
    if (eq(n, "screen") || eq(n, "tmux")) {
      uint32_t i = firstOperand(c, "-S -t -s -n -c -L -f -h -x -y");
      if (eq(n, "tmux") && i < c.argv.n) {
        i++;
        while (i < c.argv.n && c.argv[i].n && c.argv[i].p[0] == '-') i += anyOf(c.argv[i], "-s -t -n -c -x -y") ? 2 : 1;
      }
      Command x;
      rest(c, i, &x);
      if (x.argv.n && !has(x.argv[0], ' ')) runCommand(x);
    }
    judge(*this, c);
    return true;
  }
  for (const Prefix &p : kPrefixes) {
    if (!anyOf(n, p.names)) continue;
    uint32_t i = firstOperand(c, p.takesValue) + static_cast<uint32_t>(p.skip);
    while (i < c.argv.n && isAssignment(c.argv[i])) i++;
    if (eq(n, "nsenter")) w->find(Family::Privilege, Level::Sure, "enters the namespaces of another process");
    if (anyOf(n, "npx bunx pnpx") && anyGlob(c.arg(i), "http://* https://* git+* git://* git@* github:* gitlab:* bitbucket:* gist:*"))
      w->find(Family::RemoteCode, Level::Doubt, "runs a package from an address");
    if (anyOf(n, "chroot arch-chroot")) w->find(Family::Privilege, Level::Doubt, "enters another root folder");
    for (uint32_t k = 1; eq(n, "systemd-run") && k < i && k < c.argv.n; k++)
      if (anyGlob(c.argv[k], "--on-* --timer-property* --path-property*")) w->find(Family::Persistence, Level::Sure, "plans a command for later");
    Shell sub = fork();
    if (eq(n, "chroot")) sub.cwd = WEIR_S("/");
    Command x;
    rest(c, i, &x);
    if (eq(n, "busybox") && x.argv.n && isShell(x.argv[0])) {
      shell(sub, x, 1, out);
      return true;
    }
    if (x.argv.n) *out = sub.runCommand(x);
    return true;
  }
  return false;
}

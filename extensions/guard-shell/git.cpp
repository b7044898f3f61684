// git: what discards work, rewrites or publishes history, or makes git run something.
#include "interp.hpp"

namespace {

bool word(const Vec<Str> &v, const char *list) {
  for (Str s : v)
    if (anyOf(s, list)) return true;
  return false;
}

// Settings that name a command, or a folder of commands.
const char kRunsKeys[] = "core.editor core.pager core.sshcommand core.fsmonitor core.askpass core.gitproxy sequence.editor diff.external gpg.program pager.* "
                         "credential.helper alias.* filter.*.clean filter.*.smudge merge.*.driver diff.*.command diff.*.textconv *.helper core.hookspath "
                         "init.templatedir uploadpack.packobjectshook remote.*.uploadpack remote.*.receivepack core.worktree include.path url.*";

Str folded(Str s) {
  Text t;
  for (size_t i = 0; i < s.n; i++) t.add(lower(s.p[i]));
  return t.str();
}

// A value of such a setting, about to be used.
void setting(Shell &sh, Str key, Str value) {
  Str k = folded(key);
  if (!anyGlob(k, kRunsKeys) || !value.n) return;
  if (anyGlob(k, "alias.*")) {
    if (value.p[0] == '!') sh.runText(::sub(value, 1, value.n), WEIR_S(""), false);
    return;
  }
  if (anyGlob(k, "core.hookspath init.templatedir include.path core.worktree url.*")) return;
  if (value.p[0] == '!') value = ::sub(value, 1, value.n);
  sh.runText(value, WEIR_S(""), false);
}

bool mainBranch(Str ref) { return anyGlob(ref, "main master trunk develop production release release/* *:main *:master +main +master HEAD:main HEAD:master"); }

} // namespace

void judgeGit(Shell &outer, Command &c) {
  Shell sh = outer.fork();
  World &w = *sh.w;
  auto sure = [&](const char *what) { w.find(Family::Git, Level::Sure, what); };
  auto doubt = [&](const char *what) { w.find(Family::Git, Level::Doubt, what); };
  uint32_t i = 1;
  for (; i < c.argv.n; i++) {
    Str a = without(c.argv[i], kUnset), v = c.arg(i + 1);
    if (eq(a, "-C")) {
      sh.cwd = sh.resolve(v);
      i++;
    } else if (eq(a, "-c") || starts(a, "-c")) {
      Str kv = eq(a, "-c") ? v : ::sub(a, 2, a.n);
      if (eq(a, "-c")) i++;
      size_t e = indexOf(kv, WEIR_S("="));
      if (e != static_cast<size_t>(-1)) setting(sh, ::sub(kv, 0, e), ::sub(kv, e + 1, kv.n));
    } else if (anyOf(a, "--git-dir --work-tree --namespace --exec-path --super-prefix --config-env")) i++;
    else if (!a.n || a.p[0] != '-') break;
  }
  if (i >= c.argv.n) return;
  Str sub = without(c.argv[i], kUnset);
  Command x; // the subcommand with its own arguments; argv[0] is its name
  for (uint32_t k = i; k < c.argv.n; k++) x.argv.push(k == i ? sub : without(c.argv[k], kUnset));
  x.name = sub;
  Vec<Str> ops;
  operands(x, &ops, "-m -F -C -c --source -s --onto -b -B --author --date --message --file -n --depth -o --repo --receive-pack -X --strategy --exec -x -O --origin");
  auto opt = [&](char s, const char *l) { return option(x, s, l); };
  bool all = false; // some operand names everything
  for (Str o : ops) all |= anyOf(o, ". ./ :/ * ./* :/*") || (o.n && (o.p[0] == kStar || o.p[0] == kFiles)) || locate(sh, o).place == Place::Workspace;
  uint32_t dash = 0;
  for (uint32_t k = 1; k < x.argv.n; k++)
    if (eq(x.argv[k], "--")) dash = k;

  if (eq(sub, "reset")) {
    if (opt(0, "hard")) return sure("discards uncommitted work");
    if (opt(0, "merge") || opt(0, "keep")) return doubt("may discard uncommitted work");
  } else if (eq(sub, "clean")) {
    if ((opt('f', "force") || !opt('n', "dry-run")) && !opt('n', "dry-run")) return sure("deletes untracked files");
  } else if (anyOf(sub, "checkout switch")) {
    if (opt('f', "force") || opt(0, "discard-changes")) return sure("discards uncommitted work");
    if (opt(0, "orphan")) return sure("starts a history without a past");
    if (opt('B', nullptr) || opt('C', nullptr)) return doubt("moves a branch");
    if (dash || all) return all ? sure("discards uncommitted work") : doubt("discards changes of a file");
    if (opt('p', "patch") == false && ops.n >= 2 && !opt('b', nullptr) && !opt('c', "create") && eq(sub, "checkout") && !opt('t', "track") && !opt(0, "detach"))
      return doubt("discards changes of a file");
  } else if (eq(sub, "restore")) {
    bool staged = opt('S', "staged"), worktree = opt('W', "worktree");
    if (staged && !worktree) return;
    return all ? sure("discards uncommitted work") : doubt("discards changes of a file");
  } else if (eq(sub, "stash")) {
    if (word(x.argv, "clear")) return sure("deletes stashed work");
    if (word(x.argv, "drop")) return doubt("deletes stashed work");
  } else if (eq(sub, "branch")) {
    bool force = opt('D', nullptr) || (opt('d', "delete") && opt('f', "force"));
    if (force) return sure("deletes a branch that may not be merged");
    if (opt('d', "delete")) {
      for (Str o : ops)
        if (anyMark(o)) return sure("deletes branches by the dozen");
      return; // git itself refuses when the branch is not merged
    }
    if (opt('f', "force") || opt('M', nullptr)) return doubt("moves a branch");
  } else if (eq(sub, "tag")) {
    if (opt('d', "delete")) {
      for (Str o : ops)
        if (anyMark(o)) return sure("deletes tags by the dozen");
      return doubt("deletes a tag");
    }
    if (opt('f', "force")) return doubt("moves a tag");
  } else if (eq(sub, "push")) {
    if (opt('n', "dry-run")) return;
    bool force = opt('f', "force") || opt(0, "force-with-lease") || opt(0, "mirror") || opt(0, "force-if-includes");
    for (Str o : ops) {
      force |= o.n && o.p[0] == '+';
      if (o.n > 1 && o.p[0] == ':') return sure("deletes a branch of the remote");
    }
    if (opt('d', "delete") || opt(0, "prune")) return sure("deletes branches of the remote");
    if (force) {
      bool main = false;
      for (Str o : ops) main |= mainBranch(o);
      if (opt(0, "force-with-lease") && !main && !opt('f', nullptr)) return doubt("rewrites a branch of the remote");
      return sure("rewrites history of the remote");
    }
    w.find(Family::Outward, Level::Doubt, "pushes to the remote");
  } else if (anyOf(sub, "filter-branch filter-repo replace fast-import")) {
    return sure("rewrites history");
  } else if (eq(sub, "rebase")) {
    if (word(x.argv, "--continue --skip --edit-todo --show-current-patch --quit")) return;
    for (uint32_t k = 1; k + 1 < x.argv.n; k++)
      if (anyOf(x.argv[k], "-x --exec")) sh.runText(x.argv[k + 1], WEIR_S(""), false);
    if (opt(0, "abort")) return;
    if (opt(0, "onto") || opt(0, "root") || opt('i', "interactive")) return sure("rewrites history");
  } else if (eq(sub, "reflog")) {
    if (word(x.argv, "expire delete drop")) return sure("deletes the reflog, the last way back");
  } else if (anyOf(sub, "gc prune")) {
    bool now = eq(sub, "prune") && !opt('n', "dry-run");
    for (Str a : x.argv) now |= anyGlob(a, "--prune=* --prune --expire=*") && !anyGlob(a, "--prune=never --prune=*weeks*");
    if (now) return sure("deletes unreachable work for good");
  } else if (eq(sub, "update-ref")) {
    if (opt('d', nullptr) || opt(0, "stdin")) return sure("deletes references");
    return doubt("moves references by hand");
  } else if (anyOf(sub, "read-tree")) {
    if (opt(0, "reset") || opt('u', nullptr)) return sure("discards uncommitted work");
  } else if (eq(sub, "checkout-index")) {
    if (opt('f', "force") || opt('a', "all")) return sure("discards uncommitted work");
  } else if (eq(sub, "worktree")) {
    if (word(x.argv, "remove") && opt('f', "force")) return sure("deletes a working tree with its changes");
    if (word(x.argv, "remove")) return doubt("deletes a working tree");
  } else if (eq(sub, "rm")) {
    if (opt(0, "cached") || opt('n', "dry-run")) return;
    if (opt('f', "force") || all) return all ? sure("deletes tracked files") : doubt("deletes changed files");
    if (opt('r', nullptr)) return doubt("deletes tracked folders");
  } else if (eq(sub, "apply")) {
    if (opt('R', "reverse") && !opt(0, "check")) return sure("takes changes back");
  } else if (eq(sub, "commit")) {
    if (opt(0, "amend")) w.find(Family::Outward, Level::Doubt, "rewrites the last commit");
  } else if (anyOf(sub, "cherry-pick am merge revert")) {
    if (opt(0, "abort")) return;
  } else if (eq(sub, "update-index")) {
    if (opt(0, "force-remove") || opt(0, "remove")) doubt("takes files out of the index");
  } else if (eq(sub, "symbolic-ref")) {
    if (ops.n > 1 || opt('d', "delete")) doubt("points HEAD elsewhere");
  } else if (anyOf(sub, "add stage")) {
    for (Str o : ops)
      if (isSecretPath(sh, o)) w.find(Family::Secrets, opt('f', "force") ? Level::Sure : Level::Doubt, "puts secrets into the repository");
  } else if (eq(sub, "remote")) {
    if (word(x.argv, "remove rm set-url rename prune")) w.find(Family::Outward, Level::Doubt, "changes the remotes");
  } else if (eq(sub, "config")) {
    bool global = opt(0, "global") || opt(0, "system");
    if (opt('l', "list") || opt(0, "get") || opt(0, "get-all") || opt(0, "unset")) {
      return;
    }
    Str key = ops.n ? ops[0] : Str{nullptr, 0}, value = ops.n > 1 ? ops[1] : Str{nullptr, 0};
    if (anyOf(key, "set")) {
      key = value;
      value = ops.n > 2 ? ops[2] : Str{nullptr, 0};
    }
    if (!value.n) return;
    Str k = folded(key);
    if (anyGlob(k, kRunsKeys)) {
      bool editor = anyGlob(k, "core.editor core.pager pager.* sequence.editor credential.helper") && !has(value, '/') && value.p[0] != '!';
      bool plainAlias = anyGlob(k, "alias.*") && value.p[0] != '!';
      if (anyGlob(k, "credential*.helper") && anyGlob(value, "store*")) w.find(Family::Secrets, Level::Doubt, "keeps passwords in plain text from now on");
      if (!editor && !plainAlias) w.find(Family::Persistence, Level::Sure, "makes git run something from now on");
      setting(sh, key, value);
    } else if (global && !anyGlob(k, "user.* color.* init.defaultbranch pull.* push.default push.autosetupremote core.autocrlf core.quotepath safe.directory advice.*")) {
      w.find(Family::Persistence, Level::Doubt, "changes git's settings everywhere");
    } else if (anyGlob(k, "http.sslverify receive.denynonfastforwards core.bare")) {
      w.find(Family::Persistence, Level::Doubt, "weakens git's settings");
    }
  } else if (eq(sub, "submodule")) {
    if (word(x.argv, "deinit")) return opt('f', "force") ? sure("deletes submodules with their changes") : doubt("deletes submodules");
    for (uint32_t k = 1; k < x.argv.n; k++)
      if (eq(x.argv[k], "foreach")) {
        Text t;
        uint32_t m = k + 1;
        while (m < x.argv.n && starts(x.argv[m], "--")) m++;
        for (; m < x.argv.n; m++) t.add(x.argv[m]).add(' ');
        sh.runText(t.str(), WEIR_S(""), false);
      }
  } else if (eq(sub, "bisect")) {
    for (uint32_t k = 1; k < x.argv.n; k++)
      if (eq(x.argv[k], "run")) {
        Command r;
        for (uint32_t m = k + 1; m < x.argv.n; m++) r.argv.push(x.argv[m]);
        if (r.argv.n) sh.runCommand(r);
      }
  } else if (anyOf(sub, "show diff blame cat-file grep archive log")) {
    for (uint32_t k = 1; k < x.argv.n; k++) {
      Str a = x.argv[k];
      size_t colon = indexOf(a, WEIR_S(":"));
      if (eq(sub, "show") && colon != static_cast<size_t>(-1)) a = ::sub(a, colon + 1, a.n);
      else if (eq(sub, "log") && !(opt('p', "patch") || opt('S', nullptr) || opt('G', nullptr))) continue;
      else if (!anyOf(sub, "diff blame log")) continue;
      judgeRead(sh, a);
    }
  } else if (eq(sub, "clone")) {
    if (ops.n && indexOf(ops[0], WEIR_S("ext::")) != static_cast<size_t>(-1)) w.find(Family::RemoteCode, Level::Sure, "makes git run a command");
    bool away = ops.n && (indexOf(ops[0], WEIR_S("://")) != static_cast<size_t>(-1) || indexOf(ops[0], WEIR_S("git@")) == 0);
    if (away) { // whatever is started from there came from the network
      Text t;
      Str to = ops.n > 1 ? ops[1] : baseName(ops[0]);
      if (ends(to, ".git")) to.n -= 4;
      t.add(sh.resolve(to)).add('/').add(kFiles);
      w.written.push(Written{t.str(), WEIR_S("\x06")});
    }
  }
}

// Where a path points, and what reading, writing and removing there means.
#include "interp.hpp"

namespace {

bool below(Str p, Str dir) { // p is dir or inside it
  if (!dir.n || p.n < dir.n || !weir_same(::sub(p, 0, dir.n), dir)) return false;
  return p.n == dir.n || p.p[dir.n] == '/' || dir.p[dir.n - 1] == '/';
}
// Every part of a path, in turn.
template <class F> void parts(Str p, F f) {
  for (size_t i = 0; i < p.n;) {
    size_t e = i;
    while (e < p.n && p.p[e] != '/') e++;
    if (e > i) f(::sub(p, i, e));
    i = e + 1;
  }
}
bool hasPart(Str p, const char *name) {
  bool hit = false;
  parts(p, [&](Str c) { hit |= eq(c, name); });
  return hit;
}
// Does the last part of p stand for everything in its folder: *, .*, .[!.]*, the names that find or ls gave?
bool everything(Str c) {
  bool many = false;
  for (size_t i = 0; i < c.n; i++) {
    if (c.p[i] == kStar || c.p[i] == kFiles) many = true;
    else if (c.p[i] != '.' && c.p[i] != kBracket && c.p[i] != kQuery) return false;
  }
  return many;
}
Str parent(Str p) {
  size_t i = p.n;
  while (i > 1 && p.p[i - 1] != '/') i--;
  return i > 1 ? ::sub(p, 0, i - 1) : WEIR_S("/");
}

// Names of folders and files that a build makes again, or that are there to be thrown away.
const char kRebuildable[] =
    "node_modules node_modules.* dist dist-* build build-* _build out target coverage tmp temp .tmp .temp .cache *cache *cache* .next .nuxt .output .svelte-kit "
    ".turbo .parcel-cache .vite .astro .docusaurus .angular .expo .webpack __pycache__ *.egg-info *.dist-info .pytest_cache .mypy_cache .ruff_cache .tox .nox "
    ".venv venv env vendor .bundle .vscode-test htmlcov .nyc_output test-results playwright-report storybook-static site _site public_html-old obj bin Debug Release .gradle .terraform "
    "DerivedData Pods vendor-* .dart_tool .eggs cmake-build-* CMakeFiles CMakeCache.txt bazel-* .bazel zig-out zig-cache .zig-cache elm-stuff deps-build "
    "generated gen logs log *.log *.bak *.old *.orig *.rej *.tmp *.swp *~ *.pyc *.pyo *.o *.a *.so *.class *.d *.gcda *.gcno *.profraw *.prof *.out *.test *.pid "
    "*.tsbuildinfo .eslintcache .DS_Store Thumbs.db *.map *.min.js .sass-cache .serverless .aws-sam cdk.out *.tgz *.tar.gz *.zip *.whl "
    "*-artifacts artifacts reports report *-report *-output output lcov* *.lcov .coverage .coverage.* snapshots-* scratch sandbox *_tmp *_temp *-tmp *-temp "
    "*.lock *.lockb package-lock.json npm-shrinkwrap.json pnpm-lock.yaml *.backup *-old *_old *.empty~ .stryker-tmp .swc .rollup.cache wheels pip-wheel-metadata";
// Folders of caches that each user has and that fill themselves again.
const char kUserCaches[] = "*/.cache/* */Library/Caches/* */.npm/_* */.gradle/caches* */.gradle/daemon* */.m2/repository* */.cargo/registry* */.cargo/git* */.yarn/cache* */.yarn/berry/cache* */.pnpm-store* "
                           "*/.local/share/pnpm/store* */.nuget/packages* */go/pkg/mod* */.ivy2/cache* */.conda/pkgs* */.bundle/cache* */.composer/cache* */.pub-cache* */.node-gyp* */.ccache* "
                           "*/.terraform.d/plugin-cache* */.bun/install/cache* */.rustup/downloads* */.rustup/tmp* */.cocoapods/repos*";
const char kSystem[] = "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin snap srv sys usr var Users System Library Applications Volumes nix";

} // namespace

Where locate(Shell &sh, Str raw) {
  Where r;
  World &w = *sh.w;
  Str p = sh.resolve(raw);
  if (!p.n) return r;
  if (p.p[0] != '/') return r; // unknown
  // One mark of any kind may stand for a whole part: cut p at the first part that is unknown, keep what is before it.
  Str last = baseName(p);
  if (p.n > 1 && everything(last)) {
    r.contents = true;
    p = parent(p);
    last = baseName(p);
  }
  r.path = p;
  auto is = [&](Str dir) { return globMatch(p, dir); };
  if (eq(p, "/")) return r.place = Place::Root, r;
  if (starts(p, "/dev/") && !starts(p, "/dev/shm")) {
    bool harmless = anyGlob(p, "/dev/null /dev/std* /dev/tty* /dev/fd* /dev/zero /dev/full /dev/*random /dev/pts*");
    return r.place = harmless ? Place::Null : Place::Device, r;
  }
  if (hasPart(p, ".git")) return r.place = Place::GitDir, r;
  if (hasPart(p, ".weir") || ends(p, "/bin/weir") || starts(p, "/etc/weir") || (hasPart(p, "weir") && hasPart(p, ".config")) ||
      (indexOf(p, WEIR_S("/extensions/dist")) != static_cast<size_t>(-1)))
    return r.place = Place::Guard, r;
  if (is(w.home)) return r.place = Place::Home, r;
  if (is(w.workspace)) return r.place = Place::Workspace, r;
  for (Str up = parent(w.workspace); up.n > 1; up = parent(up))
    if (is(up)) return r.place = weir_same(up, WEIR_S("/home")) ? Place::System : Place::Above, r;
  if (below(p, w.workspace)) {
    r.place = Place::Inside;
    r.rel = ::sub(p, w.workspace.n + 1, p.n);
    return r;
  }
  if (below(p, WEIR_S("/tmp")) || below(p, WEIR_S("/var/tmp")) || below(p, WEIR_S("/dev/shm")) || below(p, WEIR_S("/private/tmp")) ||
      below(p, WEIR_S("/var/folders")))
    return r.place = Place::Temp, r;
  if (below(p, parent(w.workspace)) && !weir_same(parent(w.workspace), w.home)) return r.place = Place::Beside, r;
  if (below(p, w.home)) {
    // A folder next to the workspace is a neighbour; what every home folder has is the person's own.
    Str child{};
    parts(::sub(p, w.home.n, p.n), [&](Str c) {
      if (!child.n) child = c;
    });
    bool own = child.p[0] == '.' || isMark(child.p[0]) || anyGlob(child, "Desktop Documents Downloads Music Pictures Videos Movies Public Templates Library Dropbox* OneDrive* bin go snap backup*");
    bool beside = weir_same(parent(w.workspace), w.home) && !own && !starts(raw, "~") && raw.p[0] != '/';
    return r.place = beside ? Place::Beside : Place::InHome, r;
  }
  Str first{};
  parts(p, [&](Str c) {
    if (!first.n) first = c;
  });
  if (anyOf(first, kSystem) || isMark(first.p[0])) return r.place = Place::System, r;
  return r.place = Place::Beside, r;
}

static bool rebuildable(Shell &sh, Str rel) {
  bool yes = false;
  parts(rel, [&](Str c) {
    yes |= anyGlob(c, kRebuildable);
    // A pattern such as *.log: its own letters decide.
    Text t;
    for (size_t i = 0; i < c.n; i++) t.add(isMark(c.p[i]) ? 'x' : c.p[i]);
    yes |= anyGlob(t.str(), kRebuildable);
    for (Str k : sh.w->keep) yes |= globMatch(k, c);
  });
  return yes;
}

void judgeRemoval(Shell &sh, Str path, bool recursive) {
  World &w = *sh.w;
  auto sure = [&](const char *what) { w.find(sh.container ? Family::Containers : Family::Destructive, Level::Sure, what); };
  auto doubt = [&](const char *what) { w.find(Family::Destructive, Level::Doubt, what); };
  if (!without(path, kUnset).n) {
    // Only a variable that nothing sets: most likely empty. Its name is all there is to go by.
    if (recursive) doubt("deletes what an unknown variable names");
    return;
  }
  path = without(path, kUnset);
  bool files = has(path, kFiles); // many files, whatever their number
  if (path.p[0] != '/' && isMark(path.p[0]) && path.p[0] != kFiles && !isGlob(path.p[0])) {
    if (recursive) doubt("deletes recursively what is not known before it runs");
    return;
  }
  if (sh.container) { // a folder of this machine that is mounted there is this machine's
    Str inside = sh.resolve(path);
    for (Mount &m : sh.mounts) {
      if (!below(inside, m.inside)) continue;
      Text t;
      t.add(m.outside).add(::sub(inside, m.inside.n, inside.n));
      Shell host = sh.fork();
      host.container = false;
      host.mounts = {};
      host.w = m.world;
      host.cwd = m.world->workspace;
      return judgeRemoval(host, t.str(), recursive);
    }
  }
  Where at = locate(sh, path);
  if (sh.container) {
    // Inside a container: its own folders are its own, data volumes are not.
    bool data = at.place == Place::Root || at.place == Place::Home || at.place == Place::System || hasPart(at.path, "data");
    if (starts(at.path, "/tmp") || starts(at.path, "/var/cache") || starts(at.path, "/var/lib/apt")) data = false;
    if (recursive && data) sure("deletes data in a container or on another machine");
    return;
  }
  // find … -name PATTERN leaves root/FILES/PATTERN: the pattern tells what is deleted.
  Str tail = baseName(path);
  if (files && !everything(tail)) {
    if (at.place == Place::Temp) return;
    bool ours = at.place == Place::Inside || at.place == Place::Workspace || at.place == Place::Beside;
    if (ours && (rebuildable(sh, tail) || rebuildable(sh, at.rel))) return;
    if (at.place == Place::Inside || at.place == Place::Workspace) return doubt("deletes many files that are not made by a build");
    return sure("deletes many files outside the workspace");
  }
  bool many = recursive || at.contents || files;
  switch (at.place) {
  case Place::Root: return many ? sure("deletes the root folder") : void();
  case Place::Home: return many ? sure("deletes the home folder") : void();
  case Place::System:
    return many ? sure("deletes a system folder") : doubt("deletes a system file");
  case Place::Above: return many ? sure("deletes a folder that holds the workspace") : void();
  case Place::InHome:
    if (anyGlob(at.path, kUserCaches)) return;
    if (anyGlob(at.path, "*/.cache */.ssh/known_hosts*")) return doubt("deletes the caches of the home folder");
    if (isSecretPath(sh, at.path) || hasPart(at.path, ".ssh") || hasPart(at.path, ".gnupg")) return sure("deletes keys or credentials");
    if (many) return sure("deletes a folder in the home folder");
    return doubt("deletes a file outside the workspace");
  case Place::Workspace: return many ? sure("deletes the workspace") : void();
  case Place::GitDir: {
    bool hooks = hasPart(at.path, "hooks") || ends(at.path, ".lock") || ends(at.path, "/gc.pid");
    if (ends(at.path, "index.lock") && !many) return;
    return hooks ? doubt("deletes a file of the git folder") : sure("deletes the git folder or parts of it");
  }
  case Place::Guard: return w.find(Family::Guard, Level::Sure, "deletes files of the guard");
  case Place::Device: return w.find(Family::Disk, Level::Sure, "deletes a device");
  case Place::Beside:
    return many ? doubt("deletes a folder outside the workspace") : doubt("deletes a file outside the workspace");
  case Place::Temp:
    if (starts(at.path, "/tmp") && at.path.n <= 4 && recursive) return doubt("deletes all temporary files");
    return;
  case Place::Inside:
    if (!many || rebuildable(sh, at.rel)) return;
    // A glob in the last part that picks some files (rm src/*.ts) is like deleting single files.
    if (!recursive && !files && at.contents) return doubt("deletes all files of a folder");
    return doubt("deletes a folder of the workspace that a build does not make again");
  default: return;
  }
}

bool isSecretPath(Shell &sh, Str raw) {
  Str path = without(raw, kUnset);
  Str name = baseName(path);
  if (!name.n) return false;
  Str p = sh.resolve(path);
  if (isMark(name.p[0]) && !isGlob(name.p[0]) && name.p[0] != kFiles) return false;
  // A pattern reads what it matches.
  auto could = [&](const char *n) {
    if (weir_same(name, S(n))) return true;
    bool pattern = false, letters = false;
    for (size_t i = 0; i < name.n; i++) {
      pattern |= isMark(name.p[i]);
      letters |= !isMark(name.p[i]);
    }
    return pattern && letters && name.n > 2 && globMatch(name, S(n));
  };
  if (could(".env")) return true;
  if (starts(name, ".env.") || ends(name, ".env")) {
    if (hasPart(p, "testdata") || hasPart(p, "fixtures") || hasPart(p, "__fixtures__")) return false;
    return !anyGlob(name, "*.example *.sample *.template *.dist *.defaults *.schema example.env sample.env *example* *sample*");
  }
  if (anyGlob(name, "id_rsa id_dsa id_ecdsa id_ed25519 id_*_sk *.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk *.kdbx .netrc _netrc .pgpass .git-credentials "
                    ".vault-token .htpasswd shadow gshadow master.key credentials.json service-account*.json *-service-account.json "
                    "application_default_credentials.json .npmrc .pypirc .dockercfg .my.cnf .boto .s3cfg .terraformrc secring.* *.ovpn "
                    "secrets.yml secrets.yaml secrets.json secrets.toml secrets.env cookies.sqlite key4.db logins.json")) {
    if (anyGlob(name, "*.pub.pem *public*.pem *cert*.pem *chain*.pem ca.pem ca-*.pem cacert.pem *pub*.key")) return false;
    if (eq(name, "shadow") || eq(name, "gshadow")) return starts(p, "/etc/");
    if (eq(name, ".npmrc") && !weir_same(parent(p), sh.w->home)) return false; // a project's own holds settings
    if (anyOf(name, "secrets.yml secrets.yaml secrets.json secrets.toml secrets.env")) return !hasPart(p, "test") && !hasPart(p, "fixtures");
    for (Written &x : sh.w->written)
      if (weir_same(x.path, p)) return false; // made by this very command
    if (hasPart(p, "testdata") || hasPart(p, "fixtures") || hasPart(p, "test")) return false;
    return true;
  }
  bool pub = ends(name, ".pub") || anyOf(name, "known_hosts config authorized_keys");
  if (hasPart(p, ".ssh") && !pub) return true;
  if (anyGlob(p, "*/.aws/credentials* */.aws/sso/* */.kube/config* */.docker/config.json */.config/gcloud/* */.config/gh/hosts.yml */.gnupg/* */.password-store/* "
                 "*/.azure/* */.config/op/* */.cargo/credentials* */.gem/credentials /proc/*/environ /run/secrets/* /var/run/secrets/* */.local/share/keyrings/* "
                 "*/Library/Keychains/* */.mozilla/* */.config/google-chrome/* */.pi/agent/auth.json */.claude/.credentials.json */.codex/auth.json /etc/sudoers "
                 "/etc/ssl/private/* /etc/ssh/ssh_host_*_key */.config/hub */.config/rclone/* */.bash_history */.zsh_history"))
    return true;
  return ends(p, "/.aws") || ends(p, "/.gnupg") || ends(p, "/.ssh") || ends(p, "/.kube");
}

void judgeRead(Shell &sh, Str path) {
  if (sh.container) return;
  if (isSecretPath(sh, path)) sh.w->find(Family::Secrets, Level::Sure, "reads a file that holds secrets");
}

void judgeWrite(Shell &sh, Str path, bool truncates, bool empty) {
  World &w = *sh.w;
  if (!path.n || sh.container) return;
  Where at = locate(sh, path);
  Str p = at.path, name = baseName(p);
  if (anyGlob(p, "*/.claude/settings*.json */.claude/hooks/* */.cursor/permissions* */.codex/config.toml */.gemini/settings.json"))
    return w.find(Family::Guard, Level::Sure, "changes what an agent may do");
  switch (at.place) {
  case Place::Guard: return w.find(Family::Guard, Level::Sure, "changes files of the guard");
  case Place::Device: return w.find(Family::Disk, Level::Sure, "writes to a device");
  case Place::GitDir:
    if (anyGlob(p, "*/.git/COMMIT_EDITMSG */.git/info/exclude */.git/info/attributes *.bundle")) return;
    return w.find(hasPart(p, "hooks") || eq(name, "config") ? Family::Persistence : Family::Git, Level::Sure, "changes the git folder itself");
  case Place::System:
    if (starts(p, "/var/www")) return;
    return w.find(starts(p, "/etc/") ? Family::Persistence : Family::System, Level::Sure, "changes a system file");
  case Place::Root: return w.find(Family::System, Level::Sure, "changes a system folder");
  default: break;
  }
  bool own = at.place == Place::InHome || at.place == Place::Home;
  if (own || at.place == Place::Beside || at.place == Place::Above) {
    if (anyOf(name, ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .kshrc .inputrc .xinitrc .xprofile .vimrc .gitconfig "
                    ".tmux.conf .ssh config.fish .pam_environment .login .cshrc .tcshrc .npmrc .pypirc .curlrc .wgetrc .netrc") ||
        hasPart(p, ".ssh") || hasPart(p, "systemd") || hasPart(p, "autostart") || hasPart(p, "LaunchAgents") || hasPart(p, "environment.d") ||
        ends(p, "/.config/git/config") || ends(p, "/.config/fish/config.fish") || indexOf(p, WEIR_S("/.local/bin/")) != static_cast<size_t>(-1))
      return w.find(Family::Persistence, Level::Sure, "changes a file that runs or decides at every login");
  }
  if (truncates && empty && isSecretPath(sh, p)) return w.find(Family::Overwrite, Level::Sure, "empties a file that holds secrets");
  if (own && truncates && empty) return w.find(Family::Overwrite, Level::Sure, "empties a file in the home folder");
  if (truncates && empty && at.contents && (at.place == Place::Workspace || at.place == Place::Inside) && !rebuildable(sh, at.rel))
    return w.find(Family::Overwrite, Level::Sure, "empties many files");
  if (at.place == Place::Inside && truncates && empty && !rebuildable(sh, at.rel)) {
    for (Written &x : w.written)
      if (weir_same(x.path, p)) return;
    if (has(path, kFiles) || has(path, kStar)) return w.find(Family::Overwrite, Level::Sure, "empties many files");
    if (anyGlob(name, "*.go *.ts *.tsx *.js *.jsx *.py *.rs *.c *.h *.cpp *.java *.rb *.php *.swift *.kt *.md *.json *.toml *.yml *.yaml *.mod *.sum *.lock *.sql *.html *.css"))
      w.find(Family::Overwrite, Level::Doubt, "empties a file");
  }
}

// What single commands do: rules by command name. The table for tools that speak in subcommands is in lines.cpp.
#include "interp.hpp"

// git.cpp, lines.cpp, network.cpp, databases.cpp
void judgeGit(Shell &sh, Command &c);
void judgeLines(Shell &sh, Command &c, bool testData, bool image);
void network(Shell &sh, Command &c);
void databases(Shell &sh, Command &c);
void frameworks(Shell &sh, Command &c);
void judgeRemote(Shell &sh, Command &c); // remote.cpp

namespace {

void remove(Shell &sh, Command &c) {
  bool recursive = option(c, 'r', "recursive") || option(c, 'R', nullptr) || anyOf(c.name, "srm rmtree trash rimraf del-cli rm-rf");
  Vec<Str> ops;
  operands(c, &ops);
  uint32_t &sources = sh.w->sources;
  for (Str o : ops) {
    judgeRemoval(sh, o, recursive);
    Where at = locate(sh, o);
    if (at.place == Place::Inside && !anyMark(o) && anyGlob(baseName(o), "*.go *.ts *.js *.py *.rs *.c *.mod *.sum *.json *.toml *.java *.rb")) sources++;
  }
  if (sources >= 3) sh.w->find(Family::Destructive, Level::Doubt, "deletes several source files");
}

void permissions(Shell &sh, Command &c) {
  bool recursive = option(c, 'R', "recursive");
  Vec<Str> ops;
  operands(c, &ops, "--reference");
  bool chmod = eq(c.name, "chmod");
  for (uint32_t i = 1; chmod && i < c.argv.n; i++) { // chmod -x file: a mode that looks like an option
    Str a = c.argv[i];
    bool letters = a.n > 1 && a.p[0] == '-';
    for (size_t k = 1; k < a.n; k++) letters &= has(WEIR_S("rwxXst"), a.p[k]);
    if (!letters) continue;
    Vec<Str> with;
    with.push(a);
    for (Str o : ops) with.push(o);
    ops = with;
    break;
  }
  Str mode = ops.n ? ops[0] : WEIR_S("");
  bool open = anyGlob(mode, "*777 *666 a+rwx a+w o+w ugo+rwx +w o+rwx a=rwx *+s u+s g+s 4[0-9]* [246]??? a-* *-rwx 000 0000 a=");
  // With an option such as -r or -x the mode itself looks like an option.
  for (uint32_t i = 1; i < c.argv.n; i++)
    if (c.argv[i].n > 1 && c.argv[i].p[0] == '-' && chmod && anyGlob(c.argv[i], "-r* -w* -x*")) open = recursive;
  // What lets others read: digits for group or others, or their letters.
  bool shows = chmod && (anyGlob(mode, "*a+*r* *a=*r* *o+*r* *o=*r* *g+*r* *g=*r* +r*") || (mode.n >= 3 && isDigit(mode.p[0]) && !anyGlob(mode, "*00")));
  bool setid = chmod && (anyGlob(mode, "*+s u+s g+s") || (mode.n == 4 && isDigit(mode.p[0]) && mode.p[0] != '0' && mode.p[0] != '1'));
  if (setid) sh.w->find(Family::Permissions, Level::Sure, "gives a program its owner's rights");
  for (uint32_t i = 1; i < ops.n || (i == 1 && ops.n == 1 && chmod && open); i++) {
    Str o = i < ops.n ? ops[i] : ops[0];
    Where at = locate(sh, o);
    switch (at.place) {
    case Place::Root: case Place::System: case Place::Home: case Place::Above:
      if (recursive || chmod || at.place == Place::System) sh.w->find(Family::Permissions, Level::Sure, "changes rights of system or home folders");
      break;
    case Place::InHome:
      if (recursive && open) sh.w->find(Family::Permissions, Level::Sure, "changes rights in the home folder");
      if ((open || shows) && isSecretPath(sh, o)) sh.w->find(Family::Permissions, Level::Sure, "opens up keys");
      else if (open && anyGlob(at.path, "*/.ssh*")) sh.w->find(Family::Permissions, Level::Sure, "opens up keys");
      break;
    case Place::Workspace: case Place::GitDir:
      if (recursive && (open || !chmod)) sh.w->find(Family::Permissions, Level::Sure, "changes rights of the whole workspace");
      break;
    case Place::Inside:
      if (recursive && anyGlob(mode, "*777 *000")) sh.w->find(Family::Permissions, Level::Doubt, "changes rights broadly");
      break;
    case Place::Guard: sh.w->find(Family::Guard, Level::Sure, "changes rights of the guard's files"); break;
    case Place::Device: sh.w->find(Family::Disk, Level::Sure, "changes rights of a device"); break;
    default: break;
    }
  }
}

void kill(Shell &sh, Command &c) {
  bool one = false;
  Vec<Str> ops;
  operands(c, &ops, "-s -n --signal");
  for (uint32_t i = 1; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (hasMark(a, kParent)) sh.w->find(Family::Guard, Level::Sure, "stops the agent or its guard");
    one |= eq(a, "1") || (eq(a, "-1") && (i > 1 || c.argv.n == 2));
  }
  for (Str o : ops)
    if (eq(c.name, "kill") && eq(o, "0") && !anyArg(c, "-l -L --list")) sh.w->find(Family::System, Level::Doubt, "stops every process of the session");
  if (eq(c.name, "kill") && one && !option(c, 'l', nullptr)) sh.w->find(Family::System, Level::Sure, "stops every process");
  if (anyOf(c.name, "pkill killall killall5 skill slay xkill")) {
    if (eq(c.name, "killall5") || option(c, 'u', "euid") || option(c, 'u', "user") || option(c, 'U', nullptr))
      sh.w->find(Family::System, Level::Sure, "stops every process of a user");
    for (Str o : ops) {
      if (anyGlob(o, "weir weir* *weir")) sh.w->find(Family::Guard, Level::Sure, "stops the guard");
      if (anyOf(o, ". .* systemd init dbus-daemon gnome-shell Xorg sshd bash sh zsh launchd WindowServer loginwindow"))
        sh.w->find(Family::System, Level::Sure, "stops processes of the system");
    }
  }
}

void disks(Shell &sh, Command &c) {
  if (eq(c.name, "dd")) {
    for (Str a : c.argv) {
      if (starts(a, "of=")) {
        Str to = ::sub(a, 3, a.n);
        bool zero = anyArg(c, "if=/dev/zero if=/dev/urandom if=/dev/random if=/dev/null");
        judgeWrite(sh, to, true, zero);
      }
      if (anyOf(a, "if=/dev/zero if=/dev/urandom if=/dev/random") && !anyArg(c, "count=*")) {
        for (Str b : c.argv)
          if (starts(b, "of=") && locate(sh, ::sub(b, 3, b.n)).place != Place::Null) sh.w->find(Family::Resource, Level::Doubt, "writes without end");
      }
      if (starts(a, "if=")) {
        Str from = ::sub(a, 3, a.n);
        judgeRead(sh, from);
        if (locate(sh, from).place == Place::Device && !hasMark(from, kUnknown)) sh.w->find(Family::Secrets, Level::Doubt, "reads a raw disk");
      }
    }
    return;
  }
  Vec<Str> ops;
  operands(c, &ops, "-n -s --iterations --size");
  for (Str o : ops) {
    Where at = locate(sh, o);
    if (at.place == Place::Device) sh.w->find(Family::Disk, Level::Sure, "overwrites a disk");
    else if (at.place != Place::Temp && at.place != Place::Null) judgeRemoval(sh, o, true);
  }
}

// A file system made in, or looked at in, an image file of the workspace: mkfs.ext4 test.img.
bool makesImage(Shell &sh, Command &c) {
  if (!anyGlob(c.name, "mkfs mkfs.* mke2fs mkswap fsck fsck.* e2fsck resize2fs tune2fs parted sfdisk sgdisk fdisk gdisk")) return false;
  bool image = false;
  for (uint32_t i = 1; i < c.argv.n; i++) {
    if (anyMark(c.argv[i])) return false;
    Place p = locate(sh, c.argv[i]).place;
    if (p != Place::Inside && p != Place::Temp) return false;
    image |= c.argv[i].p && c.argv[i].n && c.argv[i].p[0] != '-' && has(baseName(c.argv[i]), '.');
  }
  return image;
}

// Commands that write files named by their operands.
void writes(Shell &sh, Command &c) {
  Str n = c.name;
  Vec<Str> ops;
  if (eq(n, "tee") || eq(n, "sponge")) {
    operands(c, &ops);
    bool append = option(c, 'a', "append");
    for (Str o : ops) {
      judgeWrite(sh, o, !append, !append && c.piped && !c.in.n);
      sh.w->written.push(Written{sh.resolve(o), c.in});
    }
    return;
  }
  if (eq(n, "truncate")) {
    operands(c, &ops, "-s --size -r --reference");
    for (Str o : ops) judgeWrite(sh, o, true, true);
    return;
  }
  if (anyOf(n, "cp mv ln install rsync scp dd gcp gmv gln")) {
    operands(c, &ops, "-t --target-directory -m -o -g -S --suffix -e --rsh --exclude --include -P -i -F");
    Str to{};
    for (uint32_t i = 1; i + 1 < c.argv.n; i++)
      if (anyOf(c.argv[i], "-t --target-directory")) to = c.argv[i + 1];
    uint32_t from = ops.n;
    if (!to.n && ops.n > 1) {
      to = ops[ops.n - 1];
      from = ops.n - 1;
    }
    bool remote = anyOf(n, "rsync scp") && has(to, ':');
    bool move = anyOf(n, "mv gmv");
    bool out = to.n && locate(sh, to).place != Place::Inside && locate(sh, to).place != Place::Workspace;
    bool zero = false;
    for (uint32_t i = 0; i < from; i++) {
      Where at = locate(sh, ops[i]);
      zero |= anyOf(ops[i], "/dev/zero /dev/null /dev/urandom /dev/random");
      bool secret = isSecretPath(sh, ops[i]);
      if (move && out && (secret || (at.place == Place::InHome && anyGlob(at.path, "*/.ssh *.gnupg */.aws */.kube */.docker"))))
        sh.w->find(Family::Secrets, Level::Sure, "moves secrets away");
      if (secret && !move && !remote) sh.w->find(Family::Secrets, Level::Sure, "copies or links a file that holds secrets");
      size_t colon = indexOf(ops[i], WEIR_S(":"));
      if (anyOf(n, "rsync scp") && colon != static_cast<size_t>(-1) && colon > 1 && to.n) { // what comes from another machine
        Text t;
        sh.w->written.push(Written{sh.resolve(t.add(to).add('/').add(baseName(::sub(ops[i], colon + 1, ops[i].n))).str()), WEIR_S("\x06")});
        sh.w->written.push(Written{sh.resolve(to), WEIR_S("\x06")});
      }
      if (secret && remote) sh.w->find(Family::Exfiltration, Level::Sure, "sends secrets to another machine");
      if (move) {
        bool away = locate(sh, to).place == Place::Null;
        if (away) judgeRemoval(sh, ops[i], true);
        if (at.place == Place::Guard) sh.w->find(Family::Guard, Level::Sure, "moves the guard's files away");
        if (at.place == Place::GitDir && !at.contents && eq(baseName(at.path), ".git")) sh.w->find(Family::Destructive, Level::Sure, "moves the git folder away");
        if (at.place == Place::Workspace || at.place == Place::Home || at.place == Place::Root) {
          Place t = locate(sh, to).place;
          if (t != Place::Inside) sh.w->find(Family::Destructive, Level::Sure, "moves the whole workspace away");
        }
        if (at.place == Place::System) sh.w->find(Family::System, Level::Sure, "moves a system folder away");
      }
      if (!remote && to.n) {
        Str target = sh.resolve(to);
        for (uint32_t k = sh.w->written.n; k > 0; k--)
          if (weir_same(sh.w->written[k - 1].path, sh.resolve(ops[i]))) {
            sh.w->written.push(Written{target, sh.w->written[k - 1].text});
            break;
          }
      }
    }
    if (to.n && !remote) {
      judgeWrite(sh, to, !eq(n, "ln"), zero);
      // Into a folder: the file keeps its name.
      for (uint32_t i = 0; i < from; i++) {
        Text t;
        t.add(to).add('/').add(baseName(ops[i]));
        judgeWrite(sh, t.str(), !eq(n, "ln"), zero);
      }
      if (anyGlob(sh.resolve(to), "/var/www/* /srv/* /usr/share/nginx/*"))
        for (uint32_t i = 0; i < from; i++)
          if (isSecretPath(sh, ops[i])) sh.w->find(Family::Exfiltration, Level::Sure, "publishes secrets");
    }
    if (eq(n, "rsync") && option(c, 'n', "dry-run")) return;
    if (eq(n, "rsync") && anyArg(c, "--delete --delete-*") && to.n && !remote) {
      Where at = locate(sh, to);
      if (at.place != Place::Temp) judgeRemoval(sh, to, true);
    }
    if (eq(n, "rsync") && anyArg(c, "--delete --delete-*") && remote) sh.w->find(Family::Cloud, Level::Doubt, "deletes files on another machine");
    if (eq(n, "rsync") && anyArg(c, "--remove-source-files"))
      for (uint32_t i = 0; i < from; i++) judgeRemoval(sh, ops[i], true);
    return;
  }
}

void crontab(Shell &sh, Command &c) {
  if (option(c, 'l', nullptr)) return;
  if (option(c, 'e', nullptr)) return sh.w->find(Family::Persistence, Level::Doubt, "edits the crontab");
  sh.w->find(Family::Persistence, Level::Sure, option(c, 'r', nullptr) ? "deletes the crontab" : "changes the crontab");
}

// Text processing that reads (or, with -i, changes) files.
void reads(Shell &sh, Command &c) {
  Str n = c.name;
  bool grep = anyOf(n, "grep egrep fgrep rg ag ack");
  if (grep && hasMark(c.in, kEnviron)) {
    for (Str a : c.argv)
      if (containsFold(a, "key") || containsFold(a, "token") || containsFold(a, "secret") || containsFold(a, "pass") || containsFold(a, "cred"))
        sh.w->find(Family::Secrets, Level::Sure, "reads secrets of the environment");
  }
  if (grep && (option(c, 'q', "quiet") || option(c, 'c', "count") || option(c, 'l', "files-with-matches") || option(c, 'L', nullptr))) return;
  if (eq(n, "wc")) return;
  Vec<Str> ops;
  uint32_t skip = 0;
  const char *values = anyOf(n, "sed gsed") ? "-e -f -l --expression --file" : anyOf(n, "awk gawk mawk nawk") ? "-F -v -f" : anyOf(n, "jq yq") ? "-f --indent" :
                       grep ? "-e -f -A -B -C -m --include --exclude --exclude-dir -g --glob --type -T" : anyOf(n, "sort uniq") ? "-k -t -o -S -T -w -s -f" :
                       anyOf(n, "openssl") ? "" : anyOf(n, "head tail split csplit") ? "-n -c" : "-n -c -d -w -s -o -t -k -l";
  if (eq(n, "openssl")) {
    for (uint32_t i = 1; i + 1 < c.argv.n; i++)
      if (anyOf(c.argv[i], "-in -inkey -key") && anyOf(c.arg(1), "enc base64 rsa pkey pkcs8 pkcs12 ec rsautl pkeyutl")) judgeRead(sh, c.argv[i + 1]);
    return;
  }
  if (eq(n, "cut")) {
    operands(c, &ops, "-d -f -c -b --delimiter --fields");
    bool names = anyArg(c, "-f1 --fields=1") || (anyArg(c, "-f") && anyArg(c, "1"));
    if (names && (anyArg(c, "-d= --delimiter==") || (anyArg(c, "-d") && anyArg(c, "=")))) return; // names only
  } else {
    if (grep || anyOf(n, "sed awk gawk mawk jq yq")) skip = anyArg(c, "-e -f --expression* --regexp* --file*") ? 0 : 1;
    operands(c, &ops, values);
  }
  if (anyOf(n, "sed gsed") && (option(c, 'i', "in-place"))) {
    bool wipes = false;
    Vec<Str> plain;
    operands(c, &plain, "-e -f --expression");
    for (uint32_t i = 1; i < c.argv.n; i++) wipes |= anyOf(c.argv[i], "d 1,$d 1,$!d /./d '$!d' s/.*//");
    for (uint32_t i = 0; i < plain.n; i++) judgeWrite(sh, plain[i], wipes, wipes);
    for (uint32_t i = 0; i < plain.n; i++)
      if (wipes && locate(sh, plain[i]).place == Place::Inside) sh.w->find(Family::Overwrite, Level::Doubt, "empties files");
    return;
  }
  if (anyOf(n, "awk gawk mawk nawk")) {
    for (uint32_t i = 1; i < c.argv.n; i++) judgeCode(sh, c, c.argv[i]);
    // Names only: awk -F= '{print $1}'
    if (anyArg(c, "-F= -F") && anyArg(c, "{print?$1} {?print?$1?} {print$1}")) return;
  }
  if (anyOf(n, "sed gsed")) {
    for (uint32_t i = 1; i < c.argv.n; i++) { // GNU sed: the e command runs what it is given
      Str a = c.argv[i];
      size_t e = indexOf(a, WEIR_S("e "));
      if (e != static_cast<size_t>(-1) && (e == 0 || (e == 1 && isDigit(a.p[0])))) sh.runText(::sub(a, e + 2, a.n), WEIR_S(""), false);
    }
    if (anyArg(c, "s/=.*// s/=.*/=/ s/=.*/=***/ s/=.\x02* s/\\(=\\).*")) return; // names only
  }
  for (uint32_t i = skip; i < ops.n; i++) judgeRead(sh, ops[i]);
  // grep -r X . walks over .env as well, but prints only what matches: judged by the pattern.
}

// A search through the person's own folders for what looks like a credential.
void searches(Shell &sh, Command &c) {
  bool wanted = false, outside = false;
  for (uint32_t i = 1; i < c.argv.n; i++) {
    Str a = c.argv[i];
    static const char *const words[] = {"password", "passwd", "secret", "token", "api_key", "apikey", "api-key", "private key", "begin rsa", "begin openssh", "credential", "akia", "ghp_"};
    for (const char *word : words)
      wanted |= containsFold(a, word);
    Place p = a.n && a.p[0] != '-' ? locate(sh, a).place : Place::Unknown;
    outside |= (p == Place::Home || p == Place::InHome || p == Place::Root || p == Place::Above || p == Place::System) && has(a, '/') + has(a, '~') > 0;
  }
  if (wanted && outside) sh.w->find(Family::Secrets, Level::Sure, "searches for secrets outside the workspace");
}

void containers(Shell &sh, Command &c) {
  uint32_t i = 1;
  while (i < c.argv.n && c.argv[i].n && c.argv[i].p[0] == '-') i += anyOf(c.argv[i], "-H --host --context --config -l --log-level") ? 2 : 1;
  if (i < c.argv.n && anyOf(c.argv[i], "compose container")) {
    i++;
    while (i < c.argv.n && c.argv[i].n && c.argv[i].p[0] == '-') i += anyOf(c.argv[i], "-f -p --file --project-name --profile --env-file") ? 2 : 1;
  }
  if (i < c.argv.n && eq(c.argv[i], "cp"))
    for (uint32_t k = i + 1; k < c.argv.n; k++)
      if (isSecretPath(sh, c.argv[k])) sh.w->find(Family::Secrets, Level::Sure, "copies or links a file that holds secrets");
  if (i >= c.argv.n || !anyOf(c.argv[i], "run exec create")) return;
  bool run = !eq(c.argv[i], "exec");
  bool open = false;
  Vec<Mount> mounts;
  bool secretEnv = false;
  for (i++; i < c.argv.n && c.argv[i].n > 1 && c.argv[i].p[0] == '-'; i++) {
    Str a = c.argv[i];
    bool mount = anyOf(a, "-v --volume --mount") || starts(a, "-v") || starts(a, "--volume=") || starts(a, "--mount=");
    if (mount) {
      Str v = anyOf(a, "-v --volume --mount") && i + 1 < c.argv.n ? c.argv[i + 1] : a;
      size_t src = indexOf(v, WEIR_S("src=")), source = indexOf(v, WEIR_S("source="));
      if (src != static_cast<size_t>(-1)) v = ::sub(v, src + 4, v.n);
      else if (source != static_cast<size_t>(-1)) v = ::sub(v, source + 7, v.n);
      else if (starts(v, "-v")) v = ::sub(v, 2, v.n);
      else if (starts(v, "--volume=")) v = ::sub(v, 9, v.n);
      size_t e = 0;
      while (e < v.n && v.p[e] != ':' && v.p[e] != ',') e++;
      Str host = ::sub(v, 0, e);
      size_t d = e + 1;
      while (d < v.n && v.p[d] != ':' && v.p[d] != ',') d++;
      Str to = e < v.n ? ::sub(v, e + 1, d) : Str{nullptr, 0};
      static const char *const keys[] = {"dst=", "target=", "destination="};
      for (const char *key : keys)
        if (starts(to, key)) to = ::sub(to, S(key).n, to.n);
      if (host.n && to.n && (host.p[0] == '/' || host.p[0] == '.' || host.p[0] == '~')) mounts.push(Mount{sh.resolve(host), to, sh.w});
      if (host.n && (host.p[0] == '/' || host.p[0] == '.' || host.p[0] == '~')) {
        Where at = locate(sh, host);
        if (ends(host, "docker.sock") || at.place == Place::Root || at.place == Place::Home || at.place == Place::System || at.place == Place::Above ||
            (at.place == Place::InHome && isSecretPath(sh, host))) {
          open = true;
          sh.w->find(Family::Containers, Level::Sure, "gives a container the machine's own folders");
        }
      }
    }
    if (eq(a, "--env-file")) secretEnv |= isSecretPath(sh, c.arg(i + 1));
    else if (starts(a, "--env-file=")) secretEnv |= isSecretPath(sh, ::sub(a, 11, a.n));
    bool takes = anyOf(a, "-e --env -v --volume --mount -p --publish -w --workdir -u --user --name --network --net --entrypoint -l --label --env-file --cpus -m --memory -h "
                          "--hostname --platform --add-host --device --restart --gpus --pid --ipc --cap-add --cap-drop --security-opt --ulimit --shm-size --tmpfs");
    if (takes) i++;
  }
  Shell sub = sh.fork();
  sub.container = true;
  sub.mounts = mounts;
  sub.cwd = WEIR_S("/work");
  for (uint32_t k = 1; k + 1 < c.argv.n; k++)
    if (anyOf(c.argv[k], "-w --workdir")) sub.cwd = c.argv[k + 1];
  Command x;
  for (uint32_t k = i + 1; k < c.argv.n; k++) x.argv.push(c.argv[k]);
  x.in = c.in;
  x.piped = c.piped;
  if (!x.argv.n) return;
  if (secretEnv && anyOf(x.argv[0], "env printenv set export")) sh.w->find(Family::Secrets, Level::Sure, "prints secrets that were read into the environment");
  if (run && !open) { // a fresh container that goes away: only what leaves it counts
    World quiet = *sh.w;
    quiet.findings = {};
    sub.w = &quiet;
    sub.runCommand(x);
    for (Finding &f : quiet.findings)
      if (f.family == Family::Exfiltration || f.family == Family::Unparsable) sh.w->find(f.family, f.level, f.what);
    sh.w->steps = quiet.steps;
    sh.w->tired = quiet.tired;
    return;
  }
  sub.runCommand(x);
}

// aws SERVICE OPERATION: what does not only look is a change.
void aws(Shell &sh, Command &c) {
  Vec<Str> ops;
  operands(c, &ops, "--profile --region --output --endpoint-url --query --color --cli-read-timeout --cli-connect-timeout --ca-bundle");
  if (ops.n < 2 || anyOf(ops[0], "configure s3 sso help login logout history") || anyArg(c, "help --dry-run --generate-cli-skeleton --no-execute-changeset")) return;
  if (anyArg(c, "http://localhost* http://127.0.0.1* *=http://localhost* *=http://127.0.0.1*")) return; // an emulator
  if (anyGlob(ops[1], "describe-* get-* list-* ls lookup-* search* scan query batch-get-* head-* filter-* start-query stop-query start-query-execution validate-* estimate-* preview-* "
                      "simulate-* test-* detect-* check-* tail wait help select-* transact-get-* generate-* decode-* verify-* view-* retrieve* receive-message compare-* \x01"))
    return;
  sh.w->find(Family::Cloud, Level::Doubt, "changes resources in the cloud");
}

void cluster(Shell &sh, Command &c) { // kubectl exec … -- command
  if (anyArg(c, "cp") && has(c.argv[c.argv.n - 1], ':')) sh.w->find(Family::Cloud, Level::Doubt, "copies files into a cluster");
  if (!anyArg(c, "exec")) return;
  for (uint32_t i = 1; i < c.argv.n; i++)
    if (eq(c.argv[i], "--")) {
      Shell sub = sh.fork();
      sub.container = true;
      sub.cwd = WEIR_S("/work");
      Command x;
      for (uint32_t k = i + 1; k < c.argv.n; k++) x.argv.push(c.argv[k]);
      if (x.argv.n) sub.runCommand(x);
      return;
    }
}

void makefile(Shell &sh, Command &c) { // make -f - reads recipes from its input
  for (uint32_t i = 1; i < c.argv.n; i++) {
    bool stdinFile = anyOf(c.argv[i], "-f- --file=- --makefile=-") || (anyOf(c.argv[i], "-f --file --makefile") && anyOf(c.arg(i + 1), "- /dev/stdin"));
    Str text = stdinFile ? c.in : Str{nullptr, 0};
    if (!stdinFile && anyOf(c.argv[i], "-f --file --makefile")) {
      Str content = contentOf(sh, c.arg(i + 1));
      if (!anyMark(content)) text = content;
      else if (hasMark(content, kNet)) sh.w->find(Family::RemoteCode, Level::Sure, "runs what came from the network");
    }
    if (starts(c.argv[i], "--eval")) text = c.argv[i];
    for (size_t b = 0; b < text.n;) {
      size_t e = b;
      while (e < text.n && text.p[e] != '\n') e++;
      Str line = ::sub(text, b, e);
      b = e + 1;
      Str recipe = line;
      if (line.n && line.p[0] != '\t') {
        size_t semi = indexOf(line, WEIR_S(";"));
        if (semi == static_cast<size_t>(-1)) continue;
        recipe = ::sub(line, semi + 1, line.n);
      }
      while (recipe.n && (recipe.p[0] == '@' || recipe.p[0] == '-' || isSpace(recipe.p[0]))) recipe = ::sub(recipe, 1, recipe.n);
      Text t; // $(HOME) is a variable there
      for (size_t k = 0; k < recipe.n; k++) {
        if (recipe.p[k] == '$' && k + 1 < recipe.n && recipe.p[k + 1] == '(') {
          t.add("${");
          k++;
          while (++k < recipe.n && recipe.p[k] != ')') t.add(recipe.p[k]);
          t.add('}');
        } else if (recipe.p[k] == '$' && k + 1 < recipe.n && recipe.p[k + 1] == '$') {
          t.add('$');
          k++;
        } else t.add(recipe.p[k]);
      }
      sh.runText(t.str(), WEIR_S(""), false);
    }
  }
}

void archives(Shell &sh, Command &c) {
  Vec<Str> ops;
  operands(c, &ops, "-f -C -d --directory --file");
  bool toStdout = false;
  for (uint32_t i = 0; i < ops.n; i++) judgeRead(sh, ops[i]);
  Str letters = without(c.arg(1), kUnset);
  bool packs = anyOf(c.name, "tar bsdtar") && (option(c, 'c', "create") || option(c, 't', "list") || (letters.n && letters.p[0] != '-' && (has(letters, 'c') || has(letters, 't'))));
  for (uint32_t i = 1; i < c.argv.n && !packs; i++) { // where it unpacks to
    Str a = without(c.argv[i], kUnset), to = anyOf(a, "-C -d --directory -D") ? c.arg(i + 1) : Str{nullptr, 0};
    if (starts(a, "--directory=")) to = ::sub(a, 12, a.n);
    if ((starts(a, "-C") || (starts(a, "-d") && eq(c.name, "unzip")) || (starts(a, "-o") && anyOf(c.name, "7z 7za"))) && a.n > 2) to = ::sub(a, 2, a.n);
    if (!to.n) continue;
    if (locate(sh, to).place == Place::Root) judgeWrite(sh, to, true, false);
    Text t;
    judgeWrite(sh, t.add(to).add("/x").str(), true, false);
  }
  for (uint32_t i = 1; i < c.argv.n; i++) { // what the archiver is to run
    Str a = c.argv[i];
    size_t e = indexOf(a, WEIR_S("="));
    if (starts(a, "--checkpoint-action=exec=")) sh.runText(::sub(a, 25, a.n), WEIR_S(""), false);
    else if (e != static_cast<size_t>(-1) && anyGlob(a, "--to-command=* --use-compress-program=* --unzip-command=* --new-volume-script=* --info-script=*")) sh.runText(::sub(a, e + 1, a.n), WEIR_S(""), false);
    else if (i + 1 < c.argv.n && anyOf(a, "-I -TT --unzip-command --to-command --use-compress-program --new-volume-script -F")) sh.runText(c.argv[i + 1], WEIR_S(""), false);
  }
  if (anyOf(c.name, "tar bsdtar unzip cpio") && hasMark(c.in, kNet)) { // what came from the network lies in that folder now
    Text t;
    Str to = sh.cwd;
    for (uint32_t i = 1; i + 1 < c.argv.n; i++)
      if (anyOf(c.argv[i], "-C -d --directory")) to = c.argv[i + 1];
    sh.w->written.push(Written{t.add(sh.resolve(to)).add("/\x0f").str(), c.in});
  }
  if (anyArg(c, "--remove-files -m --move") && !eq(c.name, "unzip"))
    for (Str o : ops)
      if (locate(sh, o).place == Place::Inside || locate(sh, o).place == Place::Workspace) judgeRemoval(sh, o, true);
  (void)toStdout;
}

} // namespace


void judgeAssignment(Shell &sh, Str e) {
  size_t k = indexOf(e, WEIR_S("="));
  if (k == static_cast<size_t>(-1)) return;
  Str v = ::sub(e, k + 1, e.n);
  // What programs run or load because a variable says so.
  if (anyGlob(e, "BASH_ENV=* ENV=* GIT_SSH_COMMAND=* GIT_SSH=* GIT_EDITOR=* GIT_PAGER=* GIT_SEQUENCE_EDITOR=* EDITOR=* PAGER=* VISUAL=* PROMPT_COMMAND=* GIT_EXTERNAL_DIFF=* "
                 "MANPAGER=* LESSOPEN=* LESSCLOSE=* BROWSER=* GIT_ASKPASS=* SSH_ASKPASS=* GIT_PROXY_COMMAND=*") && v.n && !anyMark(v))
    sh.runText(v, WEIR_S(""), false);
  if (anyGlob(e, "LD_PRELOAD=* LD_AUDIT=* DYLD_INSERT_LIBRARIES=*") && v.n && !anyMark(v) && !anyGlob(sh.resolve(v), "/usr/* /lib/* /lib64/* /opt/* /nix/*"))
    sh.w->find(Family::RemoteCode, Level::Doubt, "loads a library of unknown origin into programs");
}

void judge(Shell &sh, Command &c) {
  Str n = c.name;
  World &w = *sh.w;
  if (c.argv.n == 2 && anyOf(c.argv[1], "--help --version -V")) return;
  // Places that show a file to everybody who has its address.
  if (anyOf(n, "gist pastebinit wgetpaste ix transfer transfer.sh 0x0 croc wormhole ffsend haste hastebin"))
    for (uint32_t i = 1; i < c.argv.n; i++) {
      bool secret = isSecretPath(sh, c.argv[i]);
      if (secret || (c.argv[i].n && c.argv[i].p[0] != '-')) w.find(Family::Exfiltration, secret ? Level::Sure : Level::Doubt, secret ? "sends secrets away" : "uploads a file");
    }
  if (anyOf(n, "sftp ftp lftp tnftp ncftp") && c.piped) {
    size_t put = indexOf(c.in, WEIR_S("put "));
    if (put != static_cast<size_t>(-1)) {
      size_t e = put + 4;
      while (e < c.in.n && !isSpace(c.in.p[e])) e++;
      bool secret = isSecretPath(sh, ::sub(c.in, put + 4, e));
      w.find(Family::Exfiltration, secret ? Level::Sure : Level::Doubt, secret ? "sends secrets away" : "uploads a file");
    }
  }
  if (anyOf(n, "deno bun") && anyArg(c, "http://* https://* jsr:* *.tgz") && anyArg(c, "run x eval install")) w.find(Family::RemoteCode, Level::Doubt, "runs code from an address");
  // An unknown name that is a path to something this very text fetched or wrote.
  Str path = has(c.argv[0], '/') ? sh.resolve(c.argv[0]) : Str{nullptr, 0};
  for (uint32_t k = w.written.n; k > 0 && path.n; k--)
    if (weir_same(w.written[k - 1].path, path)) {
      Str text = w.written[k - 1].text;
      if (hasMark(text, kNet)) w.find(Family::RemoteCode, Level::Sure, "runs what came from the network");
      else if (text.n && !anyMark(text)) {
        Shell sub = sh.fork();
        sub.funcs = {};
        if (indexOf(text, c.argv[0]) != static_cast<size_t>(-1) || indexOf(text, WEIR_S("$0")) != static_cast<size_t>(-1))
          w.find(Family::Resource, Level::Sure, "a script that starts itself");
        else sub.runText(text, WEIR_S(""), false);
      }
      break;
    } else if (hasMark(w.written[k - 1].text, kNet) && ends(w.written[k - 1].path, "/\x0f") && starts(path, "/") && path.n > w.written[k - 1].path.n - 1 &&
               weir_same(::sub(path, 0, w.written[k - 1].path.n - 1), ::sub(w.written[k - 1].path, 0, w.written[k - 1].path.n - 1))) {
      w.find(Family::RemoteCode, Level::Sure, "runs what came from the network");
      break;
    }
  if (path.n && locate(sh, path).place == Place::Guard) w.find(Family::Guard, Level::Doubt, "runs a file of the guard");
  for (Str e : c.env)
    if (anyGlob(e, "DOCKER_HOST=ssh:* DOCKER_HOST=tcp:*") && anyArg(c, "rm rmi kill stop down")) w.find(Family::Containers, Level::Sure, "removes containers on another machine");
  bool testEnv = false;
  for (Str e : c.env) testEnv |= anyGlob(e, "RAILS_ENV=test RACK_ENV=test NODE_ENV=test APP_ENV=test MIX_ENV=test DJANGO_ENV=test");
  judgeLines(sh, c, testEnv, makesImage(sh, c));
  if (sh.container && anyOf(n, "chmod chown kill pkill dd cp mv ln install crontab")) return;
  if (anyOf(n, "rm unlink rmdir srm rimraf trash trash-put gio del-cli")) {
    if (eq(n, "rmdir")) return;
    return remove(sh, c);
  }
  if (anyOf(n, "dd shred wipe scrub")) return disks(sh, c);
  if (anyOf(n, "chmod chown chgrp")) return permissions(sh, c);
  if (anyOf(n, "kill pkill killall killall5 skill slay xkill")) return kill(sh, c);
  if (anyOf(n, "git hub")) return judgeGit(sh, c);
  if (anyOf(n, "tee sponge truncate cp mv ln install rsync scp")) writes(sh, c);
  if (eq(n, "crontab")) return crontab(sh, c);
  if (anyOf(n, "psql mysql mariadb sqlite3 sqlite cockroach clickhouse-client clickhouse clickhouse-local duckdb sqlcmd sqlplus mongosh mongo cqlsh influx usql pgcli mycli litecli wrangler turso bq "
               "snowsql snow trino presto beeline hive impala-shell spark-sql vsql isql osql tsql db2 mysqlsh ysqlsh ycqlsh gsql rqlite pscale surreal cypher-shell mssql-cli athenacli ksql "
               "redis-cli valkey-cli keydb-cli iredis"))
    databases(sh, c);
  judgeRemote(sh, c);
  if (eq(n, "aws")) aws(sh, c);
  frameworks(sh, c);
  if (anyOf(n, "docker podman nerdctl docker-compose podman-compose")) return containers(sh, c);
  if (anyOf(n, "kubectl oc k")) return cluster(sh, c);
  if (anyOf(n, "make gmake")) return makefile(sh, c);
  if (isInterpreter(n)) {
    for (uint32_t i = 1; i < c.argv.n; i++) {
      if (!anyOf(c.argv[i], "http.server SimpleHTTPServer")) continue;
      Str dir = sh.cwd;
      for (uint32_t k = 1; k + 1 < c.argv.n; k++)
        if (anyOf(c.argv[k], "-d --directory")) dir = c.argv[k + 1];
      Place p = locate(sh, dir).place;
      if (p == Place::Home || p == Place::InHome || p == Place::Root || p == Place::System || p == Place::Above) w.find(Family::Exfiltration, Level::Doubt, "serves the person's files to the network");
    }
    for (uint32_t i = 1; i < c.argv.n; i++) {
      Str a = c.argv[i];
      bool inlineCode = a.n > 1 && a.p[0] == '-' && a.p[1] != '-' && a.n <= 6 && has(WEIR_S("ceprE"), a.p[a.n - 1]);
      if (anyOf(a, "--eval --print --execute eval -Command")) inlineCode = true;
      if (inlineCode && i + 1 < c.argv.n) {
        judgeCode(sh, c, c.argv[i + 1]);
        i++;
      }
    }
    if (anyOf(n, "perl ruby")) { // perl -pe '' file prints the file, perl -i changes it
      bool inPlace = false;
      for (uint32_t i = 1; i < c.argv.n; i++) {
        Str a = c.argv[i];
        bool opt = a.n > 1 && a.p[0] == '-' && a.p[1] != '-';
        inPlace |= opt && (a.p[1] == 'i' || (has(a, 'i') && has(WEIR_S("pnlawe0"), a.p[1]) && !has(a, '=')));
        if (opt && (a.p[a.n - 1] == 'e' || a.p[a.n - 1] == 'E')) i++; // the code
        else if (!opt && inPlace) judgeWrite(sh, a, false, false);
        else if (!opt && i > 1) judgeRead(sh, a);
      }
    }
    for (uint32_t i = 1; i + 1 < c.argv.n && c.argv[i].n && c.argv[i].p[0] == '-'; i++) // python -m pip: the tool itself
      if (eq(c.argv[i], "-m") && anyOf(c.argv[i + 1], "pip twine poetry pdm hatch flit uv pipx awscli ansible conan alembic flask")) {
        Command tool;
        for (uint32_t k = i + 1; k < c.argv.n; k++) tool.argv.push(c.argv[k]);
        sh.runCommand(tool);
        break;
      }
    bool file = false;
    for (uint32_t i = 1; i < c.argv.n; i++) file |= c.argv[i].n && c.argv[i].p[0] != '-';
    if (c.piped && !file) {
      if (hasMark(c.in, kNet) && !anyArg(c, "-c -e -p -r -n* -m")) w.find(Family::RemoteCode, Level::Sure, "runs what came from the network");
      else if (!anyMark(c.in)) judgeCode(sh, c, c.in);
    }
    for (uint32_t i = 1; i < c.argv.n; i++) { // a script written or fetched just before
      Str content = c.argv[i].n && c.argv[i].p[0] != '-' ? contentOf(sh, c.argv[i]) : Str{nullptr, 0};
      if (hasMark(content, kNet)) w.find(Family::RemoteCode, Level::Sure, "runs what came from the network");
      else if (content.n && !anyMark(content)) judgeCode(sh, c, content);
      if (c.argv[i].n && c.argv[i].p[0] != '-') break;
    }
    return;
  }
  if (eq(n, "go") && eq(c.arg(1), "run"))
    for (uint32_t i = 2; i < c.argv.n; i++) {
      Str content = ends(c.argv[i], ".go") ? contentOf(sh, c.argv[i]) : Str{nullptr, 0};
      if (hasMark(content, kNet)) w.find(Family::RemoteCode, Level::Sure, "runs what came from the network");
      else if (content.n && !anyMark(content)) judgeCode(sh, c, content);
    }
  if (anyOf(n, "vim vi nvim ex ed view"))
    for (uint32_t i = 1; i < c.argv.n; i++)
      if (c.argv[i].n && c.argv[i].p[0] != '-' && c.argv[i].p[0] != '+') judgeRead(sh, c.argv[i]);
  if (anyOf(n, "emacs vim vi nvim ex ed gdb expect tclsh")) {
    for (uint32_t i = 1; i < c.argv.n; i++) {
      if (anyOf(c.argv[i - 1], "--eval -e -c --cmd -ex -batch --command") || starts(c.argv[i], "--eval=")) {
        judgeCode(sh, c, c.argv[i]);
        Str bang = starts(c.argv[i], ":") ? ::sub(c.argv[i], 1, c.argv[i].n) : c.argv[i];
        if (starts(bang, "!")) sh.runText(::sub(bang, 1, bang.n), WEIR_S(""), false);
      }
      if (starts(c.argv[i], "+!") || starts(c.argv[i], "-c!")) sh.runText(::sub(c.argv[i], 2, c.argv[i].n), WEIR_S(""), false);
    }
    if (c.piped && eq(n, "ed") && c.in.n > 1 && c.in.p[0] == '!') sh.runText(::sub(c.in, 1, c.in.n), WEIR_S(""), false);
    return;
  }
  if (anyOf(n, "cat tac head tail nl less more bat base64 base32 xxd od hexdump strings rev grep egrep fgrep rg ag ack awk gawk mawk sed gsed cut sort uniq paste column fold fmt "
               "diff cmp comm jq yq pr expand tr dos2unix iconv hd view vi xclip pbcopy wl-copy split csplit join openssl sha1sum-x zip gpg"))
    reads(sh, c);
  if (anyOf(n, "grep egrep fgrep rg ag ack") && (!anyOf(n, "grep egrep fgrep") || option(c, 'r', "recursive") || option(c, 'R', "dereference-recursive"))) searches(sh, c);
  if (eq(n, "ps"))
    for (uint32_t i = 1; i < c.argv.n; i++) { // ps e, ps auxe: with the environment
      bool letters = c.argv[i].n > 0 && has(c.argv[i], 'e');
      for (size_t k = 0; k < c.argv[i].n; k++) letters &= has(WEIR_S("auxwefj"), c.argv[i].p[k]);
      if (letters) w.find(Family::Secrets, Level::Doubt, "shows the environment of processes");
    }
  if (anyOf(n, "tar zip unzip 7z 7za bsdtar cpio zipnote ditto")) archives(sh, c);
  if (anyOf(n, "curl wget nc ncat netcat socat telnet ssh scp sftp ftp dig nslookup host drill ping getent http https httpie xh aria2c openssl mail mailx sendmail mutt")) network(sh, c);
  if (anyOf(n, "ssh-copy-id")) w.find(Family::Exfiltration, Level::Sure, "gives a key to another machine");
  if (anyOf(n, "gsutil aws gcloud az rclone s3cmd mc gh glab"))
    for (uint32_t i = 1; i < c.argv.n; i++)
      if (isSecretPath(sh, c.argv[i]) && !anyGlob(c.argv[i], "--*")) w.find(Family::Exfiltration, Level::Sure, "sends secrets away");
  if (eq(n, "echo") || eq(n, "printf")) {
    for (uint32_t i = 1; i < c.argv.n; i++)
      if (hasMark(c.argv[i], kSecret)) w.find(Family::Secrets, Level::Doubt, "prints a secret");
  }
  if (eq(n, "printenv") && c.argv.n == 1 && w.sourced) w.find(Family::Secrets, Level::Sure, "prints secrets that were read into the environment");
  if (eq(n, "printenv") && c.argv.n > 1)
    for (uint32_t i = 1; i < c.argv.n; i++)
      if (hasMark(sh.value(c.argv[i]), kSecret)) w.find(Family::Secrets, Level::Sure, "prints a secret");
  if (anyOf(n, "touch mkdir") && c.argv.n > 1)
    for (uint32_t i = 1; i < c.argv.n; i++) {
      Place p = locate(sh, c.argv[i]).place;
      if (c.argv[i].p && c.argv[i].n && c.argv[i].p[0] != '-' && (p == Place::Guard)) judgeWrite(sh, c.argv[i], false, false);
    }
  if (anyOf(n, "mount") && c.argv.n > 1 && !option(c, 'l', nullptr)) {
    bool guard = false;
    for (Str a : c.argv) guard |= locate(sh, a).place == Place::Guard;
    w.find(guard ? Family::Guard : Family::System, Level::Sure, guard ? "mounts something over the guard's files" : "mounts a file system");
  }
  if (anyOf(n, "wat2wasm clang clang++ rustc wasm-opt wasm-ld tinygo zig asc wasm-merge gcc"))
    for (uint32_t i = 1; i + 1 < c.argv.n; i++)
      if (anyOf(c.argv[i], "-o --output -outFile --outFile")) judgeWrite(sh, c.argv[i + 1], true, false);
  if (anyOf(n, "chattr lsattr setfattr") && c.argv.n > 2)
    for (Str a : c.argv)
      if (locate(sh, a).place == Place::Guard) w.find(Family::Guard, Level::Sure, "changes the guard's files");
  if (eq(n, "weir")) {
    if (anyArg(c, "run exec serve hook demo init decide trust grant disable uninstall")) w.find(Family::Guard, Level::Sure, "starts or changes the guard");
  }
  if (eq(n, "xterm") || eq(n, "X11")) {
    if (anyArg(c, "-display")) w.find(Family::RemoteCode, Level::Sure, "shows a terminal on another machine");
  }
  if (anyOf(n, "at batch") && c.piped) sh.runText(c.in, WEIR_S(""), false);
  if (anyOf(n, "npm pnpm yarn bun pip pip3 gem cargo go uv pipx") && anyArg(c, "install i add -i global")) {
    for (uint32_t i = 2; i < c.argv.n; i++)
      if (anyGlob(c.argv[i], "http://* https://* git+* git://* git@* *.tgz *.tar.gz github:* gitlab:* bitbucket:*") && !anyGlob(c.argv[i], "./* file:* /tmp/* ../* --* *.whl"))
        if (!anyOf(c.argv[i - 1], "-i --index-url --extra-index-url --registry -f --find-links -r"))
          w.find(Family::RemoteCode, Level::Doubt, "installs code from an address");
  }
  if (anyOf(n, "pip pip3") && anyArg(c, "--break-system-packages")) w.find(Family::System, Level::Sure, "changes the system's own packages");
  if (anyOf(n, "yes stress stress-ng fork-bomb")) {
    if (anyOf(n, "stress stress-ng")) w.find(Family::Resource, Level::Sure, "loads the machine");
  }
  if (anyOf(n, "fallocate")) w.find(Family::Resource, Level::Doubt, "takes disk space");
  // An interpreter or tool of the network whose output is never read but which opens a shell.
  if (anyOf(n, "telnet") && c.piped) w.find(Family::RemoteCode, Level::Doubt, "a raw connection");
}

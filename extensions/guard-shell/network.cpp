// What curl, wget, nc and their like send, save and connect.
#include "interp.hpp"

// apart writes options as the rest reads them: each letter of a group for itself, its value and that behind = as a word. values are the
// letters that take one; one that no program knows takes none.
static void apart(Command &c, Str values) {
  Vec<Str> out;
  for (uint32_t i = 0; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (i == 0 || a.n < 3 || a.p[0] != '-') {
      out.push(a);
      continue;
    }
    if (a.p[1] == '-') {
      size_t e = indexOf(a, WEIR_S("="));
      out.push(::sub(a, 0, e));
      if (e != static_cast<size_t>(-1)) out.push(::sub(a, e + 1, a.n));
      continue;
    }
    for (size_t k = 1; k < a.n; k++) {
      Text t;
      out.push(t.add('-').add(::sub(a, k, k + 1)).str());
      if (!has(values, a.p[k])) continue;
      if (k + 1 < a.n) out.push(::sub(a, k + 1, a.n));
      break;
    }
  }
  c.argv = out;
}

void network(Shell &sh, Command &c) {
  if (eq(c.name, "curl")) apart(c, WEIR_S("AbcCdDeEFHKmoPQrtTuUwxXyYz"));
  if (eq(c.name, "wget")) apart(c, WEIR_S("aABDeiIloOPQRtTUwX"));
  World &w = *sh.w;
  bool local = anyArg(c, "*localhost* *127.0.0.1* *0.0.0.0* *://[::1]* *.local* *.test/* *host.docker.internal*");
  bool secretArg = false, fileSent = false, secretFile = false;
  for (uint32_t i = 1; i < c.argv.n; i++) {
    Str a = c.argv[i], v = i + 1 < c.argv.n ? c.argv[i + 1] : Str{nullptr, 0};
    bool auth = containsFold(a, "authorization") || containsFold(a, "api-key") || containsFold(a, "apikey") || containsFold(a, "private-token") || containsFold(a, "x-auth") ||
                anyOf(c.argv[i - 1], "-u --user --oauth2-bearer -b --cookie --cert --key -E --password --http-password -p");
    if ((hasMark(a, kSecret) || hasMark(a, kEnviron)) && !auth) secretArg = true;
    if (hasMark(a, kSecret) && hasMark(a, kFiles)) secretArg = true;
    Str file{};
    if (anyOf(c.name, "curl")) {
      if (anyOf(a, "-T --upload-file -d --data --data-binary --data-raw --data-ascii --data-urlencode --json -F --form")) file = v;
      if (file.n) {
        size_t at = indexOf(file, WEIR_S("@"));
        size_t lt = indexOf(file, WEIR_S("=<"));
        bool upload = anyOf(a, "-T --upload-file"), form = anyOf(a, "-F --form");
        if (upload) {
          fileSent = true;
          if (anyOf(file, "- .") && (hasMark(c.in, kSecret) || hasMark(c.in, kEnviron))) secretArg = true;
        } else if (at != static_cast<size_t>(-1) && (at == 0 || form || file.p[at - 1] == '=' || eq(a, "--data-urlencode"))) {
          file = ::sub(file, at + 1, file.n);
          fileSent = true;
        } else if (form && lt != static_cast<size_t>(-1)) {
          file = ::sub(file, lt + 2, file.n);
          fileSent = true;
        } else file = Str{nullptr, 0};
        size_t semi = indexOf(file, WEIR_S(";"));
        if (semi != static_cast<size_t>(-1)) file = ::sub(file, 0, semi);
        if (file.n && isSecretPath(sh, file)) secretFile = true;
        if (anyOf(file, "- /dev/stdin") && (hasMark(c.in, kSecret) || hasMark(c.in, kEnviron))) secretArg = true;
      }
      if (anyOf(a, "-o --output") && v.n) {
        judgeWrite(sh, v, true, false);
        w.written.push(Written{sh.resolve(v), WEIR_S("\x06")});
      }
      if (anyOf(a, "-O --remote-name")) { // the name is the address's
        for (uint32_t k = 1; k < c.argv.n; k++)
          if (indexOf(c.argv[k], WEIR_S("://")) != static_cast<size_t>(-1)) w.written.push(Written{sh.resolve(baseName(c.argv[k])), WEIR_S("\x06")});
      }
      if (anyOf(v, "DELETE") && anyOf(a, "-X --request")) {
        if (!local || anyArg(c, "*:9200*")) w.find(Family::Cloud, Level::Sure, "deletes over HTTP");
      }
      if (anyOf(a, "--unix-socket") && containsFold(v, "docker")) w.find(Family::Containers, Level::Sure, "speaks to the container engine directly");
      if (starts(a, "file://")) judgeRead(sh, ::sub(a, 7, a.n));
    }
    if (eq(c.name, "wget")) {
      if (anyOf(a, "--post-file --body-file")) file = v;
      if (file.n) {
        fileSent = true;
        secretFile |= isSecretPath(sh, file);
      }
      if (anyOf(a, "-O --output-document") && v.n && !eq(v, "-")) {
        judgeWrite(sh, v, true, false);
        w.written.push(Written{sh.resolve(v), WEIR_S("\x06")});
      }
      if (a.n && a.p[0] != '-' && has(a, '/')) { // the name is the address's, in the folder of -P
        Text t;
        for (uint32_t k = 1; k + 1 < c.argv.n; k++)
          if (anyOf(c.argv[k], "-P --directory-prefix")) t.add(c.argv[k + 1]).add('/');
        w.written.push(Written{sh.resolve(t.add(baseName(a)).str()), WEIR_S("\x06")});
      }
    }
  }
  // A name whose first labels are computed here and looked up at someone's domain tells that domain what they say.
  if (!local && anyOf(c.name, "dig nslookup host drill ping getent"))
    for (Str a : c.argv) {
      size_t dot = indexOf(a, WEIR_S("\x01."));
      if (dot != static_cast<size_t>(-1) && dot + 2 < a.n && !anyMark(::sub(a, a.n - 2, a.n))) w.find(Family::Exfiltration, Level::Doubt, "looks up a name made of what is found here");
    }
  bool pipe = anyOf(c.name, "nc ncat netcat socat telnet openssl");
  if (c.piped && (hasMark(c.in, kSecret) || hasMark(c.in, kEnviron)) && (pipe || anyOf(c.name, "ssh mail mailx sendmail mutt"))) secretArg = true;
  if (secretArg || secretFile) return w.find(Family::Exfiltration, Level::Sure, "sends secrets away");
  if (fileSent && !local && anyOf(c.name, "curl wget")) return w.find(Family::Exfiltration, Level::Doubt, "uploads a file");
  if (pipe) {
    if (anyArg(c, "-e -c --exec --sh-exec -lve -nlvpe -lvpe -ne -le EXEC:* exec:* SYSTEM:* system:*") && !eq(c.name, "openssl"))
      return w.find(Family::RemoteCode, Level::Sure, "connects a shell to the network");
    if (c.piped && eq(c.name, "nc") && (containsFold(c.in, "flushall") || containsFold(c.in, "flushdb"))) w.find(Family::Database, Level::Sure, "empties a store");
    if (c.piped && !local && (hasMark(c.in, kContent) || hasMark(c.in, kNet) || hasMark(c.in, kUnknown)) && anyOf(c.name, "nc ncat netcat socat"))
      w.find(Family::Exfiltration, Level::Doubt, "sends data over a raw connection");
  }
}

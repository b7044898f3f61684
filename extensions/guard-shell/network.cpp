// What curl, wget, nc and their like send, save and connect.
#include "interp.hpp"

void network(Shell &sh, Command &c) {
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
      if (anyOf(a, "-T --upload-file")) file = v;
      else if (starts(a, "-T") && a.n > 2) file = ::sub(a, 2, a.n);
      else if (anyOf(a, "-d --data --data-binary --data-raw --data-ascii --data-urlencode --json -F --form")) file = v;
      else if (starts(a, "-d") && a.n > 2) file = ::sub(a, 2, a.n);
      else if (starts(a, "-F") && a.n > 2) file = ::sub(a, 2, a.n);
      else if (starts(a, "--data") || starts(a, "--form") || starts(a, "--upload-file=") || starts(a, "--json=")) {
        size_t e = indexOf(a, WEIR_S("="));
        if (e != static_cast<size_t>(-1)) file = ::sub(a, e + 1, a.n);
      }
      if (file.n) {
        size_t at = indexOf(file, WEIR_S("@"));
        size_t lt = indexOf(file, WEIR_S("=<"));
        bool upload = anyOf(a, "-T --upload-file") || starts(a, "-T") || starts(a, "--upload-file");
        bool form = anyOf(a, "-F --form") || starts(a, "-F") || starts(a, "--form");
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
      if (starts(a, "-o") && a.n > 2) {
        judgeWrite(sh, ::sub(a, 2, a.n), true, false);
        w.written.push(Written{sh.resolve(::sub(a, 2, a.n)), WEIR_S("\x06")});
      }
      if (anyOf(a, "-O --remote-name -OL -LO -sSLO -fsSLO -fsSOL -sO -sLO")) { // the name is the address's
        for (uint32_t k = 1; k < c.argv.n; k++)
          if (indexOf(c.argv[k], WEIR_S("://")) != static_cast<size_t>(-1)) w.written.push(Written{sh.resolve(baseName(c.argv[k])), WEIR_S("\x06")});
      }
      if (anyOf(v, "DELETE") && anyOf(a, "-X --request")) {
        if (!local || anyArg(c, "*:9200*")) w.find(Family::Cloud, Level::Sure, "deletes over HTTP");
      }
      if (anyOf(a, "-XDELETE --request=DELETE") && !local) w.find(Family::Cloud, Level::Sure, "deletes over HTTP");
      if (anyOf(a, "--unix-socket") && containsFold(v, "docker")) w.find(Family::Containers, Level::Sure, "speaks to the container engine directly");
      if (starts(a, "file://")) judgeRead(sh, ::sub(a, 7, a.n));
    }
    if (eq(c.name, "wget")) {
      if (starts(a, "--post-file=")) file = ::sub(a, 12, a.n);
      else if (starts(a, "--body-file=")) file = ::sub(a, 12, a.n);
      else if (anyOf(a, "--post-file --body-file")) file = v;
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

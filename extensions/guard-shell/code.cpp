// Code of other languages inside a command: python -c, node -e, perl -e, awk … Not parsed; its literals and the names it uses
// are enough to tell the kinds apart that matter.
#include "interp.hpp"

namespace {

bool mentions(Str code, const char *list) { // any of the words, as text
  const char *p = list;
  while (*p) {
    while (*p == ' ') p++;
    const char *b = p;
    while (*p && *p != ' ') p++;
    if (p > b && weir_find(code, Str{b, static_cast<size_t>(p - b)}, 0) != static_cast<size_t>(-1)) return true;
  }
  return false;
}

// The string literals of the code, in order; escapes resolved as far as they are simple.
void literals(Str code, Vec<Str> *out) {
  for (size_t i = 0; i < code.n; i++) {
    char q = code.p[i];
    if (q != '"' && q != '\'' && q != '`') continue;
    if (q == '\'' && i && isName(code.p[i - 1]) && i + 1 < code.n && isName(code.p[i + 1]) && weir_find(code, WEIR_S("'"), i + 1) == static_cast<size_t>(-1)) continue;
    Text t;
    size_t k = i + 1;
    for (; k < code.n && code.p[k] != q; k++) {
      if (code.p[k] == '\\' && k + 1 < code.n) k++;
      t.add(code.p[k]);
    }
    if (k >= code.n) return;
    out->push(Str{t.str().p ? t.str().p : "", t.str().n});
    i = k;
    if (out->n > 200) return;
  }
}

} // namespace

void judgeCode(Shell &sh, Command &c, Str code) {
  World &w = *sh.w;
  if (++w.steps > 3000) {
    w.tired = true;
    return;
  }
  if (hasMark(code, kNet)) return w.find(Family::RemoteCode, Level::Sure, "runs what came from the network");
  Vec<Str> texts;
  literals(code, &texts);
  bool awk = anyOf(c.name, "awk gawk mawk nawk");
  bool runs = awk ? mentions(code, "system( getline | close(")
                  : mentions(code, "system( system subprocess popen Popen exec( exec execSync spawn child_process shell_exec passthru proc_open qx `  %x Open3 Process. os.exec sh( call( check_output "
                                   "Command( !rm :! -e! pty.");
  if (anyOf(c.name, "emacs vim vi nvim ex")) runs |= mentions(code, "shell-command call-process ! system(");
  bool nodeTemplate = anyOf(c.name, "node nodejs deno bun") && !mentions(code, "child_process exec spawn Command(");
  if (nodeTemplate) runs = false;
  if (runs) {
    Text joined;
    for (uint32_t i = 0; i < texts.n; i++) {
      if (i) joined.add(' ');
      joined.add(texts[i]);
      const char *why;
      if (has(texts[i], ' ') && parse(texts[i], &why)) sh.runText(texts[i], WEIR_S(""), false);
    }
    // ["rm", "-rf", "/x"]: each literal a word.
    for (uint32_t i = 0; i + 1 < texts.n; i++) {
      if (!anyOf(baseName(texts[i]), "rm shred dd mkfs bash sh chmod chown git sudo find unlink curl cat kill shutdown reboot")) continue;
      Command x;
      for (uint32_t k = i; k < texts.n && k < i + 12; k++) x.argv.push(texts[k]);
      Shell sub = sh.fork();
      sub.runCommand(x);
      break;
    }
  }
  // Deleting by the language's own means.
  bool tree = mentions(code, "rmtree rm_rf rm_r remove_entry rmSync rmdirSync fs.rm( rm( remove_tree rimraf delete-directory RemoveDirectory deltree emptyDirSync removeSync remove_dir_all os.RemoveAll File::Path Remove-Item");
  bool single = mentions(code, "os.remove os.unlink unlink( unlinkSync .unlink FileUtils.rm File.delete os.rmdir delete-file Dir.rmdir unlink ");
  if (tree || single) {
    bool walk = mentions(code, "os.walk readdir glob rglob iterdir listdir scandir Dir[ Dir.glob find(");
    bool home = mentions(code, "Path.home expanduser('~') expanduser(\"~\") homedir() os.homedir env.HOME environ['HOME'] environ[\"HOME\"] ENV['HOME'] ENV[\"HOME\"] $ENV{HOME} Dir.home getenv('HOME') getenv(\"HOME\")");
    bool known = false, literalHome = false;
    for (Str t : texts) {
      if (!t.n || anyOf(t, "HOME fs os shutil path rimraf fs-extra fs/promises node:fs utf8 force recursive")) continue;
      Str p = sh.tilde(t);
      if (has(p, '*')) {
        Text g;
        for (size_t i = 0; i < p.n; i++) g.add(p.p[i] == '*' ? static_cast<char>(kStar) : p.p[i]);
        p = g.str();
      }
      literalHome |= t.p[0] == '~';
      bool path = has(t, '/') || anyOf(t, ". .. ~ .git") || isName(t.p[0]) || t.p[0] == '.';
      if (!path || has(t, ' ')) continue;
      known = true;
      judgeRemoval(sh, p, tree || walk);
    }
    if (home && tree && !literalHome) w.find(Family::Destructive, Level::Sure, "deletes below the home folder");
    else if (home && walk) w.find(Family::Destructive, Level::Sure, "deletes below the home folder");
    else if (!known && tree) w.find(Family::Destructive, Level::Doubt, "deletes recursively what is not known before it runs");
    else if (!known && walk) w.find(Family::Destructive, Level::Doubt, "deletes many files");
  }
  // Reading, sending, writing.
  bool net = mentions(code, "requests. urllib urlopen http.client fetch( http.request https. net.connect socket XMLHttpRequest axios Net::HTTP LWP:: IO::Socket fsockopen TCPSocket require('https') require(\"https\") require('http') require(\"http\") "
                            "node:https node:http open-uri URI.open file_get_contents('http file_get_contents(\"http /inet/ reqwest");
  for (Str t : texts) net |= starts(t, "curl ") || starts(t, "wget ");
  bool environ = mentions(code, "dict(os.environ) os.environ) JSON.stringify(process.env) process.env) print(os.environ %ENV ENV.to_h ENV.each getenv() $_ENV)") &&
                 !mentions(code, "os.environ[ os.environ.get(");
  environ |= anyOf(c.name, "node nodejs bun deno") && anyOf(code, "process.env Deno.env.toObject()"); // node -p process.env
  bool secret = false;
  for (Str t : texts) {
    Str p = sh.tilde(t);
    if (p.n && p.p[0] == '/' && !isSecretPath(sh, p) && mentions(code, "HOME homedir Path.home")) {
      Text h;
      p = h.add(w.home).add(p).str();
    }
    bool openIt = mentions(code, "open( read( readFile readFileSync Path( File. file_get_contents slurp cat require( load( createReadStream");
    if (openIt && isSecretPath(sh, p)) secret = true;
  }
  if (net && (secret || environ)) w.find(Family::Exfiltration, Level::Sure, "sends secrets away");
  else if (secret) w.find(Family::Secrets, Level::Sure, "reads a file that holds secrets");
  else if (environ) w.find(Family::Secrets, Level::Sure, "reads the whole environment");
  bool evals = weir_find(code, WEIR_S("eval "), 0) != static_cast<size_t>(-1) || mentions(code, "eval(");
  if (net && evals && anyOf(c.name, "ruby perl php lua node nodejs bun deno")) w.find(Family::RemoteCode, Level::Sure, "runs what came from the network");
  if (net && mentions(code, "exec( eval( exec(__import__ compile( Function( instance_eval system( vm.run load(io.popen loadstring(")) w.find(Family::RemoteCode, Level::Sure, "runs what came from the network");
  if ((evals || mentions(code, "exec( eval( Function( system(")) && mentions(code, "b64decode base64_decode decode_base64 fromhex decompress atob( 'base64' \"base64\" unpack( decode64 rot13 [::-1]"))
    w.find(Family::RemoteCode, Level::Sure, "runs decoded text");
  if (awk && mentions(code, "/inet/")) w.find(Family::RemoteCode, Level::Doubt, "a raw network connection");
  if (mentions(code, "socket TCPSocket fsockopen IO::Socket net.connect net.Socket require('net') require(\"net\") createConnection") && mentions(code, "dup2 /bin/sh /bin/bash pty.spawn spawn( exec( popen subprocess cmd.exe"))
    w.find(Family::RemoteCode, Level::Sure, "connects a shell to the network");
  if (mentions(code, "fork") && mentions(code, "while for(;;) loop forever while(1) while(true)")) w.find(Family::Resource, Level::Sure, "starts processes without end");
  bool writes = mentions(code, "writeFile appendFile write_text write( .write 'w') \"w\") 'a') \"a\") File.write file_put_contents copyfile rename move( 'w' 'wb' createWriteStream truncate");
  for (size_t i = 0; awk && i < code.n; i++) // print > "file"
    if (code.p[i] == '>') {
      while (i + 1 < code.n && (isBlank(code.p[i + 1]) || code.p[i + 1] == '>')) i++;
      writes |= i + 1 < code.n && code.p[i + 1] == '"';
    }
  if (writes) {
    bool many = mentions(code, "readdir glob os.walk rglob ") && mentions(code, "'') \"\") truncate");
    if (many) w.find(Family::Overwrite, Level::Doubt, "empties many files");
    for (Str t : texts)
      if (t.n > 1 && !has(t, ' ') && !has(t, '\n') && (has(t, '/') || t.p[0] == '.' || t.p[0] == '~')) judgeWrite(sh, sh.tilde(t), true, false);
  }
  // SQL through a client library.
  if (mentions(code, "query( execute( .exec( cursor Client connect( sqlite3 psycopg pg mysql"))
    for (Str t : texts)
      if (containsFold(t, "drop table") || containsFold(t, "drop database") || containsFold(t, "truncate ") || (containsFold(t, "delete from") && !containsFold(t, "where")))
        w.find(Family::Database, Level::Sure, "drops or empties tables");
  // Through a framework's models.
  if (mentions(code, "delete_all destroy_all .objects.all().delete() .drop_all( truncate_all deleteMany({}) deleteMany() dropDatabase( Repo.delete_all ::truncate()"))
    w.find(Family::Database, Level::Sure, "drops or empties tables");
  if (mentions(code, "kill( process.kill os.kill") && mentions(code, "getppid ppid")) w.find(Family::Guard, Level::Sure, "stops the agent or its guard");
}

// What clients of databases are told to do, and code that a framework runs on the project's data.
#include "interp.hpp"

// sql judges statements: what drops, empties or changes as a whole. Literals and comments are data.
void sql(Shell &sh, Str text) {
  Text t;
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    if (c == '\'') {
      while (++i < text.n && text.p[i] != '\'') {}
      t.add('?');
      continue;
    }
    if (c == '-' && i + 1 < text.n && text.p[i + 1] == '-') {
      while (i < text.n && text.p[i] != '\n') i++;
      continue;
    }
    if (c == '/' && i + 1 < text.n && text.p[i + 1] == '*') {
      size_t end = weir_find(text, WEIR_S("*/"), i + 2);
      if (end == static_cast<size_t>(-1)) break;
      i = end + 1;
      continue;
    }
    t.add(isSpace(c) || c == '(' ? ' ' : lower(c));
  }
  Str s = t.str();
  Vec<Str> words;
  bool where = false;
  auto flush = [&]() {
    for (uint32_t i = 0; i + 1 < words.n; i++) // a condition that always holds is none
      if (eq(words[i], "where") && anyOf(words[i + 1], "1=1 true 1 ?=?") && (i + 2 >= words.n || !anyOf(words[i + 2], "and = <> != <"))) where = false;
    for (uint32_t i = 0; i < words.n; i++) {
      Str a = words[i], b = i + 1 < words.n ? words[i + 1] : Str{nullptr, 0};
      bool start = i == 0;
      if (start && eq(a, "drop") && !anyOf(b, "temporary")) return sh.w->find(Family::Database, Level::Sure, "drops tables or databases");
      if (start && eq(a, "truncate")) return sh.w->find(Family::Database, Level::Sure, "empties a table");
      if (start && eq(a, "delete") && !where) return sh.w->find(Family::Database, Level::Sure, "deletes every row of a table");
      if (start && eq(a, "update") && !where) return sh.w->find(Family::Database, Level::Sure, "changes every row of a table");
      if (start && eq(a, "alter") && anyOf(b, "table database role user system"))
        for (Str x : words)
          if (anyOf(x, "drop superuser password")) return sh.w->find(Family::Database, Level::Sure, "drops columns or changes roles");
      if (start && eq(a, "alter")) // ALTER TABLE t DELETE WHERE ..., as column stores spell it
        for (uint32_t k = 2; k < words.n; k++)
          if (anyOf(words[k], "delete update truncate reset disable")) return sh.w->find(Family::Database, Level::Sure, "changes or deletes rows of a table");
      if (start && eq(a, "create") && eq(b, "or") && words.n > 3 && eq(words[3], "table")) return sh.w->find(Family::Database, Level::Sure, "replaces a table");
      if (start && eq(a, "insert") && eq(b, "overwrite")) return sh.w->find(Family::Database, Level::Sure, "replaces a table");
      if (start && anyOf(a, "reset shutdown kill purge") && words.n > 1) return sh.w->find(Family::Database, Level::Doubt, "resets or stops a database");
      if (start && eq(a, "create") && anyOf(b, "user role login")) return sh.w->find(Family::Database, Level::Doubt, "changes who may use a database");
      if (start && eq(a, "set") && anyOf(b, "global password persist")) return sh.w->find(Family::Database, Level::Doubt, "changes a database's settings");
      if (eq(a, "detach") && eq(b, "delete")) return sh.w->find(Family::Database, Level::Sure, "deletes nodes of a graph");
      if (start && anyOf(a, "grant revoke")) return sh.w->find(Family::Database, Level::Sure, "changes rights in a database");
      if (eq(a, "program") && start == false && words.n && eq(words[0], "copy")) return sh.w->find(Family::Database, Level::Sure, "runs programs from a database");
      if (eq(a, "with")) // WITH x AS (DELETE …)
        for (Str x : words)
          if (eq(x, "delete") && !where) return sh.w->find(Family::Database, Level::Sure, "deletes rows");
    }
  };
  for (size_t i = 0; i <= s.n;) {
    while (i < s.n && (s.p[i] == ' ')) i++;
    size_t b = i;
    while (i < s.n && s.p[i] != ' ' && s.p[i] != ';' && s.p[i] != '"') i++;
    if (i > b) {
      Str word = ::sub(s, b, i);
      where |= eq(word, "where");
      words.push(word);
    }
    if (i >= s.n || s.p[i] == ';' || s.p[i] == '"') {
      flush();
      if (sh.w->tired) return;
      words.n = 0;
      where = false;
      i++;
      if (i > s.n) break;
    }
  }
}

namespace {

// What a document store's shell is told.
void documents(Shell &sh, Str text) {
  Text t;
  for (size_t i = 0; i < text.n; i++)
    if (!isSpace(text.p[i])) t.add(lower(text.p[i]));
  static const char *const calls[] = {".drop(", "dropdatabase", "dropindex", "dropcollection", "deletemany({})", "deletemany()", "remove({})", "remove()", "updatemany({},", "shutdownserver",
                                      "shutdown:", "dropuser", "dropalluser", "dropallrole", "renamecollection", "rs.reconfig", "rs.remove", "grantroles", "changeuserpassword", "createuser", "{$out:"};
  for (const char *call : calls)
    if (indexOf(t.str(), S(call)) != static_cast<size_t>(-1)) return sh.w->find(Family::Database, Level::Sure, "drops or empties collections");
}

// What a key-value store's client is told, a command a line.
void keys(Shell &sh, Str text) {
  for (size_t i = 0; i < text.n;) {
    size_t e = i;
    while (e < text.n && text.p[e] != '\n') e++;
    Str word[2] = {};
    for (Str &w : word) {
      Text t;
      while (i < e && isSpace(text.p[i])) i++;
      while (i < e && !isSpace(text.p[i])) t.add(lower(text.p[i++]));
      w = t.str();
    }
    i = e + 1;
    if (anyOf(word[0], "flushall flushdb shutdown swapdb debug replicaof slaveof failover restore migrate eval evalsha") || (anyOf(word[0], "del unlink") && word[1].n) ||
        (anyOf(word[0], "config cluster acl script function") && !anyOf(word[1], "get list info nodes slots shards cat whoami help exists users getuser stats")))
      return sh.w->find(Family::Database, Level::Sure, "empties or changes a store");
  }
}

// Is the client told what to do by its arguments, so that it does not read its standard input?
bool told(const Command &c) {
  Str options = anyOf(c.name, "mysql mariadb mycli") ? WEIR_S("e") : anyOf(c.name, "psql pgcli usql") ? WEIR_S("cfl") : WEIR_S("ceqfQi");
  for (uint32_t i = 1; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (anyOf(a, "-csv -column -cmd -echo")) continue;
    bool letter = a.n > 1 && a.n < 6 && a.p[0] == '-' && a.p[1] != '-' && has(options, a.p[a.n - 1]);
    if (letter || anyGlob(a, "--command* --execute* --eval* --query* --file* --list --version --help -c?* -e?*")) return true;
  }
  Vec<Str> ops;
  operands(c, &ops, "-cmd -init -separator -nullvalue -h -p -n -a -u");
  return (anyOf(c.name, "sqlite3 sqlite duckdb") && ops.n > 1) || (anyOf(c.name, "redis-cli valkey-cli keydb-cli iredis") && ops.n > 0);
}

} // namespace

void databases(Shell &sh, Command &c) {
  Str n = c.name;
  bool mongo = anyOf(n, "mongo mongosh"), redis = anyOf(n, "redis-cli valkey-cli keydb-cli iredis");
  auto each = [&](Str t) { mongo ? documents(sh, t) : redis ? keys(sh, t) : sql(sh, t); };
  auto doubt = [&](const char *what) { sh.w->find(Family::Database, Level::Doubt, what); };
  if (anyArg(c, ":memory: test test_* *_test test.db *_test.db test*.sqlite* *?dbname=test*")) return; // a database for tests
  bool dev = anyArg(c, "dev dev.* dev_* *_dev *-dev *_dev.* *_development *_local */dev");
  for (Str a : c.argv)
    if (containsFold(a, "pg_shadow") || containsFold(a, "pg_authid") || containsFold(a, "mysql.user")) sh.w->find(Family::Secrets, Level::Sure, "reads the passwords of a database");
  for (uint32_t i = 1; i < c.argv.n && !redis; i++) {
    Str a = c.argv[i];
    if (starts(a, "-c") && a.n > 2) a = ::sub(a, 2, a.n);
    if (starts(a, "-e") && a.n > 2) a = ::sub(a, 2, a.n);
    size_t e = starts(a, "--") ? indexOf(a, WEIR_S("=")) : static_cast<size_t>(-1);
    if (e != static_cast<size_t>(-1)) a = ::sub(a, e + 1, a.n);
    each(a);
    // A file of statements, perhaps one that this very text wrote.
    if (has(a, '.') && !has(a, ' ') && (mongo || anyOf(c.argv[i - 1], "-f -i -init --file --init --input-file --queries-file") || starts(c.argv[i], "--file="))) {
      Str text = contentOf(sh, a);
      if (!anyMark(text)) each(text);
      else if (hasMark(text, kNet)) sh.w->find(Family::Database, Level::Sure, "runs statements that came from the network");
      else if (mongo && ends(a, ".js") && !dev) doubt("runs a script that is not known before it runs");
    }
    if (!dev && anyGlob(a, "source?*.sql \\i?* \\.?* .read?*")) doubt("runs statements from a file");
  }
  if (c.piped && !told(c)) {
    each(c.in);
    if (hasMark(c.in, kNet)) sh.w->find(Family::Database, Level::Sure, "runs statements that came from the network");
    else if (!dev && (hasMark(c.in, kContent) || (c.in.n == 1 && c.in.p[0] == kUnknown))) doubt("runs statements that are not known before they run");
  }
  if (anyOf(n, "sqlite3 sqlite duckdb")) { // the database is a file
    Vec<Str> ops;
    operands(c, &ops, "-cmd -init -separator -nullvalue");
    if (ops.n) judgeRead(sh, ops[0]);
  }
}

// Code that a framework's command runs in the project: rails runner, manage.py shell -c, artisan tinker.
void frameworks(Shell &sh, Command &c) {
  uint32_t at = isInterpreter(c.name) ? 2 : 1;
  Str tool = at == 2 ? baseName(c.arg(1)) : c.name, verb = c.arg(at);
  bool code = (anyOf(tool, "rails") && anyOf(verb, "runner r console c")) || (eq(tool, "manage.py") && anyOf(verb, "shell shell_plus dbshell")) || (eq(tool, "artisan") && eq(verb, "tinker")) ||
              (eq(tool, "mix") && eq(verb, "run")) || (anyOf(tool, "iex console") && verb.n);
  if (!code) return;
  if (eq(verb, "dbshell")) {
    if (c.piped) sql(sh, c.in);
    return;
  }
  for (uint32_t i = at + 1; i < c.argv.n; i++) judgeCode(sh, c, c.argv[i]);
  if (c.piped && !anyMark(c.in)) judgeCode(sh, c, c.in);
}

// What clients of databases are told to do, and code that a framework runs on the project's data.
#include "interp.hpp"

namespace {

void sql(Shell &sh, Str text) {
  // Literals and comments are data.
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
    t.add(isSpace(c) ? ' ' : lower(c));
  }
  Str s = t.str();
  Vec<Str> words;
  bool where = false;
  auto flush = [&]() {
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
      if (start && anyOf(a, "grant revoke")) return sh.w->find(Family::Database, Level::Sure, "changes rights in a database");
      if (eq(a, "program") && start == false && words.n && eq(words[0], "copy")) return sh.w->find(Family::Database, Level::Sure, "runs programs from a database");
      if (eq(a, "with")) // WITH x AS (DELETE …)
        for (Str x : words)
          if (anyOf(x, "delete (delete") && !where) return sh.w->find(Family::Database, Level::Sure, "deletes rows");
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

} // namespace

void databases(Shell &sh, Command &c) {
  Str n = c.name;
  auto each = [&](Str t) {
    if (anyOf(n, "mongo mongosh")) {
      if (containsFold(t, ".drop(") || containsFold(t, "dropdatabase") || containsFold(t, "dropindex") || containsFold(t, "deletemany({}") || containsFold(t, "remove({}") ||
          containsFold(t, "deletemany( {}") || containsFold(t, "shutdownserver") || containsFold(t, "dropuser"))
        sh.w->find(Family::Database, Level::Sure, "drops or empties collections");
      return;
    }
    sql(sh, t);
  };
  if (anyArg(c, ":memory: test test_* *_test test.db *_test.db test*.sqlite* *?dbname=test*")) return; // a database for tests
  for (Str a : c.argv)
    if (containsFold(a, "pg_shadow") || containsFold(a, "pg_authid") || containsFold(a, "mysql.user")) sh.w->find(Family::Secrets, Level::Sure, "reads the passwords of a database");
  for (uint32_t i = 1; i < c.argv.n; i++) {
    Str a = c.argv[i];
    if (starts(a, "-c") && a.n > 2 && !starts(a, "--")) a = ::sub(a, 2, a.n);
    if (starts(a, "-e") && a.n > 2) a = ::sub(a, 2, a.n);
    size_t e = starts(a, "--") ? indexOf(a, WEIR_S("=")) : static_cast<size_t>(-1);
    if (e != static_cast<size_t>(-1)) a = ::sub(a, e + 1, a.n);
    each(a);
  }
  if (c.piped) each(c.in);
  if (c.piped && c.in.n == 1 && c.in.p[0] == kUnknown) sh.w->find(Family::Database, Level::Doubt, "runs SQL that is not known before it runs");
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

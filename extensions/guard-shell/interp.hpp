// The interpreter's state, and what it found.
#pragma once
#include "shell.hpp"

// What would happen, one configuration key each. The order is that of kFamilies in rules.cpp.
enum class Family : uint8_t {
  Destructive, Disk, Git, Privilege, RemoteCode, Exfiltration, Secrets, Permissions, Persistence,
  System, Resource, Containers, Cloud, Database, Overwrite, Guard, Outward, Dynamic, Unparsable, Count
};
// Sure: what the command does is what the family is about. Doubt: it may be, or it is a matter of taste; at most asked about.
enum class Level : uint8_t { Doubt, Sure };

struct Finding {
  Family family{};
  Level level{};
  Str what{};
};

struct Variable {
  Str name{};
  Vec<Str> values;
};
struct Function {
  Str name{};
  Node *body = nullptr;
  bool active = false;
};
// A file that the command text itself writes, with its content, so that running it later can be judged.
struct Written {
  Str path{};
  Str text{};
};

// A folder of the machine that a container sees under another name.
struct Mount {
  Str outside{}, inside{};
  struct World *world = nullptr; // of the shell outside
};

// Shared by a shell and its subshells.
struct World {
  Str workspace{}, home{}, user{};
  Vec<Finding> findings;
  Vec<Written> written;
  Vec<Str> keep; // names that may be deleted recursively, from the settings
  uint32_t steps = 0;
  uint32_t sources = 0; // source files deleted one by one
  bool sourced = false; // a file of secrets was read into the environment
  bool tired = false; // the step budget is used up: not understood
  void find(Family f, Level l, const Str &what);
  void find(Family f, Level l, const char *what);
};

// A simple command about to run.
struct Command {
  Vec<Str> argv;
  Vec<Str> env; // NAME=value in front of it
  Str in{};     // its standard input: text with marks
  bool piped = false; // standard input is not the terminal
  Str name{};   // argv[0] without its folder
  Str arg(uint32_t i) const { return i < argv.n ? argv[i] : Str{nullptr, 0}; }
};

struct Shell {
  World *w = nullptr;
  Vec<Variable> vars;
  Vec<Function> funcs;
  Vec<Str> args; // $1 …
  Str cwd{};
  Str in{};      // what read gets
  bool piped = false;
  bool container = false; // inside a container: paths are not ours
  Vec<Mount> mounts;      // but for these
  bool background = false;
  int depth = 0;

  Shell fork() const;

  // run interprets a node and returns its standard output as far as known. in is its standard input.
  Str run(Node *n, Str input, bool hasInput);
  Str runText(Str source, Str input, bool hasInput);
  Str runList(Node *n, Str input, bool hasInput);
  Str runSimple(Node *n, Str input, bool hasInput);
  Str runCommand(Command &c);     // functions, wrappers, rules, known output
  Str output(Command &c);         // what well-known harmless commands print
  bool builtin(Command &c, Str *out);
  bool wrapper(Command &c, Str *out);
  void redirects(Node *n, Str *input, bool *hasInput, bool *toFile, Str *outPath);

  // Variables and words.
  Vec<Str> *lookup(Str name);
  void set(Str name, Str value);
  Str value(Str name);
  Str variable(const Part &p, Vec<Str> *all);
  void expand(const Word *word, Vec<Str> *fields);
  Str expandOne(const Word *word); // without splitting
  Str tilde(Str text);
  Str resolve(Str path) const; // absolute and clean; a leading mark stays
};

// rules.cpp
void judge(Shell &sh, Command &c);
void judgeAssignment(Shell &sh, Str assignment); // NAME=value in the environment of a command
void judgeWrite(Shell &sh, Str path, bool truncates, bool empty);
void judgeRead(Shell &sh, Str path);
void judgeCode(Shell &sh, Command &c, Str code);       // python -c, node -e …
void judgeRemoval(Shell &sh, Str path, bool recursive); // rm and what acts like it
bool isSecretPath(Shell &sh, Str path);
Str contentOf(Shell &sh, Str path); // what reading a file yields, as marks

// Where a path points.
enum class Place : uint8_t { Unknown, Root, System, Home, InHome, Above, Beside, Workspace, GitDir, Guard, Inside, Temp, Device, Null };
struct Where {
  Place place = Place::Unknown;
  bool contents = false; // dir/*: everything in it
  Str path{};            // absolute
  Str rel{};             // Inside: below the workspace
};
Where locate(Shell &sh, Str path);

// Options: does argv hold the short letter (grouped or not) or an abbreviation (3 letters at least) of the long name?
bool option(const Command &c, char shortName, const char *longName, uint32_t from = 1);
// anyArg: does an argument match one of the patterns in list?
bool anyArg(const Command &c, const char *list, uint32_t from = 1);
// operands: argv without options and without the values of the options in takesValue ("-n -o --owner").
void operands(const Command &c, Vec<Str> *out, const char *takesValue = "", uint32_t from = 1);
bool isShell(const Str &name);
bool isInterpreter(const Str &name);
inline bool hasMark(Str s, char m) { return has(s, m); }
inline bool anyMark(Str s) {
  for (size_t i = 0; i < s.n; i++)
    if (isMark(s.p[i])) return true;
  return false;
}
Str without(const Str &s, char mark);
Str baseName(Str path);

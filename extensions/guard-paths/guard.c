/*
 * guard-paths: keeps file tools to the workspace, and away from credentials, the repository's internals and weir's own files.
 * Where a path leads is the host's knowledge (facts.paths); what it is called, and what follows from both, is decided here.
 */
#include "paths.h"

WEIR_DESCRIBE(
    "{\"abi\":1,\"name\":\"guard-paths\",\"version\":\"1.0.0\","
    "\"description\":\"Keeps file tools to the workspace, and away from secrets, repository internals and weir's own files.\","
    "\"hooks\":{\"tool_call\":{\"tools\":[\"read\",\"write\",\"edit\",\"ls\",\"grep\",\"find\",\"bash\",\"apply_patch\",\"mcp__*\"],\"facts\":[\"paths\"]}},"
    "\"config\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"outside_write\":{\"enum\":[\"block\",\"ask\",\"allow\"],\"default\":\"block\",\"description\":\"Writing outside the workspace.\"},"
    "\"outside_read\":{\"enum\":[\"block\",\"ask\",\"allow\"],\"default\":\"ask\",\"description\":\"Reading and searching outside the workspace.\"},"
    "\"secrets\":{\"enum\":[\"block\",\"ask\",\"allow\"],\"default\":\"ask\",\"description\":\"Files that hold credentials, by their name.\"},"
    "\"own\":{\"enum\":[\"block\",\"ask\",\"allow\"],\"default\":\"block\",\"description\":\"Writing to weir's own files.\"},"
    "\"git\":{\"enum\":[\"block\",\"ask\",\"allow\"],\"default\":\"ask\",\"description\":\"Writing inside .git.\"},"
    "\"special\":{\"enum\":[\"block\",\"ask\",\"allow\"],\"default\":\"ask\",\"description\":\"Devices, pipes, /proc, and files with several names.\"},"
    "\"unusual\":{\"enum\":[\"block\",\"ask\",\"allow\"],\"default\":\"ask\",\"description\":\"Other agents' settings, look-alikes, variables, addresses, paths of other systems, arguments that are no text.\"},"
    "\"scratch\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^/\"},\"default\":[\"/tmp\",\"/var/tmp\",\"/private/tmp\"],"
    "\"description\":\"Folders outside that may be read and written, unless the workspace lies in them.\"},"
    "\"also\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^/\"},\"default\":[],\"description\":\"Further folders that count as the workspace.\"},"
    "\"secret_names\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},\"default\":[],\"description\":\"File names or *-patterns that count as secrets.\"},"
    "\"public_names\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},\"default\":[],\"description\":\"File names or *-patterns that do not, whatever they are called.\"}"
    "}}}");

enum { kAllow, kAsk, kBlock };
enum { kOutsideWrite, kOutsideRead, kSecrets, kOwnFiles, kGitFiles, kSpecial, kUnusual, kFamilies };
static const char *const kKeys[kFamilies] = {"outside_write", "outside_read", "secrets", "own", "git", "special", "unusual"};
static const int kDefaults[kFamilies] = {kBlock, kAsk, kAsk, kBlock, kAsk, kAsk, kAsk};

static struct {
  int act[kFamilies];
  names scratch, also, secret, open;
} settings;

static void read_names(weir_val list, names *out, const char *const *otherwise) {
  out->n = 0;
  for (weir_val e = weir_first(list); e && out->n < kMostNames; e = weir_next(list, e)) out->name[out->n++] = weir_string(e);
  if (weir_kind(list) == WEIR_NONE && otherwise)
    for (; *otherwise; otherwise++) out->name[out->n++] = weir_cstr(*otherwise);
}

WEIR_SETUP {
  static const char *const scratch[] = {"/tmp", "/var/tmp", "/private/tmp", NULL};
  weir_val c = weir_config();
  for (int i = 0; i < kFamilies; i++) {
    weir_str s = weir_get_string(c, kKeys[i]);
    settings.act[i] = weir_eq(s, "allow") ? kAllow : weir_eq(s, "ask") ? kAsk : weir_eq(s, "block") ? kBlock : kDefaults[i];
  }
  read_names(weir_get(c, "scratch"), &settings.scratch, scratch);
  read_names(weir_get(c, "also"), &settings.also, NULL);
  read_names(weir_get(c, "secret_names"), &settings.secret, NULL);
  read_names(weir_get(c, "public_names"), &settings.open, NULL);
  return 0;
}

/* The worst that was found in a call. */
typedef struct {
  int act, family;
  const char *what;
  weir_str path;
} finding;

static void found(finding *worst, int family, const char *what, weir_str path) {
  int act = settings.act[family];
  if (act <= worst->act) return;
  worst->act = act;
  worst->family = family;
  worst->what = what;
  worst->path = path;
}

static bool in_any(weir_str path, const names *folders, weir_str but) {
  for (uint32_t i = 0; i < folders->n; i++)
    if (within(path, folders->name[i]) && !(but.n && within(but, folders->name[i]))) return true;
  return false;
}

/* Stores that give one file several names as a matter of course. */
static bool linked_store(weir_str path) {
  weir_str part;
  for (size_t at = 0; next_part(path, &at, &part);)
    if (weir_eq(part, "node_modules") || weir_eq(part, ".git") || weir_eq(part, ".venv") || weir_eq(part, "target") || weir_eq(part, ".pnpm-store")) return true;
  return false;
}

/* A path that begins like one of the system's: what a look-alike would have to lead to. */
static bool system_root(weir_str path) {
  static const char *const roots[] = {"/etc", "/home", "/usr", "/var", "/root", "/proc", "/dev", "/sys", "/bin", "/sbin", "/lib", "/opt", "/boot", "/tmp", "/users", "/mnt", "/windows", "/program files", "/programdata"};
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
    if (within(path, weir_cstr(roots[i]))) return true;
  return false;
}

/* A word of a shell command: what the text does not show. What it shows is guard-shell's part. */
static void judge_word(finding *worst, weir_val p, weir_str workspace) {
  weir_str op = weir_get_string(p, "op"), abs = weir_get_string(p, "abs"), real = weir_get_string(p, "real");
  if (weir_bool(weir_get(p, "dynamic"), false) || weir_same(abs, real)) return;
  if (!weir_eq(op, "write") && !weir_eq(op, "delete")) return;
  if (weir_bool(weir_get(p, "own"), false)) found(worst, kOwnFiles, "a link leads to weir's own files", real);
  else if (within(abs, workspace) && !weir_bool(weir_get(p, "inside"), true) && !in_any(real, &settings.also, WEIR_S("")) && !in_any(real, &settings.scratch, workspace) && !linked_store(abs))
    found(worst, kOutsideWrite, "a link leads out of the workspace", real);
}

/* The part of a path below a folder that it lies in, else all of it. */
static weir_str below(weir_str path, weir_str folder) {
  if (!within(path, folder)) return path;
  path = weir_sub(path, folder.n, path.n);
  return path.n && path.p[0] == '/' ? weir_sub(path, 1, path.n) : path;
}

/* root is the workspace with links resolved. */
static void judge_path(finding *worst, weir_val p, weir_str tool, weir_str workspace, weir_str root) {
  weir_str raw = weir_get_string(p, "raw"), op = weir_get_string(p, "op"), abs = weir_get_string(p, "abs"), real = weir_get_string(p, "real"), kind = weir_get_string(p, "kind");
  bool inside = weir_bool(weir_get(p, "inside"), false), glob = weir_bool(weir_get(p, "glob"), false);
  bool write = weir_eq(op, "write") || weir_eq(op, "delete"), use = weir_eq(op, "use");
  bool by_name = weir_eq(tool, "ls") || weir_eq(tool, "find"); /* shows names only */
  if (!abs.p || !real.p) {
    found(worst, kUnusual, "it cannot be known where it leads", raw);
    return;
  }

  const char *odd = unusual(raw);
  if (odd) found(worst, kUnusual, odd, raw);
  if (weir_bool(weir_get(p, "unresolved"), false)) found(worst, kUnusual, "it cannot be followed to its end", raw);
  if (glob && (weir_contains(raw, "../") || weir_contains(raw, "/.."))) found(worst, kUnusual, "the pattern climbs", raw);

  bool allowed = inside || in_any(real, &settings.also, WEIR_S(""));
  if (!allowed && !in_any(real, &settings.scratch, workspace))
    found(worst, write ? kOutsideWrite : kOutsideRead, write ? "it writes outside the workspace" : "it reads outside the workspace", real);

  /* What it is called, where it leads to, and how it looks. The workspace's own folders say nothing. */
  weir_str named = below(abs, workspace);
  int is = classify(named, &settings.secret, &settings.open) | classify(below(real, root), &settings.secret, &settings.open);
  if (glob && !by_name) {
    weir_buf b = {0, 0, 0, false};
    weir_str name = last_part(raw);
    for (size_t i = 0; i < name.n; i++)
      if (name.p[i] != '*') weir_add_char(&b, name.p[i]);
    is |= classify(weir_text(&b), &settings.secret, &settings.open) & kSecret;
  }
  if ((is & kSecret) && !by_name) found(worst, kSecrets, write ? "it writes a file that holds credentials" : "it reads a file that holds credentials", named);
  if (write || use) {
    if (weir_bool(weir_get(p, "own"), false) || (is & kOwn)) found(worst, kOwnFiles, "it writes to what guards the agent", named);
    if (is & kAgent) found(worst, kUnusual, "it writes to what an agent may be guided by", named);
    if (weir_eq(kind, "dir") && write) found(worst, kUnusual, "it writes to a folder", named);
    if (is & kGit) found(worst, kGitFiles, "it writes to the repository's internals", named);
  }
  if (!odd && !glob) {
    weir_str looks = fold(raw);
    int as = classify(looks, &settings.secret, &settings.open);
    if ((as & ~is & kSecret) && !by_name) found(worst, kUnusual, "it looks like a file that holds credentials", raw);
    if ((as & ~is & (kGit | kOwn | kAgent)) && (write || use)) found(worst, kUnusual, "it looks like a protected file", raw);
    if (inside && !within(fold(workspace), fold(raw)) && ((raw.p[0] != '/' && climbs_out(looks) && !climbs_out(raw)) || (looks.n && looks.p[0] == '/' && raw.p[0] != '/' && system_root(looks))))
      found(worst, kUnusual, "it looks like a path out of the workspace", raw);
  }

  if (within(abs, WEIR_S("/proc")) || within(abs, WEIR_S("/dev")) || within(abs, WEIR_S("/sys"))) found(worst, kSpecial, "it goes through the system's own files", abs);
  else if (weir_eq(kind, "fifo") || weir_eq(kind, "device") || weir_eq(kind, "socket")) found(worst, kSpecial, "it is no ordinary file", abs);
  else if (weir_get(p, "links") && !by_name && !linked_store(abs)) found(worst, kSpecial, "the file has another name elsewhere", abs);
}

/* A file tool whose path is no text, or comes under another name. */
static void judge_shape(finding *worst, weir_val input, weir_str tool) {
  static const char *const others[] = {"file_path", "filePath", "file", "filename", "paths", "files", "target", "dir", "directory"};
  if (weir_eq(tool, "bash") || weir_eq(tool, "apply_patch") || weir_starts(tool, "mcp__")) return;
  int kind = weir_kind(weir_get(input, "path"));
  if (kind != WEIR_NONE && kind != WEIR_STRING && kind != WEIR_NULL) found(worst, kUnusual, "the path is not a text", weir_raw(weir_get(input, "path")));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (weir_get(input, others[i])) found(worst, kUnusual, "it names a file in an argument that the tool does not have", weir_raw(weir_get(input, others[i])));
}

WEIR_ON(tool_call) {
  weir_val facts = weir_get(weir_get(ev, "facts"), "paths"), list = weir_get(facts, "paths");
  weir_str tool = weir_get_string(ev, "toolName"), workspace = weir_get_string(weir_get(ev, "context"), "cwd");
  if (weir_kind(list) != WEIR_ARRAY) return weir_fail("the host gave no facts about paths");
  finding worst = {kAllow, 0, NULL, {0, 0}};
  for (weir_val p = weir_first(list); p; p = weir_next(list, p)) {
    if (weir_eq(weir_get_string(p, "arg"), "command")) judge_word(&worst, p, workspace);
    else judge_path(&worst, p, tool, workspace, weir_get_string(facts, "workspace"));
  }
  if (weir_bool(weir_get(facts, "truncated"), false)) found(&worst, kUnusual, "it names more paths than are looked up", tool);
  judge_shape(&worst, weir_get(ev, "input"), tool);
  if (worst.act == kAllow) return weir_allow();

  weir_buf why = {0, 0, 0, false}, title = {0, 0, 0, false};
  weir_add_c(&why, "guard-paths: ");
  weir_add_c(&why, worst.what);
  weir_add_c(&why, ": ");
  weir_add(&why, weir_sub(worst.path, 0, 200));
  weir_add_c(&why, " (");
  weir_add_c(&why, kKeys[worst.family]);
  weir_add_c(&why, ")");
  if (worst.act == kBlock) return weir_block_str(weir_text(&why));
  weir_add_c(&title, "Let ");
  weir_add(&title, tool);
  weir_add_c(&title, " do this?");
  return weir_ask_str(weir_text(&title), weir_text(&why));
}

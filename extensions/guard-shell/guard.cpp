// guard-shell: the hook. Reads the event and the settings, interprets the command, turns findings into one decision.
#include "interp.hpp"

namespace {

enum class Action : uint8_t { Allow, Ask, Block };
struct FamilyInfo {
  const char *key, *title;
  Action sure; // what a sure finding leads to by default; a doubtful one at most to a question
};
// In the order of enum Family. Definite destruction is blocked; what is privileged, outward or a matter of taste is asked about.
const FamilyInfo kFamilies[] = {
    {"destructive", "deletes what cannot be brought back", Action::Block},
    {"disk", "writes to disks or file systems", Action::Block},
    {"git", "discards work or rewrites history", Action::Ask},
    {"privilege", "uses another user's rights", Action::Ask},
    {"remote_code", "runs code from elsewhere", Action::Block},
    {"exfiltration", "sends secrets or files away", Action::Block},
    {"secrets", "reads secrets", Action::Ask},
    {"permissions", "changes permissions broadly", Action::Ask},
    {"persistence", "changes what starts by itself", Action::Ask},
    {"system", "changes the machine", Action::Ask},
    {"resource", "exhausts the machine", Action::Block},
    {"containers", "destroys or opens up containers", Action::Ask},
    {"cloud", "destroys remote resources", Action::Ask},
    {"database", "destroys data in a database", Action::Ask},
    {"overwrite", "empties or overwrites files", Action::Ask},
    {"guard", "touches the guard itself", Action::Block},
    {"outward", "publishes or changes things for others", Action::Ask},
    {"dynamic", "runs what is not known before it runs", Action::Ask},
    {"unparsable", "is not understood", Action::Ask},
};
constexpr uint32_t kFamilyCount = sizeof kFamilies / sizeof *kFamilies;
static_assert(kFamilyCount == static_cast<uint32_t>(Family::Count), "one line a family");
constexpr size_t kMaxCommand = 256 * 1024; // longer commands are not understood; ARG_MAX is of this order

struct Settings {
  Action act[kFamilyCount];
  Str home{};
  Vec<Str> disposable;
};
Settings *settings;

Action actionOf(Str s, Action otherwise) {
  return eq(s, "allow") ? Action::Allow : eq(s, "ask") ? Action::Ask : eq(s, "block") ? Action::Block : otherwise;
}

// The home folder: as set, else what the workspace's path suggests.
Str homeOf(Str cwd) {
  if (settings->home.n) return settings->home;
  const char *const roots[] = {"/home/", "/Users/"};
  for (const char *r : roots)
    if (starts(cwd, r)) {
      size_t e = S(r).n;
      while (e < cwd.n && cwd.p[e] != '/') e++;
      if (e > S(r).n && e < cwd.n) return ::sub(cwd, 0, e);
    }
  return starts(cwd, "/root/") ? WEIR_S("/root") : WEIR_S("/home/user");
}

} // namespace

WEIR_SETUP {
  settings = make<Settings>();
  weir_val cfg = weir_config();
  for (uint32_t i = 0; i < kFamilyCount; i++) settings->act[i] = actionOf(weir_get_string(cfg, kFamilies[i].key), kFamilies[i].sure);
  settings->home = weir_get_string(cfg, "home");
  weir_val list = weir_get(cfg, "disposable");
  for (weir_val e = weir_first(list); e; e = weir_next(list, e)) settings->disposable.push(weir_string(e));
  return 0;
}

WEIR_ON(tool_call) {
  if (!weir_eq(weir_get_string(ev, "toolName"), "bash")) return weir_allow();
  weir_val commandValue = weir_get(weir_get(ev, "input"), "command");
  if (weir_kind(commandValue) != WEIR_STRING) return weir_fail("the bash call has no command text");
  Str command = weir_string(commandValue);
  Str cwd = weir_get_string(weir_get(ev, "context"), "cwd");
  World w;
  w.workspace = cwd.n && cwd.p[0] == '/' ? cwd : WEIR_S("/workspace");
  while (w.workspace.n > 1 && w.workspace.p[w.workspace.n - 1] == '/') w.workspace.n--;
  w.home = homeOf(w.workspace);
  w.user = baseName(w.home);
  w.keep = settings->disposable;
  if (command.n > kMaxCommand) w.find(Family::Unparsable, Level::Sure, "the command is longer than 256 KiB");
  else if (has(command, 0)) w.find(Family::Unparsable, Level::Sure, "the command holds a NUL byte");
  else {
    Shell sh;
    sh.w = &w;
    sh.cwd = w.workspace;
    sh.runText(command, WEIR_S(""), false);
    if (w.tired) w.find(Family::Unparsable, Level::Sure, "the command nests or repeats too much");
  }
  Action worst = Action::Allow;
  Finding *first = nullptr;
  for (Finding &f : w.findings) {
    Action a = settings->act[static_cast<uint32_t>(f.family)];
    if (f.level == Level::Doubt && a == Action::Block) a = Action::Ask;
    if (a > worst || (first && a == worst && f.level > first->level)) {
      worst = a;
      first = &f;
    }
  }
  if (!first) return weir_allow();
  const FamilyInfo &info = kFamilies[static_cast<uint32_t>(first->family)];
  Text t;
  t.add("guard-shell: ").add(first->what).add(" (").add(info.key).add(": ").add(info.title).add(")");
  if (worst == Action::Block) return weir_block_str(t.str());
  Text title;
  title.add("Run this command? It ").add(info.title).add(".");
  return weir_ask_str(title.str(), t.str());
}

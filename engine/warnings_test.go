package engine_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine"
	"weir/engine/set"
)

// says is a module that describes itself so and exports what it names.
func says(describe string, names ...string) assembly {
	a := assembly{describe: `{"abi":1,"name":"x","version":"1.0.0",` + describe + `}`, exports: map[string]code{}}
	for _, n := range names {
		a.exports[n] = answer(`{}`)
	}
	return a
}

func TestWarnings(t *testing.T) {
	const look = `"tools":[{"name":"look","description":"d","parameters":{"type":"object"}}]`
	modules := map[string]assembly{
		"all.wasm":       says(`"hooks":{"tool_call":{}}`, "tool_call"),
		"typo.wasm":      says(`"hooks":{"tool_call":{"tools":["bsh","read"]}}`, "tool_call"),
		"dead.wasm":      says(`"hooks":{"tool_call":{"tools":["Bash"]},"tool_result":{"tools":["nosuch"]}}`, "tool_call", "tool_result"),
		"doubt.wasm":     says(`"hooks":{"tool_call":{"tools":["b*","mcp__x__y","apply_patch"]}}`, "tool_call"),
		"none.wasm":      says(`"hooks":{}`),
		"wantslook.wasm": says(`"hooks":{"tool_call":{"tools":["look"]}}`, "tool_call"),
		"look.wasm":      says(`"hooks":{},`+look, "tool_execute"),
		"bash.wasm":      says(`"hooks":{},"tools":[{"name":"bash","description":"d","parameters":{"type":"object"}}]`, "tool_execute"),
		"command.wasm":   says(`"hooks":{},"commands":[{"name":"c","description":"d"}]`, "command_execute"),
		"command2.wasm":  says(`"hooks":{},"commands":[{"name":"c","description":"e"}]`, "command_execute"),
		"result.wasm":    says(`"hooks":{"tool_result":{"onError":"block"}}`, "tool_result"),
		"observes.wasm":  says(`"hooks":{"session_start":{}}`, "session_start"),
		"kv.wasm":        {exports: map[string]code{"tool_call": answer(`{}`).kv(`{}`)}},
	}
	entry := func(name, more string) string { return lines(name) + more + "\n" }
	for name, c := range map[string]struct {
		user, managed string
		want          []string
	}{
		"nothing": {user: entry("all", `mode = "enforce"`) + entry("doubt", "") + entry("kv", "[extension.grant]\nkv = true")},
		"a typo in a matcher": {user: entry("typo", ""), want: []string{
			`4:1: extension "typo": its hook tool_call is for the tool "bsh", and there is no such tool (did you mean "bash"?)`,
		}},
		"nobody to hear": {user: entry("dead", "") + entry("none", ""), want: []string{
			`4:1: extension "dead": its hook tool_call is for the tool "Bash", and there is no such tool (did you mean "bash"?)`,
			`4:1: extension "dead": its hook tool_result is for the tool "nosuch", and there is no such tool (there are bash, read; correct it in weir_describe, unless it is a tool of another agent)`,
			`4:1: extension "dead": it can never be asked anything: it has no hook that an event could reach, no tool and no command (remove it, or correct what the module says in weir_describe)`,
			`8:1: extension "none": it can never be asked anything: it has no hook that an event could reach, no tool and no command (remove it, or correct what the module says in weir_describe)`,
		}},
		"another extension's tool": {user: entry("wantslook", "") + entry("look", "")},
		"a tool that is missing with monitoring": {user: entry("wantslook", "") + entry("look", `mode = "monitor"`), want: []string{
			`4:1: extension "wantslook": its hook tool_call is for the tool "look", and there is no such tool (there are bash, read; correct it in weir_describe, unless it is a tool of another agent)`,
			`4:1: extension "wantslook": it can never be asked anything: it has no hook that an event could reach, no tool and no command (remove it, or correct what the module says in weir_describe)`,
			`9:1: extension "look": what it brings is left out with mode = "monitor": look (write mode = "enforce" to have them)`,
		}},
		"shadowed names": {user: entry("bash", "") + entry("command", "") + entry("command2", ""), want: []string{
			`4:1: extension "bash": it brings a tool "bash", which takes the place of the built-in one (give it another name)`,
			`12:1: extension "command2": it brings the command /c, which "command" at weir.toml:6:1 (user layer) brings too: they are called /c:1 and /c:2 (give it another name)`,
		}},
		"one module in two layers": {managed: entry("all", "") + "", user: "[[extension]]\nname = \"again\"\nmodule = \"all.wasm\"\n", want: []string{
			`4:1: extension "all": the module of a managed extension is not pinned: whoever can write its file decides what is enforced (pin it: sha256 = "DIGEST")`,
			`4:1: extension "again": it is the same module with the same settings as "all" at weir.toml:2:1 (managed layer) (remove one of them, or give it other settings)`,
		}},
		"one module with other limits to its say": {user: entry("all", "") + "[[extension]]\nname = \"again\"\nmodule = \"all.wasm\"\nmode = \"monitor\"\n"},
		"grants": {user: entry("all", "[extension.grant]\nkv = true\nui = true\nclock = true\nrandom = true\nread = [\".\"]\nhttp = [\"GET https://api.example.com\"]\nsession = [\"read\"]"), want: []string{
			`6:1: extension "all": it is granted kv, which the module does not use (remove the line)`,
			`7:1: extension "all": it is granted ui, which the module does not use (remove the line)`,
			`8:1: extension "all": it is granted clock, which the module does not use (remove the line)`,
			`9:1: extension "all": it is granted random, which the module does not use (remove the line)`,
			`11:1: extension "all": it is granted http, which the module does not use (remove the line)`,
			`10:1: extension "all": it is granted read, which the module does not use (remove the line)`,
			`12:1: extension "all": it is granted session, which the module does not use (remove the line)`,
		}},
		"on_error": {user: entry("all", `on_error = "block"`) + entry("observes", `on_error = "block"`) + entry("result", `on_error = "isolate"`), want: []string{
			`5:1: extension "all": on_error = "block" has no effect: a fault of its hooks (tool_call) blocks anyway, or has nothing to block (remove it)`,
			`9:1: extension "observes": on_error = "block" has no effect: a fault of its hooks (session_start) blocks anyway, or has nothing to block (remove it)`,
			`13:1: extension "result": on_error = "isolate" has no effect for tool_result: the module itself demands that a fault blocks (remove it)`,
		}},
		"on_error that counts": {user: entry("result", `on_error = "block"`)},
		"on_error of one that monitors": {user: entry("result", "mode = \"monitor\"\non_error = \"block\""), want: []string{
			`6:1: extension "result": on_error has no effect with mode = "monitor": a fault changes nothing (remove it, or write mode = "enforce")`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := openShop(t, engine.Config{}, "", modules)
			composed, err := set.Compose([]set.LayerSet{{Layer: set.LayerManaged, Set: s.set(c.managed)}, {Layer: set.LayerUser, Set: s.set(c.user)}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Reload(t.Context(), engine.Reload{Set: composed}); err != nil {
				t.Fatal(err)
			}
			var got []string
			path := regexp.MustCompile(regexp.QuoteMeta(s.dir + "/"))
			for _, w := range s.Warnings([]string{"bash", "read"}) {
				text := path.ReplaceAllString(fmt.Sprint(w), "")
				text = regexp.MustCompile(`[0-9a-f]{64}`).ReplaceAllString(text, "DIGEST")
				got = append(got, regexp.MustCompile(`^weir\.toml:`).ReplaceAllString(text, ""))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

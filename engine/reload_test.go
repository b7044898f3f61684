package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// shop is a folder with a set and modules, and an engine that runs it.
type shop struct {
	*engine.Engine
	t   *testing.T
	dir string
	log bytes.Buffer
}

// openShop writes modules and a set, and opens the set.
func openShop(t *testing.T, cfg engine.Config, text string, modules map[string]assembly) *shop {
	t.Helper()
	s := &shop{t: t, dir: t.TempDir()}
	for name, a := range modules {
		s.module(name, a.wasm())
	}
	var err error
	if cfg.Host, err = wasmhost.New(t.Context(), wasmhost.Config{}); err != nil {
		t.Fatal(err)
	}
	cfg.Set, cfg.Reloads = s.set(text), true
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(&s.log, nil))
	}
	if s.Engine, err = engine.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(context.Background()), cfg.Host.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *shop) module(name string, wasm []byte) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), wasm, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// set parses a set that lies in the folder.
func (s *shop) set(text string) *set.Set {
	s.t.Helper()
	parsed, err := set.Parse(filepath.Join(s.dir, "weir.toml"), []byte("version = 1\n"+text))
	if err != nil {
		s.t.Fatal(err)
	}
	return parsed
}

func (s *shop) reload(text string) (engine.Reloaded, error) {
	s.t.Helper()
	return s.Reload(s.t.Context(), engine.Reload{Set: s.set(text)})
}

func (s *shop) mustReload(text string, want engine.Reloaded) {
	s.t.Helper()
	got, err := s.reload(text)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("reloaded (-want +got):\n%s", diff)
	}
}

// blocked is why a call is blocked now; "" when it is not.
func (s *shop) blocked() string {
	return s.ToolCall(s.t.Context(), call(`{}`), nil).Reason
}

// lines are those of a set with these extensions, whose modules are called like them.
func lines(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "[[extension]]\nname = %q\nmodule = \"%s.wasm\"\n", n, n)
	}
	return b.String()
}

// blocker blocks each call with a reason of its own.
func blocker(reason string) assembly {
	return assembly{exports: map[string]code{"tool_call": answer(fmt.Sprintf(`{"block":true,"reason":%q}`, reason))}}
}

// allower lets all pass. Each has bytes of its own.
func allower(version string) assembly {
	return assembly{
		describe: fmt.Sprintf(`{"abi":1,"name":"x","version":%q,"hooks":{"tool_call":{}}}`, version),
		exports:  map[string]code{"tool_call": answer(`{}`)},
	}
}

// A changed module is used from the next call on, one that did not change keeps what it has in memory, and what is added, removed or
// takes another place is so at once.
func TestReload(t *testing.T) {
	remembers := assembly{exports: map[string]code{"tool_call": first(`{"block":true,"reason":"first"}`, `{"block":true,"reason":"later"}`)}}
	s := openShop(t, engine.Config{}, lines("a", "b"), map[string]assembly{"a.wasm": allower("1.0.0"), "b.wasm": remembers, "c.wasm": blocker("c")})
	if got := s.blocked(); got != "first" {
		t.Fatal(got)
	}
	s.module("a.wasm", allower("2.0.0").wasm())
	s.mustReload(lines("a", "b"), engine.Reloaded{Changed: []string{"a"}})
	if got := s.blocked(); got != "later" {
		t.Errorf("b, which did not change, says %q", got)
	}
	s.module("a.wasm", blocker("a").wasm())
	s.mustReload(lines("a", "b"), engine.Reloaded{Changed: []string{"a"}})
	if got := s.blocked(); got != "a" {
		t.Errorf("the new a was not asked: %q", got)
	}
	s.mustReload(lines("b", "a"), engine.Reloaded{Changed: []string{"b", "a"}})
	if got := s.blocked(); got != "later" {
		t.Errorf("b, now first, says %q", got)
	}
	s.mustReload(lines("b", "a")+`mode = "monitor"`, engine.Reloaded{Changed: []string{"a"}})
	s.mustReload(lines("c")+lines("b"), engine.Reloaded{Added: []string{"c"}, Removed: []string{"a"}})
	if got := s.blocked(); got != "c" {
		t.Errorf("the added c was not asked: %q", got)
	}
	s.mustReload(lines("c", "b"), engine.Reloaded{})
	// Other settings make another guest.
	s.mustReload(lines("b")+"timeout = \"1s\"\n", engine.Reloaded{Changed: []string{"b"}, Removed: []string{"c"}})
	if got := s.blocked(); got != "first" {
		t.Errorf("b with another limit says %q", got)
	}
	s.mustReload("", engine.Reloaded{Removed: []string{"b"}})
	if got := s.blocked(); got != "" {
		t.Errorf("without extensions: %q", got)
	}
	if got, err := s.Reload(t.Context(), engine.Reload{}); err != nil || got.Any() {
		t.Errorf("no set at all: %v, %v", got, err)
	}
}

// A gate that comes with a reload is asked by an agent that was made before, when there was nothing to ask.
func TestReloadAddsHooks(t *testing.T) {
	s := openShop(t, engine.Config{}, "", map[string]assembly{"a.wasm": blocker("a")})
	hooks := s.Hooks()
	s.mustReload(lines("a"), engine.Reloaded{Added: []string{"a"}})
	got, err := hooks.BeforeToolCall(t.Context(), &agentcore.ToolCallContext{ToolCall: &agentcore.ToolCall{ID: "1", Name: "bash"}, Args: json.RawMessage(`{}`)})
	if err != nil || got == nil || !got.Block || got.Reason != "a" {
		t.Errorf("%+v, %v", got, err)
	}
	if hooks.AfterToolCall == nil || hooks.ToolUpdate == nil || hooks.TransformContext == nil || hooks.MessageEnd == nil {
		t.Error("a hook is missing")
	}
}

// What does not load is refused, with its file and the reason, and what ran before runs on with its state.
func TestReloadRefuses(t *testing.T) {
	remembers := assembly{exports: map[string]code{"tool_call": first(`{"block":true,"reason":"first"}`, `{"block":true,"reason":"later"}`)}}
	s := openShop(t, engine.Config{}, lines("a"), map[string]assembly{
		"a.wasm":        remembers,
		"kv.wasm":       {exports: map[string]code{"tool_call": answer(`{}`).kv(`{}`)}},
		"describe.wasm": {describe: `{"abi":1,"name":"x"`, exports: map[string]code{"tool_call": answer(`{}`)}},
	})
	if got := s.blocked(); got != "first" {
		t.Fatal(got)
	}
	s.module("broken.wasm", []byte("\x00asm\x01\x00\x00\x00\x01\xff"))
	for name, c := range map[string]struct{ text, file, want string }{
		"cut off":           {lines("a", "broken"), "broken.wasm", "module"},
		"no grant":          {lines("a", "kv"), "kv.wasm", `the capability "kv", which is not granted`},
		"bad describe":      {lines("a", "describe"), "describe.wasm", "weir_describe"},
		"missing":           {lines("a", "gone"), "gone.wasm", "no such file"},
		"settings":          {lines("a") + "[extension.config]\nx = 1\n", "weir.toml:5", "has no settings"},
		"pin":               {lines("a") + fmt.Sprintf("sha256 = %q\n", strings.Repeat("0", 64)), "weir.toml:5", "not the pinned one"},
		"isolates a gate":   {lines("a") + `on_error = "isolate"`, "weir.toml:5", "a gate cannot be isolated"},
		"switches off":      {"recheck = false\n" + lines("a"), "weir.toml:2", "cannot switch off recheck"},
		"switches off both": {"pairs = false\n" + lines("a"), "weir.toml:2", "cannot switch off pairs"},
	} {
		t.Run(name, func(t *testing.T) {
			s.log.Reset()
			_, err := s.reload(c.text)
			if err == nil || !strings.Contains(err.Error(), c.file) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v does not say %q and %q", err, c.file, c.want)
			}
			if log := s.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, c.file) {
				t.Errorf("logged %q", log)
			}
			if got := s.blocked(); got != "later" {
				t.Errorf("what was loaded says %q", got)
			}
		})
	}
	// Nor what fails its own tests, which are told what they are to test.
	s.module("b.wasm", blocker("b").wasm())
	var tested []string
	_, err := s.Reload(t.Context(), engine.Reload{Set: s.set(lines("a", "b")), Test: func(_ context.Context, x *set.Extension) error {
		tested = append(tested, x.Name)
		return errors.New("policy_test.toml:3:1: failed")
	}})
	if err == nil || !strings.Contains(err.Error(), "b.wasm: policy_test.toml:3:1: failed") || !cmp.Equal(tested, []string{"b"}) {
		t.Errorf("%v after testing %q", err, tested)
	}
	if got := s.blocked(); got != "later" {
		t.Errorf("after a failed test: %q", got)
	}
}

// What a higher layer has a say in stays as it is.
func TestReloadKeepsManaged(t *testing.T) {
	s := openShop(t, engine.Config{}, "", map[string]assembly{"a.wasm": blocker("a"), "b.wasm": allower("1.0.0")})
	compose := func(managed, user string) *set.Set {
		t.Helper()
		all, err := set.Compose([]set.LayerSet{{Layer: set.LayerManaged, Set: s.set(managed)}, {Layer: set.LayerUser, Set: s.set(user)}})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if _, err := s.Reload(t.Context(), engine.Reload{Set: compose(lines("a"), lines("b"))}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		set  *set.Set
		want string
	}{
		"gone":       {compose("", lines("b")), `the managed extension "a" is gone`},
		"demoted":    {compose("", lines("a", "b")), `the managed extension "a" is gone`},
		"monitors":   {compose(lines("a")+`mode = "monitor"`, ""), `weir.toml:2:1: the managed extension "a" is not what it was`},
		"other file": {compose("[[extension]]\nname = \"a\"\nmodule = \"b.wasm\"\n", ""), `is not what it was`},
		"limits":     {compose("[defaults]\ntimeout = \"1ms\"\n"+lines("a"), ""), `is not what it was`},
		"no set":     {nil, `the managed extension "a" is gone`},
	} {
		_, err := s.Reload(t.Context(), engine.Reload{Set: c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", name, err, c.want)
		}
		if got := s.blocked(); got != "a" {
			t.Errorf("%s: the managed gate says %q", name, got)
		}
	}
	// The user's own may go, and the module of a managed one that is not pinned may be a new one.
	s.module("a.wasm", blocker("new").wasm())
	if _, err := s.Reload(t.Context(), engine.Reload{Set: compose(lines("a"), "")}); err != nil || s.blocked() != "new" {
		t.Errorf("%v; %q", err, s.blocked())
	}
}

// A chain that is under way ends on the guests that it began with, rechecks included; then they are closed.
func TestReloadDuringChain(t *testing.T) {
	var s *shop
	native := rewriter("native", `{}`, `{"x":1}`)
	inner := native.do
	native.do = func(ev *engine.Event) (any, error) {
		if len(native.seen) == 1 {
			s.module("a.wasm", blocker("new").wasm())
			if _, err := s.reload(lines("a")); err != nil {
				t.Error(err)
			}
			if got := s.ToolCall(context.Background(), call(`{"other":1}`), nil).Reason; got != "new" {
				t.Errorf("a call that begins after the reload got %q", got)
			}
		}
		return inner(ev)
	}
	var told []string
	s = openShop(t, engine.Config{Native: []engine.Extension{native}, Record: func(rec engine.Record) {
		told = append(told, fmt.Sprintf("%s %d %s", rec.Extension, rec.Round, rec.Outcome))
	}}, lines("a"), map[string]assembly{"a.wasm": allower("1.0.0")})
	if d := s.ToolCall(t.Context(), call(`{}`), nil); d.Block || string(d.Input) != `{"x":1}` {
		t.Errorf("the chain that was under way: %+v", d)
	}
	want := []string{"a 0 allow", "a 0 block", "native 0 rewrite", "a 1 allow"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if got := s.blocked(); got != "new" {
		t.Error(got)
	}
}

// The old guest hears of the end before the new one hears of the start, each once, and those that stay hear nothing.
func TestReloadTellsGuests(t *testing.T) {
	speaks := func(version string) assembly {
		return assembly{
			describe: fmt.Sprintf(`{"abi":1,"name":"x","version":%q,"hooks":{"session_start":{},"session_shutdown":{}}}`, version),
			exports:  map[string]code{"session_start": answer(`{}`), "session_shutdown": answer(`{}`)},
		}
	}
	var told []string
	s := openShop(t, engine.Config{Trace: func(rec engine.Record, ev *engine.Event, _ any) {
		told = append(told, fmt.Sprintf("%s %s %s", rec.Extension, ev.Kind, ev.Payload))
	}}, lines("a", "b"), map[string]assembly{"a.wasm": speaks("1.0.0"), "b.wasm": speaks("3.0.0")})
	s.module("a.wasm", speaks("2.0.0").wasm())
	s.mustReload(lines("a", "b"), engine.Reloaded{Changed: []string{"a"}})
	want := []string{`a session_shutdown {"reason":"reload"}`, `a session_start {"reason":"reload"}`}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a guest kept with kv is there for the next one of its name.
func TestReloadKeepsValues(t *testing.T) {
	uses := func(request string) assembly {
		return assembly{exports: map[string]code{"tool_call": answer(`{}`).kv(request)}}
	}
	text := lines("a") + "[extension.grant]\nkv = true\n"
	s := openShop(t, engine.Config{}, text, map[string]assembly{"a.wasm": uses(`{"op":"set","key":"k","value":"kept"}`)})
	if got := s.blocked(); got != "" {
		t.Fatal(got)
	}
	s.module("a.wasm", uses(`{"op":"get","key":"k"}`).wasm())
	s.mustReload(text, engine.Reloaded{Changed: []string{"a"}})
	if got := s.blocked(); got != "" || !strings.Contains(s.log.String(), "kept") {
		t.Errorf("%q; the new guest read %s", got, s.log.String())
	}
}

// Tools of before call what their extension is now.
func TestReloadTools(t *testing.T) {
	tool := func(description, result string) assembly {
		return assembly{
			describe: fmt.Sprintf(`{"abi":1,"name":"x","version":"1.0.0","hooks":{},"tools":[{"name":"look","description":%q,"parameters":{"type":"object"}}],"commands":[{"name":"c","description":"d"}]}`, description),
			exports: map[string]code{
				"tool_execute":    answer(fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, result)),
				"command_execute": answer(fmt.Sprintf(`{"message":%q}`, result)),
			},
		}
	}
	s := openShop(t, engine.Config{}, lines("a"), map[string]assembly{"a.wasm": tool("looks", "one"), "b.wasm": allower("1.0.0")})
	look, command := s.Tools()[0], s.Commands()[0]
	run := func() string {
		result, err := look.Execute(t.Context(), "1", json.RawMessage(`{}`), func(*agentcore.ToolResult) {})
		message, err2 := command.Run(t.Context(), "")
		if err != nil || err2 != nil {
			return fmt.Sprint(err, "; ", err2)
		}
		return result.Content[0].(*agentcore.TextBlock).Text + " " + message
	}
	if got := run(); got != "one one" {
		t.Fatal(got)
	}
	s.module("a.wasm", tool("looks", "two").wasm())
	s.mustReload(lines("a"), engine.Reloaded{Changed: []string{"a"}})
	if got := run(); got != "two two" {
		t.Error(got)
	}
	s.module("a.wasm", tool("looks again", "two").wasm())
	s.mustReload(lines("a"), engine.Reloaded{Changed: []string{"a"}, Tools: true})
	s.mustReload(lines("a")+`mode = "monitor"`, engine.Reloaded{
		Changed: []string{"a"}, Tools: true, Commands: true,
		ToolsGone: map[string]string{"look": "the extension a, which brought the tool look, was reloaded and brings it no longer"},
	})
	s.mustReload(lines("b"), engine.Reloaded{Added: []string{"b"}, Removed: []string{"a"}})
	if got := run(); !strings.Contains(got, "the tool look, was reloaded and brings it no longer") || !strings.Contains(got, "the command /c, was") {
		t.Error(got)
	}
}

// What the session could not take is refused before anything changes; a call that was made for other arguments does not reach the
// tool.
func TestReloadToolsRefused(t *testing.T) {
	tool := func(name, parameters string) []byte {
		return assembly{
			describe: fmt.Sprintf(`{"abi":1,"name":"x","version":"1.0.0","hooks":{},"tools":[{"name":%q,"description":"d","parameters":%s}]}`, name, parameters),
			exports:  map[string]code{"tool_execute": answer(`{"content":[{"type":"text","text":"done"}]}`)},
		}.wasm()
	}
	s := openShop(t, engine.Config{ToolNames: []string{"read"}}, "", nil)
	s.module("a.wasm", tool("look", `{"type":"object"}`))
	s.mustReload(lines("a"), engine.Reloaded{Added: []string{"a"}, Tools: true})
	look := s.Tools()[0]
	for _, refused := range []struct{ name, parameters, want string }{
		{"read", `{"type":"object"}`, `weir.toml:4:1: extension "a" brings the tool "read", which the program has itself (calls of it could not be told apart; leave this extension out)`},
		{"see", `{"type":7}`, "the tool see: parameters: "},
	} {
		s.module("a.wasm", tool(refused.name, refused.parameters))
		if _, err := s.reload(lines("a")); err == nil || !strings.Contains(err.Error(), refused.want) {
			t.Errorf("%s: %v, want %q", refused.name, err, refused.want)
		}
	}
	if _, err := look.Execute(t.Context(), "1", json.RawMessage(`{}`), nil); err != nil {
		t.Error(err)
	}
	s.module("a.wasm", tool("look", `{"type":"object","required":["at"]}`))
	s.mustReload(lines("a"), engine.Reloaded{Changed: []string{"a"}, Tools: true})
	if _, err := look.Execute(t.Context(), "1", json.RawMessage(`{}`), nil); err == nil || !strings.Contains(err.Error(), "its tool look takes other arguments now") {
		t.Errorf("a call for other arguments: %v", err)
	}
}

// Calls that come while modules are swapped get the answer of one or the other, and never a fault. At the end nothing of the old
// ones is left.
func TestReloadUnderLoad(t *testing.T) {
	const rounds = 60
	s := openShop(t, engine.Config{Logger: slog.New(slog.DiscardHandler)}, lines("a", "b"), map[string]assembly{"a.wasm": allower("1.0.0"), "b.wasm": blocker("b")})
	swap := func(i int) {
		s.module("a.wasm", allower(fmt.Sprintf("1.0.%d", i)).wasm())
		if _, err := s.reload(lines("a", "b")); err != nil {
			t.Error(err)
		}
	}
	for i := range 20 {
		swap(i)
	}
	before := addressSpace(t)
	goroutines := runtime.NumGoroutine()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if d := s.ToolCall(context.Background(), call(`{}`), nil); d.Reason != "b" || d.Fault != nil {
					t.Errorf("%+v", d)
				}
				s.Observe(context.Background(), wire.SessionStartEvent{Reason: "startup"})
			}
		})
	}
	for i := range rounds {
		swap(1000 + i)
	}
	close(stop)
	wg.Wait()
	for range 100 { // those that wg waited for may not be quite gone
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines, before %d", now, goroutines)
	}
	// An instance that is not closed keeps the address space of all the memory that it may have: 64 MiB.
	if now := addressSpace(t); now > before+rounds*(16<<20) {
		t.Errorf("%d MiB of address space, before %d", now>>20, before>>20)
	}
}

// addressSpace is what the process has mapped, in bytes; 0 where that cannot be read.
func addressSpace(t *testing.T) int {
	t.Helper()
	runtime.GC()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Log(err)
		return 0
	}
	var pages int
	if _, err := fmt.Sscan(string(b), &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

func TestReloadNeedsToBePrepared(t *testing.T) {
	e := open(t, engine.Config{})
	if _, err := e.Reload(t.Context(), engine.Reload{}); err == nil || !strings.Contains(err.Error(), "Config.Reloads") {
		t.Errorf("%v", err)
	}
	s := openShop(t, engine.Config{}, "", nil)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.reload(""); !errors.Is(err, wasmhost.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

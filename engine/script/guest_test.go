package script_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/engine"
	"weir/engine/script"
	"weir/engine/wire"
	"weir/wasmhost"
)

// call calls one export of a policy and gives its output.
func call(t testing.TB, g *wasmhost.Guest, export, input string) (string, error) {
	t.Helper()
	var out string
	_, err := g.Call(t.Context(), export, wasmhost.Input{Bytes: []byte(input)}, func(b []byte) error {
		out = string(b)
		return nil
	})
	return out, err
}

// faultOf gives an error's fault kind and text.
func faultOf(t testing.TB, err error) (wasmhost.Kind, string) {
	t.Helper()
	var f *wasmhost.Fault
	if !errors.As(err, &f) {
		t.Fatalf("%v, want a fault", err)
	}
	return f.Kind, f.Err.Error()
}

// TestResults: what a hook returns is handed out whole or is a fault; nothing but undefined becomes "no opinion".
func TestResults(t *testing.T) {
	h := host(t)
	const returned = "p.js:2:8: what tool_call returned "
	for name, c := range map[string]struct {
		body  string
		want  string // the output
		fault string // or the fault, of kind error
	}{
		"block":             {`return { block: true, reason: "no" };`, `{"block":true,"reason":"no"}`, ""},
		"empty":             {`return {};`, `{}`, ""},
		"nothing":           {``, `{}`, ""},
		"no prototype":      {`return Object.assign(Object.create(null), { block: true });`, `{"block":true}`, ""},
		"surrogate":         {`return { reason: "\ud800", block: true };`, `{"reason":"\ud800","block":true}`, ""}, // refused by the strict reader
		"null":              {`return null;`, "", returned + "is null; it must be an object"},
		"number":            {`return 0;`, "", returned + "is 0; it must be an object"},
		"true":              {`return true;`, "", returned + "is true; it must be an object"},
		"string":            {`return "block";`, "", returned + `is "block"; it must be an object`},
		"symbol":            {`return Symbol("x");`, "", returned + `is Symbol(x); it must be an object`},
		"function":          {`return () => {};`, "", returned + `is a function; it must be an object`},
		"array":             {`return [];`, "", returned + "is an array; it must be an object"},
		"promise":           {`return Promise.resolve({ block: true });`, "", returned + "is a promise; hooks are synchronous"},
		"thenable":          {`return { then() {} };`, "", returned + "is a promise; hooks are synchronous"},
		"Map":               {`return new Map([["block", true]]);`, "", returned + "is a Map; it must be a plain object"},
		"class":             {`return new (class Decision { get block() { return true; } })();`, "", returned + "is a Decision; it must be a plain object"},
		"generator":         {`return (function* () {})();`, "", returned + "is a special object; it must be a plain object"},
		"undefined key":     {`return { block: undefined };`, "", returned + "has a key block that is undefined; leave the key out"},
		"function key":      {`return { block: () => true };`, "", returned + "has a key block that is a function; leave the key out"},
		"toJSON":            {`return { block: true, toJSON() { return {}; } };`, "", returned + "has a key toJSON that is a function; leave the key out"},
		"cycle":             {`const o = { block: true }; o.o = o; return o;`, "", "TypeError: circular reference"},
		"BigInt":            {`return { block: 1n };`, "", "TypeError: Do not know how to serialize a BigInt"},
		"forgotten promise": {`Promise.resolve().then(() => {}); return {};`, "", "p.js:2:8: tool_call started a promise job, which would never run; hooks are synchronous"},
		"forgotten await":   {`(async () => { await 1; })(); return {};`, "", "p.js:2:8: tool_call started a promise job, which would never run; hooks are synchronous"},
		"throw":             {`throw new TypeError("boom");`, "", "p.js:3:13: TypeError: boom"},
		"throw string":      {`throw "boom";`, "", `the policy threw "boom"`},
		"throw null":        {`throw null;`, "", `the policy threw null`},
		"throw hostile":     {`throw { get stack() { throw 1; }, toJSON() { throw 2; }, toString() { throw 3; } };`, "", `the policy threw an error that cannot be shown`},
		"hostile error":     {`const e = new Error("x"); Object.defineProperty(e, "name", { get() { throw 1; } }); throw e;`, "", `the policy threw an error that cannot be shown`},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, write(t, "p.js", "\nexport function tool_call(event) {\n  "+c.body+"\n}\n"))
			out, err := call(t, guest(t, h, s, wasmhost.GuestConfig{Entries: []string{"tool_call"}}), "tool_call", event)
			if c.fault == "" {
				if err != nil || out != c.want {
					t.Errorf("%s, %v, want %s", out, err, c.want)
				}
				return
			}
			if err == nil {
				t.Fatalf("%s, want the fault %s", out, c.fault)
			}
			if kind, text := faultOf(t, err); kind != wasmhost.KindError || text != c.fault {
				t.Errorf("got  %v: %s\nwant error: %s", kind, text, c.fault)
			}
		})
	}
}

// TestPositions: an error says where in the author's files it happened, innermost first.
func TestPositions(t *testing.T) {
	s := load(t, write(t, "p.ts", `import { check } from "./lib/check";
interface Unused { a: string }

export function tool_call(event: { input: { command: string } }): object {
  return check(event.input.command as string);
}
`, "lib/check.ts", `type Command = string;
export const check = (c: Command): object => {
  const parts = c.split(" ").map((p) => p.length);
  return (parts as any).nothing.here;
};
`))
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_call"}})
	_, err := call(t, g, "tool_call", event)
	if _, text := faultOf(t, err); text != "lib/check.ts:4:25: TypeError: cannot read property 'here' of undefined (called from p.ts:5:3)" {
		t.Errorf("%s", text)
	}
}

// TestLoadFaults: a policy that cannot work does not load, and says where it is wrong.
func TestLoadFaults(t *testing.T) {
	h := host(t)
	for name, c := range map[string]struct{ text, want string }{
		"no hook":         {`export const a = 1;`, "the policy exports no function named like an event, such as `export function tool_call(event)`; it exports a"},
		"nothing":         {``, "the policy exports no function named like an event, such as `export function tool_call(event)`; it exports nothing"},
		"default":         {`export default { tool_call() {} };`, "the policy exports no function named like an event, such as `export function tool_call(event)`; it exports default"},
		"camel case":      {`export function toolCall() {}`, "p.js:1:8: the policy exports toolCall, which is no event; did you mean tool_call? (a helper needs another name)"},
		"a typo":          {"export function tool_call() {}\nexport function tool_reslt() {}", "p.js:2:8: the policy exports tool_reslt, which is no event; did you mean tool_result? (a helper needs another name)"},
		"onToolCall":      {`export const onToolCall = () => {};`, "p.js:1:27: the policy exports onToolCall, which is no event; did you mean tool_call? (a helper needs another name)"},
		"async":           {"\n export async function tool_call() {}", "p.js:2:2: tool_call is an async function; hooks are synchronous"},
		"async arrow":     {`export const tool_call = async () => ({ block: true });`, "p.js:1:26: tool_call is an async function; hooks are synchronous"},
		"generator":       {`export function* tool_call() {}`, "p.js:1:8: tool_call is a generator; hooks are synchronous"},
		"async generator": {`export async function* tool_call() {}`, "p.js:1:1: tool_call is an async generator; hooks are synchronous"},
		"no function":     {`export const tool_call = { block: true };`, `the export tool_call is {"block":true}; it must be a function`},
		"hook missing":    {`export const describe = { hooks: { tool_result: {} } }; export const tool_call = () => {};`, "describe.hooks names tool_result, but the policy exports no hook of that name"},
		"hook misspelt":   {`export const describe = { hooks: { toolcall: {} } }; export const tool_call = () => {};`, "describe.hooks names toolcall, but the policy exports no hook of that name; did you mean tool_call?"},
		"describe":        {`export const describe = () => ({}); export const tool_call = () => {};`, "the export describe is a function; it must be an object"},
		"describe hole":   {`export const describe = { description: undefined }; export const tool_call = () => {};`, "describe has a key description that is undefined; leave the key out"},
		"tools":           {`export const describe = { tools: [] }; export const tool_call = () => {};`, "describe.tools is there, but the policy exports no function tool_execute"},
		"tool_execute":    {`export const tool_execute = () => {};`, "the policy exports tool_execute, but describe.tools does not say for what"},
		"weir_describe":   {`export const weir_describe = () => {};`, "the policy exports weir_describe; what it says of itself goes into `export const describe = {…}`"},
		"throws":          {"const x = undefined;\nexport const y = x.z;\nexport const tool_call = () => {};", "p.js:2:18: TypeError: cannot read property 'z' of undefined"},
		"bad regex":       {"export const tool_call = (e) =>\n  /(/.test(e);", "p.js:2:3: SyntaxError: expecting ')'"},
		"promise":         {`Promise.resolve().then(() => {}); export const tool_call = () => {};`, "the policy started a promise job, which would never run; hooks are synchronous"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := module(t, h, load(t, write(t, "p.js", c.text))).Describe(t.Context(), "p")
			if err == nil {
				t.Fatal("it loaded")
			}
			if kind, text := faultOf(t, err); kind != wasmhost.KindError || text != c.want {
				t.Errorf("got  %v: %s\nwant error: %s", kind, text, c.want)
			}
		})
	}
}

// TestStrictDescribe: what the policy says of itself is read as strictly as any module's.
func TestStrictDescribe(t *testing.T) {
	h := host(t)
	for text, want := range map[string]string{
		`{ name: "No RM" }`: `name: "No RM": `,
		`{ version: "1" }`:  `version: "1": `,
		`{ titel: "x" }`:    `unknown key`,
		`{ hooks: { tool_call: { tool: ["bash"] } } }`: `unknown key`,
		`{ capabilities: { files: "x" } }`:             `unknown capability`,
	} {
		m := module(t, h, load(t, write(t, "p.js", "export const describe = "+text+"; export const tool_call = () => {};")))
		if _, err := engine.Describe(t.Context(), "p", m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	h := host(t)
	for text, want := range map[string]string{
		`export const tool_call = () => {};`: `{"abi":1,"name":"my-policy","version":"0.0.0","hooks":{"tool_call":{}}}`,
		`export const describe = { name: "x", version: "1.2.3", description: "d", config: { type: "object" }, capabilities: { clock: "age" }, hooks: { context: { view: "table" } } };
		 export function tool_result() {} export function context() {} export const helper = () => {};`: `{"abi":1,"name":"x","version":"1.2.3","description":"d","config":{"type":"object"},"capabilities":{"clock":"age"},"hooks":{"context":{"view":"table"},"tool_result":{}}}`,
		`export const describe = { commands: [{ name: "c", description: "d" }] }; export const command_execute = () => ({});`: `{"abi":1,"name":"my-policy","version":"0.0.0","commands":[{"name":"c","description":"d"}],"hooks":{}}`,
	} {
		m := module(t, h, load(t, write(t, "My Policy.js", text)))
		got, err := m.Describe(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if _, err := engine.Describe(t.Context(), "p", m); err != nil {
			t.Error(err)
		}
	}
}

// TestEvents: every event's hook is called, with the event that was sent.
func TestEvents(t *testing.T) {
	h := host(t)
	var text strings.Builder
	var entries []string
	for e := wire.Event(1); int(e) <= wire.EventCount; e++ {
		text.WriteString("export function " + e.String() + "(e) { return { got: \"" + e.String() + "\", e, cwd: e.context.cwd }; }\n")
		entries = append(entries, e.String())
	}
	s := load(t, write(t, "p.js", text.String()))
	out, err := module(t, h, s).Describe(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	d, err := wire.ParseDescribe(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries, d.HookNames()); diff != "" {
		t.Errorf("describe: %s", diff)
	}
	g := guest(t, h, s, wasmhost.GuestConfig{Entries: entries})
	for _, e := range entries {
		in := `{"type":"` + e + `","n":1,"context":{"sessionId":"s","cwd":"/x","callIndex":1}}`
		out, err := call(t, g, e, in)
		if want := `{"got":"` + e + `","e":` + in + `,"cwd":"/x"}`; err != nil || out != want {
			t.Errorf("got  %s, %v\nwant %s", out, err, want)
		}
	}
}

// TestContextApart: the event is the same whether its context was taken apart from it or not, whatever the arguments hold.
func TestContextApart(t *testing.T) {
	s := load(t, write(t, "p.js", `
export const tool_call = (e) => ({ input: { all: JSON.stringify(e), keys: Object.keys(e), turn: e.context?.turnIndex ?? null, same: e.context === e.context } });
export const input = (e) => { e.context = 1; return { e, copy: { ...e } }; };`))
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_call", "input"}})
	context := `"context":{"sessionId":"s","model":{"id":"x"},"turnIndex":7,"callIndex":12}`
	for _, in := range []string{
		`{"type":"tool_call","input":{"command":"ls"},` + context + `}`,
		`{"type":"tool_call",` + context + `,"input":{"command":"ls"}}`,
		`{"type":"tool_call",` + context + `,"input":{"command":"ls","callIndex":3}}`,
		`{"type":"tool_call","input":{"a":1,` + context + `},` + context + `}`,
		`{"type":"tool_call","input":{"a":",\"context\":{\"sessionId\":\"x\",\"callIndex\":1}}"},` + context + `}`,
		`{` + context + `}`,
		`{"type":"tool_call","input":{}}`,
		`{"a":{"callIndex":1}}`,
		`{}`,
	} {
		out, err := call(t, g, "tool_call", in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		quoted := string(wire.AppendString(nil, in))
		if !strings.Contains(out, `{"input":{"all":`+quoted+`,`) {
			t.Errorf("got  %s\nwant %s", out, quoted)
		}
		if strings.Contains(in, "turnIndex") != strings.Contains(out, `"turn":7,"same":true`) {
			t.Errorf("%s: %s", in, out)
		}
	}
	out, err := call(t, g, "input", `{"type":"input",`+context+`}`)
	if want := `{"e":{"type":"input","context":1},"copy":{"type":"input","context":1}}`; err != nil || out != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	for _, in := range []string{`{"type":"tool_call","input":{` + context + `}`, `{"a":{"b":1,` + context + `}}`, `not JSON`, ``, `[]x`} {
		if out, err := call(t, g, "tool_call", in); in == `{"a":{"b":1,`+context+`}}` {
			if !strings.Contains(out, "sessionId") || err != nil { // valid, with a context that is not the event's
				t.Errorf("%s: %s, %v", in, out, err)
			}
		} else if err == nil {
			t.Errorf("%s: %s, want a fault", in, out)
		}
	}
}

// TestBounds: whatever a policy does, it ends as a fault of the right kind.
func TestBounds(t *testing.T) {
	h := host(t)
	slow := wasmhost.Limits{Timeout: 100 * time.Millisecond, Fuel: 1 << 50}
	for name, c := range map[string]struct {
		body   string
		limits wasmhost.Limits
		want   wasmhost.Kind
	}{
		"endless loop":       {`for (;;) {}`, slow, wasmhost.KindDeadline},
		"endless loop, fuel": {`for (;;) {}`, wasmhost.Limits{Timeout: time.Minute, Fuel: 100_000_000}, wasmhost.KindFuel},
		"swallowing loop":    {`for (;;) { try { for (;;) {} } catch {} finally {} }`, slow, wasmhost.KindDeadline},
		"exponential regex":  {`/^(a+)+$/.test("a".repeat(40) + "b")`, slow, wasmhost.KindDeadline},
		"allocation":         {`const a = []; for (;;) a.push(new Uint8Array(1 << 20));`, wasmhost.Limits{Timeout: time.Minute}, wasmhost.KindMemory},
		"swallowed allocation": {
			`const a = []; for (;;) { try { for (;;) a.push(new Uint8Array(1 << 20)); } catch {} }`,
			wasmhost.Limits{Timeout: time.Minute},
			wasmhost.KindMemory,
		},
		"small allocations":   {`const a = []; for (;;) a.push({ n: a.length });`, wasmhost.Limits{Timeout: time.Minute, Memory: 16 << 20, Fuel: 1 << 50}, wasmhost.KindMemory},
		"recursion":           {`const f = (n) => f(n + 1) + 1; return { n: f(0) };`, wasmhost.Limits{Timeout: time.Minute}, wasmhost.KindDepth},
		"swallowed recursion": {`const f = () => { try { f(); } catch {} }; f(); return {};`, wasmhost.Limits{Timeout: time.Minute}, wasmhost.KindDepth},
		"large output":        {`return { s: "x".repeat(9 << 20) };`, wasmhost.Limits{Timeout: time.Minute, Fuel: 1 << 50}, wasmhost.KindOutput},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, write(t, "p.js", "let calls = 0;\nexport function tool_call(e) { calls++; if (e.input.n) return { input: { calls } };\n"+c.body+"}\n"))
			g := guest(t, h, s, wasmhost.GuestConfig{Entries: []string{"tool_call"}, Limits: c.limits})
			out, err := call(t, g, "tool_call", event)
			if err == nil {
				t.Fatalf("%s, want a fault", out)
			}
			if kind, text := faultOf(t, err); kind != c.want {
				t.Errorf("%v: %s, want %v", kind, text, c.want)
			}
			// The next call gets an instance that has not seen this one.
			if out, err := call(t, g, "tool_call", `{"input":{"n":1}}`); err != nil || out != `{"input":{"calls":1}}` {
				t.Errorf("afterwards: %s, %v", out, err)
			}
		})
	}
}

// TestTopLevelBounds: so does what runs while a policy loads.
func TestTopLevelBounds(t *testing.T) {
	h := host(t)
	s := load(t, write(t, "p.js", "for (;;) {}\nexport const tool_call = () => {};"))
	start := time.Now()
	_, err := module(t, h, s).NewGuest(t.Context(), wasmhost.GuestConfig{Name: "p", Entries: []string{"tool_call"}, Limits: wasmhost.Limits{LoadTimeout: 200 * time.Millisecond, Fuel: 1 << 50}})
	if err == nil {
		t.Fatal("it loaded")
	}
	if kind, text := faultOf(t, err); kind != wasmhost.KindDeadline {
		t.Errorf("%v: %s", kind, text)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestDeterminism: without grants two guests in two processes' worth of hosts see the same clock, randomness and fuel.
func TestDeterminism(t *testing.T) {
	text := `export const tool_call = () => ({ input: { now: Date.now(), date: new Date().toISOString(), zone: new Date().getTimezoneOffset(), random: [Math.random(), Math.random()] } });`
	run := func(cfg wasmhost.GuestConfig) (string, uint64) {
		cfg.Entries = []string{"tool_call"}
		g := guest(t, host(t), load(t, write(t, "p.js", text)), cfg)
		var out string
		s, err := g.Call(t.Context(), "tool_call", wasmhost.Input{Bytes: []byte(event)}, func(b []byte) error { out = string(b); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return out, s.Fuel
	}
	a, fuelA := run(wasmhost.GuestConfig{})
	b, fuelB := run(wasmhost.GuestConfig{})
	if a != b || fuelA != fuelB {
		t.Errorf("%s with %d fuel and %s with %d", a, fuelA, b, fuelB)
	}
	if !strings.Contains(a, `"date":"2024-01-01T00:00:00.000Z","zone":0`) {
		t.Errorf("the frozen clock shows %s", a)
	}
	c, _ := run(wasmhost.GuestConfig{RealRandom: true})
	d, _ := run(wasmhost.GuestConfig{RealRandom: true})
	if c == d || !strings.Contains(c, `"date":"2024-01-01T00:00:00.000Z"`) {
		t.Errorf("with randomness granted: %s and %s", c, d)
	}
	e, _ := run(wasmhost.GuestConfig{RealClock: true})
	if year := time.Now().UTC().Format(`"date":"2006-01-02`); !strings.Contains(e, year) {
		t.Errorf("with the clock granted: %s", e)
	}
}

// TestConsole: what a policy logs reaches the extension's log at its level.
func TestConsole(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "export" {
			return slog.Attr{}
		}
		return a
	}}))
	s := load(t, write(t, "p.js", `export function tool_call(e) {
  console.log("a", 1, { b: [true, null] }, undefined, "ü");
  console.debug("d"); console.info("i"); console.warn("w");
  console.error(new TypeError("boom"));
}`))
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_call"}, Logger: logger})
	if _, err := call(t, g, "tool_call", event); err != nil {
		t.Fatal(err)
	}
	want := `level=INFO msg="a 1 {\"b\":[true,null]} undefined ü"
level=DEBUG msg=d
level=INFO msg=i
level=WARN msg=w
level=ERROR msg="p.js:4:21: TypeError: boom"
`
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Error(diff)
	}
}

func TestConfig(t *testing.T) {
	s := load(t, write(t, "p.js", `import { config } from "weir";
export const tool_call = () => ({ input: config });`))
	h := host(t)
	for config, want := range map[string]string{"": `{"input":{}}`, `{"protect":["/"],"n":1}`: `{"input":{"protect":["/"],"n":1}}`} {
		g := guest(t, h, s, wasmhost.GuestConfig{Entries: []string{"tool_call"}, Config: []byte(config)})
		if out, err := call(t, g, "tool_call", event); err != nil || out != want {
			t.Errorf("%s, %v, want %s", out, err, want)
		}
	}
}

// TestNothingElse: what the language's other hosts have is not there, nor is a way to the host beside the one offered.
func TestNothingElse(t *testing.T) {
	s := load(t, write(t, "p.js", `export const tool_call = () => ({ input: {
  names: ["fetch", "process", "require", "setTimeout", "std", "os", "scriptArgs", "print", "WebAssembly", "Worker"].filter((n) => n in globalThis),
  global: Object.keys(globalThis),
} });`))
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"tool_call"}})
	if out, err := call(t, g, "tool_call", event); err != nil || out != `{"input":{"names":[],"global":["__weir_policy"]}}` {
		t.Errorf("%s, %v", out, err)
	}
}

// TestShared: policies on one engine, at the same time, do not see each other.
func TestShared(t *testing.T) {
	h := host(t)
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		s := load(t, write(t, name+".js", `globalThis.n = (globalThis.n ?? 0); Array.prototype.mine = "`+name+`";
export const tool_call = () => ({ input: { name: [].mine, n: ++n } });`))
		g := guest(t, h, s, wasmhost.GuestConfig{Entries: []string{"tool_call"}})
		wg.Go(func() {
			for i := range 20 {
				out, err := call(t, g, "tool_call", event)
				if want := `{"input":{"name":"` + name + `","n":` + strconv.Itoa(i+1) + `}}`; err != nil || out != want {
					t.Errorf("%s, %v, want %s", out, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestPacked: a packed policy is the same policy.
func TestPacked(t *testing.T) {
	h := host(t)
	s := load(t, "testdata/bench/policy.ts")
	wasm, err := script.Pack(s)
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Compile(t.Context(), "packed", wasm, wasmhost.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	bound := module(t, h, s)
	if m.Digest() == bound.Digest() {
		t.Error("one digest for two modules")
	}
	var outs []string
	for _, m := range []*wasmhost.Module{m, bound} {
		d, err := m.Describe(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		g, err := m.NewGuest(t.Context(), wasmhost.GuestConfig{Name: "p", Entries: []string{"tool_call"}})
		if err != nil {
			t.Fatal(err)
		}
		out := string(d)
		for _, in := range []string{event, strings.Replace(event, "go test", "rm -rf", 1)} {
			o, err := call(t, g, "tool_call", in)
			if err != nil {
				t.Fatal(err)
			}
			out += o
		}
		outs = append(outs, out)
	}
	if diff := cmp.Diff(outs[1], outs[0]); diff != "" {
		t.Errorf("packed against bound: %s", diff)
	}
	if !strings.Contains(outs[0], `{}{"block":true,"reason":"rm -rf is not allowed"}`) {
		t.Error(outs[0])
	}
}

// TestEmptyEngine: the engine alone says what is missing.
func TestEmptyEngine(t *testing.T) {
	h := host(t)
	wasm, err := load(t, "testdata/bench/policy.ts").Engine()
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Compile(t.Context(), "p", wasm, wasmhost.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Describe(t.Context(), "p"); err == nil || !strings.Contains(err.Error(), "the module holds no policy; `weir ext pack` puts one in") {
		t.Errorf("%v", err)
	}
}

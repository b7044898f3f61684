package weir

import (
	stdbase64 "encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// registered runs register with an empty registry and returns the description.
func registered(t *testing.T, register func()) (string, error) {
	t.Helper()
	before := ext
	t.Cleanup(func() { ext = before })
	ext = registry{}
	register()
	b, err := ext.description(nil)
	return string(b), err
}

func TestWrongRegistration(t *testing.T) {
	good := Extension{Name: "a", Version: "1.0.0"}
	handle := func(*Event) Result { return None() }
	for want, register := range map[string]func(){
		"weir.Describe was not called":    func() {},
		"Describe was called twice":       func() { Describe(good); Describe(good) },
		`the name "A" is not`:             func() { Describe(Extension{Name: "A", Version: "1.0.0"}) },
		`the name "" is not`:              func() { Describe(Extension{Version: "1.0.0"}) },
		`the name "1a" is not`:            func() { Describe(Extension{Name: "1a", Version: "1.0.0"}) },
		"the version is missing":          func() { Describe(Extension{Name: "a"}) },
		"there is no event Input":         func() { Describe(good); On("Input", handle) },
		"tool_call has a function of its": func() { Describe(good); On("tool_call", handle) },
		"two handlers for context": func() {
			Describe(good)
			OnContext(func(*Context) error { return nil })
			OnContextTable(func(*Table) error { return nil })
		},
		"Facts is for tool_call and tool_result, not for input": func() { Describe(good); On("input", handle).Facts("shell") },
		"Tools is for tool_call and tool_result, not for input": func() { Describe(good); On("input", handle).Tools("bash") },
		"the schema of the settings: invalid JSON at byte 0":    func() { Describe(Extension{Name: "a", Version: "1.0.0", Config: "x"}) },
		"the schema of the settings: not an object":             func() { Describe(Extension{Name: "a", Version: "1.0.0", Config: " [] "}) },
		"a tool without a name or without Execute":              func() { Describe(good); AddTool(Tool{Name: "t"}) },
		"a command without a name or without Run":               func() { Describe(good); AddCommand(Command{Name: "t"}) },
		"there is no event x; two handlers for x":               func() { Describe(good); On("x", handle); ext.add(&Hook{event: "x"}) },
		"the parameters of tool t: invalid JSON at byte 1: a key in": func() {
			Describe(good)
			AddTool(Tool{Name: "t", Parameters: "{", Execute: func(*ToolRun) (ToolOutput, error) { return ToolOutput{}, nil }})
		},
	} {
		if out, err := registered(t, register); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %s", want, err, out)
		}
	}
}

func TestMinimalDescription(t *testing.T) {
	got, err := registered(t, func() {
		Describe(Extension{Name: "a", Version: "1.0.0", Description: "says \"hi\"\n"})
		OnToolCall(func(*ToolCall) Decision { return Allow() }).Tools("bash", "mcp__*").BlockOnError()
	})
	want := `{"abi":1,"name":"a","version":"1.0.0","description":"says \"hi\"\n","hooks":{"tool_call":{"tools":["bash","mcp__*"],"onError":"block"}}}`
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDecide(t *testing.T) {
	for want, d := range map[string]Decision{
		"the handler returned the zero Decision":  {},
		"the handler returned the zero Decision;": Decision{}.Rewrite(`{}`),
		"a blocked call has no arguments":         Block("x").Rewrite(`{}`),
		"Rewrite without arguments":               Rewrite(""),
		"Ask without a title":                     Ask("", "why"),
		"the rewritten arguments: invalid JSON":   Rewrite(`{"a":}`),
		"not valid UTF-8":                         Rewrite(Object(Field{"command", String("ls \xff")})),
		"not the start of a value":                Rewrite(Object(Field{"n", Float(inf())})),
	} {
		c := call{}
		if err := c.decide(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, output %s", want, err, c.out)
		}
	}
}

func inf() float64 {
	x := 1e308
	return x * 10
}

func TestValue(t *testing.T) {
	v, err := ParseJSON(` {"s":"a\nb","n":12,"f":-1.5e3,"big":1e400,"long":9223372036854775808,"t":true,"z":null,"l":["x",1,"y"],"o":{"k":{"d":1}},"o":{"k":{"d":2}},"é":""} `)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("s", v.Get("s").Str(), "a\nb")
	check("s is", v.Get("s").Is("a\nb"), true)
	check("n is no string", v.Get("n").Str(), "")
	check("n", v.Get("n").Int(0), int64(12))
	check("f", v.Get("f").Float(0), -1500.0)
	check("f is no whole number", v.Get("f").Int(7), int64(7))
	check("big is out of range", v.Get("big").Float(7), 7.0)
	check("long is out of range", v.Get("long").Int(7), int64(7))
	check("s is no number", v.Get("s").Int(7), int64(7))
	check("t", v.Get("t").Bool(false), true)
	check("z is no bool", v.Get("z").Bool(true), true)
	check("l", v.Get("l").Strs(), []string{"x", "y"})
	check("l 2", v.Get("l").At(2).Str(), "y")
	check("l 3", v.Get("l").At(3).Exists(), false)
	check("o", v.Get("o").Get("k").Get("d").Int(0), int64(2))
	check("get in a string", v.Get("s").Get("k").Exists(), false)
	check("kinds", []Kind{v.Kind(), v.Get("l").Kind(), v.Get("s").Kind(), v.Get("n").Kind(), v.Get("t").Kind(), v.Get("z").Kind(), v.Get("-").Kind()},
		[]Kind{KindObject, KindArray, KindString, KindNumber, KindBool, KindNull, KindAbsent})
	var keys []string
	for k := range v.Fields() {
		keys = append(keys, k)
	}
	check("keys", keys, []string{"s", "n", "f", "big", "long", "t", "z", "l", "o", "é"})

	check("with", JSON(`{"a":1,"b":2,"a":3}`).With("b", Int(4)), JSON(`{"a":3,"b":4}`))
	check("with on no object", JSON(`[1]`).With("b", Bool(true)), JSON(`{"b":true}`))
	check("object", Object(Field{"a", ""}, Field{"b", Strings("x", "\"")}, Field{"c", Array(Int(-1), Float(0.5))}), JSON(`{"b":["x","\""],"c":[-1,0.5]}`))
}

func TestBase64(t *testing.T) {
	for n := range 300 {
		bytes := make([]byte, n)
		for i := range bytes {
			bytes[i] = byte(i*7 + n)
		}
		want := stdbase64.StdEncoding.EncodeToString(bytes)
		if got := base64(string(bytes)); n > 0 && string(got) != `"`+want+`"` {
			t.Fatalf("%d bytes: %s, want %s", n, got, want)
		}
		if got, ok := unbase64(want); !ok || got != string(bytes) {
			t.Fatalf("%d bytes do not come back: %q", n, got)
		}
	}
	for _, text := range []string{"a", "abc", "ab=c", "====", "ab c", "a\n=="} {
		if got, ok := unbase64(text); ok {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

package wasmhost_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// notebook is a session that writes down what it is asked for.
type notebook struct {
	entries []json.RawMessage
	asked   []string
	err     error
}

func (n *notebook) note(format string, args ...any) error {
	n.asked = append(n.asked, fmt.Sprintf(format, args...))
	return n.err
}

func (n *notebook) begin(format string, args ...any) (func(), error) {
	return func() { n.asked = append(n.asked, fmt.Sprintf(format, args...)) }, n.err
}

func (n *notebook) State() (wasmhost.SessionState, error) {
	running := false
	return wasmhost.SessionState{ID: "s", Aborted: &running, Model: wasmhost.SessionModel{Provider: "p", ID: "m"}}, n.err
}

func (n *notebook) Entries(after string, most int) ([]json.RawMessage, bool, error) {
	return n.entries[:min(most, len(n.entries))], most < len(n.entries), n.note("entries %q %d", after, most)
}

func (n *notebook) Entry(id string) (json.RawMessage, error) {
	return json.RawMessage(`{"id":"1"}`), n.note("entry %q", id)
}

func (n *notebook) Messages(from, most int) ([]json.RawMessage, int, error) {
	return nil, 12, n.note("messages %d %d", from, most)
}

func (n *notebook) Tools() ([]wasmhost.SessionTool, error) {
	return []wasmhost.SessionTool{{Name: "bash", Active: true}, {Name: "read"}}, n.err
}

func (n *notebook) AppendEntry(customType string, data json.RawMessage) (string, error) {
	return "2a", n.note("append %q %s", customType, data)
}

func (n *notebook) SetLabel(entryID, label string) error {
	return n.note("label %q %q", entryID, label)
}
func (n *notebook) SetName(name string) error { return n.note("name %q", name) }
func (n *notebook) SendMessage(m wasmhost.SessionMessage) error {
	trigger := "open"
	if m.Trigger != nil {
		trigger = fmt.Sprint(*m.Trigger)
	}
	return n.note("send %q %s %v %s %s %q", m.CustomType, m.Content, m.Display, m.Details, trigger, m.Deliver)
}

func (n *notebook) SendUserMessage(content json.RawMessage, deliver string) error {
	return n.note("prompt %s %q", content, deliver)
}
func (n *notebook) SetTools(names []string) error { return n.note("tools %q", names) }
func (n *notebook) SetModel(_ context.Context, provider, id string) error {
	return n.note("model %q %q", provider, id)
}

func (n *notebook) SetThinkingLevel(level string) (string, error) {
	return "low", n.note("level %q", level)
}
func (n *notebook) Abort() (func(), error)              { return n.begin("abort") }
func (n *notebook) Compact(text string) (func(), error) { return n.begin("compact %q", text) }
func (n *notebook) NewSession() (func(), error)         { return n.begin("new") }
func (n *notebook) Fork(id string, at bool) (func(), error) {
	return n.begin("fork %q %v", id, at)
}

func (n *notebook) Navigate(id string, how wasmhost.SessionNavigation) (func(), error) {
	return n.begin("navigate %q %+v", id, how)
}

func holding(n *notebook) func() wasmhost.Session { return func() wasmhost.Session { return n } }

// sessionRequests are one good request for each operation, by right.
func sessionRequests() map[string][]string {
	return map[string][]string{
		"read":    {`{"op":"state"}`, `{"op":"entries"}`, `{"op":"entry","id":"1"}`, `{"op":"messages"}`, `{"op":"tools"}`},
		"append":  {`{"op":"append","customType":"todo"}`, `{"op":"label","entryId":"1","label":""}`, `{"op":"name","name":"n"}`},
		"send":    {`{"op":"send","customType":"note","content":"hi"}`, `{"op":"prompt","content":"hi"}`},
		"control": {`{"op":"set_tools","tools":[]}`, `{"op":"set_model","provider":"p","id":"m"}`, `{"op":"set_thinking_level","level":"low"}`, `{"op":"abort"}`, `{"op":"compact"}`, `{"op":"new"}`, `{"op":"fork","entryId":"1"}`, `{"op":"navigate","entryId":"1"}`},
	}
}

func TestSession(t *testing.T) {
	n := &notebook{entries: []json.RawMessage{json.RawMessage(`{"id":"1"}`), json.RawMessage(`{"id":"2"}`)}}
	talk(
		t, wasmhost.UseSession([]string{"read", "append", "send", "control"}, holding(n)),
		exchange{`{"op":"state"}`, `{"id":"s","leaf":null,"entries":0,"messages":0,"idle":false,"streaming":false,"compacting":false,"retrying":false,"aborted":false,"queued":0,"model":{"provider":"p","id":"m"},"thinkingLevel":"","systemPrompt":"","contextUsage":null}`},
		exchange{`{"op":"entries"}`, `{"entries":[{"id":"1"},{"id":"2"}],"more":false}`},
		exchange{`{"op":"entries","after":"0","limit":1}`, `{"entries":[{"id":"1"}],"more":true}`},
		exchange{`{"op":"entry","id":"1"}`, `{"entry":{"id":"1"}}`},
		exchange{`{"op":"messages","from":10,"limit":5}`, `{"messages":[],"total":12}`},
		exchange{`{"op":"tools"}`, `{"tools":[{"name":"bash","description":"","active":true},{"name":"read","description":"","active":false}]}`},
		exchange{`{"op":"append","customType":"todo","data":{"a":[1, null]}}`, `{"id":"2a"}`},
		exchange{`{"op":"append","customType":"todo"}`, `{"id":"2a"}`},
		exchange{`{"op":"label","entryId":"1","label":"here"}`, `{}`},
		exchange{`{"op":"name","name":"a walk"}`, `{}`},
		exchange{`{"op":"send","customType":"note","content":"hi"}`, `{}`},
		exchange{`{"op":"send","customType":"note","content":[{"type":"text","text":"hi"}],"display":true,"details":{"k":1},"trigger":false,"deliver":"nextTurn"}`, `{}`},
		exchange{`{"op":"prompt","content":"go","deliver":"steer"}`, `{}`},
		exchange{`{"op":"set_tools","tools":["bash","none"]}`, `{"tools":["bash"]}`},
		exchange{`{"op":"set_model","provider":"p","id":"m"}`, `{}`},
		exchange{`{"op":"set_thinking_level","level":"high"}`, `{"level":"low"}`},
		exchange{`{"op":"abort"}`, `{}`},
		exchange{`{"op":"compact","instructions":"short"}`, `{}`},
		exchange{`{"op":"new"}`, `{}`},
		exchange{`{"op":"fork","entryId":"1"}`, `{}`},
		exchange{`{"op":"fork","entryId":"1","position":"at"}`, `{}`},
		exchange{`{"op":"navigate","entryId":"1","summarize":true,"instructions":"i","replace":true,"label":"l"}`, `{}`},
	)
	want := []string{
		`entries "" 100`, `entries "0" 1`, `entry "1"`, `messages 10 5`, `append "todo" {"a":[1, null]}`, `append "todo" `, `label "1" "here"`, `name "a walk"`,
		`send "note" "hi" false  open ""`, `send "note" [{"type":"text","text":"hi"}] true {"k":1} false "nextTurn"`, `prompt "go" "steer"`, `tools ["bash" "none"]`,
		`model "p" "m"`, `level "high"`, `abort`, `compact "short"`, `new`, `fork "1" false`, `fork "1" true`, `navigate "1" {Summarize:true Instructions:i Replace:true Label:l}`,
	}
	if d := cmp.Diff(want, n.asked); d != "" {
		t.Errorf("asked for (-want +got):\n%s", d)
	}
}

// TestSessionRights: a right opens its operations and no other, and a refusal says what to write.
func TestSessionRights(t *testing.T) {
	for right := range sessionRequests() {
		n := &notebook{}
		c := wasmhost.UseSession([]string{right}, holding(n))
		for of, requests := range sessionRequests() {
			for _, r := range requests {
				got := ask(t, c, r)
				if refused := strings.HasPrefix(got, "error: "); refused != (of != right) {
					t.Errorf("with %s, %s was answered with %s", right, r, got)
				}
			}
		}
	}
	n := &notebook{}
	talk(
		t, wasmhost.UseSession([]string{"read", "control"}, holding(n)),
		exchange{`{"op":"append","customType":"a"}`, `error: append: it needs the right "append", which is not granted; to grant it, write in its [extension.grant]: session = ["read", "append", "control"]`},
		exchange{`{"op":"prompt","content":"a"}`, `error: prompt: it needs the right "send", which is not granted; to grant it, write in its [extension.grant]: session = ["read", "send", "control"]`},
	)
	if len(n.asked) > 0 {
		t.Errorf("what is refused reached the session: %q", n.asked)
	}
}

func TestSessionRequests(t *testing.T) {
	n := &notebook{}
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	talk(
		t, wasmhost.UseSession([]string{"read", "append", "send", "control"}, holding(n)),
		exchange{`{"op":"entries","limit":0}`, `error: entries: key "limit": want a whole number from 1 to 1000`},
		exchange{`{"op":"entries","limit":1001}`, `error: entries: key "limit": want a whole number from 1 to 1000`},
		exchange{`{"op":"entries","limit":null}`, `error: entries: key "limit": want a whole number from 1 to 1000`},
		exchange{`{"op":"messages","from":-1}`, `error: messages: key "from": want a whole number from 0 to 2147483647`},
		exchange{`{"op":"messages","from":1.5}`, `error: messages: key "from": want a whole number from 0 to 2147483647`},
		exchange{`{"op":"entry"}`, `error: entry: key "id" is missing`},
		exchange{`{"op":"append","customType":""}`, `error: append: key "customType" is empty`},
		exchange{`{"op":"append","customType":"a","data":"` + strings.Repeat("x", 256<<10) + `"}`, `error: append: key "data": 262146 bytes, more than the limit of 262144`},
		exchange{`{"op":"append","customType":"a","data":` + deep + `}`, `error: append: key "data": more than 64 levels`},
		exchange{`{"op":"append","customType":"a","data":{"\ud800":1}}`, `error: append: key "data": a surrogate without its other half`},
		exchange{`{"op":"name","name":"` + strings.Repeat("n", 513) + `"}`, `error: name: key "name": 513 bytes, more than the limit of 512`},
		exchange{`{"op":"send","customType":"a"}`, `error: send: key "content" is missing`},
		exchange{`{"op":"send","customType":"a","content":{}}`, `error: send: key "content": want a text or a list of blocks`},
		exchange{`{"op":"send","customType":"a","content":"a","trigger":1}`, `error: send: key "trigger": want true or false`},
		exchange{`{"op":"send","customType":"a","content":"a","deliver":"now"}`, `error: send: key "deliver": unknown "now"; there are steer, followUp, nextTurn`},
		exchange{`{"op":"prompt","content":"a","deliver":"nextTurn"}`, `error: prompt: key "deliver": unknown "nextTurn"; there are steer, followUp`},
		exchange{`{"op":"fork","entryId":"1","position":"after"}`, `error: fork: key "position": unknown "after"; there are before, at`},
		exchange{`{"op":"abort","now":true}`, `error: abort: unknown key "now"; known are op`},
		exchange{`{"op":"quit"}`, `error: unknown op "quit" (known: state, entries, entry, messages, tools, append, label, name, send, prompt, set_tools, set_model, set_thinking_level, abort, compact, new, fork, navigate)`},
	)
	if len(n.asked) > 0 {
		t.Errorf("what is malformed reached the session: %q", n.asked)
	}
	n.err = errors.New("the disk is full")
	for _, requests := range sessionRequests() {
		for _, r := range requests {
			if got := ask(t, wasmhost.UseSession([]string{"read", "append", "send", "control"}, holding(n)), r); !strings.HasSuffix(got, ": the disk is full") {
				t.Errorf("%s: an error of the session was answered with %s", r, got)
			}
		}
	}
}

// TestSessionOutside: where there is no session, every operation says so.
func TestSessionOutside(t *testing.T) {
	for _, hold := range []func() wasmhost.Session{nil, func() wasmhost.Session { return nil }} {
		for _, requests := range sessionRequests() {
			for _, r := range requests {
				got := ask(t, wasmhost.UseSession([]string{"read", "append", "send", "control"}, hold), r)
				if !strings.HasSuffix(got, ": there is no session here: the extension is called by a program that keeps none") {
					t.Errorf("%s was answered with %s", r, got)
				}
			}
		}
	}
}

// TestSessionLimits: a page ends at its size, and what a guest adds is bounded.
func TestSessionLimits(t *testing.T) {
	n := &notebook{}
	large := json.RawMessage(`"` + strings.Repeat("x", 3<<20) + `"`)
	c := wasmhost.UseSession([]string{"read", "append"}, holding(n))
	for total, want := range map[int]struct {
		page int
		more bool
	}{1: {1, false}, 2: {2, false}, 3: {2, true}} {
		n.entries = slices.Repeat([]json.RawMessage{large}, total)
		var got struct {
			Entries []json.RawMessage
			More    bool
		}
		if err := json.Unmarshal([]byte(ask(t, c, `{"op":"entries"}`)), &got); err != nil || len(got.Entries) != want.page || got.More != want.more {
			t.Errorf("of %d entries of 3 MiB came %d, more: %v (%v)", total, len(got.Entries), got.More, err)
		}
	}
	n.entries = []json.RawMessage{json.RawMessage(`"` + strings.Repeat("x", 9<<20) + `"`)}
	if got := ask(t, c, `{"op":"entries"}`); len(got) < 9<<20 {
		t.Errorf("an entry that is larger than a page is not given: %s", short(got))
	}

	big := `{"op":"append","customType":"a","data":"` + strings.Repeat("x", 255<<10) + `"}`
	taken := 0
	for ; taken < 100 && ask(t, c, big) == `{"id":"2a"}`; taken++ {
	}
	if taken != 64 { // 64 × 261,160 bytes fit into 16 MiB, 65 do not
		t.Errorf("%d entries of 255 KiB were taken", taken)
	}
	if got := ask(t, c, big); got != "error: append: the extension has changed the session 64 times, with 16714368 bytes; the limits are 10000 and 16777216" {
		t.Error(got)
	}
	c = wasmhost.UseSession([]string{"append"}, holding(n))
	for taken = 0; taken < 20_000 && ask(t, c, `{"op":"name","name":""}`) == `{}`; taken++ {
	}
	if taken != 10_000 {
		t.Errorf("%d names were taken", taken)
	}
	c = wasmhost.UseSession([]string{"control", "read"}, holding(n))
	for taken = 0; taken < 20_000 && !strings.HasPrefix(ask(t, c, `{"op":"set_thinking_level","level":"low"}`), "error"); taken++ {
	}
	if got := ask(t, c, `{"op":"tools"}`); taken != 10_000 || strings.HasPrefix(got, "error") {
		t.Errorf("%d levels were set, reading then gives %s", taken, got)
	}
}

// TestSessionFromGuest: a guest reads answers and refusals, what aborts waits until its call is over, and is not forgotten when
// the call faults; a broken session is a fault of the host, not of the run.
func TestSessionFromGuest(t *testing.T) {
	n := &notebook{}
	caps := grants()
	caps["session"] = wasmhost.UseSession([]string{"read", "control"}, holding(n))
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps})
	request := func(s string) []any { return []any{poke(64, s), op("weir_session", 64, uint64(len(s)))} }
	during := func(parts ...any) (string, error) {
		before := len(n.asked)
		_, _, err := p.try(t, parts...)
		return strings.Join(n.asked[before:], "; "), err
	}
	abort := request(`{"op":"abort"}`)
	out := p.do(t, slices.Concat(abort, request(`{"op":"state"}`), []any{op("weir_response_read", 4096, 0, 1000), emit(4096, 160)})...)
	if !strings.Contains(string(out), `"aborted":true`) {
		t.Errorf("after the abort the state is %q", out)
	}
	out = p.do(t, append(request(`{"op":"state"}`), op("weir_response_read", 4096, 0, 1000), emit(4096, 160))...)
	if !strings.Contains(string(out), `"aborted":false`) {
		t.Errorf("in the next call the state is %q", out)
	}
	n.asked = nil
	if got, err := during(append(abort, request(`{"op":"compact"}`)...)...); got != `abort; compact ""` || err != nil {
		t.Errorf("after a call: %q, %v", got, err)
	}
	got, err := during(append(abort, op("trap"))...)
	if wantFault(t, err, wasmhost.KindTrap); got != "abort" {
		t.Errorf("after a fault: %q", got)
	}
	caps["session"] = wasmhost.UseSession([]string{"read"}, func() wasmhost.Session { panic("broken") })
	p = newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps})
	_, _, err = p.try(t, request(`{"op":"tools"}`)...)
	if f := faultOf(t, err, wasmhost.KindHost); !strings.Contains(f.Error(), "capability session: panic: broken") {
		t.Error(f)
	}
}

// TestAfterCall: what waits for the end of a call runs when the guest can be called again, after the outermost call.
func TestAfterCall(t *testing.T) {
	h := newHost(t, wasmhost.Config{})
	var inner, outer *probe
	var order []string
	caps := grants()
	caps["kv"] = wasmhost.Capability{Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
		wasmhost.AfterCall(ctx, func() {
			for _, p := range []*probe{inner, outer} {
				if _, err := p.Call(t.Context(), "call", wasmhost.Input{Bytes: p.script(t, op("count", 1))}, ignore); err != nil {
					t.Error(err)
				}
			}
			order = append(order, "after")
		})
		order = append(order, "in the call")
		return nil, nil
	}}
	inner = probeOn(t, h, wasmhost.GuestConfig{Capabilities: caps})
	caps = grants()
	caps["kv"] = wasmhost.Capability{Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
		_, err := inner.Call(ctx, "call", wasmhost.Input{Bytes: inner.script(t, op("weir_kv", 0, 0))}, ignore)
		order = append(order, "after the inner call")
		return nil, err
	}}
	outer = probeOn(t, h, wasmhost.GuestConfig{Capabilities: caps})
	outer.do(t, op("weir_kv", 0, 0))
	if d := cmp.Diff([]string{"in the call", "after the inner call", "after"}, order); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	order = nil
	wasmhost.AfterCall(t.Context(), func() { order = append(order, "at once") })
	if len(order) != 1 {
		t.Error("outside of a call it does not run at once")
	}
}

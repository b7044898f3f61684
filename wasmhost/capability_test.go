package wasmhost_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/wasmhost"
)

// exchange is a request to a capability and its answer, or its error after "error: ".
type exchange struct{ request, want string }

func talk(t *testing.T, c wasmhost.Capability, exchanges ...exchange) {
	t.Helper()
	for _, x := range exchanges {
		if got := ask(t, c, x.request); got != x.want {
			t.Errorf("%s\ngot  %s\nwant %s", short(x.request), short(got), short(x.want))
		}
	}
}

func ask(t *testing.T, c wasmhost.Capability, request string) string {
	t.Helper()
	b, err := c.Handle(t.Context(), []byte(request))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

func short(s string) string {
	if len(s) > 300 {
		return s[:300] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}

// TestRequestsAreStrict: every capability reads requests alike.
func TestRequestsAreStrict(t *testing.T) {
	file, err := wasmhost.File([]string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]wasmhost.Capability{"kv": wasmhost.KV(wasmhost.NewMemoryStore()), "http": wasmhost.HTTP(nil), "file": file, "ui": wasmhost.AskUI("x", nil), "session": wasmhost.UseSession(nil, nil)} {
		for _, bad := range []string{
			"", " ", "null", "[]", `"op"`, "{", `{"op"`, `{"op":}`, `{}`, `{"op":1}`, `{"op":null}`, `{"op":"nothing"}`, `{"Op":"get"}`, `{"op":"get","op":"get","key":"a"}`,
			`{"op":"get","key":"a"} x`, `{"op":"get","key":"a"}{}`, `{"op":"get","key":"a",}`, "{\"op\":\"get\",\"key\":\"\xff\"}", `{"op":"get","key":"\ud800"}`, `{"op":"\udc00"}`,
			`{'op':'get'}`, `{"op":"get","key":"a"`, `{"op":"get","key":"` + "\x00" + `"}`,
		} {
			if got := ask(t, c, bad); !strings.HasPrefix(got, "error: ") {
				t.Errorf("%s: %q was answered with %s", name, bad, got)
			}
		}
	}
	talk(
		t, wasmhost.KV(wasmhost.NewMemoryStore()),
		exchange{`[]`, `error: the request: want a JSON object`},
		exchange{`{"key":"a"}`, `error: key "op" is missing`},
		exchange{`{"op":"Get","key":"a"}`, `error: unknown op "Get" (known: get, set, delete, list)`},
		exchange{`{"op":"get","key":"a","key":"b"}`, `error: the request: key "key" is given twice`},
		exchange{`{"op":"get","KEY":"a"}`, `error: get: key "key" is missing`},
		exchange{`{"op":"get","key":"a","value":"b"}`, `error: get: unknown key "value"; known are key, op`},
		exchange{`{"op":"get","key":["a"]}`, `error: get: key "key": want a text`},
		exchange{`{"op":"get","key":"\ud83d"}`, `error: get: key "key": a surrogate without its other half`},
		exchange{`{"op":"get","key":"\ud83d\ude00 \ufffd \uFFFD �"}`, `{"value":null}`},
	)
}

func TestKV(t *testing.T) {
	store := wasmhost.NewMemoryStore()
	talk(
		t, wasmhost.KV(store),
		exchange{`{"op":"get","key":"a"}`, `{"value":null}`},
		exchange{`{"op":"list"}`, `{"keys":[]}`},
		exchange{`{"op":"set","key":"b/2","value":"two <&> \"\u0001"}`, `{}`},
		exchange{`{"op":"set","key":"b/1","value":""}`, `{}`},
		exchange{`{"op":"set","key":"a","value":"x"}`, `{}`},
		exchange{`{"op":"get","key":"b/2"}`, `{"value":"two <&> \"\u0001"}`},
		exchange{`{"op":"get","key":"b/1"}`, `{"value":""}`},
		exchange{`{"op":"list"}`, `{"keys":["a","b/1","b/2"]}`},
		exchange{`{"op":"list","prefix":"b/"}`, `{"keys":["b/1","b/2"]}`},
		exchange{`{"op":"list","prefix":"c"}`, `{"keys":[]}`},
		exchange{`{"op":"delete","key":"b/1"}`, `{}`},
		exchange{`{"op":"delete","key":"b/1"}`, `{}`},
		exchange{`{"op":"get","key":"b/1"}`, `{"value":null}`},
		exchange{`{"op":"get"}`, `error: get: key "key" is missing`},
		exchange{`{"op":"set","key":"a"}`, `error: set: key "value" is missing`},
		exchange{`{"op":"set","key":"a","value":1}`, `error: set: key "value": want a text`},
		exchange{`{"op":"set","key":"","value":"1"}`, `error: set: a key has 1 to 512 bytes, this one has 0`},
		exchange{`{"op":"set","key":"` + strings.Repeat("k", 513) + `","value":"1"}`, `error: set: a key has 1 to 512 bytes, this one has 513`},
		exchange{`{"op":"set","key":"` + strings.Repeat("k", 512) + `","value":"1"}`, `{}`},
	)
	// Another capability on the same store goes on with what is there.
	talk(t, wasmhost.KV(store), exchange{`{"op":"get","key":"a"}`, `{"value":"x"}`})
}

func TestKVLimits(t *testing.T) {
	store := wasmhost.NewMemoryStore()
	kv := wasmhost.KV(store)
	set := func(key string, n int) string {
		return ask(t, kv, `{"op":"set","key":"`+key+`","value":"`+strings.Repeat("v", n)+`"}`)
	}
	if got := set("a", 64<<10+1); got != "error: set: a value of 65537 bytes, more than the limit of 65536" {
		t.Error(got)
	}
	full := 0
	for ; full < 100; full++ {
		if got := set(fmt.Sprintf("k%02d", full), 64<<10); got != "{}" {
			if !strings.HasPrefix(got, "error: set: the values would take ") {
				t.Error(got)
			}
			break
		}
	}
	if full != 15 { // 15 × (65536 + 3 + 64) fit into 1 MiB, 16 do not
		t.Errorf("%d values of 64 KiB fit", full)
	}
	// Replacing and deleting give the space back; what was refused changed nothing.
	for _, step := range []struct{ got, want string }{
		{set("k00", 64<<10), "{}"},
		{set("k15", 64<<10), "error: set: the values would take 1049648 bytes, more than the limit of 1048576; delete some"},
		{ask(t, kv, `{"op":"delete","key":"k00"}`), "{}"},
		{set("k15", 64<<10), "{}"},
		{ask(t, kv, `{"op":"get","key":"k00"}`), `{"value":null}`},
	} {
		if step.got != step.want {
			t.Errorf("got %s, want %s", step.got, step.want)
		}
	}
	// The limit is the store's, not the capability's.
	kv = wasmhost.KV(store)
	if got := set("another", 64<<10); !strings.HasPrefix(got, "error: set: the values would take ") {
		t.Error(got)
	}
	// Empty values are not free.
	kv = wasmhost.KV(wasmhost.NewMemoryStore())
	n := 0
	for set(fmt.Sprint(n), 0) == "{}" {
		n++
	}
	if n > 1<<20/64 {
		t.Errorf("%d empty values fit", n)
	}
}

// brokenStore fails.
type brokenStore struct{}

var errBroken = errors.New("the disk is full")

func (brokenStore) Get(string) (string, bool, error) { return "", false, errBroken }
func (brokenStore) Set(string, string) error         { return errBroken }
func (brokenStore) Delete(string) error              { return errBroken }
func (brokenStore) Keys() ([]string, error)          { return nil, errBroken }

func TestKVStoreFails(t *testing.T) {
	talk(
		t, wasmhost.KV(brokenStore{}),
		exchange{`{"op":"get","key":"a"}`, `error: get: the disk is full`},
		exchange{`{"op":"set","key":"a","value":"b"}`, `error: set: the disk is full`},
		exchange{`{"op":"delete","key":"a"}`, `error: delete: the disk is full`},
		exchange{`{"op":"list"}`, `error: list: the disk is full`},
	)
}

// screenUI is a person who answers from a list and a screen that is remembered.
type screenUI struct {
	shown   []string
	answers []any
	err     error
}

func (u *screenUI) next() any {
	a := u.answers[0]
	u.answers = u.answers[1:]
	return a
}

func (u *screenUI) show(format string, args ...any) {
	u.shown = append(u.shown, fmt.Sprintf(format, args...))
}

func (u *screenUI) Confirm(_ context.Context, from, title, message string) (bool, error) {
	u.show("%s confirm %q %q", from, title, message)
	yes, _ := u.next().(bool)
	return yes, u.err
}

func (u *screenUI) Select(_ context.Context, from, title string, options []string) (string, bool, error) {
	u.show("%s select %q %q", from, title, options)
	s, ok := u.next().(string)
	return s, ok, u.err
}

func (u *screenUI) Input(_ context.Context, from, title, placeholder string) (string, bool, error) {
	u.show("%s input %q %q", from, title, placeholder)
	s, ok := u.next().(string)
	return s, ok, u.err
}

func (u *screenUI) Notify(_ context.Context, from, level, message string) error {
	u.show("%s notify %s %q", from, level, message)
	return u.err
}

func (u *screenUI) Status(_ context.Context, from, text string) error {
	u.show("%s status %q", from, text)
	return u.err
}

func TestUI(t *testing.T) {
	person := &screenUI{answers: []any{true, false, "next", nil, "", nil}}
	talk(
		t, wasmhost.AskUI("guard", person),
		exchange{`{"op":"confirm","title":"Delete?","message":"3 files"}`, `{"answer":true}`},
		exchange{`{"op":"confirm","title":"Sure?"}`, `{"answer":false}`},
		exchange{`{"op":"select","title":"Branch","options":["main","next"]}`, `{"answer":"next"}`},
		exchange{`{"op":"select","title":"Branch","options":["main"]}`, `{"answer":null}`},
		exchange{`{"op":"input","title":"Why?","placeholder":"a sentence"}`, `{"answer":""}`},
		exchange{`{"op":"input","title":"Why?"}`, `{"answer":null}`},
		exchange{`{"op":"notify","message":"done"}`, `{}`},
		exchange{`{"op":"notify","message":"done","level":"warning"}`, `{}`},
		exchange{`{"op":"status","text":"watching"}`, `{}`},
		exchange{`{"op":"status","text":""}`, `{}`},
	)
	want := []string{
		`guard confirm "Delete?" "3 files"`, `guard confirm "Sure?" ""`, `guard select "Branch" ["main" "next"]`, `guard select "Branch" ["main"]`, `guard input "Why?" "a sentence"`, `guard input "Why?" ""`,
		`guard notify info "done"`, `guard notify warning "done"`, `guard status "watching"`, `guard status ""`,
	}
	if d := cmp.Diff(want, person.shown); d != "" {
		t.Errorf("shown (-want +got):\n%s", d)
	}
	person.shown = nil
	long := strings.Repeat("x", 8<<10+1)
	talk(
		t, wasmhost.AskUI("guard", person),
		exchange{`{"op":"confirm"}`, `error: confirm: key "title" is missing`},
		exchange{`{"op":"confirm","title":"` + long + `"}`, `error: confirm: key "title": 8193 bytes, more than the limit of 8192`},
		exchange{`{"op":"confirm","title":"a","message":"` + long + `"}`, `error: confirm: key "message": 8193 bytes, more than the limit of 8192`},
		exchange{`{"op":"confirm","title":"a","options":[]}`, `error: confirm: unknown key "options"; known are message, op, title`},
		exchange{`{"op":"select","title":"a"}`, `error: select: key "options" is missing`},
		exchange{`{"op":"select","title":"a","options":[]}`, `error: select: a choice has 1 to 100 options, this one has 0`},
		exchange{`{"op":"select","title":"a","options":[` + strings.Repeat(`"",`, 100) + `""]}`, `error: select: a choice has 1 to 100 options, this one has 101`},
		exchange{`{"op":"select","title":"a","options":[1]}`, `error: select: key "options": want a text`},
		exchange{`{"op":"select","title":"a","options":null}`, `error: select: key "options": want an array of texts`},
		exchange{`{"op":"select","title":"a","options":["` + long + `"]}`, `error: select: key "options": 8193 bytes, more than the limit of 8192`},
		exchange{`{"op":"notify","message":"a","level":"loud"}`, `error: notify: unknown level "loud"; there are info, warning, error`},
		exchange{`{"op":"status"}`, `error: status: key "text" is missing`},
	)
	if len(person.shown) > 0 {
		t.Errorf("what is refused was shown: %q", person.shown)
	}
	person.err, person.answers = errors.New("the terminal is gone"), []any{nil, nil, nil}
	talk(
		t, wasmhost.AskUI("guard", person),
		exchange{`{"op":"confirm","title":"a"}`, `error: confirm: the terminal is gone`},
		exchange{`{"op":"select","title":"a","options":["b"]}`, `error: select: the terminal is gone`},
		exchange{`{"op":"input","title":"a"}`, `error: input: the terminal is gone`},
		exchange{`{"op":"notify","message":"a"}`, `error: notify: the terminal is gone`},
		exchange{`{"op":"status","text":"a"}`, `error: status: the terminal is gone`},
	)
}

func TestUIWithoutPerson(t *testing.T) {
	talk(
		t, wasmhost.AskUI("guard", nil),
		exchange{`{"op":"confirm","title":"Delete?"}`, `{"answer":false}`},
		exchange{`{"op":"select","title":"Branch","options":["main"]}`, `{"answer":null}`},
		exchange{`{"op":"input","title":"Why?"}`, `{"answer":null}`},
		exchange{`{"op":"notify","message":"done"}`, `{}`},
		exchange{`{"op":"status","text":"watching"}`, `{}`},
	)
}

// TestRefusalsAreNoFaults: a guest reads why it was refused, and goes on.
func TestRefusalsAreNoFaults(t *testing.T) {
	file, err := wasmhost.File([]string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	caps := grants()
	caps["kv"], caps["http"], caps["file"], caps["ui"] = wasmhost.KV(wasmhost.NewMemoryStore()), wasmhost.HTTP(nil), file, wasmhost.AskUI("x", nil)
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps})
	for _, c := range []struct{ name, request, want string }{
		{"kv", `{"op":"get"}`, `get: key "key" is missing`},
		{"http", `{"op":"request","url":"https://a.example/"}`, "request: GET https://a.example/ is not granted"},
		{"file", `{"op":"read","path":"../x"}`, "read: ../x: not below a granted folder"},
		{"ui", `{"op":"shout"}`, `unknown op "shout" (known: confirm, select, input, notify, status)`},
	} {
		out := p.do(t, poke(64, c.request), op("weir_"+c.name, 64, uint64(len(c.request))), op("weir_response_read", 4096, 0, 1000), emit(4096, uint64(len(c.want))))
		if w := words(t, out[:16]); w[0] != -1 || w[1] != int64(len(c.want)) || string(out[16:]) != c.want {
			t.Errorf("%s: %v %q, want -1 %q", c.name, w, out[16:], c.want)
		}
	}
	if out := words(t, p.do(t, op("weir_kv", 0, 0), op("weir_response_read", 0, 0, 0))); out[0] != -1 || out[1] == 0 {
		t.Errorf("an empty request: %v", out)
	}
}

// TestLargeRequest: a request that is too large is refused unread.
func TestLargeRequest(t *testing.T) {
	caps := grants()
	caps["kv"] = wasmhost.Capability{Handle: func(context.Context, []byte) ([]byte, error) { panic("it was handed on") }}
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps})
	want := "a request of 3145728 bytes, more than the limit of 2097152"
	out := p.do(t, op("grow", 64), op("weir_kv", 0, 3<<20), op("weir_response_read", 4096, 0, 1000), emit(4096, uint64(len(want))))
	if w := words(t, out[8:24]); w[0] != -1 || string(out[24:]) != want {
		t.Errorf("%v %q", w, out[24:])
	}
}

// patientUI answers after the guest's time is up, and shows a status as slowly.
type patientUI struct{ screenUI }

func (*patientUI) wait(ctx context.Context) error {
	select {
	case <-time.After(300 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (u *patientUI) Confirm(ctx context.Context, _, _, _ string) (bool, error) {
	return true, u.wait(ctx)
}
func (u *patientUI) Status(ctx context.Context, _, _ string) error { return u.wait(ctx) }

// TestUITime: a person may take time, showing something may not.
func TestUITime(t *testing.T) {
	caps := grants()
	caps["ui"] = wasmhost.AskUI("x", &patientUI{})
	// The fuel must outlast the deadline on the fastest machine.
	p := newProbe(t, wasmhost.Config{}, wasmhost.GuestConfig{Capabilities: caps, Limits: wasmhost.Limits{Timeout: 150 * time.Millisecond, Fuel: 1e12}})
	request := func(s string) []any { return []any{poke(64, s), op("weir_ui", 64, uint64(len(s)))} }
	confirm := `{"op":"confirm","title":"a"}`
	out, _, err := p.try(t, append(request(confirm), op("weir_response_read", 4096, 0, 100), emit(4096, 15))...)
	if err != nil || string(out[16:]) != `{"answer":true}` {
		t.Errorf("%q %v", out, err)
	}
	_, _, err = p.try(t, request(`{"op":"status","text":"a"}`)...)
	wantFault(t, err, wasmhost.KindDeadline)
	// After the answer the rest of the guest's own time still counts.
	_, _, err = p.try(t, append(request(confirm), op("spin"))...)
	wantFault(t, err, wasmhost.KindDeadline)
	// Who cancels the run does not wait for the person.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = p.Call(ctx, "call", wasmhost.Input{Bytes: p.script(t, request(confirm)...)}, ignore)
	wantFault(t, err, wasmhost.KindDeadline)
}

package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/set"
)

// Run with -update to rewrite the goldens; commit only a diff that you understand.
var update = flag.Bool("update", false, "rewrite testdata/good/*.golden")

func files(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("no files match %s (%v)", pattern, err)
	}
	return list
}

func parse(t testing.TB, text string) *Script {
	t.Helper()
	script, err := Parse("test.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func ask(text string) *agentcore.Request {
	return &agentcore.Request{
		Model: agentcore.Model{ID: "m", Provider: "p", API: "a"},
		Messages: []*agentcore.Message{
			agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: text}}),
		},
	}
}

func clockAt(ms int64) func() time.Time { return func() time.Time { return time.UnixMilli(ms) } }

// record makes a request and writes down its events, then the message.
func record(t testing.TB, w *bytes.Buffer, p *Provider, req *agentcore.Request) *agentcore.AssistantMessage {
	t.Helper()
	m, err := p.Stream(t.Context(), req, func(ev agentcore.AssistantEvent) error {
		fmt.Fprintf(w, "%s %d", ev.Type, ev.ContentIndex)
		for _, s := range []string{ev.Delta, ev.Content, string(ev.Reason)} {
			if s != "" {
				fmt.Fprintf(w, " %q", s)
			}
		}
		if ev.ToolCall != nil {
			fmt.Fprintf(w, " %s %s %s", ev.ToolCall.ID, ev.ToolCall.Name, ev.ToolCall.Arguments)
		}
		fmt.Fprintln(w)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := agentcore.NewMessage(m).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(w, "= %s\n\n", raw)
	return m
}

func TestGood(t *testing.T) {
	for _, file := range files(t, "testdata/good/*.toml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, err := Parse(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			model, err := json.Marshal(script.Model())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%s\n\n", model)
			p := script.Provider()
			p.Now = clockAt(1000)
			for range script.Len() {
				record(t, &got, p, ask("Hello"))
			}
			golden := strings.TrimSuffix(file, ".toml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
		})
	}
}

var marker = regexp.MustCompile(`### ("(?:[^"\\]|\\.)*")`)

// TestBad holds each file to its markers: one error on every line that has one, matching it, and on no other.
func TestBad(t *testing.T) {
	for _, file := range files(t, "testdata/bad/*.toml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[int]*regexp.Regexp{}
			for i, line := range strings.Split(string(text), "\n") {
				if found := marker.FindStringSubmatch(line); found != nil {
					pattern, err := strconv.Unquote(strings.ReplaceAll(found[1], `\?`, `\\?`))
					if err != nil {
						t.Fatal(err)
					}
					want[i+1] = regexp.MustCompile(pattern)
				}
			}
			script, err := Parse(file, string(text))
			var errs set.Errors
			if script != nil || !errors.As(err, &errs) {
				t.Fatalf("Parse gave %v, %v", script, err)
			}
			for _, e := range errs {
				switch pattern := want[e.Line]; {
				case pattern == nil:
					t.Errorf("no error wanted here: %v", e)
				case !pattern.MatchString(e.Error()):
					t.Errorf("%v\ndoes not match %s", e, pattern)
				}
				delete(want, e.Line)
			}
			for line, pattern := range want {
				t.Errorf("line %d: no error, want %s", line, pattern)
			}
		})
	}
}

func TestErrorsTellTheirPlace(t *testing.T) {
	_, err := Parse("a/b.toml", "[[response]]\n  txt = 'x'\n")
	if got, want := err.Error(), `a/b.toml:2:3: response[1].txt: unknown key "txt" (did you mean "text"?)`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var one *set.Error
	if !errors.As(err, &one) || one.Line != 2 || one.Column != 3 || one.Key != "response[1].txt" {
		t.Errorf("%#v", one)
	}
}

func TestParseHoldsOut(t *testing.T) {
	for name, text := range map[string]string{
		"nested": "[[response]]\ntext = 'x'\n[[response.call]]\ntool = 'x'\nargs = { a = " + strings.Repeat("[", 100_000),
		"dotted": "a" + strings.Repeat(".a", 100_000) + " = 1",
		"header": "[a" + strings.Repeat(".a", 100_000) + "]",
		"large":  "# " + strings.Repeat("x", 1<<20),
		"empty":  "",
	} {
		if _, err := Parse("t", text); err == nil || len(err.Error()) > 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRunningOut(t *testing.T) {
	p := parse(t, "[[response]]\ntext = 'only one'").Provider()
	var log bytes.Buffer
	record(t, &log, p, ask("a"))
	if p.Left() != 0 {
		t.Errorf("%d left", p.Left())
	}
	log.Reset()
	m := record(t, &log, p, ask("b"))
	if m.StopReason != agentcore.StopError || m.ErrorMessage != "script test.toml: no response is left: it has 1, and this is request 2" {
		t.Errorf("%+v", m)
	}
	if !strings.HasPrefix(log.String(), "error 0 \"error\"\n") {
		t.Errorf("events %s", &log)
	}
	if requests := p.Requests(); len(requests) != 2 || requests[1].Messages[0].User().Content.Text != "b" {
		t.Errorf("requests %v", requests)
	}
}

func TestExpect(t *testing.T) {
	script := parse(t, "[[response]]\nexpect = '^a\\nb$'\ntext = 'x'\n\n[[response]]\nexpect='c'\ntext = 'y'")
	told := ask("before")
	result := func(text string) *agentcore.Message {
		return agentcore.NewMessage(&agentcore.ToolResultMessage{Content: []agentcore.Block{&agentcore.TextBlock{Text: text}, &agentcore.ImageBlock{}}})
	}
	told.Messages = append(told.Messages, agentcore.NewMessage(&agentcore.AssistantMessage{}), result("a"), result("b"))
	p := script.Provider()
	var log bytes.Buffer
	if m := record(t, &log, p, told); m.StopReason != agentcore.StopStop {
		t.Errorf("%+v", m)
	}
	m := record(t, &log, p, told)
	if want := `script test.toml:5: response 2 expects "c", but the model was told "a\nb"`; m.StopReason != agentcore.StopError || m.ErrorMessage != want {
		t.Errorf("%q, want %q", m.ErrorMessage, want)
	}
}

func TestRequestsAreCopies(t *testing.T) {
	p := parse(t, "[[response]]\ntext='x'").Provider()
	req := ask("first")
	var log bytes.Buffer
	record(t, &log, p, req)
	req.Messages[0] = nil
	if got := p.Requests()[0].Messages[0]; got == nil {
		t.Error("the record changed with the request")
	}
}

func TestAbortKeepsThePartialMessage(t *testing.T) {
	p := parse(t, "[[response]]\ntext = 'one two three'\n[[response.call]]\ntool='t'\nargs={a='b c'}").Provider()
	for _, tt := range []struct {
		at   string // the delta after which the request is cancelled
		want string
	}{
		{"one ", `[{"type":"text","text":"one "}]`},
		{`{"a":"b `, `[{"type":"text","text":"one two three"},{"type":"toolCall","id":"call_1","name":"t","arguments":{}}]`},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		p.next = 0
		m, err := p.Stream(ctx, ask("x"), func(ev agentcore.AssistantEvent) error {
			if ev.Delta == tt.at {
				cancel()
			}
			return nil
		})
		if err != nil || m.StopReason != agentcore.StopAborted || m.ErrorMessage != "the request was aborted" {
			t.Fatalf("%+v, %v", m, err)
		}
		var got struct{ Content json.RawMessage }
		raw, err := json.Marshal(agentcore.NewMessage(m))
		if err := errors.Join(err, json.Unmarshal(raw, &got)); err != nil {
			t.Fatal(err)
		}
		if string(got.Content) != tt.want {
			t.Errorf("content %s, want %s", got.Content, tt.want)
		}
		cancel()
	}
}

// The request that the loop makes after an abort must not use up a response.
func TestCancelledRequestTakesNoResponse(t *testing.T) {
	p := parse(t, "[[response]]\ntext = 'x'").Provider()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m, err := p.Stream(ctx, ask("x"), func(agentcore.AssistantEvent) error { return nil })
	if err != nil || m.StopReason != agentcore.StopAborted || p.Left() != 1 || len(p.Requests()) != 1 {
		t.Errorf("%+v, %v, %d left", m, err, p.Left())
	}
}

func TestPausesPassAndEndWithTheContext(t *testing.T) {
	const text = "[[response]]\ndelay = '10s'\npause = '1s'\nblock = [{text = 'a b c'}, {text = 'd', delay = '5s'}]"
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := parse(t, text).Provider()
		if _, err := p.Stream(t.Context(), ask("x"), func(agentcore.AssistantEvent) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 18*time.Second {
			t.Errorf("took %v", took)
		}
		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		m, err := parse(t, text).Provider().Stream(ctx, ask("x"), func(agentcore.AssistantEvent) error { return nil })
		if err != nil || m.StopReason != agentcore.StopAborted || time.Since(start) != 3*time.Second {
			t.Errorf("%+v, %v after %v", m, err, time.Since(start))
		}
	})
}

func TestEmitErrorsComeBack(t *testing.T) {
	broken := errors.New("listener")
	p := parse(t, "[[response]]\ntext = 'a b'\n[[response.call]]\ntool = 't'").Provider()
	var total int
	for fail := 0; ; fail++ {
		p.next = 0
		n := 0
		_, err := p.Stream(t.Context(), ask("x"), func(agentcore.AssistantEvent) error {
			n++
			if n > fail {
				return broken
			}
			return nil
		})
		if err == nil {
			total = n
			break
		}
		if !errors.Is(err, broken) || n != fail+1 {
			t.Fatalf("after %d events: %v, %d events", fail, err, n)
		}
	}
	if total != 9 { // start, text 1+2+1, call 1+1+1, done
		t.Errorf("%d events", total)
	}
}

// The deltas of a block add up to it, however they are cut.
func TestDeltasAddUp(t *testing.T) {
	for _, text := range []string{"", " ", "a", " a  b\n\nc ", "日本 語\t"} {
		for chunk := range 4 {
			pieces := deltas(text, chunk)
			if strings.Join(pieces, "") != text {
				t.Errorf("%q in %d: %q", text, chunk, pieces)
			}
			for _, piece := range pieces {
				if piece == "" {
					t.Errorf("%q in %d: an empty delta", text, chunk)
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.toml", "testdata/bad/*.toml"} {
		for _, file := range files(f, pattern) {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, err := Parse("fuzz", text)
		if (script == nil) == (err == nil) {
			t.Fatalf("%v, %v", script, err)
		}
		var errs set.Errors
		if err != nil && (!errors.As(err, &errs) || len(errs) == 0) {
			t.Fatalf("not Errors: %v", err)
		}
		for _, e := range errs {
			if e.Line < 1 || e.Column < 1 || e.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("place of %v", e)
			}
		}
		if script == nil {
			return
		}
		ids := map[string]bool{}
		for _, call := range script.Calls() {
			var object map[string]any
			if err := json.Unmarshal(call.Arguments, &object); err != nil || object == nil || call.ID == "" || ids[call.ID] {
				t.Fatalf("call %+v: %v", call, err)
			}
			ids[call.ID] = true
		}
	})
}

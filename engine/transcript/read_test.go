package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"weir/engine/transcript"
)

// read gives the events as lines "LINE kind id tool input outcome cwd", without what is empty.
func read(t *testing.T, f transcript.Format, text string) ([]string, *transcript.Report) {
	t.Helper()
	var got []string
	keys := map[transcript.Key]string{}
	report, err := transcript.Read(t.Context(), strings.NewReader(text), transcript.Options{Format: f, MaxLine: 4096}, func(ev *transcript.Event) error {
		kind := "call"
		if ev.Kind == transcript.Result {
			kind = "result " + ev.Outcome.String()
			if keys[ev.Key] == "" {
				t.Errorf("line %d: the result of a call that was not told", ev.Line)
			}
		} else if keys[ev.Key] != "" {
			t.Errorf("line %d: the key of %s again", ev.Line, keys[ev.Key])
		}
		keys[ev.Key] = ev.CallID
		got = append(got, strings.Join(strings.Fields(fmt.Sprintf("%d %s %s %s %s %s", ev.Line, kind, ev.CallID, ev.Tool, ev.Input, ev.CWD)), " "))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, report
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		format transcript.Format
		text   string
		want   []string
		report transcript.Report // but for Lines, Calls, Results and Problems
	}{
		"pi, version 1": {
			transcript.Pi, `{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}
{"type":"message","timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"hi"}}
{"type":"message","timestamp":"2026-01-01T00:00:01Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"ls","arguments":{}},{"type":"toolCall","id":"b","name":"bash","arguments":{"command":"x"}}]}}
{"type":"message","message":{"role":"toolResult","toolCallId":"b","content":[{"type":"text","text":"Tool execution was blocked"}],"isError":true}}
{"type":"message","message":{"role":"toolResult","toolCallId":"a","content":"ok"}}
`,
			[]string{`3 call a ls {} /w`, `3 call b bash {"command":"x"} /w`, `4 result denied b bash {"command":"x"} /w`, `5 result ok a ls {} /w`},
			transcript.Report{},
		},
		"pi: branches, ids again, results without calls, results twice": {
			transcript.Pi, `{"type":"session","version":3,"id":"s","cwd":"/w"}
{"type":"message","id":"1","message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"ls","arguments":{}}],"timestamp":1}}
{"type":"message","id":"2","parentId":"1","message":{"role":"toolResult","toolCallId":"a","content":[],"isError":true}}
{"type":"message","id":"3","parentId":"1","message":{"role":"toolResult","toolCallId":"a","content":[]}}
{"type":"message","id":"4","parentId":null,"message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"ls","arguments":{}}],"timestamp":1}}
{"type":"message","id":"5","parentId":"4","message":{"role":"toolResult","toolCallId":"a","content":[]}}
{"type":"message","id":"6","message":{"role":"toolResult","toolCallId":"z","content":[]}}
{"type":"from_the_future"}
`,
			[]string{`2 call a ls {} /w`, `3 result failed a ls {} /w`, `5 call a ls {} /w`, `6 result ok a ls {} /w`},
			transcript.Report{Repeated: 1, Orphans: 1, Unknown: 1},
		},
		"claude": {
			transcript.Claude, `{"type":"assistant","uuid":"1","cwd":"/a","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"x"}},{"type":"server_tool_use","id":"w","name":"web_search","input":{}}]}}
{"type":"user","uuid":"2","cwd":"/b","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"PreToolUse:Bash hook error: [guard]: no"}]}}
{"type":"user","uuid":"3","message":{"content":"text"}}
{"type":"progress","data":{"message":{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c","name":"Bash","input":{}}]}}}}
{"type":"assistant","uuid":"4","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"x"}}]}}
`,
			[]string{`1 call a Bash {"command":"x"} /a`, `2 result denied a Bash {"command":"x"} /b`},
			transcript.Report{Remote: 1, Repeated: 1},
		},
		"codex: forms of calls": {
			transcript.Codex, `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"a","arguments":"{\"command\":[\"/bin/zsh\",\"-lc\",\"ls | wc\"]}"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"b","arguments":"{\"command\":[\"rm\",\"-rf\",\"a b\"]}"}}
{"type":"response_item","payload":{"type":"local_shell_call","id":"c","action":{"type":"exec","command":["bash","-c","pwd"]}}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"d","arguments":"{\"command\":[\"apply_patch\",\"*** Begin\"]}"}}
{"type":"response_item","payload":{"type":"function_call","name":"tool","namespace":"mcp__files__","call_id":"e","arguments":"{\"x\":1}"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"f","arguments":"{\"command\":"}}
{"type":"response_item","payload":{"type":"web_search_call","action":{}}}
`,
			[]string{
				`2 call a Bash {"command":"ls | wc"} /w`, `3 call b Bash {"command":"rm -rf 'a b'"} /w`, `4 call c Bash {"command":"pwd"} /w`,
				`5 call d apply_patch {"command":"*** Begin"} /w`, `6 call e mcp__files__tool {"x":1} /w`, `7 call f Bash "{\"command\":" /w`,
			},
			transcript.Report{Remote: 1},
		},
		"codex: forms of outputs, mirrors, before there was a payload": {
			transcript.Codex, `{"id":"s","timestamp":"2026-01-01T00:00:00Z","instructions":null}
{"type":"function_call","name":"shell","call_id":"a","arguments":"{\"command\":[\"ls\"]}"}
{"type":"event_msg","payload":{"type":"exec_command_end","call_id":"a","exit_code":0}}
{"type":"function_call_output","call_id":"a","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}"}
{"type":"function_call","name":"shell","call_id":"a","arguments":"{\"command\":[\"ls\"]}"}
{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"Process exited with code 0\nOutput:\nProcess exited with code 1"}]}
{"type":"custom_tool_call","name":"apply_patch","call_id":"b","input":"*** Begin"}
{"type":"custom_tool_call_output","call_id":"b","output":"patch rejected by user"}
{"type":"function_call_output","call_id":"b","output":{"content":"x","success":false}}
`,
			[]string{
				`2 call a Bash {"command":"ls"}`, `4 result failed a Bash {"command":"ls"}`, `5 call a Bash {"command":"ls"}`, `6 result ok a Bash {"command":"ls"}`,
				`7 call b apply_patch {"command":"*** Begin"}`, `8 result denied b apply_patch {"command":"*** Begin"}`,
			},
			transcript.Report{Repeated: 1},
		},
		"what cannot be read": {
			transcript.Pi, "{\"type\":\"session\",\"id\":\"s\"}\r\n\n\x00\x00\x00\n" + strings.Repeat("[", 4000) + "\n" +
				`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"` + strings.Repeat("x", 5000) + "\"}]}}\n" +
				"{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"a\\u0000\xff\",\"name\":\"\\u001b[2J\",\"arguments\":null}]}}\n" +
				"{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":[7]}}\n" +
				`{"type":"mess`,
			[]string{"6 call a\x00\uFFFD \x1b[2J null"},
			transcript.Report{Unreadable: 3, Oversize: 1, Torn: 1, Mended: 1},
		},
		"a last line without its end that is whole": {
			transcript.Pi, "{\"type\":\"session\",\"id\":\"s\"}\n" + `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"ls","arguments":{}}]}}`,
			[]string{"2 call a ls {}"},
			transcript.Report{},
		},
		"nothing": {transcript.Claude, "", nil, transcript.Report{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, report := read(t, c.format, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			report.Lines, report.Calls, report.Results, report.Problems = 0, 0, 0, nil
			if diff := cmp.Diff(c.report, *report); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// endless gives so many bytes of a line that never ends.
type endless int

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), int(*e))
	if *e -= endless(n); n == 0 {
		return 0, io.EOF
	}
	for i := range n {
		p[i] = 'x'
	}
	return n, nil
}

// TestLongLineIsNotHeld: what is passed over takes no memory.
func TestLongLineIsNotHeld(t *testing.T) {
	line := endless(64 << 20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, err := transcript.Read(t.Context(), &line, transcript.Options{Format: transcript.Pi, MaxLine: 1 << 20}, nil)
	runtime.ReadMemStats(&after)
	if err != nil || report.Oversize != 1 || len(report.Problems) != 1 {
		t.Errorf("%v, %+v", err, report)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes were allocated for a line of 64 MiB that is passed over", took)
	}
}

// TestWaitingIsBounded: arguments of calls that get no result are let go, the oldest first.
func TestWaitingIsBounded(t *testing.T) {
	var b bytes.Buffer
	const calls = 80
	for i := range calls {
		fmt.Fprintf(&b, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"%d","name":"Write","input":{"content":"%s"}}]}}`+"\n", i, strings.Repeat("x", 1<<20))
	}
	for _, i := range []int{0, calls - 1} {
		fmt.Fprintf(&b, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%d","content":"ok"}]}}`+"\n", i)
	}
	report, err := transcript.Read(t.Context(), &b, transcript.Options{Format: transcript.Claude}, func(*transcript.Event) error { return nil })
	if err != nil || report.Calls != calls || report.Results != 1 || report.Orphans != 1 {
		t.Errorf("%v, %+v", err, report)
	}
}

func TestReadErrors(t *testing.T) {
	boom := errors.New("boom")
	if _, err := transcript.Read(t.Context(), iotest.ErrReader(boom), transcript.Options{Format: transcript.Pi}, nil); !errors.Is(err, boom) {
		t.Errorf("a reader's error: %v", err)
	}
	call := `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a"}]}}`
	if _, err := transcript.Read(t.Context(), strings.NewReader(call), transcript.Options{Format: transcript.Claude}, func(*transcript.Event) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("visit's error: %v", err)
	}
	if _, err := transcript.Read(t.Context(), strings.NewReader(""), transcript.Options{Format: "x"}, nil); err == nil {
		t.Error("there is no format x")
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]transcript.Format{
		`{"type":"session","id":"x"}`:                                               transcript.Pi,
		"garbage\n" + `{"type":"session","version":3,"id":"x"}`:                     transcript.Pi,
		`{"type":"summary","summary":"x","leafUuid":"y"}`:                           transcript.Claude,
		`{"type":"file-history-snapshot","messageId":"x","snapshot":{}}`:            transcript.Claude,
		`{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user"}}`:      transcript.Claude,
		`{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{}}`:   transcript.Codex,
		`{"id":"x","timestamp":"2026-01-01T00:00:00Z","instructions":null}`:         transcript.Codex,
		`{"type":"message"}` + "\n" + `{"type":"function_call","call_id":"c"}`:      transcript.Codex,
		`{"type":"package","name":"x"}`:                                             "",
		"":                                                                          "",
		strings.Repeat("\n", 100) + `{"type":"session","version":3,"id":"x"}`:       "",
		`{"type":7}` + "\n" + `{"type":"event_msg","payload":{"type":"agent_msg"}}`: transcript.Codex,
	} {
		got, err := transcript.Detect(strings.NewReader(text))
		if got != want || (want == "") != errors.Is(err, transcript.ErrFormat) {
			t.Errorf("%.60q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestFolders(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".claude/projects", "c/projects", ".codex/sessions", ".codex/archived_sessions", "x/sessions", ".pi/agent/sessions", "p/sessions", "s"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) []string {
		for i := range names {
			names[i] = filepath.Join(home, names[i])
		}
		return names
	}
	for _, c := range []struct {
		format transcript.Format
		env    map[string]string
		want   []string
	}{
		{transcript.Claude, nil, at(".claude/projects")},
		{transcript.Claude, map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "c")}, at("c/projects")},
		{transcript.Codex, nil, at(".codex/archived_sessions", ".codex/sessions")},
		{transcript.Codex, map[string]string{"CODEX_HOME": "~/x"}, at("x/sessions")},
		{transcript.Pi, nil, at(".pi/agent/sessions")},
		{transcript.Pi, map[string]string{"PI_CODING_AGENT_DIR": "~/p"}, at("p/sessions")},
		{transcript.Pi, map[string]string{"PI_CODING_AGENT_DIR": "~/p", "PI_CODING_AGENT_SESSION_DIR": "~/s"}, at("s")},
		{transcript.Codex, map[string]string{"CODEX_HOME": "/nowhere"}, nil},
	} {
		got, err := transcript.Folders(c.format, func(name string) string { return c.env[name] }, home)
		if diff := cmp.Diff(c.want, got); diff != "" || (c.want == nil) != (err != nil) {
			t.Errorf("%s %v: %v\n%s", c.format, c.env, err, diff)
		}
	}
}

func TestFind(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{"b/2.jsonl", "a.jsonl", "b/1.jsonl", "notes.md"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "x.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Symlink(filepath.Join(outside, "x.jsonl"), filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	got, err := transcript.Find(dir)
	if diff := cmp.Diff([]string{filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b/1.jsonl"), filepath.Join(dir, "b/2.jsonl")}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err = transcript.Find(filepath.Join(dir, "notes.md")); err != nil || len(got) != 1 {
		t.Errorf("a file that is named itself: %v, %v", got, err)
	}
	if _, err = transcript.Find(filepath.Join(dir, "nothing")); err == nil {
		t.Error("a path that is not there")
	}
}

// FuzzRead: whatever a file holds, reading ends without an error, and what is told fits together.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"type":"session","id":"s"}` + "\n" + `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"ls","arguments":{}}]}}` + "\n" +
			`{"type":"message","message":{"role":"toolResult","toolCallId":"a","content":[{"type":"text","text":"x"}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"x"}}]}}` + "\n" +
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"x"}]}]},"toolUseResult":{}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"a","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}"}}` + "\n" +
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"}}`,
		`{"type":"custom_tool_call","name":"apply_patch","call_id":"b","input":"*** Begin"}` + "\n" + `{"type":"custom_tool_call_output","call_id":"b","output":{"success":false}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := transcript.Detect(bytes.NewReader(data)); err != nil && !errors.Is(err, transcript.ErrFormat) {
			t.Error(err)
		}
		for _, format := range transcript.Formats() {
			calls, results := map[transcript.Key]bool{}, map[transcript.Key]bool{}
			report, err := transcript.Read(t.Context(), bytes.NewReader(data), transcript.Options{Format: format, MaxLine: 2048}, func(ev *transcript.Event) error {
				switch {
				case ev.Kind == transcript.Call && calls[ev.Key], ev.Kind == transcript.Result && (results[ev.Key] || !calls[ev.Key]):
					t.Errorf("%s: line %d: kind %d again, or a result before its call", format, ev.Line, ev.Kind)
				case ev.Kind == transcript.Call:
					calls[ev.Key] = true
				default:
					results[ev.Key] = true
				}
				return nil
			})
			if err != nil || report.Calls != len(calls) || report.Results != len(results) {
				t.Errorf("%s: %v, %+v; told were %d calls and %d results", format, err, report, len(calls), len(results))
			}
		}
	})
}

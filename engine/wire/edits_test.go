package wire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore"
)

// history makes messages from a short notation, one word a message: u user, a assistant with text, aX,Y assistant with calls
// X and Y, rX result of X, c custom. Times count up from 1.
func history(t testing.TB, notation string) []*agentcore.Message {
	t.Helper()
	var list []*agentcore.Message
	for i, word := range strings.Fields(notation) {
		list = append(list, decode(t, messageJSON(word, int64(i+1))))
	}
	return list
}

func messageJSON(word string, time int64) string {
	rest := word[1:]
	switch word[0] {
	case 'u':
		return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"hello%s"}],"timestamp":%d}`, rest, time)
	case 'c':
		return fmt.Sprintf(`{"role":"custom","customType":"note%s","content":"n","display":true,"timestamp":%d}`, rest, time)
	case 'r':
		return fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"bash","content":[{"type":"text","text":"ok"}],"isError":false,"timestamp":%d}`, rest, time)
	}
	content := `{"type":"text","text":"t"}`
	for _, id := range strings.Split(rest, ",") {
		if id != "" {
			content += fmt.Sprintf(`,{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":"ls"}}`, id)
		}
	}
	const usage = `{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
	return fmt.Sprintf(`{"role":"assistant","content":[%s],"api":"x","provider":"p","model":"m","usage":%s,"stopReason":"stop","timestamp":%d}`,
		content, usage, time)
}

func decode(t testing.TB, raw string) *agentcore.Message {
	t.Helper()
	m, err := agentcore.DecodeMessage(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return m
}

// notation is the other way round; a number is the original message of that index.
func notation(before, after []*agentcore.Message) string {
	var words []string
	for _, m := range after {
		word := ""
		for i, b := range before {
			if m == b {
				word = fmt.Sprint(i)
			}
		}
		if word == "" {
			switch m.Role() {
			case agentcore.RoleUser:
				word = "u"
			case agentcore.RoleAssistant:
				word = "a"
				for _, b := range m.Assistant().Content {
					if call, ok := b.(*agentcore.ToolCall); ok {
						if word != "a" {
							word += ","
						}
						word += call.ID
					}
				}
			case agentcore.RoleToolResult:
				word = "r" + m.ToolResult().ToolCallID
			default:
				word = string(m.Role())
			}
			word += fmt.Sprintf("@%d", timestamp(m))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// edit runs a whole context result as the engine does.
func edit(before []*agentcore.Message, out string) (after []*agentcore.Message, err error) {
	c, err := ParseContext([]byte(out))
	if err != nil {
		return nil, err
	}
	if after, err = c.Apply(before); err != nil {
		return nil, err
	}
	return after, c.Gate(before, after)
}

func TestReplacementKeepsTheID(t *testing.T) {
	before := history(t, "u a u")
	for i := range before {
		before[i] = before[i].WithID(uint64(i + 7))
	}
	after, err := edit(before, expand(`{"replace":[{"at":1,"message":$a}],"insert":[{"at":0,"message":$c}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{0, 7, 8, 9} {
		if got := after[i].ID(); got != want {
			t.Errorf("message %d has id %d, want %d", i, got, want)
		}
	}
}

// A result may be applied again, and messages that were made of it do not change.
func TestApplyTwice(t *testing.T) {
	c, err := ParseContext([]byte(expand(`{"replace":[{"at":0,"message":$u}],"insert":[{"at":1,"message":$a}]}`)))
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Apply(history(t, "u"))
	if err != nil {
		t.Fatal(err)
	}
	late := []*agentcore.Message{decode(t, messageJSON("u", 77))}
	second, err := c.Apply(late)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if timestamp(first[i]) != 1 || timestamp(second[i]) != 77 {
			t.Errorf("message %d: %d and %d", i, timestamp(first[i]), timestamp(second[i]))
		}
	}
}

type contextCase struct {
	Name string `json:"name"`
	// Before and After are in the notation of history and notation; Edit may hold $word for a message of that kind
	// without a timestamp, $$word for one with timestamp 99.
	Before string `json:"before"`
	Edit   string `json:"edit"`
	After  string `json:"after,omitempty"`
	Error  string `json:"error,omitempty"`
}

func TestContextCases(t *testing.T) {
	var cases []contextCase
	readJSON(t, "contexts.json", &cases)
	for i := range cases {
		c := &cases[i]
		t.Run(c.Name, func(t *testing.T) {
			before := history(t, c.Before)
			kept := append([]*agentcore.Message(nil), before...)
			after, err := edit(before, expand(c.Edit))
			got := contextCase{Name: c.Name, Before: c.Before, Edit: c.Edit}
			if err != nil {
				got.Error = err.Error()
			} else {
				got.After = notation(before, after)
			}
			if *update {
				*c = got
				return
			}
			if got != *c {
				t.Errorf("got  %+v\nwant %+v", got, *c)
			}
			for i := range before {
				if before[i] != kept[i] {
					t.Errorf("before[%d] changed", i)
				}
			}
		})
	}
	if *update {
		writeJSON(t, "contexts.json", cases)
	}
}

// expand writes out the messages of an edit.
func expand(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(s, '$')
		if at < 0 {
			return b.String() + s
		}
		b.WriteString(s[:at])
		s = s[at+1:]
		timed := strings.HasPrefix(s, "$")
		s = strings.TrimPrefix(s, "$")
		end := strings.IndexAny(s, "}] ")
		m := messageJSON(s[:end], 99)
		if !timed {
			m = strings.Replace(m, `,"timestamp":99`, "", 1)
		}
		b.WriteString(m)
		s = s[end:]
	}
}

// TestContextCorpus judges the labelled edits of the shared corpus, which is not part of the project.
func TestContextCorpus(t *testing.T) {
	shared := os.Getenv("WEIR_SHARED")
	if shared == "" {
		t.Skip("WEIR_SHARED does not name the folder with corpora/open/contexts.jsonl")
	}
	f, err := os.Open(filepath.Join(shared, "corpora", "open", "contexts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	n := 0
	for lines.Scan() {
		var row struct {
			ID, Label, Why string
			Input          struct{ Messages []json.RawMessage }
			Edit           json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		var before []*agentcore.Message
		for _, raw := range row.Input.Messages {
			before = append(before, decode(t, string(raw)))
		}
		_, err := edit(before, string(row.Edit))
		if fault := err != nil; fault != (row.Label == "danger") {
			t.Errorf("%s (%s, %s): %v", row.ID, row.Label, row.Why, err)
		}
		n++
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Fatalf("%d rows, %v", n, err)
	}
	t.Logf("%d rows", n)
}

// fullSingles is appendSingles over everything, with plain maps: what changedSingles must agree with where it counts.
func checkPairsFully(before, after []*agentcore.Message) bool {
	if len(after) == 0 && len(before) > 0 {
		return false
	}
	singles := func(list []*agentcore.Message) map[single]int {
		all := map[single]int{}
		var calls map[string]int
		var head *agentcore.Message
		end := func() {
			for id, n := range calls {
				if n > 0 {
					all[single{head, id, false}] += n
				}
			}
		}
		for _, m := range list {
			if r := m.ToolResult(); r != nil {
				if calls[r.ToolCallID] > 0 {
					calls[r.ToolCallID]--
				} else {
					all[single{m, r.ToolCallID, true}]++
				}
				continue
			}
			end()
			head, calls = m, map[string]int{}
			if a := m.Assistant(); a != nil {
				for _, b := range a.Content {
					if call, ok := b.(*agentcore.ToolCall); ok {
						calls[call.ID]++
					}
				}
			}
		}
		end()
		return all
	}
	was, now := singles(before), singles(after)
	has := func(list []*agentcore.Message, m *agentcore.Message) bool {
		for _, x := range list {
			if x == m {
				return true
			}
		}
		return false
	}
	heirs := map[single]int{}
	for s, n := range was {
		if !has(after, s.msg) {
			heirs[single{id: s.id, result: s.result}] += n
		}
	}
	for s, n := range now {
		n -= was[s]
		if n <= 0 {
			continue
		}
		if heir := (single{id: s.id, result: s.result}); !has(before, s.msg) && heirs[heir] >= n {
			heirs[heir] -= n
			continue
		}
		return false
	}
	return true
}

// Random histories and random edits: the gate that looks only at what changed agrees with one that looks at everything.
func TestCheckPairsAgainstAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		ids := "xyz"
		id := func() string { return ids[rng.IntN(3):][:1] }
		switch rng.IntN(8) {
		case 0, 1:
			return "u"
		case 2:
			return "a"
		case 3:
			return "a" + id()
		case 4:
			return "a" + id() + "," + id()
		case 5:
			return "c"
		}
		return "r" + id()
	}
	random := func(n int) []*agentcore.Message {
		words := make([]string, n)
		for i := range words {
			words[i] = word()
		}
		return history(t, strings.Join(words, " "))
	}
	faults := 0
	const rounds = 2_000
	for range rounds {
		before := random(rng.IntN(30))
		var after []*agentcore.Message
		rate := 1 + rng.IntN(12)
		for _, m := range before {
			switch rng.IntN(4 * rate) {
			case 0: // drop
			case 1:
				after = append(after, random(1)...)
			case 2:
				after = append(append(after, random(1+rng.IntN(3))...), m)
			default:
				after = append(after, m)
			}
		}
		if len(after) > 1 && rng.IntN(6) == 0 {
			a, b := rng.IntN(len(after)), rng.IntN(len(after))
			after[a], after[b] = after[b], after[a]
		}
		if rng.IntN(20) == 0 && len(after) > 12 {
			after = append(after[:2:2], after[len(after)-5:]...)
		}
		err := CheckPairs(before, after)
		if want := checkPairsFully(before, after); (err == nil) != want {
			t.Fatalf("before %s, after %s: %v, want ok %v", notation(nil, before), notation(before, after), err, want)
		}
		if err != nil {
			faults++
		}
	}
	if faults < rounds/10 || faults > rounds*9/10 {
		t.Errorf("%d of %d are faults: the edits are too tame or too wild to show anything", faults, rounds)
	}
}

// A guest may make up groups of very many calls; linear search would take minutes.
func TestCheckPairsManyCalls(t *testing.T) {
	const n = 100_000
	var calls []agentcore.Block
	after := []*agentcore.Message{nil}
	for i := range n {
		id := fmt.Sprint(i)
		calls = append(calls, &agentcore.ToolCall{ID: id, Name: "x", Arguments: json.RawMessage(`{}`)})
		after = append(after, agentcore.NewMessage(&agentcore.ToolResultMessage{ToolCallID: fmt.Sprint(n - 1 - i)}))
	}
	after[0] = agentcore.NewMessage(&agentcore.AssistantMessage{Content: calls})
	before := history(t, "u")
	if err := CheckPairs(before, after); err != nil {
		t.Error(err)
	}
	if err := CheckPairs(before, after[:n]); err == nil {
		t.Error("a call without its result was accepted")
	}
}

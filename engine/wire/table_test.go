package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

func opaque(t testing.TB, raw string) *agentcore.Message { return decode(t, raw) }

// The bytes of one small table, spelled out.
func TestTableBytes(t *testing.T) {
	custom := opaque(t, `{"role":"custom","customType":"note","content":"hello","display":true,"timestamp":1000}`)
	raw, err := custom.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var table Table
	got, err := table.Encode([]*agentcore.Message{custom}, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"574d5431", "01000000", // magic, one message
		"4a000000", "02000000", // context behind the strings
		"40000000", "0a000000", // strings behind the record
		"0000000000000000",
		"04", "10", "0100", // custom, displayed, string 1
		"05000000", hex.EncodeToString([]byte{byte(len(raw)), 0, 0, 0}),
		"ffffffff", "0000000000000000", "e803000000000000",
		"0200", "0000", "0400", hex.EncodeToString([]byte("note")),
		hex.EncodeToString([]byte(`{}`)),
	}, "")
	if diff := cmp.Diff(want, hex.EncodeToString(got)); diff != "" {
		t.Error(diff)
	}
}

func TestTableRecords(t *testing.T) {
	const usage = `"api":"x","provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop"`
	messages := []*agentcore.Message{
		decode(t, `{"role":"toolResult","toolCallId":"b","toolName":"early","content":[],"isError":false,"timestamp":-5}`),
		decode(t, `{"role":"user","content":"héllo","timestamp":1}`),
		decode(t, `{"role":"user","content":[{"type":"text","text":"ab"},{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"text","text":"c"}],"timestamp":2}`),
		decode(t, `{"role":"assistant","content":[{"type":"thinking","thinking":"long thought"},{"type":"text","text":"abc"},{"type":"toolCall","id":"a","name":"bash","arguments":{}},{"type":"toolCall","id":"b","name":"read","arguments":{}}],`+usage+`,"timestamp":3}`),
		decode(t, `{"role":"toolResult","toolCallId":"b","toolName":"read","content":[{"type":"text","text":"four"}],"isError":true,"timestamp":4}`),
		decode(t, `{"role":"custom","customType":"read","content":[{"type":"image","data":"eA==","mimeType":"image/png"}],"display":false,"timestamp":5}`),
		decode(t, `{"role":"toolResult","toolCallId":"a","toolName":"bash","content":[{"type":"image","data":"eA==","mimeType":"image/png"}],"isError":false,"timestamp":6}`),
		decode(t, `{"role":"bashExecution","command":"ls","output":"ab\n","exitCode":0,"cancelled":false,"truncated":false,"timestamp":7}`),
		decode(t, `{"role":"branchSummary","summary":"sum","fromId":"x","timestamp":8}`),
		decode(t, `{"role":"compactionSummary","summary":"","tokensBefore":1,"timestamp":9}`),
		decode(t, `{"role":"later","content":"?","timestamp":10}`),
		decode(t, `{"role":"custom","customType":7,"content":8,"display":"true","timestamp":11}`),
		decode(t, `{"role":"toolResult","toolCallId":"a","toolName":"bash","content":[{"type":"text","text":"again"}],"isError":false,"timestamp":12}`),
	}
	var table Table
	b, err := table.Encode(messages, []byte(`{"sessionId":"s"}`))
	if err != nil {
		t.Fatal(err)
	}
	view, err := ReadTable(b)
	if err != nil {
		t.Fatal(err)
	}
	if string(view.Context) != `{"sessionId":"s"}` {
		t.Errorf("context %s", view.Context)
	}
	want := []Record{
		{Role: 3, Name: "early", Pair: NoPair, Time: -5},
		{Role: 1, TextBytes: 6, Pair: NoPair, Time: 1},
		{Role: 1, Flags: FlagImage, TextBytes: 3, Pair: NoPair, Time: 2},
		{Role: 2, Flags: FlagThinking | FlagToolCall, TextBytes: 3, Pair: NoPair, Time: 3},
		{Role: 3, Flags: FlagError, Name: "read", TextBytes: 4, Pair: 3, Time: 4},
		{Role: 4, Flags: FlagImage, Name: "read", Pair: NoPair, Time: 5},
		{Role: 3, Flags: FlagImage, Name: "bash", Pair: 3, Time: 6},
		{Role: 5, TextBytes: 3, Pair: NoPair, Time: 7},
		{Role: 6, TextBytes: 3, Pair: NoPair, Time: 8},
		{Role: 7, Pair: NoPair, Time: 9},
		{Role: 255, Pair: NoPair, Time: 10},
		{Role: 4, Pair: NoPair, Time: 11},
		{Role: 3, Name: "bash", TextBytes: 5, Pair: 3, Time: 12},
	}
	for i, m := range messages {
		raw, err := m.JSON()
		if err != nil {
			t.Fatal(err)
		}
		want[i].EncodedBytes = uint32(len(raw))
	}
	if diff := cmp.Diff(want, view.Records); diff != "" {
		t.Error(diff)
	}
}

// However the messages change, a Table that remembers says the same as one that does not.
func TestTableRemembersNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random := func() *agentcore.Message {
		words := []string{"u", "a", "ax", "ay,z", "rx", "ry", "rz", "c1", "c2", "c3"}
		return history(t, words[rng.IntN(len(words))])[0]
	}
	var table Table
	var messages []*agentcore.Message
	shapes := map[string]int{}
	for round := range 3_000 {
		switch rng.IntN(9) {
		case 0, 1, 2:
			messages = append(slices.Clone(messages), random())
			shapes["append"]++
		case 3:
			shapes["same"]++
		case 4:
			if n := len(messages); n > 0 {
				at := rng.IntN(n)
				messages = slices.Delete(slices.Clone(messages), at, min(n, at+1+rng.IntN(4)))
				shapes["drop"]++
			}
		case 5:
			messages = slices.Insert(slices.Clone(messages), rng.IntN(len(messages)+1), random(), random())
			shapes["insert"]++
		case 6:
			if n := len(messages); n > 0 {
				messages = slices.Clone(messages)
				messages[rng.IntN(n)] = random()
				shapes["replace"]++
			}
		case 7:
			if n := len(messages); n > 1 {
				messages = slices.Clone(messages)
				a, b := rng.IntN(n), rng.IntN(n)
				messages[a], messages[b] = messages[b], messages[a]
				shapes["swap"]++
			}
		case 8:
			if len(messages) > 40 && rng.IntN(3) == 0 {
				messages = slices.Clone(messages[rng.IntN(len(messages)):])
				shapes["cut"]++
			}
		}
		context := []byte(fmt.Sprintf(`{"n":%d}`, round))
		got, err := table.Encode(messages, context)
		if err != nil {
			t.Fatal(err)
		}
		want, err := new(Table).Encode(messages, context)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			a, _ := ReadTable(got)
			b, _ := ReadTable(want)
			t.Fatalf("round %d, %s:\n%s", round, notation(nil, messages), cmp.Diff(b, a))
		}
	}
	if len(shapes) != 7 {
		t.Errorf("not every kind of change was made: %v", shapes)
	}
}

func TestTableOverflow(t *testing.T) {
	named := func(name string) *agentcore.Message {
		return agentcore.NewMessage(&agentcore.ToolResultMessage{ToolName: name})
	}
	var table Table
	if _, err := table.Encode([]*agentcore.Message{named(strings.Repeat("x", 65_535))}, nil); err != nil {
		t.Error(err)
	}
	_, err := table.Encode([]*agentcore.Message{named("a"), named(strings.Repeat("x", 65_536))}, nil)
	if !errors.Is(err, ErrTableOverflow) || !strings.HasPrefix(err.Error(), "message 1: ") {
		t.Errorf("got %v", err)
	}
	var many []*agentcore.Message
	for i := range 65_534 {
		many = append(many, named(fmt.Sprint(i)))
	}
	b, err := table.Encode(many, nil)
	if err != nil {
		t.Fatal(err)
	}
	if view, err := ReadTable(b); err != nil || view.Records[65_533].Name != "65533" {
		t.Errorf("%v", err)
	}
	if _, err := table.Encode(append(many, named("one more")), nil); !errors.Is(err, ErrTableOverflow) {
		t.Errorf("got %v", err)
	}
	if b, err = table.Encode(append(many, named("7")), nil); err != nil || len(b) == 0 {
		t.Errorf("after an error the table is of no use: %v", err)
	}
	if got := saturate(1 << 33); got != 0xffffffff {
		t.Errorf("%x", got)
	}
	bad := agentcore.NewMessage(&agentcore.ToolResultMessage{Details: json.RawMessage(`{`)})
	if _, err := table.Encode([]*agentcore.Message{bad}, nil); err == nil {
		t.Error("a message without JSON was encoded")
	}
	invalid, err := table.Encode([]*agentcore.Message{named("a\xffb")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if view, err := ReadTable(invalid); err != nil || view.Records[0].Name != "a\ufffdb" {
		t.Errorf("%v, %v", view, err)
	}
}

func FuzzReadTable(f *testing.F) {
	var table Table
	b, err := table.Encode(history(f, "u ax rx c1"), []byte(`{}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := ReadTable(b); err == nil && len(v.Records) > len(b)/tableRecord {
			t.Errorf("%d records out of %d bytes", len(v.Records), len(b))
		}
	})
}

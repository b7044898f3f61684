package extensions

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/c/guesttest"
)

// message is one entry of a test history. Its letters: u user, a assistant with text, c assistant with calls only, r tool result,
// s custom message.
type message struct {
	role   byte
	size   int    // bytes of text
	pair   int    // r: index of the call
	custom string // s: customType
}

const noPair = 0xffffffff

var roles = map[byte]uint8{'u': 1, 'a': 2, 'c': 2, 'r': 3, 's': 4}

// history encodes messages as the table view, and the bodies that weir_message_read hands out.
func history(t testing.TB, messages []message) (table []byte, bodies [][]byte) {
	t.Helper()
	names, index := []string{""}, map[string]int{"": 0}
	intern := func(s string) uint16 {
		if _, ok := index[s]; !ok {
			index[s] = len(names)
			names = append(names, s)
		}
		return uint16(index[s])
	}
	var records []byte
	for i, m := range messages {
		text := strings.Repeat("x", m.size)
		body := map[string]any{"timestamp": i}
		name := ""
		content := []any{map[string]any{"type": "text", "text": text}}
		switch m.role {
		case 'u':
			body["role"], body["content"] = "user", content
		case 'a':
			body["role"], body["content"] = "assistant", content
		case 'c':
			body["role"], body["content"] = "assistant", []any{map[string]any{"type": "toolCall", "id": fmt.Sprint("call-", i), "name": "bash", "arguments": map[string]any{}}}
		case 'r':
			name = "bash"
			body["role"], body["content"] = "toolResult", content
			body["toolCallId"], body["toolName"], body["isError"] = fmt.Sprint("call-", m.pair), "bash", false
			body["details"] = map[string]any{"exitCode": 0}
		case 's':
			name = m.custom
			body["role"], body["content"], body["customType"], body["display"] = "custom", text, m.custom, true
		}
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b)
		rec := make([]byte, 32)
		rec[0] = roles[m.role]
		binary.LittleEndian.PutUint16(rec[2:], intern(name))
		if m.role != 'c' {
			binary.LittleEndian.PutUint32(rec[4:], uint32(m.size))
		} else {
			rec[1] |= 4
		}
		binary.LittleEndian.PutUint32(rec[8:], uint32(len(b)))
		binary.LittleEndian.PutUint32(rec[12:], noPair)
		if m.role == 'r' {
			binary.LittleEndian.PutUint32(rec[12:], uint32(m.pair))
		}
		binary.LittleEndian.PutUint64(rec[16:], uint64(i+1))
		records = append(records, rec...)
	}
	ctx := []byte(`{"cwd":"/w"}`)
	strs := binary.LittleEndian.AppendUint16(nil, uint16(len(names)))
	for _, n := range names {
		strs = append(binary.LittleEndian.AppendUint16(strs, uint16(len(n))), n...)
	}
	table = append(table, "WMT1"...)
	table = binary.LittleEndian.AppendUint32(table, uint32(len(messages)))
	at := uint32(32 + len(records))
	for _, part := range [][]byte{ctx, strs} {
		table = binary.LittleEndian.AppendUint32(table, at)
		table = binary.LittleEndian.AppendUint32(table, uint32(len(part)))
		at += uint32(len(part))
	}
	table = binary.LittleEndian.AppendUint64(table, 0)
	return append(append(append(table, records...), ctx...), strs...), bodies
}

type edit struct {
	Drop    []int `json:"drop"`
	Replace []struct {
		At      int            `json:"at"`
		Message map[string]any `json:"message"`
	} `json:"replace"`
}

func (e edit) replaced() (at []int) {
	for _, r := range e.Replace {
		at = append(at, r.At)
	}
	return at
}

func prune(t testing.TB, g *guesttest.Guest, messages []message) edit {
	t.Helper()
	table, bodies := history(t, messages)
	g.Messages = bodies
	out, err := g.Call(context.Background(), "context", table)
	if err != nil {
		t.Fatal(err)
	}
	var e edit
	dec := json.NewDecoder(strings.NewReader(string(out)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	checkEdit(t, messages, e)
	return e
}

// checkEdit holds an edit to what must always hold: pairs whole, no user message gone, something left, each index once.
func checkEdit(t testing.TB, messages []message, e edit) {
	t.Helper()
	gone := map[int]bool{}
	for _, i := range e.Drop {
		if gone[i] {
			t.Errorf("message %d is dropped twice", i)
		}
		gone[i] = true
		if messages[i].role == 'u' || messages[i].role == 'a' {
			t.Errorf("message %d (%c) is dropped", i, messages[i].role)
		}
	}
	if len(gone) == len(messages) && len(messages) > 0 {
		t.Error("nothing is left")
	}
	for i, m := range messages {
		if m.role == 'r' && gone[i] != gone[m.pair] {
			t.Errorf("result %d and its call %d are parted", i, m.pair)
		}
	}
	for _, r := range e.Replace {
		if gone[r.At] || messages[r.At].role != 'r' {
			t.Errorf("message %d is replaced", r.At)
		}
		if r.Message["role"] != "toolResult" || r.Message["toolCallId"] != fmt.Sprint("call-", messages[r.At].pair) || r.Message["details"] != nil {
			t.Errorf("the note for %d: %v", r.At, r.Message)
		}
	}
}

// turns builds n turns of user, call, result of size bytes, answer.
func turns(n, size int) (m []message) {
	for range n {
		at := len(m)
		m = append(m, message{role: 'u', size: 20}, message{role: 'c'}, message{role: 'r', size: size, pair: at + 1}, message{role: 'a', size: 50})
	}
	return m
}

func TestPruneEphemeral(t *testing.T) {
	m := []message{{role: 'u', size: 5}, {role: 's', custom: "ephemeral-status"}, {role: 'a', size: 5}, {role: 's', custom: "ephemeral-status"}, {role: 's', custom: "note"}, {role: 's', custom: "ephemeral"}, {role: 'u', size: 5}}
	for _, c := range []struct {
		config any
		drop   []int
	}{
		{nil, []int{1}},
		{map[string]any{"keep_ephemeral": 0}, []int{1, 3, 5}},
		{map[string]any{"keep_ephemeral": 2}, nil},
		{map[string]any{"ephemeral": []string{"note"}, "keep_ephemeral": 0}, []int{4}},
		{map[string]any{"ephemeral": []string{}}, nil},
	} {
		e := prune(t, load(t, "prune-context", c.config), m)
		if diff := cmp.Diff(c.drop, e.Drop); diff != "" {
			t.Errorf("%v: %s", c.config, diff)
		}
	}
	// Nothing but ephemeral messages: one stays.
	e := prune(t, load(t, "prune-context", map[string]any{"keep_ephemeral": 0}), []message{{role: 's', custom: "ephemeral"}, {role: 's', custom: "ephemeral"}})
	if len(e.Drop) != 1 {
		t.Errorf("dropped %v", e.Drop)
	}
	if e := prune(t, load(t, "prune-context", nil), nil); len(e.Drop) != 0 {
		t.Error("an empty history is edited")
	}
}

func TestPruneResults(t *testing.T) {
	config := map[string]any{"keep_turns": 2, "keep_bytes": 0, "min_bytes": 1000, "step_bytes": 5000}
	for _, c := range []struct {
		name     string
		messages []message
		action   string
		replaced []int
		dropped  []int
	}{
		{"small results stay", turns(20, 100), "note", nil, nil},
		{"new turns stay", turns(2, 100_000), "note", nil, nil},
		{"old ones get a note", turns(4, 6000), "note", []int{2, 6}, nil},
		{"old ones go with their call", turns(4, 6000), "drop", nil, []int{1, 2, 5, 6}},
		{"less than a step is not worth it", turns(4, 2000), "note", nil, nil},
		{"a call with text keeps a note", []message{{role: 'u', size: 1}, {role: 'a', size: 9}, {role: 'r', size: 9000, pair: 1}, {role: 'u', size: 1}, {role: 'u', size: 1}}, "drop", []int{2}, nil},
		{"one small result keeps the exchange", []message{{role: 'u', size: 1}, {role: 'c'}, {role: 'r', size: 9000, pair: 1}, {role: 'r', size: 9, pair: 1}, {role: 'u', size: 1}, {role: 'u', size: 1}}, "drop", []int{2}, nil},
		{"parallel results go together", []message{{role: 'u', size: 1}, {role: 'c'}, {role: 'r', size: 9000, pair: 1}, {role: 'r', size: 9000, pair: 1}, {role: 'u', size: 1}, {role: 'u', size: 1}}, "drop", nil, []int{1, 2, 3}},
		{"no user message, no edit", []message{{role: 'c'}, {role: 'r', size: 90_000, pair: 0}}, "drop", nil, nil},
	} {
		config["action"] = c.action
		e := prune(t, load(t, "prune-context", config), c.messages)
		if diff := cmp.Diff(c.replaced, e.replaced()); diff != "" {
			t.Errorf("%s: replaced %s", c.name, diff)
		}
		if diff := cmp.Diff(c.dropped, e.Drop); diff != "" {
			t.Errorf("%s: dropped %s", c.name, diff)
		}
	}
}

// TestPruneNote shows what the model sees in place of a result.
func TestPruneNote(t *testing.T) {
	e := prune(t, load(t, "prune-context", map[string]any{"keep_turns": 1, "keep_bytes": 0, "step_bytes": 1}), turns(2, 6000))
	want := map[string]any{
		"role": "toolResult", "toolCallId": "call-1", "toolName": "bash", "isError": false, "timestamp": 2.0,
		"content": []any{map[string]any{"type": "text", "text": "[prune-context: 6000 bytes of older output of bash are no longer shown; call the tool again if they matter]"}},
	}
	if len(e.Replace) != 1 {
		t.Fatalf("%d notes", len(e.Replace))
	}
	if diff := cmp.Diff(want, e.Replace[0].Message); diff != "" {
		t.Error(diff)
	}
}

// TestPruneIsStable: while a session grows, what is pruned only grows, and in steps, on one instance as on fresh ones.
func TestPruneIsStable(t *testing.T) {
	config := map[string]any{"keep_turns": 2, "keep_bytes": 10_000, "step_bytes": 50_000}
	g := load(t, "prune-context", config)
	var last []int
	changes := 0
	for n := 1; n <= 60; n++ {
		e := prune(t, g, turns(n, 7000))
		got := e.replaced()
		if len(got) < len(last) || !slices.Equal(got[:len(last)], last) {
			t.Fatalf("turn %d: pruned %v, before %v", n, got, last)
		}
		if len(got) != len(last) {
			changes++
		}
		last = got
		if n%20 == 0 {
			if diff := cmp.Diff(prune(t, load(t, "prune-context", config), turns(n, 7000)), e); diff != "" {
				t.Errorf("turn %d: a fresh instance edits differently: %s", n, diff)
			}
		}
	}
	if changes == 0 || changes > 9 {
		t.Errorf("the pruned part changed %d times in 60 turns of 7 kB with steps of 50 kB", changes)
	}
}

func BenchmarkPruneContext10000(b *testing.B) {
	table, bodies := history(b, turns(2500, 1000))
	for _, action := range []string{"note", "drop"} {
		g := load(b, "prune-context", map[string]any{"action": action, "min_bytes": 500})
		g.Messages = bodies
		b.Run(action, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Call(context.Background(), "context", table); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package wire

import (
	"strings"
	"testing"
	"time"
)

// The largest output that the default limit lets through, in the shapes that take longest to read, costs the host well
// under a second. The bound is coarse on purpose; it catches what grows with the square.
func TestLargeOutputs(t *testing.T) {
	const (
		limit = 8 << 20
		bound = 40 * time.Second
	)
	fill := func(head, unit, tail string) []byte {
		return []byte(head + strings.Repeat(unit, (limit-len(head)-len(tail))/len(unit)) + tail)
	}
	before := history(t, "u a ax rx")
	tests := []struct {
		name string
		out  []byte
		ok   bool
	}{
		{"new messages", fill(`{"messages":[{"ref":0}`, `,{"role":"user","content":"x"}`, `]}`), true},
		{"copies of one message", fill(`{"messages":[{"ref":0}`, `,`+messageJSON("u", 1), `]}`), true},
		{"inserts", fill(`{"insert":[{"at":0,"message":{"role":"user","content":"x"}}`, `,{"at":0,"message":{"role":"user","content":"x"}}`, `]}`), true},
		{"replacements", fill(`{"replace":[{"at":0,"message":{"role":"user","content":"x"}}`, `,{"at":0,"message":{"role":"user","content":"x"}}`, `]}`), false},
		{"drops", fill(`{"drop":[0`, `,0`, `]}`), false},
		{"refs", fill(`{"messages":[{"ref":0}`, `,{"ref":0}`, `]}`), false},
		{"blocks", fill(`{"insert":[{"at":0,"message":{"role":"user","content":[{"type":"text","text":""}`, `,{"type":"text","text":""}`, `]}}]}`), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start := time.Now()
			c, err := ParseContext(test.out)
			if err != nil {
				t.Fatal(err)
			}
			after, err := c.Apply(before)
			if err == nil {
				err = c.Gate(before, after)
			}
			if (err == nil) != test.ok {
				t.Errorf("%v", err)
			}
			if d := time.Since(start); d > bound {
				t.Errorf("took %v", d)
			}
		})
	}
	start := time.Now()
	if _, err := ParseToolCall(fill(`{"input":{"a":[1`, `,[{"a":1}]`, `]}}`)); err != nil {
		t.Error(err)
	}
	if _, err := ParseToolCall(fill(`{"reason":"`, `\ud83d\ude00`, `"}`)); err != nil {
		t.Error(err)
	}
	if _, err := ParseToolResult(fill(`{"content":[{"type":"text","text":""}`, `,{"type":"text","text":""}`, `]}`)); err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d > bound {
		t.Errorf("took %v", d)
	}
}

package weir_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkToolCall is the round trip of the example through plain wazero, the
// copy of the event and of the answer included, without meter and deadline.
func BenchmarkToolCall(b *testing.B) {
	g := load(b, build(b, "./example"))
	for name, event := range map[string]string{
		"allow": command("go test ./..."), "block": command("rm -rf /"), "long": command(strings.Repeat("echo ok; ", 11_000)),
	} {
		b.Run(name, func(b *testing.B) {
			input := []byte(event)
			b.SetBytes(int64(len(input)))
			b.ReportAllocs()
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if rc, err := g.call("tool_call", input); rc != 0 || err != nil {
					b.Fatal(rc, err, g.fault)
				}
				if len(times) < 1<<20 {
					times = append(times, time.Since(start))
				}
			}
			// The median stands still on a busy machine; the mean does not.
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2]), "p50-ns/op")
		})
	}
	b.Run("refused", func(b *testing.B) {
		// The event is not read past its first byte: what a call costs by itself.
		for b.Loop() {
			if rc, err := g.call("tool_call", []byte("x")); rc == 0 || err != nil {
				b.Fatal(rc, err)
			}
		}
	})
}

// BenchmarkContextTable drops every 25th of the messages; none is read in full.
func BenchmarkContextTable(b *testing.B) {
	g := load(b, build(b, "./internal/testguest"))
	for _, n := range []int{1000, 10_000} {
		var messages []string
		for i := range n {
			if i%25 == 0 {
				messages = append(messages, `{"role":"custom","customType":"note","content":"x","display":true,"timestamp":2}`)
			} else {
				messages = append(messages, `{"role":"user","content":"a text that is long enough `+strconv.Itoa(i)+`","timestamp":2}`)
			}
		}
		table := encodeTable(b, messages)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if rc, err := g.call("context", table); rc != 0 || err != nil {
					b.Fatal(rc, err, g.fault)
				}
			}
		})
	}
}

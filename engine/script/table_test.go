package script_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/wire"
	"weir/wasmhost"
)

// tableOf is a context event in the table view: n messages in turns of a person, an assistant with a call, and its result.
func tableOf(t testing.TB, n int) wasmhost.Input {
	t.Helper()
	messages := make([]*agentcore.Message, n)
	for i := range messages {
		text := fmt.Sprintf(`{"role":"user","content":"question %d","timestamp":%d}`, i, 1700000000000+i)
		switch i % 3 {
		case 1:
			text = fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":"c%d","name":"bash","arguments":{}}],"api":"a","provider":"p","model":"m",`+
				`"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":%d}`, i, 1700000000000+i)
		case 2:
			text = fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","toolName":"bash","content":[{"type":"text","text":"done"}],"isError":%v,"timestamp":%d}`, i-1, i%2 == 0, 1700000000000+i)
		}
		var err error
		if messages[i], err = agentcore.DecodeMessage(json.RawMessage(text)); err != nil {
			t.Fatal(err)
		}
	}
	enc := wire.NewEncoder(wire.Scope{SessionID: "s", Extension: "policy", CWD: "/w", Mode: wire.ModeText})
	var table wire.Table
	b, err := table.Encode(messages, enc.AppendContext(nil, wire.Moment{Provider: "p", Model: "m"}))
	if err != nil {
		t.Fatal(err)
	}
	return wasmhost.Input{Bytes: b}
}

const tablePolicy = "export const describe = { hooks: { context: { view: 'table' } } };\n"

// TestTableFuel bounds what going through a table costs. Fuel is the same on every machine; the bounds are a fifth above what was
// measured.
func TestTableFuel(t *testing.T) {
	const messages = 999
	for name, c := range map[string]struct {
		loop string
		n    string // what it counts
		most uint64 // units a message
	}{
		"nothing":      {"", "0", 300},
		"one value":    {"for (const r of t) if (r.role === 'toolResult') n++;", "333", 9_500},
		"by index":     {"for (let i = 0; i < t.length; i++) if (t.at(i).isError) n++;", "167", 10_000},
		"eight values": {"for (const r of t) if (r.display || r.hasThinking || r.pair > 5 && r.id + r.time > 9 && r.name === 'bash' && r.textBytes + r.bytes > 1) n++;", "331", 20_500},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, write(t, "p.js", tablePolicy+"export const context = (t) => { let n = 0; "+c.loop+" return { drop: [n] }; };"))
			g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"context"}})
			var out string
			stats, err := g.Call(t.Context(), "context", tableOf(t, messages), func(b []byte) error { out = string(b); return nil })
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"drop":[` + c.n + `]}`; out != want {
				t.Errorf("%s, want %s", out, want)
			}
			t.Logf("%d units a message, %v", stats.Fuel/messages, stats.Duration)
			if stats.Fuel/messages > c.most {
				t.Errorf("%d units a message, more than %d", stats.Fuel/messages, c.most)
			}
		})
	}
}

// TestTableRows: a row is what the declarations say, also where it is written out, taken apart or kept, and names may be any text.
func TestTableRows(t *testing.T) {
	in := tableOf(t, 3)
	binary.LittleEndian.PutUint64(in.Bytes[32+2*32+16:], 1<<40+7)
	binary.LittleEndian.PutUint64(in.Bytes[32+2*32+24:], ^uint64(1<<40)) // a time before 1970
	s := load(t, write(t, "p.js", tablePolicy+`export const context = (t) => {
  const [, , kept] = [...t], { role, pair } = t.at(2);
  const bad = [-1, 3, 0.5, NaN, "0", undefined].map((i) => { try { t.at(i); return "taken"; } catch (e) { return e.name; } });
  return { kept, role, pair, same: kept === t.at(2), cwd: t.context.cwd, once: t.context === t.context, none: t.at(0).pair, call: t.at(1).hasToolCall, bad: bad.join() };
};`))
	g := guest(t, host(t), s, wasmhost.GuestConfig{Entries: []string{"context"}})
	var out string
	if _, err := g.Call(t.Context(), "context", in, func(b []byte) error { out = string(b); return nil }); err != nil {
		t.Fatal(err)
	}
	want := `{"kept":{"index":2,"role":"toolResult","name":"bash","isError":true,"hasImage":false,"hasToolCall":false,"hasThinking":false,"display":false,` +
		`"textBytes":4,"bytes":BYTES,"pair":1,"id":1099511627783,"time":TIME},"role":"toolResult","pair":1,"same":false,"cwd":"/w","once":true,"none":-1,"call":true,` +
		`"bad":"RangeError,RangeError,RangeError,RangeError,RangeError,RangeError"}`
	bytes := binary.LittleEndian.Uint32(in.Bytes[32+2*32+8:])
	at := int64(binary.LittleEndian.Uint64(in.Bytes[32+2*32+24:]))
	want = strings.NewReplacer("BYTES", strconv.Itoa(int(bytes)), "TIME", strconv.FormatInt(at, 10)).Replace(want)
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
}

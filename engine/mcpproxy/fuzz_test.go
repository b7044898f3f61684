package mcpproxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"weir/engine/mcpproxy"
)

// FuzzClient: whatever the client says, no tool call reaches the server that the set has not seen, as a reader takes it that
// minds neither case nor keys that are there twice.
func FuzzClient(f *testing.F) {
	for _, s := range []string{
		callLine("1", "a"), `[` + callLine("1", "a") + `,{"jsonrpc":"2.0","method":"n"}]`, `{"jsonrpc":"2.0","id":1,"Method":"tools/call"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"a","arguments":{"path":"b"},"_meta":{}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e := &fake{}
		var toServer bytes.Buffer
		never, end := io.Pipe() // the server says nothing
		proxy := mcpproxy.New(mcpproxy.Config{Server: "srv", Printable: func(s string) string { return s }})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		server := &lines{w: &toServer, after: func(got string) {
			if strings.Contains(got, `"last"`) {
				cancel()
			}
		}}
		go func() {
			defer close(done)
			in := io.MultiReader(bytes.NewReader(line), strings.NewReader("\n"+callLine(`"last"`, "last")+"\n"))
			_ = proxy.Run(ctx, e, mcpproxy.Stream{In: in, Out: io.Discard}, mcpproxy.Stream{In: never, Out: server}) // cancelled, or the line was too much
		}()
		<-done
		_ = end.Close() // a pipe
		seen := e.all()
		for _, got := range strings.Split(strings.TrimSpace(toServer.String()), "\n") {
			var m struct {
				Method string
				Params struct {
					Name      string
					Arguments json.RawMessage
				}
			}
			if json.Unmarshal([]byte(got), &m) != nil || m.Method != "tools/call" {
				continue
			}
			if m.Params.Arguments == nil || string(m.Params.Arguments) == "null" {
				m.Params.Arguments = json.RawMessage("{}")
			}
			found := false
			for _, s := range seen {
				found = found || s == "call mcp__srv__"+m.Params.Name+" "+string(m.Params.Arguments)
			}
			if !found {
				t.Errorf("the server got %s, the set saw %q", got, seen)
			}
		}
	})
}

// lines calls after for what is written.
type lines struct {
	w     io.Writer
	after func(string)
}

func (l *lines) Write(b []byte) (int, error) {
	n, err := l.w.Write(b)
	l.after(string(b))
	return n, err
}

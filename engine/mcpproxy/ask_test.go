package mcpproxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"weir/engine"
	"weir/engine/wire"
)

// TestAsk: only an explicit yes of the client's person lets a call pass.
func TestAsk(t *testing.T) {
	const can = `{"elicitation":{}}`
	for name, c := range map[string]struct {
		capabilities, answer string
		want                 bool
	}{
		"yes":                      {can, `"result":{"action":"accept","content":{"allow":true}}`, true},
		"yes, by the form":         {`{"elicitation":{"form":{}}}`, `"result":{"action":"accept","content":{"allow":true}}`, true},
		"no":                       {can, `"result":{"action":"accept","content":{"allow":false}}`, false},
		"accepted without a yes":   {can, `"result":{"action":"accept"}`, false},
		"a yes that is a text":     {can, `"result":{"action":"accept","content":{"allow":"true"}}`, false},
		"a yes and a no":           {can, `"result":{"action":"accept","content":{"allow":true,"allow":false}}`, false},
		"declined with a yes":      {can, `"result":{"action":"decline","content":{"allow":true}}`, false},
		"an error":                 {can, `"error":{"code":-1,"message":"x"}`, false},
		"only URLs can be shown":   {`{"elicitation":{"url":{}}}`, "", false},
		"the client cannot":        {`{}`, "", false},
		"a client that is not one": {`[]`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var r *rig
			f := &fake{call: func(ctx context.Context, ev wire.ToolCallEvent) engine.Decision {
				ok, err := r.proxy.Ask(ctx, []engine.Question{{Extension: "guard", Title: "sure?", Message: "it \x1b[2J", Tool: ev.ToolName, Input: ev.Input}})
				return engine.Decision{Input: ev.Input, Block: !ok || err != nil, Reason: fmt.Sprint(err)}
			}}
			r = newRig(t, f)
			r.client.say(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":`+c.capabilities+`}}`)
			r.server.gets(t)
			r.client.say(t, callLine("1", "a"))
			if c.answer != "" {
				var request struct {
					ID     string
					Method string
					Params struct{ Message string }
				}
				line := r.client.gets(t)
				if err := json.Unmarshal([]byte(line), &request); err != nil || request.Method != "elicitation/create" {
					t.Fatalf("the question is %s", line)
				}
				if strings.Contains(request.Params.Message, "\x1b") || !strings.Contains(request.Params.Message, "sure?") {
					t.Errorf("the question says %q", request.Params.Message)
				}
				r.client.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`, request.ID, c.answer))
			}
			if c.want {
				r.server.want(t, callLine("1", "a"))
				return
			}
			if got := r.client.gets(t); !strings.Contains(got, `"isError":true`) {
				t.Errorf("the call was answered with %s", got)
			}
		})
	}
}

// TestAskCancelled: a question whose call is cancelled is withdrawn, and a late answer reaches nobody.
func TestAskCancelled(t *testing.T) {
	var r *rig
	f := &fake{call: func(ctx context.Context, ev wire.ToolCallEvent) engine.Decision {
		ok, err := r.proxy.Ask(ctx, []engine.Question{{Extension: "guard", Title: "sure?"}})
		return engine.Decision{Input: ev.Input, Block: !ok || err != nil, Reason: fmt.Sprint(err)}
	}}
	r = newRig(t, f)
	r.client.say(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"elicitation":{}}}}`)
	r.server.gets(t)
	r.client.say(t, callLine("1", "a"))
	var request struct{ ID string }
	if err := json.Unmarshal([]byte(r.client.gets(t)), &request); err != nil {
		t.Fatal(err)
	}
	r.client.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := r.client.gets(t); !strings.Contains(got, "notifications/cancelled") || !strings.Contains(got, request.ID) {
		t.Errorf("the question was not withdrawn: %s", got)
	}
	r.client.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"allow":true}}}`, request.ID))
	r.client.say(t, `{"jsonrpc":"2.0","method":"after"}`)
	r.server.want(t, `{"jsonrpc":"2.0","method":"after"}`)
}

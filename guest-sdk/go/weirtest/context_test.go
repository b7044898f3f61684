package weirtest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/wire"
)

// TestTableIsTheHosts compares the table that policies are tested with to the
// one that the host makes of the same messages.
func TestTableIsTheHosts(t *testing.T) {
	texts := []string{
		`{"role":"user","content":"héllo","timestamp":1}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"toolCall","id":"c1","name":"bash","arguments":{}}],"api":"x","provider":"p","model":"m","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":2}`,
		`{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"x"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"yz"}],"isError":true,"timestamp":3}`,
		`{"role":"custom","customType":"note","content":"n","display":true,"timestamp":4}`,
		`{"role":"bashExecution","command":"ls","output":"abc","cancelled":false,"truncated":false,"timestamp":5}`,
		`{"role":"compactionSummary","summary":"done","tokensBefore":9,"timestamp":6}`,
		`{"role":"branchSummary","summary":"left","fromId":"x","timestamp":7}`,
		`{"role":"toolResult","toolCallId":"none","toolName":"read","content":[],"isError":false,"timestamp":8}`,
	}
	var messages []*agentcore.Message
	for _, text := range texts {
		m, err := agentcore.DecodeMessage([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	var table wire.Table
	hosts, err := table.Encode(messages, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	want, err := wire.ReadTable(hosts)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := encodeTable(texts, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := wire.ReadTable(ours)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Records {
		want.Records[i].ID = uint64(i + 1) // a session gives them; these messages are in none
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-host +weirtest:\n%s", diff)
	}
}

func TestApplyRefuses(t *testing.T) {
	message := []byte(`{"role":"user"}`)
	for name, a := range map[string]contextAnswer{
		"drop out of range":    {Drop: []int{2}},
		"negative":             {Drop: []int{-1}},
		"dropped twice":        {Drop: []int{0, 0}},
		"dropped and replaced": {Drop: []int{0}, Replace: []editAt{{0, message}}},
		"insert out of range":  {Insert: []editAt{{3, message}}},
		"ref out of range":     {Messages: []json.RawMessage{[]byte(`{"ref":2}`)}},
	} {
		if after, err := a.apply([]string{"a", "b"}); err == nil {
			t.Errorf("%s is accepted: %q", name, after)
		}
	}
}

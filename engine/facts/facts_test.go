package facts

import (
	"encoding/json"
	"testing"

	"weir/agentcore"
)

func textBlocks(s string) []agentcore.Block { return []agentcore.Block{&agentcore.TextBlock{Text: s}} }

func bash(t testing.TB, command string) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

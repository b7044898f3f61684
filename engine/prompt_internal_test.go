package engine

import (
	"testing"

	"weir/agentcore"
	"weir/engine/set"
	"weir/wasmhost"
)

// toolbox is a session whose tools can be set.
type toolbox struct{ wasmhost.Session }

func (toolbox) SetTools([]string) error                { return nil }
func (toolbox) Tools() ([]wasmhost.SessionTool, error) { return nil, nil }

// Tools that an extension has set by the capability session are laid to its charge, for the next call only.
func TestPromptToolsByAnExtension(t *testing.T) {
	var got []PromptChange
	e := &Engine{cfg: Config{Session: func() wasmhost.Session { return toolbox{} }, Prompt: func(c PromptChange) { got = append(got, c) }}}
	granted, err := e.capabilities(&set.Extension{Name: "loader", Grant: set.Grant{Session: []string{"control"}}})
	if err != nil {
		t.Fatal(err)
	}
	tools := []*agentcore.Tool{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	e.Sent(&agentcore.Request{Tools: tools[:1]})
	if _, err := granted["session"].Handle(t.Context(), []byte(`{"op":"set_tools","tools":["a","b"]}`)); err != nil {
		t.Fatal(err)
	}
	e.Sent(&agentcore.Request{Tools: tools[:2]})
	e.Sent(&agentcore.Request{Tools: tools})
	for i, want := range []PromptChange{{Call: 1}, {Call: 2, Part: PromptTools, Cause: CauseExtension, Extension: "loader"}, {Call: 3, Part: PromptTools, Cause: CauseProgram}} {
		if got[i] != want {
			t.Errorf("call %d: %+v, want %+v", i+1, got[i], want)
		}
	}
}

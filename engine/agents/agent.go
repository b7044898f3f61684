package agents

import (
	"encoding/json"
	"fmt"
	"strings"

	"weir/agentcore"
	"weir/engine/wire"
)

// Agent is the contract of one agent.
type Agent struct {
	// Name is what --agent takes.
	Name string
	// Title is the agent's own name.
	Title string
	// Rows say what is enforced in this agent and what is not.
	Rows []Row

	// parse maps an event. With an error the event, if there is one, says as much as is known: its name and kind.
	parse func(object) (*Event, error)
	// answer maps a decision.
	answer func(*Event, Decision) Answer
}

// All lists the agents, sorted by name.
func All() []*Agent {
	return []*Agent{claude(), codex(), copilot(), crush(), cursor(), gemini()}
}

// Find is the agent of a name. The error names those that there are.
func Find(name string) (*Agent, error) {
	var names []string
	for _, a := range All() {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return nil, fmt.Errorf("there is no agent %q; it is one of %s", clean(name), strings.Join(names, ", "))
}

// Event is an agent's event in weir's terms.
type Event struct {
	// Name is the agent's name for it.
	Name string
	// Kind is tool_call, tool_result, input, session_before_compact or session_start; 0 when the set is not asked.
	Kind wire.Event
	// Gate says that the agent waits for a yes or no, or that the model is about to read what the set is to see.
	Gate bool
	// Session and CWD are the agent's; CWD "" is not known.
	Session, CWD string
	// CallID is the agent's id of the tool call; "" where it tells none.
	CallID string
	// Calls are the tool calls that the agent's one call amounts to, at least one for tool_call and tool_result: a patch is one
	// for each file.
	Calls []Call
	// Content is what a tool returned, for tool_result; for tool_call what the call would return, where the agent knows
	// already.
	Content []agentcore.Block
	// IsError says that the tool failed.
	IsError bool
	// Text is what the person typed, for input; or the instructions for a compaction.
	Text string
	// Reason is that of session_before_compact and session_start, in weir's words.
	Reason string

	canAsk   bool            // the agent can put this call to a person
	rewrites bool            // the agent honours rewritten arguments here
	merges   bool            // rewritten arguments are laid over the given ones: a key cannot be taken away
	input    json.RawMessage // native arguments
	result   json.RawMessage // native result
	texts    []span          // of the result
	mode     string          // the agent's permission mode
	mcp      bool            // the tool is an MCP server's
}

// Call is a tool call in weir's terms.
type Call struct {
	Tool  string
	Input json.RawMessage
	// back turns rewritten arguments into the agent's; nil where that cannot be done.
	back func(json.RawMessage) (json.RawMessage, error)
}

// Verdict is what an agent is to be told.
type Verdict int

// The verdicts. The zero value denies.
const (
	// Deny: it must not happen, or must not be read.
	Deny Verdict = iota
	// Ask: a person is to decide. Only where the agent can ask.
	Ask
	// Rewrite: it goes on with what the decision holds.
	Rewrite
	// Pass: the set has no objection. It is not an approval: the agent's own rules go on.
	Pass
)

// Decision is what is to be told to an agent. The zero value denies.
type Decision struct {
	Verdict Verdict
	// Reason is why; never empty for Deny and Ask when it comes from [Run].
	Reason string
	// Input is the native arguments for Rewrite, and for Ask where they were rewritten as well.
	Input json.RawMessage
	// Content is the rewritten result, for Rewrite of a tool_result.
	Content []agentcore.Block
	// Stop says that the agent is to stop.
	Stop bool
	// Failed says that weir could not decide, and Reason what went wrong.
	Failed bool
}

// Answer is what the hook's process does.
type Answer struct {
	Stdout, Stderr []byte
	Exit           int
}

// The exit codes of all agents: other codes than these mean that the hook is broken, and most agents then go on.
const (
	exitOK     = 0
	exitBroken = 1
	exitBlock  = 2
)

// answer is an answer with JSON on standard output (nil: none) and a line on standard error ("": none).
func answer(exit int, stdout any, stderr string) Answer {
	a := Answer{Exit: exit}
	if stdout != nil {
		a.Stdout = append(encode(stdout), '\n')
	}
	if stderr != "" {
		a.Stderr = append([]byte(stderr), '\n')
	}
	return a
}

// watched is the answer to an event that the agent only tells about: nothing can be held back there.
func watched(d Decision) Answer {
	if d.Verdict == Pass {
		return Answer{}
	}
	return answer(exitBroken, nil, d.Reason)
}

// Row is a line of what is enforced.
type Row struct {
	Subject string
	Level   Level
	Detail  string
}

// Level says how much of something an agent lets a hook do.
type Level string

// The levels.
const (
	// Enforced: what the set decides is what happens.
	Enforced Level = "enforced"
	// Stricter: the agent cannot do what the set decided, so more is denied.
	Stricter Level = "stricter"
	// NotEnforced: the set's decision has no effect, or it is not asked.
	NotEnforced Level = "not enforced"
)

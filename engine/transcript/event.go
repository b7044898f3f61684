package transcript

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"

	"weir/agentcore"
)

// Format is how a transcript is written; its text is what --format takes. The zero value is not known.
type Format string

// The formats.
const (
	Pi     Format = "pi" // and weir's own
	Claude Format = "claude"
	Codex  Format = "codex"
)

// Formats lists the formats.
func Formats() []Format { return []Format{Claude, Codex, Pi} }

// Kind is what happened. The zero value is unset.
type Kind uint8

// The kinds.
const (
	Call Kind = iota + 1
	Result
)

// Outcome is how a call ended at the time, as far as the transcript tells.
type Outcome uint8

// The outcomes. The zero value: there is no result.
const (
	NoResult Outcome = iota
	OK
	Failed // the tool, or the agent before it ran
	Denied // a person, a rule or a hook did not let it run; known by the texts that the agents give then
)

// String is the word used in output.
func (o Outcome) String() string {
	switch o {
	case OK:
		return "ok"
	case Failed:
		return "failed"
	case Denied:
		return "denied"
	default:
		return "no result"
	}
}

// Key names a call across files. It is made of the format, the call's id, the tool and the arguments as they are written. In
// a Pi file also of the message's time, which copies keep; in Pi and Codex files, whose ids can occur again, also of how often all
// that has occurred in the file before.
type Key [16]byte

// Event is a tool call or its result.
type Event struct {
	Kind Kind
	// Line counts from 1.
	Line int
	// Time is zero when the transcript does not tell.
	Time time.Time
	// CWD is the working folder at that point; "" when the transcript does not tell. Subagent is its name; "" is the main one.
	CWD, Subagent string
	// CallID is the agent's; "" where there is none.
	CallID string
	// Tool and Input are the call as the agent's hook would tell it, for a result too: for Pi weir's own names, for Claude Code
	// and Codex theirs. Native is the tool's name as it is written. Input need not be an object: a model may have written anything.
	Tool, Native string
	Input        json.RawMessage
	// Key is the call's, for a result too.
	Key Key

	// Outcome and what follows are a result's.
	Outcome Outcome
	// Content is what the model read.
	Content []agentcore.Block
	// Details are Pi's.
	Details json.RawMessage
	// Response is the result in the agent's own structure, for Claude Code and Codex: what a hook gets.
	Response json.RawMessage
}

// newKey hashes the parts, each with its length.
func newKey(parts ...[]byte) Key {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	var sum [sha256.Size]byte
	return Key(h.Sum(sum[:0])[:16])
}

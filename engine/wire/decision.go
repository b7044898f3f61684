package wire

import (
	"bytes"
	"encoding/json"
)

// DecisionEvent is what a set decided about one event: the input of the export decision, which is none of the 36 events (ABI
// section 12). An extension hears of every tool call, and of any other event to which some extension had something to say or
// failed.
type DecisionEvent struct {
	// Event is the event that was decided about.
	Event Event `json:"event"`
	// Decision is allow, rewrite or block. A question that a person agreed to is allow (or rewrite), one refused is block.
	Decision string `json:"decision"`
	// By names the extension that blocked, or those that rewrote, in order; empty when nobody did.
	By []string `json:"by,omitempty"`
	// Reason is why it was blocked, "" otherwise.
	Reason string `json:"reason,omitempty"`
	// ToolName and ToolCallID are set for tool_call and tool_result.
	ToolName   string `json:"toolName,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	// Input are the arguments that run, or would have run, for tool_call.
	Input json.RawMessage `json:"input,omitempty"`
	// Asked says that a person was asked, or would have been had there been one.
	Asked bool `json:"asked,omitempty"`
	// Answers are those of the extensions, in the order in which they were asked.
	Answers []DecisionAnswer `json:"answers"`
}

// DecisionAnswer is what one extension answered.
type DecisionAnswer struct {
	Extension string `json:"extension"`
	Outcome   string `json:"outcome"` // allow, block, ask, rewrite or fault
	Reason    string `json:"reason,omitempty"`
	// Monitor says that the answer counted for nothing.
	Monitor bool `json:"monitor,omitempty"`
	// Round is 0, or the number of the recheck that it was asked in.
	Round int `json:"round,omitempty"`
}

// AppendDecision appends the input of the export decision.
func (e *Encoder) AppendDecision(dst []byte, at Moment, d *DecisionEvent) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, err
	}
	return e.appendObject(dst, at, ExportDecision, b.Bytes()), nil
}

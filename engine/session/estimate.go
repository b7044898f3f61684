package session

import (
	"bytes"
	"encoding/json"

	"weir/agentcore"
)

// imageChars is what an image counts for (NOTES section 4).
const imageChars = 4800

// charsPerToken is the reference's rule of thumb.
const charsPerToken = 4

// EstimateTokens is the size of a message in tokens, from its number of characters (UTF-16 units, as the reference
// counts). Unknown roles and messages that cannot be read count 0.
func EstimateTokens(m *agentcore.Message) int64 {
	return (messageChars(m) + charsPerToken - 1) / charsPerToken
}

func messageChars(m *agentcore.Message) int64 {
	switch b := m.Body().(type) {
	case *agentcore.UserMessage:
		return contentChars(b.Content)
	case *agentcore.ToolResultMessage:
		return blockChars(b.Content)
	case *agentcore.AssistantMessage:
		var n int64
		for _, block := range b.Content {
			switch block := block.(type) {
			case *agentcore.TextBlock:
				n += units(block.Text)
			case *agentcore.ThinkingBlock:
				n += units(block.Thinking)
			case *agentcore.ToolCall:
				n += units(block.Name) + jsonChars(block.Arguments)
			}
		}
		return n
	case *agentcore.OpaqueMessage:
		return opaqueChars(b)
	default:
		return 0
	}
}

func opaqueChars(m *agentcore.OpaqueMessage) int64 {
	var f struct {
		Content json.RawMessage `json:"content"`
		Command string          `json:"command"`
		Output  string          `json:"output"`
		Summary string          `json:"summary"`
	}
	switch m.RoleName {
	case RoleCustom, RoleBashExecution, RoleBranchSummary, RoleCompactionSummary:
	default:
		return 0
	}
	if json.Unmarshal(m.JSON, &f) != nil {
		return 0
	}
	switch m.RoleName {
	case RoleCustom:
		content, err := agentcore.DecodeContent(f.Content)
		if err != nil {
			return 0
		}
		return contentChars(content)
	case RoleBashExecution:
		return units(f.Command) + units(f.Output)
	default:
		return units(f.Summary)
	}
}

func contentChars(c agentcore.Content) int64 {
	if c.Blocks == nil {
		return units(c.Text)
	}
	return blockChars(c.Blocks)
}

func blockChars(blocks []agentcore.Block) int64 {
	var n int64
	for _, block := range blocks {
		switch block := block.(type) {
		case *agentcore.TextBlock:
			n += units(block.Text)
		case *agentcore.ImageBlock:
			n += imageChars
		}
	}
	return n
}

// jsonChars is the length of a JSON value without blanks.
func jsonChars(raw json.RawMessage) int64 {
	if len(raw) == 0 {
		return int64(len("{}"))
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return units(string(raw))
	}
	return units(compact.String())
}

// units is the length of s in UTF-16 units.
func units(s string) int64 {
	var n int64
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// ContextTokens is the size of a whole context that a response's usage tells of.
func ContextTokens(u *agentcore.Usage) int64 {
	if u.TotalTokens != 0 {
		return u.TotalTokens
	}
	return u.Input + u.Output + u.CacheRead + u.CacheWrite
}

// Estimate is the size of a transcript in tokens.
type Estimate struct {
	// Tokens is the sum of the two below.
	Tokens int64
	// UsageTokens is what the last response with a valid usage told; TrailingTokens is estimated from there on.
	UsageTokens    int64
	TrailingTokens int64
	// LastUsageIndex is the place of that response, -1 when there is none.
	LastUsageIndex int
}

// EstimateContext estimates the size of a transcript: what the last valid usage says, and from there on characters.
func EstimateContext(messages []*agentcore.Message) Estimate {
	e := Estimate{LastUsageIndex: -1}
	for i := len(messages) - 1; i >= 0; i-- {
		a := messages[i].Assistant()
		if a != nil && a.StopReason != agentcore.StopError && a.StopReason != agentcore.StopAborted && ContextTokens(&a.Usage) > 0 {
			e.LastUsageIndex, e.UsageTokens = i, ContextTokens(&a.Usage)
			break
		}
	}
	for _, m := range messages[e.LastUsageIndex+1:] {
		e.TrailingTokens += EstimateTokens(m)
	}
	e.Tokens = e.UsageTokens + e.TrailingTokens
	return e
}

// CompactionSettings say when and how a session is compacted.
type CompactionSettings struct {
	Enabled bool `json:"enabled"`
	// ReserveTokens stay free in the context window.
	ReserveTokens int64 `json:"reserveTokens"`
	// KeepRecentTokens is about how much of the transcript stays as it is.
	KeepRecentTokens int64 `json:"keepRecentTokens"`
}

// ShouldCompact says whether a context of so many tokens has passed the threshold.
func ShouldCompact(tokens, contextWindow int64, s CompactionSettings) bool {
	return s.Enabled && tokens > contextWindow-s.ReserveTokens
}

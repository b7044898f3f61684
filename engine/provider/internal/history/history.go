// Package history makes a transcript what every provider's wire can take: what failed is left out, calls and results are
// paired, reasoning that another model wrote becomes text, and images go to models that can see only. Functions are safe
// for concurrent use and change nothing that they are given.
package history

import (
	"fmt"
	"slices"
	"strings"

	"weir/agentcore"
)

// Texts that a model reads in place of what is not there.
const (
	noResult = "No result was recorded for this call."
	noImage  = "[an image was left out: this model takes text only]"
)

// Message is one message for the wire. Its blocks are not empty, except in a tool result.
type Message struct {
	// Role is user, assistant or tool result.
	Role agentcore.Role
	// Blocks hold *TextBlock, *ImageBlock, *ThinkingBlock and *ToolCall, as the role allows.
	Blocks []agentcore.Block
	// Native says that the model asked now wrote this assistant message itself, so that the signatures in it are good.
	// In other messages there are no signatures.
	Native bool
	// Original gives for the id of each call in Blocks the one that the transcript has.
	Original map[string]string
	// ToolCallID, ToolName and IsError are a tool result's.
	ToolCallID, ToolName string
	IsError              bool
}

// Prepare makes the messages of a request. id gives a call's id the form that the wire takes; it need not keep ids apart,
// Prepare does. Every call is followed at once by its result, an error result if there is none; a result without a call is
// left out, since every wire refuses it.
func Prepare(req *agentcore.Request, id func(string) string) []Message {
	p := preparer{
		id: id, used: map[string]bool{}, results: map[string][]*agentcore.ToolResultMessage{},
		sees: len(req.Model.Input) == 0 || slices.Contains(req.Model.Input, "image"),
	}
	for _, m := range req.Messages {
		if r := m.ToolResult(); r != nil {
			p.results[r.ToolCallID] = append(p.results[r.ToolCallID], r)
		}
	}
	for _, m := range req.Messages {
		switch {
		case m.User() != nil:
			p.user(m.User())
		case m.Assistant() != nil:
			p.assistant(m.Assistant(), &req.Model)
		}
	}
	return p.out
}

type preparer struct {
	id      func(string) string
	used    map[string]bool
	results map[string][]*agentcore.ToolResultMessage // by call id, those that no call has taken yet
	sees    bool
	out     []Message
}

func (p *preparer) user(m *agentcore.UserMessage) {
	blocks := m.Content.Blocks
	if blocks == nil {
		blocks = []agentcore.Block{&agentcore.TextBlock{Text: m.Content.Text}}
	}
	if blocks = p.shown(blocks); len(blocks) > 0 {
		p.out = append(p.out, Message{Role: agentcore.RoleUser, Blocks: blocks})
	}
}

// shown are the texts and images of a user message or a tool result.
func (p *preparer) shown(blocks []agentcore.Block) []agentcore.Block {
	var out []agentcore.Block
	for _, b := range blocks {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			if !blank(b.Text) {
				out = append(out, b)
			}
		case *agentcore.ImageBlock:
			if p.sees {
				out = append(out, b)
			} else {
				out = append(out, &agentcore.TextBlock{Text: noImage})
			}
		}
	}
	return out
}

// blank texts are refused by some servers and say nothing to any model.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (p *preparer) assistant(m *agentcore.AssistantMessage, model *agentcore.Model) {
	if m.StopReason == agentcore.StopError || m.StopReason == agentcore.StopAborted {
		return // an unfinished turn: its signatures and calls may be broken, and none of its calls was run
	}
	out := Message{Role: agentcore.RoleAssistant, Native: m.API == model.API && m.Provider == model.Provider && m.Model == model.ID}
	var answers []Message
	for _, b := range m.Content {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			switch {
			case blank(b.Text):
			case out.Native:
				out.Blocks = append(out.Blocks, b)
			default:
				out.Blocks = append(out.Blocks, &agentcore.TextBlock{Text: b.Text})
			}
		case *agentcore.ThinkingBlock:
			switch {
			case out.Native && b.ThinkingSignature != "":
				out.Blocks = append(out.Blocks, b)
			case !b.Redacted && !blank(b.Thinking):
				out.Blocks = append(out.Blocks, &agentcore.TextBlock{Text: b.Thinking})
			}
		case *agentcore.ToolCall:
			call := *b
			call.ID = p.unique(b.ID)
			if out.Original == nil {
				out.Original = map[string]string{}
			}
			out.Original[call.ID] = b.ID
			if !out.Native {
				call.ThoughtSignature = ""
			}
			out.Blocks = append(out.Blocks, &call)
			answers = append(answers, p.answer(b, call.ID))
		}
	}
	if len(out.Blocks) > 0 {
		p.out = append(append(p.out, out), answers...)
	}
}

// answer is the result of a call.
func (p *preparer) answer(call *agentcore.ToolCall, id string) Message {
	waiting := p.results[call.ID]
	if len(waiting) == 0 {
		return Message{
			Role: agentcore.RoleToolResult, ToolCallID: id, ToolName: call.Name, IsError: true,
			Blocks: []agentcore.Block{&agentcore.TextBlock{Text: noResult}},
		}
	}
	r := waiting[0]
	p.results[call.ID] = waiting[1:]
	return Message{
		Role: agentcore.RoleToolResult, ToolCallID: id, ToolName: call.Name, IsError: r.IsError, Blocks: p.shown(r.Content),
	}
}

// unique is the id of a call on the wire. Models that count their calls from 0 in each response repeat ids.
func (p *preparer) unique(id string) string {
	wire := p.id(id)
	for n := 2; p.used[wire]; n++ {
		// The end of the id is where a limit of length cuts, so the count goes in front.
		wire = p.id(fmt.Sprintf("%d_%s", n, id))
	}
	p.used[wire] = true
	return wire
}

// Text joins the text blocks of a message.
func Text(blocks []agentcore.Block) string {
	var texts []string
	for _, b := range blocks {
		if t, ok := b.(*agentcore.TextBlock); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Images are the images of a message.
func Images(blocks []agentcore.Block) []*agentcore.ImageBlock {
	var images []*agentcore.ImageBlock
	for _, b := range blocks {
		if i, ok := b.(*agentcore.ImageBlock); ok {
			images = append(images, i)
		}
	}
	return images
}

// ID replaces what is not a letter, a digit, _ or - by _, and cuts at most bytes.
func ID(id string, most int) string {
	id = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	if id == "" {
		id = "call"
	}
	return id[:min(len(id), most)]
}

// Arguments are the arguments of a call as JSON, an empty object if there are none.
func Arguments(call *agentcore.ToolCall) []byte {
	if len(call.Arguments) == 0 {
		return []byte("{}")
	}
	return call.Arguments
}

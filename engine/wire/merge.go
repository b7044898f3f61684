package wire

import (
	"encoding/json"
	"slices"

	"weir/agentcore"
)

// Answer is what one extension said in a chain. Chains put answers together in the order of the set; what is said here of
// first and last is that order.
type Answer[T any] struct {
	Extension string
	Result    T
	// Fault is why the extension gave no valid answer; nil when it did. Result then does not count. But for tool_call, whose
	// faults block always, what a fault does beyond that (ABI section 8) is decided before the answers are merged.
	Fault error
	// Monitor says that the extension only watches: neither its result nor its fault changes anything.
	Monitor bool
}

// counts says whether an answer's result takes part in a merge.
func (a *Answer[T]) counts() bool { return !a.Monitor && a.Fault == nil }

// ToolCallOutcome is what a chain of tool_call hooks decided.
type ToolCallOutcome struct {
	// Block stops the call. By is the extension that did; Fault is its fault, when it did so by failing.
	Block     bool
	By        string
	Fault     error
	Reason    string // the extension's; "" when it gave none or failed
	Terminate bool
	// Asks are the questions to put to the person, in order; none when Block is set.
	Asks []AskBy
	// Input are the arguments after the last rewrite, and RewrittenBy who rewrote, in order, one entry for each rewrite.
	// Input is nil when nobody did.
	Input       json.RawMessage
	RewrittenBy []string
}

// AskBy is a question and who asks it.
type AskBy struct {
	Extension string
	Ask       Ask
}

// MergeToolCall puts the answers of a tool_call chain together (ABI section 6):
//
//  1. The first enforcing extension that blocks, or whose answer is a fault, decides: the call is blocked in its name, and
//     answers after it do not count. A fault blocks without Terminate, whatever the extension said before.
//  2. Otherwise every question is kept: block > ask > nothing. An ask never allows what another blocks.
//  3. Rewrites chain: the last one holds. With a block they mean nothing and are left out.
//  4. Answers of monitoring extensions never count, nor do their faults.
//  5. No answers, or only empty ones: the call runs as it is.
//
// It does not validate arguments, ask anybody or call again those who saw older arguments; that is the chain's.
func MergeToolCall(answers []Answer[ToolCallResult]) ToolCallOutcome {
	var out ToolCallOutcome
	for i := range answers {
		a := &answers[i]
		switch {
		case a.Monitor:
		case a.Fault != nil:
			return ToolCallOutcome{Block: true, By: a.Extension, Fault: a.Fault}
		case a.Result.Block:
			return ToolCallOutcome{Block: true, By: a.Extension, Reason: a.Result.Reason, Terminate: a.Result.Terminate}
		default:
			if a.Result.Ask != nil {
				out.Asks = append(out.Asks, AskBy{a.Extension, *a.Result.Ask})
			}
			if a.Result.Input != nil {
				out.Input = a.Result.Input
				out.RewrittenBy = append(out.RewrittenBy, a.Extension)
			}
		}
	}
	return out
}

// MergeToolResult puts the answers of a tool_result chain together: each field is that of the last extension that gave
// it; nil fields keep what the tool returned. Faults and monitoring extensions do not count: whether a fault withholds the
// result (onError "block") is decided before merging.
func MergeToolResult(answers []Answer[ToolResultResult]) ToolResultResult {
	var out ToolResultResult
	for i := range answers {
		a := &answers[i]
		if !a.counts() {
			continue
		}
		if a.Result.Content != nil {
			out.Content = a.Result.Content
		}
		if a.Result.Details != nil {
			out.Details = a.Result.Details
		}
		if a.Result.IsError != nil {
			out.IsError = a.Result.IsError
		}
		if a.Result.Usage != nil {
			out.Usage = a.Result.Usage
		}
	}
	return out
}

// InputOutcome is what a chain of input hooks decided.
type InputOutcome struct {
	// Handled says that the input goes no further; By is who took it.
	Handled bool
	By      string
	// Text and Images are what goes on when it is not handled; TransformedBy who changed it, in order.
	Text          string
	Images        []*agentcore.ImageBlock
	TransformedBy []string
}

// MergeInput puts the answers of an input chain together, from what the person typed: handled ends the chain at once;
// transforms chain, the last text holds, and images stay unless a transform gives some.
func MergeInput(text string, images []*agentcore.ImageBlock, answers []Answer[InputResult]) InputOutcome {
	out := InputOutcome{Text: text, Images: images}
	for i := range answers {
		a := &answers[i]
		if !a.counts() {
			continue
		}
		switch a.Result.Action {
		case InputHandled:
			return InputOutcome{Handled: true, By: a.Extension}
		case InputTransform:
			out.Text = a.Result.Text
			if a.Result.Images != nil {
				out.Images = a.Result.Images
			}
			out.TransformedBy = append(out.TransformedBy, a.Extension)
		}
	}
	return out
}

// MergeBeforeAgentStart puts the answers of a before_agent_start chain together: every message is added, in order, and the
// last system prompt holds; nil keeps the one there was.
func MergeBeforeAgentStart(answers []Answer[BeforeAgentStartResult]) (messages []*CustomMessage, systemPrompt *string) {
	for i := range answers {
		a := &answers[i]
		if !a.counts() {
			continue
		}
		if a.Result.Message != nil {
			messages = append(messages, a.Result.Message)
		}
		if a.Result.SystemPrompt != nil {
			systemPrompt = a.Result.SystemPrompt
		}
	}
	return messages, systemPrompt
}

// MergeUserBash returns the first answer that is an opinion and who gave it; "" when there is none.
func MergeUserBash(answers []Answer[UserBashResult]) (result UserBashResult, by string) {
	for i := range answers {
		if a := &answers[i]; a.counts() && (a.Result.Result != nil || a.Result.Command != "" || a.Result.Operations != nil) {
			return a.Result, a.Extension
		}
	}
	return UserBashResult{}, ""
}

// MergeSessionBefore puts the answers of a session_before chain together: the first cancel ends the chain; otherwise the
// last answer that is an opinion holds, whole (fields of two answers are not mixed). by is who gave it; "" when there is
// none.
func MergeSessionBefore(answers []Answer[SessionBeforeResult]) (result SessionBeforeResult, by string) {
	for i := range answers {
		a := &answers[i]
		if !a.counts() || a.Result == (SessionBeforeResult{}) {
			continue
		}
		result, by = a.Result, a.Extension
		if result.Cancel {
			break
		}
	}
	return result, by
}

// MergeProjectTrust returns the first yes or no and who said it; undecided and "" when nobody did.
func MergeProjectTrust(answers []Answer[ProjectTrustResult]) (result ProjectTrustResult, by string) {
	for i := range answers {
		if a := &answers[i]; a.counts() && a.Result.Trusted != TrustUndecided {
			return a.Result, a.Extension
		}
	}
	return ProjectTrustResult{}, ""
}

// MergeResourcesDiscover joins the lists of all answers, in order. A path named twice stays twice.
func MergeResourcesDiscover(answers []Answer[ResourcesDiscoverResult]) ResourcesDiscoverResult {
	var out ResourcesDiscoverResult
	for i := range answers {
		if a := &answers[i]; a.counts() {
			out.SkillPaths = append(out.SkillPaths, a.Result.SkillPaths...)
			out.PromptPaths = append(out.PromptPaths, a.Result.PromptPaths...)
			out.ThemePaths = append(out.ThemePaths, a.Result.ThemePaths...)
		}
	}
	return out
}

// MergeHeaders applies edits to headers, in order, and returns a new list; headers is not changed. A name matches
// whatever its case; a set header keeps its place and takes the name as the edit spells it, a new one is appended, a
// deleted one goes. A header of headers that occurs several times is replaced by one.
func MergeHeaders(headers []Header, edits []HeaderEdit) []Header {
	out := slices.Clone(headers)
	for _, e := range edits {
		at := slices.IndexFunc(out, func(h Header) bool { return sameHeader(h.Name, e.Name) })
		if e.Value != nil {
			h := Header{Name: e.Name, Value: *e.Value}
			if at < 0 {
				out = append(out, h)
				continue
			}
			out[at] = h
			at++
		}
		if at >= 0 {
			rest := slices.DeleteFunc(out[at:], func(h Header) bool { return sameHeader(h.Name, e.Name) })
			out = out[:at+len(rest)]
		}
	}
	return out
}

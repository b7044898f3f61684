package wire

import (
	"weir/agentcore"
)

// Answer is what one extension said in a chain. Chains put answers together in the order of the set; what is said here of
// first and last is that order.
type Answer[T any] struct {
	Extension string
	Result    T
	// Fault is why the extension gave no valid answer; nil when it did. Result then does not count. What a fault does beyond
	// that (ABI section 8) is decided before the answers are merged.
	Fault error
	// Monitor says that the extension only watches: neither its result nor its fault changes anything.
	Monitor bool
}

// counts says whether an answer's result takes part in a merge.
func (a *Answer[T]) counts() bool { return !a.Monitor && a.Fault == nil }

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

// Resource is a path that an extension named.
type Resource struct{ Extension, Path string }

// ResourcesDiscoverOutcome is what extensions named together, in the order of the set.
type ResourcesDiscoverOutcome struct{ Skills, Prompts, Themes []Resource }

// MergeResourcesDiscover joins the lists of all answers, in order. A path named twice stays twice.
func MergeResourcesDiscover(answers []Answer[ResourcesDiscoverResult]) ResourcesDiscoverOutcome {
	var out ResourcesDiscoverOutcome
	for i := range answers {
		a := &answers[i]
		if !a.counts() {
			continue
		}
		join := func(to *[]Resource, paths []string) {
			for _, p := range paths {
				*to = append(*to, Resource{a.Extension, p})
			}
		}
		join(&out.Skills, a.Result.SkillPaths)
		join(&out.Prompts, a.Result.PromptPaths)
		join(&out.Themes, a.Result.ThemePaths)
	}
	return out
}

package wire

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/agentcore"
)

func TestMergeToolCall(t *testing.T) {
	fault := errors.New("deadline")
	type answers = []Answer[ToolCallResult]
	allow := Answer[ToolCallResult]{Extension: "allow"}
	block := Answer[ToolCallResult]{Extension: "block", Result: ToolCallResult{Block: true, Reason: "no", Terminate: true}}
	block2 := Answer[ToolCallResult]{Extension: "block2", Result: ToolCallResult{Block: true}}
	ask := Answer[ToolCallResult]{Extension: "ask", Result: ToolCallResult{Ask: &Ask{Title: "sure?"}}}
	ask2 := Answer[ToolCallResult]{Extension: "ask2", Result: ToolCallResult{Ask: &Ask{Title: "really?"}, Input: []byte(`{"b":2}`)}}
	rewrite := Answer[ToolCallResult]{Extension: "rewrite", Result: ToolCallResult{Input: []byte(`{"a":1}`)}}
	fail := Answer[ToolCallResult]{Extension: "fail", Fault: fault, Result: ToolCallResult{Block: true, Terminate: true, Reason: "stale"}}
	watch := func(a Answer[ToolCallResult]) Answer[ToolCallResult] { a.Monitor = true; return a }
	blocked := ToolCallOutcome{Block: true, By: "block", Reason: "no", Terminate: true}
	failed := ToolCallOutcome{Block: true, By: "fail", Fault: fault}

	tests := []struct {
		name string
		in   answers
		want ToolCallOutcome
	}{
		{"nobody", nil, ToolCallOutcome{}},
		{"no opinion", answers{allow, allow}, ToolCallOutcome{}},
		{"a block", answers{allow, block, allow}, blocked},
		{"the first block", answers{block, block2}, blocked},
		{"a block after an ask and a rewrite", answers{ask, rewrite, block}, blocked},
		{"a block before an ask", answers{block, ask}, blocked},
		{"a fault", answers{allow, fail, allow}, failed},
		{"a fault before a block", answers{fail, block}, failed},
		{"a fault after a block", answers{block, fail}, blocked},
		{"asks", answers{ask, allow, ask2}, ToolCallOutcome{
			Asks:  []AskBy{{"ask", Ask{Title: "sure?"}}, {"ask2", Ask{Title: "really?"}}},
			Input: []byte(`{"b":2}`), RewrittenBy: []string{"ask2"},
		}},
		{"rewrites chain", answers{ask2, rewrite}, ToolCallOutcome{
			Asks:  []AskBy{{"ask2", Ask{Title: "really?"}}},
			Input: []byte(`{"a":1}`), RewrittenBy: []string{"ask2", "rewrite"},
		}},
		{"monitors only watch", answers{watch(block), watch(fail), watch(ask2), watch(rewrite)}, ToolCallOutcome{}},
		{"a monitor does not shield", answers{watch(allow), block}, blocked},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, MergeToolCall(test.in), cmpopts.EquateErrors()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMergeToolResult(t *testing.T) {
	yes, no := true, false
	got := MergeToolResult([]Answer[ToolResultResult]{
		{Result: ToolResultResult{Content: []agentcore.Block{&agentcore.TextBlock{Text: "one"}}, IsError: &yes}},
		{Result: ToolResultResult{Details: []byte(`null`)}},
		{Result: ToolResultResult{Content: []agentcore.Block{}, IsError: &no}, Fault: errors.New("x")},
		{Result: ToolResultResult{Content: []agentcore.Block{}, Details: []byte(`1`)}, Monitor: true},
		{Result: ToolResultResult{IsError: &no, Usage: &agentcore.Usage{Input: 1}}},
	})
	want := ToolResultResult{
		Content: []agentcore.Block{&agentcore.TextBlock{Text: "one"}}, Details: []byte(`null`), IsError: &no,
		Usage: &agentcore.Usage{Input: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	emptied := MergeToolResult([]Answer[ToolResultResult]{{Result: want}, {Result: ToolResultResult{Content: []agentcore.Block{}}}})
	if emptied.Content == nil || len(emptied.Content) != 0 {
		t.Errorf("an empty list does not empty: %v", emptied.Content)
	}
}

func TestMergeInput(t *testing.T) {
	image := []*agentcore.ImageBlock{{Data: "eA=="}}
	transform := func(s string) Answer[InputResult] {
		return Answer[InputResult]{Extension: s, Result: InputResult{Action: InputTransform, Text: s}}
	}
	handled := Answer[InputResult]{Extension: "h", Result: InputResult{Action: InputHandled}}
	got := MergeInput("typed", image, []Answer[InputResult]{{}, transform("a"), transform("b")})
	if diff := cmp.Diff(InputOutcome{Text: "b", Images: image, TransformedBy: []string{"a", "b"}}, got); diff != "" {
		t.Error(diff)
	}
	got = MergeInput("typed", image, []Answer[InputResult]{transform("a"), handled, transform("b")})
	if diff := cmp.Diff(InputOutcome{Handled: true, By: "h"}, got); diff != "" {
		t.Error(diff)
	}
	handled.Monitor = true
	if got = MergeInput("typed", nil, []Answer[InputResult]{handled}); got.Handled || got.Text != "typed" {
		t.Errorf("a monitor handled the input: %+v", got)
	}
}

func TestMergeTheOthers(t *testing.T) {
	fault := errors.New("x")
	one, two := "one", ""
	messages, prompt := MergeBeforeAgentStart([]Answer[BeforeAgentStartResult]{
		{Result: BeforeAgentStartResult{Message: &CustomMessage{CustomType: "a"}, SystemPrompt: &one}},
		{Result: BeforeAgentStartResult{Message: &CustomMessage{CustomType: "b"}}, Fault: fault},
		{Result: BeforeAgentStartResult{Message: &CustomMessage{CustomType: "c"}, SystemPrompt: &two}},
	})
	if len(messages) != 2 || messages[1].CustomType != "c" || prompt != &two {
		t.Errorf("messages %v, prompt %v", messages, prompt)
	}

	bash, by := MergeUserBash([]Answer[UserBashResult]{
		{Extension: "a"}, {Extension: "b", Result: UserBashResult{Command: "ls"}}, {Extension: "c", Result: UserBashResult{Command: "pwd"}},
	})
	if bash.Command != "ls" || by != "b" {
		t.Errorf("%v by %q", bash, by)
	}

	label := "l"
	labelled := SessionBeforeResult{Label: &label}
	type before = Answer[SessionBeforeResult]
	for _, test := range []struct {
		in     []before
		cancel bool
		by     string
	}{
		{nil, false, ""},
		{[]before{{Extension: "a"}}, false, ""},
		{[]before{{Extension: "a", Result: labelled}, {Extension: "b"}}, false, "a"},
		{[]before{{Extension: "a", Result: labelled}, {Extension: "b", Result: labelled}}, false, "b"},
		{[]before{{Extension: "a", Result: SessionBeforeResult{Cancel: true}}, {Extension: "b", Result: labelled}}, true, "a"},
		{[]before{{Extension: "a", Result: labelled}, {Extension: "b", Result: SessionBeforeResult{Cancel: true}}}, true, "b"},
		{[]before{{Extension: "a", Fault: fault, Result: SessionBeforeResult{Cancel: true}}}, false, ""},
	} {
		if got, by := MergeSessionBefore(test.in); got.Cancel != test.cancel || by != test.by {
			t.Errorf("%+v by %q", got, by)
		}
	}

	trust, by := MergeProjectTrust([]Answer[ProjectTrustResult]{
		{Extension: "a"},
		{Extension: "b", Fault: fault, Result: ProjectTrustResult{Trusted: TrustYes}},
		{Extension: "c", Result: ProjectTrustResult{Trusted: TrustNo, Remember: true}},
		{Extension: "d", Result: ProjectTrustResult{Trusted: TrustYes}},
	})
	if trust.Trusted != TrustNo || !trust.Remember || by != "c" {
		t.Errorf("%v by %q", trust, by)
	}

	found := MergeResourcesDiscover([]Answer[ResourcesDiscoverResult]{
		{Result: ResourcesDiscoverResult{SkillPaths: []string{"b"}}},
		{Result: ResourcesDiscoverResult{SkillPaths: []string{"a", "b"}, ThemePaths: []string{"t"}}},
	})
	if diff := cmp.Diff(ResourcesDiscoverResult{SkillPaths: []string{"b", "a", "b"}, ThemePaths: []string{"t"}}, found); diff != "" {
		t.Error(diff)
	}
}

func TestMergeHeaders(t *testing.T) {
	value := func(s string) *string { return &s }
	headers := []Header{{"Accept", "a"}, {"X-One", "1"}, {"x-one", "2"}, {"Host", "h"}}
	kept := slices.Clone(headers)
	got := MergeHeaders(headers, []HeaderEdit{
		{"X-ONE", value("3")}, {"New", value("n")}, {"host", nil}, {"absent", nil}, {"new", value("m")},
	})
	want := []Header{{"Accept", "a"}, {"X-ONE", "3"}, {"new", "m"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(headers, kept) {
		t.Error("the headers that were given changed")
	}
}

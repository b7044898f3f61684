package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

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
		{Extension: "x", Result: ResourcesDiscoverResult{SkillPaths: []string{"b"}}},
		{Extension: "y", Result: ResourcesDiscoverResult{SkillPaths: []string{"a", "b"}, ThemePaths: []string{"t"}}},
	})
	if diff := cmp.Diff(ResourcesDiscoverOutcome{Skills: []Resource{{"x", "b"}, {"y", "a"}, {"y", "b"}}, Themes: []Resource{{"y", "t"}}}, found); diff != "" {
		t.Error(diff)
	}
}

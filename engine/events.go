package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"weir/agentcore"
	"weir/engine/wire"
)

// Observe tells the extensions of an event that is no part of a run, one after the other, and returns when all have seen
// it. Faults are recorded and isolated. It costs nothing when nobody hooks the event.
func (e *Engine) Observe(ctx context.Context, p wire.Payload) {
	if !e.Handles(p.Kind()) {
		return
	}
	raw, err := json.Marshal(p)
	if err != nil {
		e.logger.Error("an event could not be encoded", "event", p.Kind().String(), "error", err)
		return
	}
	e.observe(ctx, &Event{Kind: p.Kind(), Payload: json.RawMessage(raw), At: e.moment()})
}

// Ask puts an event to the extensions that hook it, and gives what they decided together, by the merge rule of the event's
// kind ([Kinds]):
//
//	input                    *wire.InputOutcome
//	before_agent_start       *wire.BeforeAgentStartOutcome
//	before_provider_headers  []wire.HeaderEdit, the headers as they are to be sent
//	before_provider_request  json.RawMessage, the payload as it is to be sent
//	user_bash                *wire.UserBashOutcome
//	session_before_*         *wire.SessionBeforeOutcome
//	project_trust            *wire.ProjectTrustOutcome
//	resources_discover       *wire.ResourcesDiscoverOutcome
//
// A fault is recorded and isolated, unless the set or the extension is strict about the event: then Ask fails with it, and
// what the event is about must not happen. Any other event is an error.
func (e *Engine) Ask(ctx context.Context, p wire.Payload) (any, error) {
	switch p := p.(type) {
	case wire.InputEvent:
		return e.askInput(ctx, p)
	case wire.BeforeAgentStartEvent:
		return e.askBeforeAgentStart(ctx, p)
	case wire.BeforeProviderHeadersEvent:
		return e.askHeaders(ctx, p)
	case wire.BeforeProviderRequestEvent:
		return e.askRequest(ctx, p)
	case wire.UserBashEvent:
		answers, err := round(ctx, e, p, nil, func(r *wire.UserBashResult) bool {
			return r.Result != nil || r.Command != "" || r.Operations != nil
		})
		out := &wire.UserBashOutcome{}
		out.Result, out.By = wire.MergeUserBash(answers)
		return out, err
	case wire.ProjectTrustEvent:
		answers, err := round(ctx, e, p, nil, func(r *wire.ProjectTrustResult) bool { return r.Trusted != wire.TrustUndecided })
		out := &wire.ProjectTrustOutcome{}
		out.Result, out.By = wire.MergeProjectTrust(answers)
		return out, err
	case wire.ResourcesDiscoverEvent:
		answers, err := round[wire.ResourcesDiscoverResult](ctx, e, p, nil, nil)
		out := wire.MergeResourcesDiscover(answers)
		return &out, err
	case wire.SessionBeforeSwitchEvent, wire.SessionBeforeForkEvent, wire.SessionBeforeCompactEvent, wire.SessionBeforeTreeEvent:
		answers, err := round(ctx, e, p, nil, func(r *wire.SessionBeforeResult) bool { return r.Cancel })
		out := &wire.SessionBeforeOutcome{}
		out.Result, out.By = wire.MergeSessionBefore(answers)
		return out, err
	default:
		return nil, fmt.Errorf("engine: %s is not an event that can be asked about", p.Kind())
	}
}

func (e *Engine) askInput(ctx context.Context, p wire.InputEvent) (*wire.InputOutcome, error) {
	images, err := imageBlocks(p.Images)
	if err != nil {
		return nil, err
	}
	first := p
	merged := func(answers []wire.Answer[wire.InputResult]) wire.InputOutcome {
		return wire.MergeInput(first.Text, images, answers)
	}
	answers, err := round(ctx, e, p, func(answers []wire.Answer[wire.InputResult]) wire.Payload {
		out := merged(answers)
		p.Text, p.Images = out.Text, imageJSON(out.Images)
		return p
	}, func(r *wire.InputResult) bool { return r.Action == wire.InputHandled })
	out := merged(answers)
	return &out, err
}

func (e *Engine) askBeforeAgentStart(ctx context.Context, p wire.BeforeAgentStartEvent) (*wire.BeforeAgentStartOutcome, error) {
	answers, err := round(ctx, e, p, func(answers []wire.Answer[wire.BeforeAgentStartResult]) wire.Payload {
		if _, prompt := wire.MergeBeforeAgentStart(answers); prompt != nil {
			p.SystemPrompt = *prompt
		}
		return p
	}, nil)
	out := &wire.BeforeAgentStartOutcome{}
	out.Messages, out.SystemPrompt = wire.MergeBeforeAgentStart(answers)
	for i := range answers {
		if a := &answers[i]; out.SystemPrompt != nil && a.Result.SystemPrompt != nil && !a.Monitor && a.Fault == nil {
			e.prompt.setSystem(*out.SystemPrompt, a.Extension)
		}
	}
	return out, err
}

func (e *Engine) askHeaders(ctx context.Context, p wire.BeforeProviderHeadersEvent) ([]wire.HeaderEdit, error) {
	headers := p.Headers
	_, err := round(ctx, e, p, func(answers []wire.Answer[[]wire.HeaderEdit]) wire.Payload {
		// As in the reference, headers that were set before a failure stay.
		if last := &answers[len(answers)-1]; !last.Monitor {
			headers = wire.ApplyHeaderEdits(headers, last.Result)
		}
		return wire.BeforeProviderHeadersEvent{Headers: headers}
	}, nil)
	return headers, err
}

func (e *Engine) askRequest(ctx context.Context, p wire.BeforeProviderRequestEvent) (json.RawMessage, error) {
	_, err := round(ctx, e, p, func(answers []wire.Answer[json.RawMessage]) wire.Payload {
		if last := &answers[len(answers)-1]; last.Fault == nil && !last.Monitor && last.Result != nil {
			p.Payload = last.Result
		}
		return p
	}, nil)
	return p.Payload, err
}

// round asks the handlers of an event in order. next, when it is not nil, gives the payload for those that follow, from the
// answers so far. done says which answer ends the round. Answers of monitoring extensions are marked, and never end it.
func round[R any](
	ctx context.Context, e *Engine, p wire.Payload, next func([]wire.Answer[R]) wire.Payload, done func(*R) bool,
) ([]wire.Answer[R], error) {
	kind := p.Kind()
	l := e.enter()
	defer e.leave(ctx, l)
	account := l.newAccount()
	defer func() { e.settle(ctx, account, wire.DecisionEvent{Event: kind}) }()
	var answers []wire.Answer[R]
	for i := range l.handlers[kind] {
		h := &l.handlers[kind][i]
		raw, err := json.Marshal(p)
		if err != nil {
			return answers, fmt.Errorf("%s: %w", kind, err)
		}
		ev := &Event{Kind: kind, Payload: json.RawMessage(raw), At: e.moment(), account: account}
		a := wire.Answer[R]{Extension: h.ext.Name(), Monitor: h.monitor}
		result, err := e.deliver(ctx, h, ev, Record{}, judgeDecision)
		if r, _ := result.(*R); r != nil {
			a.Result = *r
		}
		if a.Fault = err; err != nil && h.strict {
			return append(answers, a), err
		}
		answers = append(answers, a)
		if a.Fault == nil && !a.Monitor && done != nil && done(&a.Result) {
			break
		}
		if next != nil {
			p = next(answers)
		}
	}
	return answers, nil
}

// judgeDecision says what an answer amounts to.
func judgeDecision(result any) (Outcome, string) {
	switch r := result.(type) {
	case *wire.InputResult:
		switch {
		case r == nil:
		case r.Action == wire.InputHandled:
			return OutcomeBlock, "handled"
		case r.Action == wire.InputTransform:
			return OutcomeRewrite, "the input"
		}
	case *wire.BeforeAgentStartResult:
		switch {
		case r == nil:
		case r.SystemPrompt != nil:
			return OutcomeRewrite, "the system prompt"
		case r.Message != nil:
			return OutcomeRewrite, "a message was added"
		}
	case *[]wire.HeaderEdit:
		if r != nil && len(*r) > 0 {
			return OutcomeRewrite, "headers"
		}
	case *json.RawMessage:
		if r != nil && *r != nil {
			return OutcomeRewrite, "the payload"
		}
	case *wire.UserBashResult:
		switch {
		case r == nil:
		case r.Result != nil:
			return OutcomeRewrite, "the result"
		case r.Command != "":
			return OutcomeRewrite, "the command"
		case r.Operations != nil:
			return OutcomeRewrite, "who runs it"
		}
	case *wire.SessionBeforeResult:
		switch {
		case r == nil || *r == (wire.SessionBeforeResult{}):
		case r.Cancel:
			return OutcomeBlock, "cancelled"
		default:
			return OutcomeRewrite, ""
		}
	case *wire.ProjectTrustResult:
		if r != nil && r.Trusted != wire.TrustUndecided {
			return OutcomeRewrite, r.Trusted.String()
		}
	case *wire.ResourcesDiscoverResult:
		if r != nil && len(r.SkillPaths)+len(r.PromptPaths)+len(r.ThemePaths) > 0 {
			return OutcomeRewrite, "paths"
		}
	}
	return OutcomeNone, ""
}

func imageBlocks(raw []json.RawMessage) ([]*agentcore.ImageBlock, error) {
	var images []*agentcore.ImageBlock
	for _, r := range raw {
		blocks, err := agentcore.DecodeBlocks(append(append(json.RawMessage("["), r...), ']'))
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			image, ok := b.(*agentcore.ImageBlock)
			if !ok {
				return nil, fmt.Errorf("not an image: %.80s", r)
			}
			images = append(images, image)
		}
	}
	return images, nil
}

func imageJSON(images []*agentcore.ImageBlock) []json.RawMessage {
	var raw []json.RawMessage
	for _, image := range images {
		if r, err := agentcore.MarshalBlock(image); err == nil { // an image is two strings
			raw = append(raw, r)
		}
	}
	return raw
}

// PanicError is what became of a panic in an extension in Go.
type PanicError struct {
	Extension string
	Event     wire.Event
	Value     any
	Stack     []byte
}

// Error implements error. The stack is not part of the text, since a model may read it. The words are those that the
// reference has for an extension that throws something else than an error (NOTES section 4).
func (e *PanicError) Error() string {
	if e.Event == wire.EventToolCall {
		return fmt.Sprintf("Extension failed, blocking execution: %v", e.Value)
	}
	return fmt.Sprint(e.Value)
}

// handle calls an extension, and sees that its result is checked. A guest cannot panic; code in this process can, and must not take the run with it.
func handle(ctx context.Context, x Extension, ev *Event) (result any, usage Usage, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, &PanicError{Extension: x.Name(), Event: ev.Kind, Value: v, Stack: debug.Stack()}
		}
	}()
	if _, guest := x.(*guestExtension); guest || ev.Check == nil {
		return x.Handle(ctx, ev) // a guest's results are checked as they are read
	}
	// Go code may leave the check to us.
	check, checked := ev.Check, false
	ev.Check = func(result any) error {
		checked = true
		return check(result)
	}
	result, usage, err = x.Handle(ctx, ev)
	if err == nil && !checked && result != nil {
		err = check(result)
	}
	return result, usage, err
}

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"weir/engine/facts"
	"weir/engine/wire"
)

// maxRechecks is after how many rounds of rechecks arguments that still change are blocked (ABI section 6).
const maxRechecks = 3

// Decision is what a set decided about a tool call.
type Decision struct {
	Block     bool
	Reason    string // why it is blocked; never empty with Block
	By        string // the extension that blocked, or the first that asked; "" when nobody did
	Terminate bool   // stop after the batch; only with Block
	Fault     error  // the fault that blocked; nil when an answer did
	// Input is what runs, byte for byte: the arguments given or, when Rewritten is not empty, what the extensions made of
	// them.
	Input json.RawMessage
	// Rewritten names those that changed the arguments, in the order in which they did.
	Rewritten []string
	// Asked are the questions that were put to the person, who agreed if Block is false.
	Asked []Question
}

// Question is what an extension wants a person to decide.
type Question struct {
	Extension string
	Title     string
	Message   string
	Tool      string
	Input     json.RawMessage // the final arguments
}

// ToolCall asks the set about a tool call, as ABI section 6 says: extensions in order, each with the arguments as
// rewritten so far; the first block ends it; those that saw other arguments than will run are asked again; questions
// are put to the person at the end. validate checks rewritten arguments against the tool's schema and returns them as
// they will run; nil accepts any. A fault of an enforcing extension blocks. It never fails: when ctx ends, the call is
// blocked by nobody, with the reason "Operation aborted".
func (e *Engine) ToolCall(ctx context.Context, ev wire.ToolCallEvent, validate func(json.RawMessage) (json.RawMessage, error)) Decision {
	l := e.enter()
	defer e.leave(ctx, l)
	c := chain{engine: e, event: ev, decision: Decision{Input: ev.Input}, validate: validate, account: l.newAccount(), lineup: l}
	for i := range l.handlers[wire.EventToolCall] {
		if h := &l.handlers[wire.EventToolCall][i]; h.wants(ev.ToolName) {
			c.links = append(c.links, link{handler: h})
		}
	}
	if !c.run(ctx) {
		c.decision = e.putQuestions(ctx, c.decision, c.questions())
	}
	return e.settleCall(ctx, c.account, &ev, c.decision)
}

// chain is one tool call on its way through the set.
type chain struct {
	engine   *Engine
	lineup   *lineup
	event    wire.ToolCallEvent
	validate func(json.RawMessage) (json.RawMessage, error)
	links    []link
	version  int // of the arguments: the number of rewrites so far
	decision Decision
	account  *account
	facts    *facts.Event // of the arguments as they are now; nil until somebody asks
}

type link struct {
	handler *handler
	seen    int // version of the arguments that it was asked about last, or wrote itself
	ask     *wire.Ask
}

// run asks everybody, and again until all have seen what will run. It returns true when the call is blocked.
func (c *chain) run(ctx context.Context) (blocked bool) {
	for i := range c.links {
		if c.ask(ctx, &c.links[i], 0) {
			return true
		}
	}
	if !c.lineup.recheck {
		return false
	}
	for round := 1; ; round++ {
		settled := true
		for i := range c.links {
			l := &c.links[i]
			if l.handler.monitor || l.seen == c.version {
				continue
			}
			if round > maxRechecks {
				c.block("", fmt.Sprintf("the arguments still changed after %d rounds of rechecks (%s)", maxRechecks, strings.Join(c.decision.Rewritten, ", ")), false)
				return true
			}
			settled = false
			if c.ask(ctx, l, round) {
				return true
			}
		}
		if settled {
			return false
		}
	}
}

// ask puts the call to one extension. It returns true when that blocked it.
func (c *chain) ask(ctx context.Context, l *link, round int) (blocked bool) {
	input := c.event
	input.Input = c.decision.Input
	input.Recheck = round > 0
	if l.handler.facts != 0 {
		if c.facts == nil {
			c.facts = c.lineup.facts.ToolCall(input.ToolName, input.Input)
		}
		input.Facts = c.facts.JSON(l.handler.facts)
	}
	l.seen = c.version
	var rewritten json.RawMessage
	ev := &Event{Kind: wire.EventToolCall, Payload: &input, At: c.engine.moment(), account: c.account, Check: func(result any) error {
		r := result.(*wire.ToolCallResult)
		if r.Input == nil {
			return nil
		}
		rewritten = r.Input
		if c.validate == nil || c.engine.cfg.Trusting {
			return nil
		}
		valid, err := c.validate(r.Input)
		if err != nil {
			return fmt.Errorf("rewritten arguments: %w", err)
		}
		rewritten = valid
		return nil
	}}
	rec := Record{Tool: input.ToolName, ToolCallID: input.ToolCallID, Round: round}
	result, err := c.engine.deliver(ctx, l.handler, ev, rec, judgeToolCall)
	name := l.handler.ext.Name()
	switch {
	case l.handler.monitor:
		return false
	case err != nil && interrupted(ctx, err):
		c.block("", textAborted, false)
		return true
	case err != nil:
		reason := err.Error() + "; the call was blocked"
		if c.engine.cfg.Trusting {
			reason = err.Error()
		}
		c.decision.Fault = err
		c.block(name, reason, false)
		return true
	case result == nil:
		return false
	}
	r := result.(*wire.ToolCallResult)
	if r.Block {
		reason := r.Reason
		if reason == "" {
			reason = "blocked by the extension " + name
			if c.engine.cfg.Trusting {
				reason = "Tool execution was blocked"
			}
		}
		c.block(name, reason, r.Terminate)
		return true
	}
	if r.Ask != nil {
		l.ask = r.Ask
	}
	if rewritten != nil && !bytes.Equal(rewritten, c.decision.Input) {
		c.version++
		c.decision.Input = rewritten
		c.facts = nil
		c.decision.Rewritten = append(c.decision.Rewritten, name)
		if bytes.Equal(rewritten, r.Input) {
			l.seen = c.version // it wrote them
		}
	}
	return false
}

// textAborted is what the model reads of a call that was not run because the run was cancelled (NOTES section 4).
const textAborted = "Operation aborted"

// interrupted says whether an extension failed because ctx ended, which is no opinion of it.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

func (c *chain) block(by, reason string, terminate bool) {
	c.decision.Block, c.decision.By, c.decision.Reason, c.decision.Terminate = true, by, reason, terminate
}

func (c *chain) questions() []Question {
	var list []Question
	for i := range c.links {
		if l := &c.links[i]; l.ask != nil {
			list = append(list, Question{Extension: l.handler.ext.Name(), Title: l.ask.Title, Message: l.ask.Message, Tool: c.event.ToolName, Input: c.decision.Input})
		}
	}
	return list
}

// putQuestions has the person answer, all questions of a call at once. Without a person, and on any failure, the answer is
// no.
func (e *Engine) putQuestions(ctx context.Context, d Decision, questions []Question) Decision {
	if len(questions) == 0 {
		return d
	}
	d.Asked, d.By = questions, questions[0].Extension
	what := questions[0].Title
	if m := questions[0].Message; m != "" {
		what += ": " + m
	}
	refuse := func(why string) Decision {
		d.Block, d.Reason = true, fmt.Sprintf("%s asks: %s; %s", d.By, what, why)
		return d
	}
	if e.cfg.Ask == nil {
		return refuse("nobody is there to answer, so the call was blocked")
	}
	ok, err := e.cfg.Ask(ctx, questions)
	switch {
	case errors.Is(err, ErrNoPerson):
		return refuse("nobody is there to answer, so the call was blocked")
	case err != nil:
		return refuse(fmt.Sprintf("the question could not be put (%v), so the call was blocked", err))
	case !ok:
		return refuse("the person said no")
	}
	return d
}

// ErrNoPerson is what Config.Ask returns when there is nobody to ask.
var ErrNoPerson = errors.New("nobody to ask")

func judgeToolCall(result any) (Outcome, string) {
	r, _ := result.(*wire.ToolCallResult)
	switch {
	case r == nil:
		return OutcomeNone, ""
	case r.Block:
		return OutcomeBlock, r.Reason
	case r.Ask != nil && r.Input != nil:
		return OutcomeAsk, r.Ask.Title + " (and rewrote the arguments)"
	case r.Ask != nil:
		return OutcomeAsk, r.Ask.Title
	case r.Input != nil:
		return OutcomeRewrite, "arguments"
	default:
		return OutcomeNone, ""
	}
}

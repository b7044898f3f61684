package agentcore

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"
)

// batch is the tool calls of one assistant message.
type batch struct {
	run       *run
	assistant *Message
	// ctx is what the tools get. It ends with the run's, and when the batch fails.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// closed says that the batch has failed: whatever its calls still do is not told.
	closed atomic.Bool
}

// outcome is a finished call.
type outcome struct {
	call    *ToolCall
	result  *ToolResult
	isError bool
}

// callTools runs the calls of message and returns their result messages in the order of the calls. terminate says that
// all results ask to stop.
func (r *run) callTools(message *Message, calls []*ToolCall) (results []*Message, terminate bool, err error) {
	if message.Assistant().StopReason == StopLength {
		results, err = r.failTruncated(calls)
		return results, false, err
	}
	b := &batch{run: r, assistant: message}
	if b.ctx, b.cancel = r.ctx, func(error) {}; len(calls) > 1 { // a single call has no siblings to be cancelled with
		b.ctx, b.cancel = context.WithCancelCause(r.ctx)
		defer b.cancel(ErrRunOver)
	}
	outcomes := make([]*outcome, 0, len(calls))
	if b.sequential(calls) {
		outcomes, results, err = b.runSequential(calls, outcomes)
	} else {
		outcomes, results, err = b.runParallel(calls, outcomes)
	}
	if err != nil {
		return nil, false, err
	}
	terminate = len(outcomes) > 0
	for _, o := range outcomes {
		terminate = terminate && o.result.Terminate
	}
	return results, terminate, nil
}

func (b *batch) sequential(calls []*ToolCall) bool {
	if b.run.agent.cfg.ToolExecution == ExecutionSequential {
		return true
	}
	for _, call := range calls {
		if tool := b.run.tools.find(call.Name); tool != nil && tool.ExecutionMode == ExecutionSequential {
			return true
		}
	}
	return false
}

// failTruncated answers the calls of a message that was cut off: their arguments may be cut off as well.
func (r *run) failTruncated(calls []*ToolCall) ([]*Message, error) {
	results := make([]*Message, 0, len(calls))
	for _, call := range calls {
		if err := r.emitStart(call); err != nil {
			return nil, err
		}
		o := &outcome{call: call, result: errorResult(textTruncated(call.Name)), isError: true}
		if err := r.emitEnd(o); err != nil {
			return nil, err
		}
		m, err := r.resultMessage(o)
		if err != nil {
			return nil, err
		}
		results = append(results, m)
	}
	return results, nil
}

func (b *batch) runSequential(calls []*ToolCall, outcomes []*outcome) ([]*outcome, []*Message, error) {
	r := b.run
	results := make([]*Message, 0, len(calls))
	for _, call := range calls {
		if err := r.emitStart(call); err != nil {
			return nil, nil, err
		}
		x, o := b.prepare(call)
		var err error
		if x == nil {
			err = r.emitEnd(o)
		} else {
			if err = b.await([]*execution{x}); err == nil {
				o = &x.outcome
			}
		}
		if err != nil {
			return nil, nil, err
		}
		m, err := r.resultMessage(o)
		if err != nil {
			return nil, nil, err
		}
		outcomes, results = append(outcomes, o), append(results, m)
		if r.aborted() {
			break
		}
	}
	return outcomes, results, nil
}

func (b *batch) runParallel(calls []*ToolCall, outcomes []*outcome) ([]*outcome, []*Message, error) {
	r := b.run
	var running []*execution
	for _, call := range calls {
		if err := r.emitStart(call); err != nil {
			return nil, nil, err
		}
		x, o := b.prepare(call)
		if x == nil {
			if err := r.emitEnd(o); err != nil {
				return nil, nil, err
			}
		} else {
			o = &x.outcome
			running = append(running, x)
		}
		outcomes = append(outcomes, o)
		if r.aborted() {
			break
		}
	}
	if err := b.await(running); err != nil {
		return nil, nil, err
	}
	results := make([]*Message, 0, len(outcomes))
	for _, o := range outcomes {
		m, err := r.resultMessage(o)
		if err != nil {
			return nil, nil, err
		}
		results = append(results, m)
	}
	return outcomes, results, nil
}

// prepare looks the tool up, adapts and validates the arguments and asks the hook. It gives either an execution or, at
// once, the outcome.
func (b *batch) prepare(call *ToolCall) (*execution, *outcome) {
	now := func(text string) *outcome { return &outcome{call: call, result: errorResult(text), isError: true} }
	r := b.run
	tool := r.tools.find(call.Name)
	if tool == nil {
		text := ""
		if say := r.agent.cfg.Hooks.ToolNotFound; say != nil {
			text = say(call.Name)
		}
		if text == "" {
			text = textNotFound(call.Name)
		}
		return nil, now(text)
	}
	raw := argumentsOrEmpty(call.Arguments)
	args, err := prepareArguments(tool, raw)
	if err == nil {
		args, err = r.tools.validate(tool, args)
	}
	if err != nil {
		return nil, now(err.Error())
	}
	x := &execution{
		batch: b, tool: tool, call: ToolCallContext{AssistantMessage: b.assistant, ToolCall: call, Args: args},
		outcome: outcome{call: call}, accepting: true,
	}
	if hooks := &r.agent.cfg.Hooks; hooks.BeforeToolCall != nil || hooks.AfterToolCall != nil || hooks.ToolUpdate != nil {
		x.call.Context = r.context()
		tools := r.tools
		x.call.Validate = func(args json.RawMessage) (json.RawMessage, error) { return tools.validate(tool, args) }
	}
	if o := b.askHook(&x.call); o != nil {
		return nil, o
	}
	if r.aborted() {
		return nil, now(textAborted)
	}
	return x, nil
}

func prepareArguments(tool *Tool, raw json.RawMessage) (args json.RawMessage, err error) {
	if tool.Prepare == nil {
		return raw, nil
	}
	defer caught("tool", &err)
	args, err = tool.Prepare(raw)
	if err == nil && args == nil {
		args = raw
	}
	return args, err
}

// askHook gives BeforeToolCall its say: an outcome, or nil to go on, perhaps with other arguments. An abort during the
// hook wins over what it decided.
func (b *batch) askHook(call *ToolCallContext) *outcome {
	r := b.run
	hook := r.agent.cfg.Hooks.BeforeToolCall
	if hook == nil {
		return nil
	}
	o := &outcome{call: call.ToolCall, isError: true}
	decision, err := callHook(func() (*BeforeToolCallResult, error) { return hook(r.ctx, call) })
	switch {
	case err != nil:
		o.result = errorResult(err.Error())
	case r.aborted():
		o.result = errorResult(textAborted)
	case decision == nil:
		return nil
	case decision.Block:
		reason := decision.Reason
		if reason == "" {
			reason = textBlocked
		}
		o.result = errorResult(reason)
		o.result.Terminate = decision.Terminate
	default:
		if decision.Args != nil {
			call.Args = decision.Args
		}
		return nil
	}
	return o
}

// await starts the executions and waits for all of them. After a cancellation it waits for tools that do not stop no
// longer than the grace. The error is the first of an execution; the others are cancelled then and not told of.
func (b *batch) await(running []*execution) error {
	if len(running) == 0 {
		return nil
	}
	finished := make(chan *execution, len(running))
	var failure error
	fail := func(err error) {
		if err != nil && failure == nil {
			failure = err
			b.fail()
		}
	}
	open := 0
	for _, x := range running {
		switch {
		case failure != nil:
		case b.run.aborted(): // prepared before the abort, but not started
			x.outcome.result, x.outcome.isError = errorResult(textAborted), true
			fail(b.run.emitEnd(&x.outcome))
		default:
			open++
			x.open = true
			go x.run(finished)
		}
	}
	cancelled := b.ctx.Done()
	var deadline <-chan time.Time
	for open > 0 {
		select {
		case x := <-finished:
			open--
			x.open = false
			fail(x.err)
		case <-cancelled:
			cancelled = nil
			timer := time.NewTimer(b.run.agent.cfg.ToolGrace)
			defer timer.Stop()
			deadline = timer.C
		case <-deadline:
			for _, x := range running {
				if !x.open || !x.abandon() {
					continue
				}
				open--
				x.open = false
				orphan := b.orphan(x)
				fail(x.join()) // what it reported in time is still being told
				if failure == nil {
					x.outcome.result, x.outcome.isError = errorResult(orphan.Error()), true
					fail(b.run.emitEnd(&x.outcome))
				}
			}
		}
	}
	return failure
}

func (b *batch) fail() {
	b.closed.Store(true)
	b.cancel(ErrRunFailed)
}

func (b *batch) orphan(x *execution) *OrphanError {
	cfg := &b.run.agent.cfg
	orphan := &OrphanError{ToolCallID: x.call.ToolCall.ID, ToolName: x.call.ToolCall.Name, Waited: cfg.ToolGrace}
	cfg.Logger.Warn("a tool ignores its cancelled context; its run goes on without it",
		"tool", orphan.ToolName, "call", orphan.ToolCallID, "waited", orphan.Waited)
	if cfg.OnOrphan != nil {
		if _, err := callHook(func() (struct{}, error) { cfg.OnOrphan(orphan); return struct{}{}, nil }); err != nil {
			cfg.Logger.Error("OnOrphan failed", "error", err)
		}
	}
	return orphan
}

func (r *run) emitStart(call *ToolCall) error {
	return r.emit(&ToolExecutionStart{ToolCallID: call.ID, ToolName: call.Name, Args: argumentsOrEmpty(call.Arguments)})
}

func (r *run) emitEnd(o *outcome) error {
	return r.emit(&ToolExecutionEnd{ToolCallID: o.call.ID, ToolName: o.call.Name, Result: o.result, IsError: o.isError})
}

func (r *run) resultMessage(o *outcome) (*Message, error) {
	content := o.result.Content
	if content == nil {
		content = []Block{}
	}
	return r.message(&ToolResultMessage{
		ToolCallID: o.call.ID, ToolName: o.call.Name, Content: content, Details: o.result.Details, Usage: o.result.Usage,
		AddedToolNames: o.result.AddedToolNames, IsError: o.isError, Timestamp: r.agent.nowMillis(),
	})
}

func errorResult(text string) *ToolResult {
	return &ToolResult{Content: []Block{&TextBlock{Text: text}}, Details: json.RawMessage("{}")}
}

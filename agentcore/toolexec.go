package agentcore

import (
	"encoding/json"
	"maps"
	"runtime/debug"
	"sync"
	"time"
)

// execution is one call whose tool runs. It has a goroutine of its own, from Execute to the end event.
type execution struct {
	batch   *batch
	tool    *Tool
	call    ToolCallContext
	outcome outcome
	err     error // of a listener: the run fails
	open    bool  // await waits for it

	mu sync.Mutex
	// accepting is the window for updates: it closes when Execute returns.
	accepting bool
	// abandoned says that the run no longer waits: outcome belongs to it.
	abandoned bool
	updateErr error
	updates   sync.WaitGroup
}

func (x *execution) run(finished chan<- *execution) {
	returned := false
	defer func() {
		if !returned && x.close() {
			// A hook, a listener or the tool left the goroutine.
			x.err = errExited
		}
		finished <- x
	}()
	result, err := x.execute()
	if x.close() {
		x.err = x.finish(result, err)
	}
	returned = true
}

func (x *execution) execute() (result *ToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, &PanicError{What: "tool", Value: v, Stack: debug.Stack()}
		}
	}()
	return x.tool.Execute(x.batch.ctx, x.call.ToolCall.ID, x.call.Args, x.update)
}

// close ends the window for updates. It returns false if the run has gone on without the call.
func (x *execution) close() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.accepting = false
	return !x.abandoned
}

// abandon makes the run go on without the call. It returns false if the tool has returned.
func (x *execution) abandon() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.accepting {
		return false
	}
	x.accepting, x.abandoned = false, true
	return true
}

// update delivers a partial result. It returns when the delivery is done or has taken longer than the grace.
func (x *execution) update(partial *ToolResult) {
	if partial == nil {
		return
	}
	x.mu.Lock()
	if !x.accepting || x.batch.closed.Load() {
		x.mu.Unlock()
		return
	}
	x.updates.Add(1)
	x.mu.Unlock()

	r := x.batch.run
	if hook := r.agent.cfg.Hooks.ToolUpdate; hook != nil {
		var err error
		partial, err = callHook(func() (*ToolResult, error) { return hook(r.ctx, &x.call, partial), nil })
		if err != nil || partial == nil {
			x.delivered(err)
			return
		}
	}
	if r.agent.listeners.empty() {
		x.delivered(nil)
		return
	}
	call := x.call.ToolCall
	ev := &ToolExecutionUpdate{
		ToolCallID: call.ID, ToolName: call.Name, Args: argumentsOrEmpty(call.Arguments), PartialResult: partial,
	}
	done := make(chan struct{})
	go func() {
		err := errExited
		defer func() {
			x.delivered(err)
			close(done)
		}()
		err = r.emit(ev)
	}()
	if grace := r.agent.cfg.UpdateGrace; grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		}
	}
}

// delivered keeps the first failure: the tool does not learn of it, the run does when the tool is done.
func (x *execution) delivered(err error) {
	if err != nil {
		x.mu.Lock()
		if x.updateErr == nil {
			x.updateErr = err
		}
		x.mu.Unlock()
	}
	x.updates.Done()
}

// join waits for the deliveries of updates. Its error is the first of a listener.
func (x *execution) join() error {
	x.updates.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.updateErr
}

// finish waits for the deliveries of updates, asks the hook and tells the end.
func (x *execution) finish(result *ToolResult, err error) error {
	if err := x.join(); err != nil {
		return err
	}
	if x.batch.closed.Load() {
		return nil
	}
	o := &x.outcome
	switch {
	case err != nil:
		o.result, o.isError = errorResult(err.Error()), true
	case result == nil:
		o.result = &ToolResult{}
	default:
		o.result = result
	}
	x.askHook()
	if x.batch.closed.Load() {
		return nil
	}
	return x.batch.run.emitEnd(o)
}

// askHook lets AfterToolCall change the outcome.
func (x *execution) askHook() {
	r := x.batch.run
	hook := r.agent.cfg.Hooks.AfterToolCall
	if hook == nil {
		return
	}
	o := &x.outcome
	patch, err := callHook(func() (*AfterToolCallResult, error) {
		return hook(r.ctx, &ToolResultContext{ToolCallContext: x.call, Result: o.result, IsError: o.isError})
	})
	switch {
	case err != nil:
		o.result, o.isError = errorResult(err.Error()), true
	case patch != nil:
		o.result = patched(o.result, patch)
		if patch.IsError != nil {
			o.isError = *patch.IsError
		}
	}
}

// patched is result with the fields of patch in place of its own.
func patched(result *ToolResult, patch *AfterToolCallResult) *ToolResult {
	next := *result
	if patch.Content != nil {
		next.Content = patch.Content
		next.Extra = without(next.Extra, "content")
	}
	if patch.Details != nil {
		next.Details = patch.Details
	}
	if patch.Usage != nil {
		next.Usage = patch.Usage
		next.Extra = without(next.Extra, "usage")
	}
	if patch.Terminate != nil {
		next.Terminate = *patch.Terminate
		next.Extra = without(next.Extra, "terminate")
		if !next.Terminate {
			// The wire tells a decision not to stop from none.
			next.Extra = maps.Clone(next.Extra)
			if next.Extra == nil {
				next.Extra = make(map[string]json.RawMessage, 1)
			}
			next.Extra["terminate"] = json.RawMessage("false")
		}
	}
	return &next
}

func without(extra map[string]json.RawMessage, name string) map[string]json.RawMessage {
	if _, ok := extra[name]; !ok {
		return extra
	}
	extra = maps.Clone(extra)
	delete(extra, name)
	return extra
}

package agentcore

import (
	"context"
	"iter"
)

// Events runs start, such as a call of [Agent.Prompt] or [Agent.Continue], and yields the events of that run one by one.
// The run waits while the caller handles an event, as it does for a listener; events that could overlap come one after
// the other. What start returns, if it is an error, comes last, with a nil event.
//
//	for ev, err := range agent.Events(ctx, func(ctx context.Context) error { return agent.PromptText(ctx, "hi") }) { … }
//
// Leaving the loop early aborts the run and waits for its end. The loop body may call the methods of the agent that a
// listener may call.
func (a *Agent) Events(ctx context.Context, start func(context.Context) error) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		type handover struct {
			ev   Event
			done chan struct{}
		}
		events := make(chan handover)
		left := make(chan struct{})
		remove := a.Subscribe(Serialize(func(_ context.Context, ev Event) error {
			h := handover{ev: ev, done: make(chan struct{})}
			select {
			case events <- h:
			case <-left:
				return nil
			}
			select {
			case <-h.done:
			case <-left:
			}
			return nil
		}))
		runErr := errExited // unless start returns
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runErr = start(ctx)
		}()
		over := false
		defer func() {
			remove()
			close(left)
			cancel(ErrAborted)
			if !over {
				<-ended
			}
		}()
		for !over {
			select {
			case h := <-events:
				if !yield(h.ev, nil) {
					return
				}
				close(h.done)
			case <-ended:
				over = true
				if runErr != nil {
					yield(nil, runErr)
				}
			}
		}
	}
}

package wasmhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
)

// What may be queued while a guest is called by somebody who is not inside of it, what is queued while that is delivered included.
// Without such a bound an observer that causes the event that it observes would go on for ever.
const (
	maxLater      = 64
	maxLaterBytes = 8 << 20
)

// ErrQueued is returned for a call with [Input.Later] that will be made later. It is no fault.
var ErrQueued = errors.New("queued until the guest's present call is over")

// ErrDropped is wrapped by the fault that [Input.Later] is given for a queued call that was not made.
var ErrDropped = errors.New("dropped")

// errNoReturn is why what was queued is dropped when a panic of the caller's ended the call.
var errNoReturn = errors.New("it did not return")

// laterCall is a call that waits for the end of the guest's present one.
type laterCall struct {
	export string
	input  Input
	decode func([]byte) error
}

// laterBudget counts what was queued since somebody outside called the guest.
type laterBudget struct {
	mu           sync.Mutex
	calls, bytes int
}

type laterKey struct{}

// laterBudgetOf gives the budget of the call that delivers, or a new one.
func laterBudgetOf(ctx context.Context) *laterBudget {
	if b, ok := ctx.Value(laterKey{}).(*laterBudget); ok {
		return b
	}
	return new(laterBudget)
}

// take says whether one more call of n bytes may be queued.
func (b *laterBudget) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls+1 > maxLater || b.bytes+n > maxLaterBytes {
		return false
	}
	b.calls++
	b.bytes += n
	return true
}

// queue keeps a call that came from inside i for after the call under way. The error is ErrQueued unless it was refused.
func (g *Guest) queue(i *inside, export string, input Input, decode func([]byte) error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		return g.fault(export, KindHost, ErrReentrant)
	}
	if !i.budget.take(len(input.Bytes)) {
		return g.fault(export, KindHost, fmt.Errorf("%w: more than %d calls or %d bytes wait for the end of a call", ErrDropped, maxLater, maxLaterBytes))
	}
	i.later = append(i.later, laterCall{export, Input{Bytes: bytes.Clone(input.Bytes), Timeout: input.Timeout, Later: input.Later}, decode})
	return ErrQueued
}

// deliver makes the queued calls in their order.
func (g *Guest) deliver(ctx context.Context, later []laterCall, budget *laterBudget) {
	if len(later) == 0 {
		return
	}
	ctx = context.WithValue(ctx, laterKey{}, budget)
	for _, c := range later {
		c.input.Later(g.Call(ctx, c.export, c.input, c.decode))
	}
}

// drop says of the queued calls that they will not be made.
func (g *Guest) drop(later []laterCall, why string) {
	for _, c := range later {
		c.input.Later(Stats{}, g.fault(c.export, KindHost, fmt.Errorf("%w: %s", ErrDropped, why)))
	}
}

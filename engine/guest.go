package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"weir/agentcore"
	"weir/engine/wire"
	"weir/wasmhost"
)

// guestExtension is an extension backed by a wasm guest.
type guestExtension struct {
	name   string
	guest  *wasmhost.Guest
	module *wasmhost.Module
	// describe is what the module says of itself.
	describe *wire.Describe
	// lineups counts those that it is in: the guest is closed with the last of them.
	lineups atomic.Int32
	hooks   [wire.EventCount + 1]*wire.Hook
	scope   wire.Scope
	// tools and commands are what it registers; toolTimeout bounds a call of either.
	decisions   *wire.DecisionHook // nil: it does not want to hear what was decided
	tools       []wire.ToolSpec
	commands    []wire.CommandSpec
	toolTimeout time.Duration
	// pool holds what encoding an event needs, since parallel tools may ask at the same time.
	pool sync.Pool // of *encoding

	mu    sync.Mutex
	table wire.Table // of the transcript, for the table view of context
}

type encoding struct {
	enc *wire.Encoder
	buf []byte
}

func newGuestExtension(name string, module *wasmhost.Module, guest *wasmhost.Guest, d *wire.Describe, scope wire.Scope) *guestExtension {
	x := &guestExtension{name: name, module: module, guest: guest, describe: d, scope: scope, tools: d.Tools, commands: d.Commands, decisions: d.Decisions}
	for i := range d.Hooks {
		x.hooks[d.Hooks[i].Event] = &d.Hooks[i]
	}
	x.pool.New = func() any { return &encoding{enc: wire.NewEncoder(scope)} }
	return x
}

func (x *guestExtension) Name() string                    { return x.name }
func (x *guestExtension) Hook(e wire.Event) *wire.Hook    { return x.hooks[e] }
func (x *guestExtension) Close(ctx context.Context) error { return x.guest.Close(ctx) }

// lastWords bounds what guests do after the run was cancelled, when nobody is there to answer their questions. Their own limits are
// shorter.
const lastWords = 10 * time.Second

// Handle encodes the event, calls the export, and reads the answer strictly.
func (x *guestExtension) Handle(ctx context.Context, ev *Event) (any, Usage, error) {
	if ctx.Err() != nil && ev.Kind != wire.EventToolCall {
		// A cancelled run is told to its end, and what is kept of it passes those who redact it. Only a tool call needs no
		// answer any more: it will not run.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
	}
	w := x.pool.Get().(*encoding)
	defer x.pool.Put(w)
	var input wasmhost.Input
	var err error
	if c, ok := ev.Payload.(*ContextEvent); ok {
		input, err = x.contextInput(w, ev, c)
	} else {
		input.Bytes, err = encodeEvent(w, ev)
	}
	if err != nil {
		return nil, Usage{}, &wasmhost.Fault{Extension: x.name, Export: ev.Kind.String(), Kind: wasmhost.KindHost, Err: fmt.Errorf("the event could not be encoded: %w", err)}
	}
	if later := ev.later; later != nil {
		input.Later = func(s wasmhost.Stats, err error) {
			later(Usage{Duration: s.Duration, Fuel: s.Fuel, Fresh: s.Fresh}, err)
		}
	}
	var result any
	stats, err := x.guest.Call(ctx, ev.Kind.String(), input, func(out []byte) error {
		r, err := parseResult(ev, out)
		if err != nil {
			return err
		}
		if ev.Check != nil && r != nil {
			if err := ev.Check(r); err != nil {
				return err
			}
		}
		result = r
		return nil
	})
	return result, Usage{Duration: stats.Duration, Fuel: stats.Fuel, Fresh: stats.Fresh}, err
}

// encodeEvent writes the input of every event but context into w's buffer.
func encodeEvent(w *encoding, ev *Event) ([]byte, error) {
	var err error
	b := w.buf[:0]
	switch p := ev.Payload.(type) {
	case *wire.ToolCallEvent:
		b = w.enc.AppendToolCall(b, ev.At, p)
	case *wire.ToolResultEvent:
		b, err = w.enc.AppendToolResult(b, ev.At, p)
	case *agentcore.ToolExecutionUpdate:
		b, err = w.enc.AppendToolExecutionUpdate(b, ev.At, p, ev.Before)
	case agentcore.Event:
		b, err = w.enc.AppendCore(b, ev.At, p, ev.Time)
	case json.RawMessage:
		b, err = w.enc.AppendPayload(b, ev.At, ev.Kind, p)
	default:
		err = fmt.Errorf("no encoding for %T", p)
	}
	if err != nil {
		return nil, err
	}
	w.buf = b
	return b, nil
}

// contextInput is the history in the view that the hook asked for.
func (x *guestExtension) contextInput(w *encoding, ev *Event, c *ContextEvent) (wasmhost.Input, error) {
	if x.hooks[wire.EventContext].View != wire.ViewTable {
		b, err := w.enc.AppendMessages(w.buf[:0], ev.At, c.Messages)
		if err != nil {
			return wasmhost.Input{}, err
		}
		w.buf = b
		return wasmhost.Input{Bytes: b, Messages: len(c.Messages), Message: messageJSON(c.Messages)}, nil
	}
	scope := w.enc.AppendContext(nil, ev.At)
	x.mu.Lock()
	b, err := x.table.Encode(c.Messages, scope)
	if err == nil {
		w.buf = append(w.buf[:0], b...) // the table's own bytes change with the next event
	}
	x.mu.Unlock()
	if err != nil {
		return wasmhost.Input{}, err
	}
	return wasmhost.Input{Bytes: w.buf, Messages: len(c.Messages), Message: messageJSON(c.Messages)}, nil
}

// messageJSON serves message bodies on demand. Their encoding was checked when the event was encoded.
func messageJSON(messages []*agentcore.Message) func(int) []byte {
	return func(i int) []byte {
		raw, err := messages[i].JSON()
		if err != nil {
			return nil
		}
		return raw
	}
}

// parseResult reads an answer by the table of kinds.
func parseResult(ev *Event, out []byte) (any, error) {
	if p, ok := ev.Payload.(*agentcore.MessageEnd); ok {
		m, err := wire.ParseMessageEnd(out, p.Message.Role(), wire.Timestamp(p.Message))
		if m == nil || err != nil {
			return nil, err
		}
		return m, nil
	}
	return kindOf(ev.Kind).parse(out)
}

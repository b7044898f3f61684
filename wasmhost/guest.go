package wasmhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Capability serves one capability import of a guest. request is valid only during the call. An error is given to the
// guest as a negative code with the error's text as the response; it is no fault.
type Capability struct {
	Handle func(ctx context.Context, request []byte) (response []byte, err error)
	// Person says that the time in Handle is spent waiting for a person: it does not count against the guest's timeout, and
	// ctx has no deadline of the guest's.
	Person bool
}

// GuestConfig binds a module to its settings. The zero value but for Name and Entries is usable.
type GuestConfig struct {
	Name    string          // in errors and logs
	Entries []string        // the exports that will be called; each must exist with the type () -> i32
	Limits  Limits          // zero fields mean the defaults
	Config  json.RawMessage // the guest's settings, a JSON object; nil means {}
	// Capabilities are the granted capabilities by name: kv, http, file, ui, session. A module that imports another one
	// is refused.
	Capabilities map[string]Capability
	// RealClock and RealRandom open the real clock and randomness behind WASI. Without them the guest sees a fixed time,
	// which moves only while it sleeps, and the same random numbers in every instance.
	RealClock, RealRandom bool
	// Logger gets what the guest logs and writes to stdout and stderr; nil discards it.
	Logger *slog.Logger
}

// Input is what a call hands to the guest.
type Input struct {
	// Bytes is the input. It is read during the call only, and must not change meanwhile.
	Bytes []byte
	// Message serves weir_message_read: the encoded JSON of message i, which the guest cannot change. Messages is their
	// number; with 0 the function is a fault.
	Message  func(i int) []byte
	Messages int
	// Update gets what the guest hands to weir_tool_update; nil makes that a fault. The slice is valid only during the call.
	Update func(partial []byte)
	// Timeout replaces Limits.Timeout when it is above zero.
	Timeout time.Duration
}

// Stats is what a call took, also one that failed.
type Stats struct {
	Duration  time.Duration // in the guest and its host calls
	Fuel      uint64        // units used; the same for the same module, state and input on every machine
	HostCalls uint32
	LogLost   int  // log lines dropped
	Fresh     bool // a new instance was made for this call: what the guest remembered is lost
}

// Guest is one module in one setting: at most one running instance at a time, replaced after a fault. Safe for concurrent
// use: calls run one at a time, in the order of their arrival.
type Guest struct {
	module *Module
	cfg    GuestConfig
	limits Limits
	logger *slog.Logger
	config guestConfig
	vars   variables

	// turn holds a token while no call is running; waiters get it in the order in which they came.
	turn chan struct{}

	// Guarded by the token.
	in     *instance
	row    uint32 // faults in a row
	last   error
	closed bool
}

// NewGuest binds the module to cfg and instantiates it. Every error is a *Fault; it is of kind load unless the guest
// itself failed while it started.
func (m *Module) NewGuest(ctx context.Context, cfg GuestConfig) (*Guest, error) {
	return m.newGuest(ctx, cfg, false)
}

func (m *Module) newGuest(ctx context.Context, cfg GuestConfig, describing bool) (*Guest, error) {
	if err := cfg.Limits.Validate(); err != nil {
		return nil, loadFault(cfg.Name, err)
	}
	if m.summary.Command {
		return nil, loadFault(cfg.Name, errors.New("this is a WASI command (it exports _start and no _initialize); build it as a reactor (Go: -buildmode=c-shared, clang: -mexec-model=reactor)"))
	}
	for _, e := range cfg.Entries {
		if err := m.CheckEntry(e); err != nil {
			return nil, loadFault(cfg.Name, err)
		}
	}
	if !describing {
		for _, c := range m.missingGrants(cfg.Capabilities) {
			return nil, loadFault(cfg.Name, fmt.Errorf("the module uses the capability %q, which is not granted; to grant it, add to its [extension.grant]: %s", c, GrantLine(c)))
		}
	}
	g := &Guest{module: m, cfg: cfg, limits: cfg.Limits.withDefaults(), logger: cfg.Logger, turn: make(chan struct{}, 1)}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if g.config, err = parseConfig(cfg.Config); err != nil {
		return nil, loadFault(cfg.Name, err)
	}
	if g.in, err = newInstance(ctx, g); err != nil {
		return nil, err
	}
	g.turn <- struct{}{}
	return g, nil
}

// Limits are the limits in force, defaults filled in.
func (g *Guest) Limits() Limits { return g.limits }

// insideKey marks the context of a host call, so that a call that comes back to the same guest is refused instead of
// waiting for itself.
type insideKey struct{}

type inside struct {
	guest *Guest
	outer *inside
}

// Call calls an entry point. decode reads the output: the slice is empty when the guest gave none, and valid only until
// decode returns; its error is a fault of kind output. ctx ends the wait for earlier calls and the call itself.
//
// Every error is a *Fault, but for ErrClosed and the error of a context that ended before the guest's turn.
func (g *Guest) Call(ctx context.Context, export string, input Input, decode func(output []byte) error) (Stats, error) {
	for i, _ := ctx.Value(insideKey{}).(*inside); i != nil; i = i.outer {
		if i.guest == g {
			return Stats{}, &Fault{Extension: g.cfg.Name, Export: export, Kind: KindHost, Err: ErrReentrant}
		}
	}
	select {
	case <-g.turn:
	default:
		select {
		case <-g.turn:
		case <-ctx.Done():
			return Stats{}, &Fault{Extension: g.cfg.Name, Export: export, Kind: KindDeadline, Err: ctx.Err()}
		}
	}
	defer func() { g.turn <- struct{}{} }()
	if g.closed {
		return Stats{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return Stats{}, &Fault{Extension: g.cfg.Name, Export: export, Kind: KindDeadline, Err: err}
	}
	if g.row >= g.limits.Quarantine {
		return Stats{}, &Fault{Extension: g.cfg.Name, Export: export, Kind: KindHost,
			Err: fmt.Errorf("%w after %d faults in a row, the last one: %w", ErrQuarantined, g.row, g.last)}
	}
	var fresh bool
	if g.in == nil {
		in, err := newInstance(ctx, g)
		if err != nil {
			return Stats{}, g.faulted(err)
		}
		g.in, fresh = in, true
	}
	if _, ok := g.in.entries[export]; !ok {
		return Stats{}, &Fault{Extension: g.cfg.Name, Export: export, Kind: KindHost, Err: errors.New("not one of its entry points")}
	}
	stats, err := g.in.run(ctx, export, input, decode)
	stats.Fresh = fresh
	if err == nil {
		g.row = 0
		return stats, nil
	}
	in := g.in
	g.in = nil
	if cerr := in.close(ctx); cerr != nil {
		g.logger.Error("closing a faulted instance", "error", cerr)
	}
	return stats, g.faulted(err)
}

// faulted counts a fault. A cancelled run is no fault of the guest's.
func (g *Guest) faulted(err error) error {
	if !errors.Is(err, context.Canceled) {
		g.row++
		g.last = err
	}
	return err
}

// Close waits for the call under way and frees the instance. Calls after it return ErrClosed.
func (g *Guest) Close(ctx context.Context) error {
	<-g.turn
	defer func() { g.turn <- struct{}{} }()
	g.closed = true
	if g.in == nil {
		return nil
	}
	in := g.in
	g.in = nil
	return in.close(ctx)
}

package wasmhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Capability serves one capability import of a guest: see [KV], [HTTP], [File], [AskUI] and [UseSession].
type Capability struct {
	// Handle answers a request of at most 2 MiB, which is valid only during the call. The response, of at most 64 MiB, must
	// not be changed afterwards. An error is given to the guest as a negative code with the error's text as the response; it
	// is no fault. ctx ends at the guest's deadline: Handle must return then, and its time counts, except in
	// [WaitForPerson].
	Handle func(ctx context.Context, request []byte) (response []byte, err error)
}

// GuestConfig binds a module to its settings. The zero value but for Name and Entries is usable.
type GuestConfig struct {
	Name    string   // in errors and logs
	Entries []string // the exports that will be called; each must exist with the type () -> i32
	// Limits of the guest; zero fields mean the defaults. Depth and Table are the module's, see [Host.Compile]: they must be
	// zero or the same.
	Limits Limits
	Config json.RawMessage // the guest's settings, a JSON object; nil means {}
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
	// A call of the same guest with ctx, or a context made from it, is refused with ErrReentrant instead of waiting for ever, or
	// queued: see Later.
	Update func(ctx context.Context, partial []byte)
	// Later says that nobody waits for the answer. A call with it that comes from inside a host call of the same guest (its context is
	// that of a [Capability]'s Handle or of Update, or made from it) is not refused: Bytes is copied, Call returns ErrQueued, and the call
	// is made when the present one is over, before that returns, in the order of arrival, with the context of the present one. Then
	// Later is told what came of it. When the present call fails, or more is queued than is kept (64 calls, 8 MiB), it is dropped: the
	// fault, told to Later or returned, wraps ErrDropped. nil: such a call is refused. A call from elsewhere is made at once, and
	// Later is not used.
	Later func(Stats, error)
	// Timeout replaces Limits.Timeout when it is above zero.
	Timeout time.Duration
}

// Stats is what a call took, also one that failed.
type Stats struct {
	Duration  time.Duration // in the guest and its host calls
	Fuel      uint64        // units used; the same for the same module, state and input on every machine
	Memory    uint64        // bytes of linear memory and kernel that the instance had after the call
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
	values map[string][]byte // the same of a module that extism/go-sdk runs, which bounds them itself

	// life ends when Close cannot wait any longer for the call under way, or when it has closed the guest.
	life context.Context
	cut  context.CancelFunc

	// turn holds a token while no call is running; waiters get it in the order in which they came.
	turn chan struct{}

	// Guarded by the token.
	in     *instance
	spare  *spare
	row    uint32 // faults in a row
	last   error
	closed bool
}

// spare is the next instance of a guest that starts slowly, made while nobody calls it. in and err may be read once done
// is closed.
type spare struct {
	done chan struct{}
	in   *instance
	err  error
}

// NewGuest binds the module to cfg and instantiates it, which ctx can end. Every error is a *Fault; it is of kind load unless the guest
// itself failed while it started.
func (m *Module) NewGuest(ctx context.Context, cfg GuestConfig) (*Guest, error) {
	return m.newGuest(ctx, cfg, false)
}

func (m *Module) newGuest(ctx context.Context, cfg GuestConfig, describing bool) (*Guest, error) {
	if err := cfg.Limits.Validate(); err != nil {
		return nil, loadFault(cfg.Name, err)
	}
	// The meter wrote these two into the module.
	for _, l := range []struct {
		name           string
		asked, enacted uint32
	}{{"depth", cfg.Limits.Depth, m.key.depth}, {"table", cfg.Limits.Table, m.key.table}} {
		if l.asked != 0 && l.asked != l.enacted {
			return nil, loadFault(cfg.Name, fmt.Errorf("limit %s: the module was compiled with %d, not %d", l.name, l.enacted, l.asked))
		}
	}
	cfg.Limits.Depth, cfg.Limits.Table = m.key.depth, m.key.table
	if m.summary.Command {
		return nil, loadFault(cfg.Name, ErrCommand)
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
	config, err := parseConfig(cfg.Config, m.source)
	if err != nil {
		return nil, loadFault(cfg.Name, err)
	}
	cfg.Entries = slices.Clone(cfg.Entries)
	g := &Guest{module: m, cfg: cfg, limits: cfg.Limits.withDefaults(), logger: cfg.Logger, config: config, turn: make(chan struct{}, 1)}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	g.life, g.cut = context.WithCancel(context.Background())
	if err := m.host.open(g); err != nil {
		g.cut()
		return nil, loadFault(cfg.Name, err)
	}
	g.in, err = newInstance(ctx, g)
	if err != nil {
		g.closed = true
		g.cut()
		m.host.forget(g)
		g.turn <- struct{}{} // the host may be waiting to close it
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
	guest   *Guest
	outer   *inside
	patient context.Context // without the guest's deadline
	waited  atomic.Int64    // nanoseconds spent waiting for a person

	budget *laterBudget // of the guest's call

	mu    sync.Mutex
	after []func()    // to be run when the guest's call is over
	later []laterCall // of the guest itself, for then
	ended bool        // the host call has
}

// postpone keeps f for after the guest's call, unless the host call has ended.
func (i *inside) postpone(f func()) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.ended {
		i.after = append(i.after, f)
	}
	return !i.ended
}

// settle ends the host call, and gives what was kept.
func (i *inside) settle() ([]func(), []laterCall) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	return i.after, i.later
}

// Call calls an entry point. decode reads the output: the slice is empty when the guest gave none, and valid only until
// decode returns; its error is a fault of kind output. ctx ends the wait for earlier calls and the call itself. After a
// fault the next call first makes a new instance, for which the guest has Limits.LoadTimeout.
//
// Every error is a *Fault, but for ErrClosed. A call that a cancelled or expired ctx ended does not count as the guest's fault.
func (g *Guest) Call(ctx context.Context, export string, input Input, decode func(output []byte) error) (Stats, error) {
	if i := g.inside(ctx); i != nil {
		if input.Later != nil {
			return Stats{}, g.queue(i, export, input, decode)
		}
		return Stats{}, g.fault(export, KindHost, ErrReentrant)
	}
	select {
	case <-g.turn:
	default:
		select {
		case <-g.turn:
		case <-ctx.Done():
			return Stats{}, g.fault(export, KindDeadline, cancelled(ctx))
		}
	}
	// An instance that a call does not come back from (a panic or Goexit in code of the caller's) is not used again either.
	var running, called *instance
	failed := errNoReturn
	defer func() {
		if called == nil {
			g.turn <- struct{}{}
			return
		}
		after, later, queued := called.after, called.later, called.queued
		if running != nil {
			g.discard(ctx, running)
		}
		g.turn <- struct{}{}
		if failed != nil {
			g.drop(later, "the call during which it was queued failed: "+failed.Error())
		} else {
			g.deliver(ctx, later, queued)
		}
		for _, f := range after {
			f()
		}
	}()
	if g.closed {
		return Stats{}, ErrClosed
	}
	if ctx.Err() != nil {
		return Stats{}, g.fault(export, KindDeadline, cancelled(ctx))
	}
	if g.row >= g.limits.Quarantine {
		return Stats{}, g.fault(export, KindHost, fmt.Errorf("%w after %d faults in a row, the last one: %v", ErrQuarantined, g.row, g.last)) //nolint:errorlint // what the last fault was must not decide what this one is
	}
	entry := slices.Index(g.cfg.Entries, export)
	if entry < 0 {
		return Stats{}, g.fault(export, KindHost, errors.New("not one of its entry points"))
	}
	fresh := g.in == nil
	if fresh {
		if err := g.renew(ctx); err != nil {
			return Stats{}, g.faulted(ctx, err)
		}
	}
	running, g.in = g.in, nil
	called = running
	stats, err := running.run(ctx, entry, input, decode)
	failed = err
	stats.Fresh = fresh
	if err != nil {
		return stats, g.faulted(ctx, err)
	}
	running, g.in = nil, running
	g.row = 0
	return stats, nil
}

// discard closes an instance after a fault, and starts on the next one if that takes long.
func (g *Guest) discard(ctx context.Context, in *instance) {
	if err := in.close(ctx); err != nil {
		g.logger.Error("closing a faulted instance", "error", err)
	}
	if in.slow && g.row < g.limits.Quarantine {
		g.prepareSpare()
	}
}

// inside gives the host call of this guest that ctx comes from, nil for none.
func (g *Guest) inside(ctx context.Context) *inside {
	for i := insideOf(ctx); i != nil; i = i.outer {
		if i.guest == g {
			return i
		}
	}
	return nil
}

func (g *Guest) fault(export string, kind Kind, err error) *Fault {
	return &Fault{Extension: g.cfg.Name, Export: export, Kind: kind, Err: err}
}

// renew makes the guest's next instance, or takes the spare one.
func (g *Guest) renew(ctx context.Context) error {
	s := g.spare
	if s == nil {
		in, err := newInstance(ctx, g)
		g.in = in
		return err
	}
	select {
	case <-s.done:
		g.spare = nil
		g.in = s.in
		return s.err
	case <-ctx.Done():
		return g.fault("load", KindDeadline, cancelled(ctx))
	}
}

// prepareSpare starts making the next instance. Nothing else of the guest runs until it is done: the next call and Close
// wait for it.
func (g *Guest) prepareSpare() {
	s := &spare{done: make(chan struct{})}
	g.spare = s
	go func() {
		defer close(s.done)
		s.in, s.err = newInstance(g.life, g)
	}()
}

// faulted counts a fault. A call that its caller ended is no fault of the guest's.
func (g *Guest) faulted(ctx context.Context, err error) error {
	if ctx.Err() == nil && g.life.Err() == nil {
		g.row++
		g.last = err
	}
	return err
}

// Close waits for the call under way and frees the instance. When ctx ends first, that call is ended too. Calls after it
// return ErrClosed; a second Close does nothing. From inside a host call of the same guest it fails with ErrReentrant.
func (g *Guest) Close(ctx context.Context) error {
	if g.inside(ctx) != nil {
		return g.fault("close", KindHost, ErrReentrant)
	}
	select {
	case <-g.turn:
	case <-ctx.Done():
		g.cut()
		<-g.turn
	}
	defer func() { g.turn <- struct{}{} }()
	g.closed = true
	g.cut()
	g.module.host.forget(g)
	var errs []error
	if s := g.spare; s != nil {
		<-s.done
		g.spare, g.in = nil, s.in
	}
	if in := g.in; in != nil {
		g.in = nil
		errs = append(errs, in.close(ctx))
	}
	return errors.Join(errs...)
}

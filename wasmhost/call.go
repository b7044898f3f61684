package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"weir/wasmhost/meter"
)

// slice is how much fuel a guest gets between two exits to Go: at about a nanosecond a unit 50 µs, well below the
// 0.2 ms after which a waiting garbage collector would be felt.
const slice = 50_000

// call is the state of one call; begin resets it. Times are on the host's monotonic clock (Host.now), which costs half
// of what time.Now costs.
type call struct {
	ctx       context.Context
	export    string
	start     time.Duration
	deadline  time.Duration
	timeout   time.Duration
	fault     *Fault
	input     Input
	errorText []byte
	staged    []byte // what the kernel is about to copy in
	response  []byte // of the last capability call
	fuelLimit uint64
	granted   uint64 // fuel given so far
	hostCalls uint32
	copied    int          // bytes copied since the deadline was last looked at
	after     []func()     // what AfterCall was given
	later     []laterCall  // what was queued meanwhile
	queued    *laterBudget // nil until the first host call during which something may be queued
	httpCode  int32
	httpHead  []byte
}

// errAbort is what host functions panic with after they recorded a fault.
var errAbort = errors.New("the call was ended by the host")

// fail ends the call that is under way. It does not return. The first fault counts.
func (in *instance) fail(kind Kind, err error) {
	if in.fault == nil {
		in.fault = in.newFault(kind, err)
	}
	panic(errAbort)
}

func (in *instance) newFault(kind Kind, err error) *Fault {
	return &Fault{Extension: in.guest.cfg.Name, Export: in.export, Kind: kind, Err: err}
}

// begin makes ready for a call.
func (in *instance) begin(ctx context.Context, export string, input Input) {
	l := &in.guest.limits
	timeout := l.Timeout
	if input.Timeout > 0 {
		timeout = input.Timeout
	}
	now := in.now()
	in.call = call{ctx: ctx, export: export, start: now, deadline: now + timeout, timeout: timeout, input: input, fuelLimit: l.Fuel}
	in.output = in.output[:0]
	in.log.reset(l)
}

// end forgets what belongs to the caller, so that an idle guest does not keep a history of megabytes alive.
func (in *instance) end() {
	in.ctx, in.input, in.response, in.staged, in.httpHead = nil, Input{}, nil, nil, nil
	if cap(in.output) > 1<<20 {
		in.output = nil
	}
}

// run calls the entry point of that number and has decode read its output, which is valid only during that call of decode.
func (in *instance) run(ctx context.Context, entry int, input Input, decode func([]byte) error) (Stats, error) {
	in.begin(ctx, in.guest.cfg.Entries[entry], input)
	defer in.end()
	err := in.prepare()
	if err == nil {
		if in.plugin != nil {
			err = in.callPlugin(in.export, input.Bytes)
		} else {
			err = in.invoke(in.entries[entry], in.stack[:])
		}
		if err == nil {
			err = in.answer(decode)
		}
	}
	err = in.settle(err)
	s := Stats{Duration: in.now() - in.start, Memory: in.budget.used, HostCalls: in.hostCalls, Fuel: in.granted - in.left()}
	s.LogLost = in.flushLog()
	return s, err
}

// prepare clears what the call before left in the kernel and gives the guest its first slice of fuel. Clearing is not
// charged: a call would otherwise pay for the call before it.
func (in *instance) prepare() error {
	if in.kernel != nil {
		in.fuelLimit = maxFuel
		if err := in.invoke(in.k.reset, nil); err != nil {
			return err
		}
		in.fuelLimit, in.granted = in.guest.limits.Fuel, 0
		in.kfuel.Set(0)
	}
	in.fuel.Set(in.grant())
	return nil
}

// invoke calls a function of the instance. It recovers what wazero lets through: a panic in a host function that the
// guest exports as its own, or while memory is made.
func (in *instance) invoke(fn api.Function, stack []uint64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError(r)
		}
	}()
	return fn.CallWithStack(&in.native, stack)
}

func panicError(r any) error {
	if err, ok := r.(error); ok {
		return err
	}
	return fmt.Errorf("panic: %v", r)
}

// grant gives the next slice of fuel. Near the limit slices get smaller, because what the guest's slice has left over
// is of no use to its kernel.
func (in *instance) grant() uint64 {
	left := in.fuelLimit - in.granted
	n := min(slice, max(left/8, 64), left)
	in.granted += n
	return n
}

// left is the fuel that was granted and is not used. It is negative (as a wrapped number) after a charge that no test
// followed.
func (in *instance) left() uint64 {
	n := in.fuel.Get()
	if in.kernel != nil {
		n += in.kfuel.Get()
	}
	return n
}

// answer turns what a clean return left behind into a result or a fault.
func (in *instance) answer(decode func([]byte) error) error {
	if in.kernel != nil {
		if n := uint32(in.k.errLen.Get()); n != 0 {
			text, _ := in.kernel.Memory().Read(uint32(in.k.errOff.Get()), n)
			in.setError(text)
		}
		if in.k.outputState.Get() != 0 {
			n := uint32(in.k.outputLen.Get())
			if n > in.guest.limits.Output {
				return in.tooLarge(n)
			}
			// Copied, so that a decode that keeps the slice reads stale bytes at worst, and not unmapped memory.
			b, _ := in.kernel.Memory().Read(uint32(in.k.output.Get()), n)
			in.output = append(in.output[:0], b...)
		}
	}
	switch rc := int32(uint32(in.stack[0])); {
	case len(in.errorText) > 0:
		return in.newFault(KindError, errors.New(string(in.errorText)))
	case rc != 0:
		return in.newFault(KindError, fmt.Errorf("returned %d", rc))
	}
	if err := decode(in.output); err != nil {
		return in.newFault(KindOutput, err)
	}
	return nil
}

func (in *instance) tooLarge(n uint32) *Fault {
	return in.newFault(KindOutput, fmt.Errorf("%d bytes of output, more than the limit of %d", n, in.guest.limits.Output))
}

// settle turns what a call returned into a fault. A fault that a host function recorded comes first, then the caller's
// ended context, before the trap that it may have caused.
func (in *instance) settle(err error) error {
	if in.fault != nil {
		return in.fault
	}
	if err == nil {
		return nil
	}
	if f := (*Fault)(nil); errors.As(err, &f) {
		in.fault = f
		return f
	}
	// What wazero wraps around the cause is a stack trace with the guest's own names in it, which must not decide anything.
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	kind := KindTrap
	var panicked runtime.Error
	var exit *sys.ExitError
	switch {
	case in.ctx.Err() != nil:
		kind, cause = KindDeadline, cancelled(in.ctx)
	case errors.As(cause, &exit):
		kind, cause = KindHost, ErrClosed
	case errors.As(cause, &panicked):
		kind = KindHost
	case cause.Error() == "stack overflow":
		kind = KindDepth
	}
	if kind == KindTrap && len(in.errorText) > 0 {
		// How programs of languages without another way to end say why: a text, then a trap.
		cause = fmt.Errorf("%s (%w)", in.errorText, cause)
	}
	in.fault = in.newFault(kind, cause)
	return in.fault
}

// cancelled is why ctx ended: its error, and the cause when that says more.
func cancelled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// check ends the call when its time is up, its caller gave up or the guest is being closed.
func (in *instance) check() {
	if in.ctx.Err() != nil {
		in.fail(KindDeadline, cancelled(in.ctx))
	}
	if in.guest.life.Err() != nil {
		in.fail(KindHost, ErrClosed)
	}
	if in.now() >= in.deadline {
		in.fail(KindDeadline, fmt.Errorf("%v exceeded", in.timeout))
	}
}

// hostCall counts a host call that moves n bytes, and looks at the clock now and then.
func (in *instance) hostCall(n int) {
	in.hostCalls++
	in.copied += n + 64
	if in.hostCalls > in.guest.limits.HostCalls || in.copied >= 1<<20 {
		in.hostCallCheck()
	}
}

func (in *instance) hostCallCheck() {
	if in.hostCalls > in.guest.limits.HostCalls {
		in.fail(KindHost, fmt.Errorf("more than %d host calls", in.guest.limits.HostCalls))
	}
	in.copied = 0
	in.check()
}

func meterFuncs() []hostFunc {
	return []hostFunc{
		{meter.Refill, nil, types(i64), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.check()
			if in.granted >= in.fuelLimit {
				in.fail(KindFuel, fmt.Errorf("%d units used up", in.fuelLimit))
			}
			stack[0] = in.grant()
		}},
		{meter.Refused, nil, nil, func(ctx context.Context, _ api.Module, _ []uint64) {
			in := instanceOf(ctx)
			in.fail(KindMemory, fmt.Errorf("a table of more than %d elements", in.guest.limits.Table))
		}},
		{meter.Overflow, nil, nil, func(ctx context.Context, _ api.Module, _ []uint64) {
			in := instanceOf(ctx)
			in.fail(KindDepth, fmt.Errorf("calls nest deeper than %d bytes of stack", in.guest.limits.Depth))
		}},
	}
}

// setError keeps the guest's error text, shortened to the limit. The last one counts.
func (in *instance) setError(text []byte) {
	if len(text) == 0 {
		text = []byte("an error without a text")
	}
	if limit := int(in.guest.limits.ErrorText); len(text) > limit {
		text = append(append([]byte(nil), text[:limit]...), "…"...)
	}
	in.errorText = []byte(strings.ToValidUTF8(string(text), "\uFFFD"))
}

// flushLog hands the lines of a call to the guest's logger and says how many were dropped.
func (in *instance) flushLog() (lost int) {
	in.log.end()
	for _, l := range in.log.lines {
		in.guest.logger.Log(in.ctx, l.level, l.text, slog.String("export", in.export))
	}
	return in.log.lost
}

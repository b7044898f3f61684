package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"weir/wasmhost/meter"
)

// slice is how much fuel a guest gets between two exits to Go: at about a nanosecond a unit 50 µs, well below the
// 0.2 ms after which a waiting garbage collector would be felt.
const slice = 50_000

// instance is a running module: the guest's instance, its kernel when it imports Extism's env, and the state of the call
// that is under way. Not safe for concurrent use: the guest that owns it runs one call at a time.
type instance struct {
	guest   *Guest
	mod     api.Module
	kernel  api.Module // nil when the guest does not import Extism's env
	budget  memoryBudget
	entries map[string]api.Function
	fuel    api.Global // what is left of the slice that the guest was given last
	kfuel   api.Global
	k       kernelState
	native  callContext
	stack   [1]uint64
	random  *rand.ChaCha8
	clock   time.Duration // virtual time since the instance was made: it moves only when the guest sleeps

	call
}

// call is the state of one call; it is reset before the next.
type call struct {
	ctx       context.Context
	export    string
	start     time.Time
	deadline  time.Time
	timeout   time.Duration
	fault     *Fault
	input     Input
	output    []byte // from weir_output_write; kept over calls for its capacity
	direct    bool   // output is this call's
	errorText []byte
	staged    []byte // what the kernel is about to copy in
	response  []byte // of the last capability call
	fuelLimit uint64
	granted   uint64 // fuel given so far
	hostCalls uint32
	copied    int // bytes copied since the deadline was last looked at
	log       logBuffer
	httpCode  int32
	httpHead  []byte
}

// kernelState are the kernel's globals that the host reads after a call.
type kernelState struct {
	reset                                          api.Function
	output, outputLen, outputState, errOff, errLen api.Global
	clearOutput                                    api.MutableGlobal
}

// callContext is the context that wazero sees: it leads the host functions to the instance and nowhere else, since a
// value looked up in a caller's long chain of contexts would cost more than the call.
type callContext struct{ in *instance }

type instanceKey struct{}

func (c *callContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c *callContext) Done() <-chan struct{}       { return nil }
func (c *callContext) Err() error                  { return nil }
func (c *callContext) Value(key any) any {
	if _, ok := key.(instanceKey); ok {
		return c.in
	}
	return nil
}

// instanceOf finds the instance that a host function was called for.
func instanceOf(ctx context.Context) *instance {
	if c, ok := ctx.(*callContext); ok {
		return c.in
	}
	return ctx.Value(instanceKey{}).(*instance)
}

// errAbort is what host functions panic with after they recorded a fault.
var errAbort = errors.New("the call was ended by the host")

// fail ends the call that is under way. It does not return. The first fault counts.
func (in *instance) fail(kind Kind, err error) {
	if in.fault == nil {
		in.fault = &Fault{Extension: in.guest.cfg.Name, Export: in.export, Kind: kind, Err: err}
	}
	panic(errAbort)
}

// newInstance instantiates the module within the guest's load timeout.
func newInstance(ctx context.Context, g *Guest) (*instance, error) {
	in := &instance{guest: g, budget: memoryBudget{limit: g.limits.Memory}}
	in.native.in = in
	in.random = rand.NewChaCha8(g.module.key.digest)
	in.begin(ctx, "load", Input{Timeout: g.limits.LoadTimeout})
	err := in.load()
	if err == nil {
		return in, nil
	}
	return nil, errors.Join(err, in.close(ctx))
}

func (in *instance) load() error {
	h, m := in.guest.module.host, in.guest.module
	base := context.Context(&in.native)
	if m.usesKernel() {
		const table = 17 * pageSize // the kernel's table of blocks, which is ours, not the guest's
		ctx := experimental.WithMemoryAllocator(base, in.budget.allocator(table))
		k, err := h.runtime.InstantiateModule(ctx, h.kernel, wazero.NewModuleConfig().WithName("").WithStartFunctions())
		if err != nil {
			return in.settle(fmt.Errorf("kernel: %w", err))
		}
		in.kernel = k
		in.kfuel = k.ExportedGlobal(h.kernelFuel)
		in.k = kernelState{
			reset: k.ExportedFunction("weir_reset"), output: k.ExportedGlobal("weir_output"), outputLen: k.ExportedGlobal("weir_output_len"),
			outputState: k.ExportedGlobal("weir_output_state"), errOff: k.ExportedGlobal("weir_error"), errLen: k.ExportedGlobal("weir_error_len"),
		}
		in.k.clearOutput = in.k.outputState.(api.MutableGlobal)
	}
	if need := uint64(m.summary.Memory.Min) * pageSize; need > in.budget.limit-in.budget.used {
		return &Fault{Extension: in.guest.cfg.Name, Export: in.export, Kind: KindMemory,
			Err: fmt.Errorf("it declares %d bytes of memory, more than the limit of %d", need, in.budget.limit)}
	}
	ctx := experimental.WithMemoryAllocator(base, in.budget.allocator(0))
	ctx = experimental.WithImportResolver(ctx, in.resolve)
	mod, err := h.runtime.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return in.settle(err)
	}
	in.mod = mod
	in.fuel = mod.ExportedGlobal(m.info.FuelGlobal)
	if init := mod.ExportedFunction("_initialize"); init != nil {
		d := init.Definition()
		if len(d.ParamTypes())+len(d.ResultTypes()) > 0 {
			return in.settle(errors.New("export \"_initialize\" has parameters or results; its type is ()"))
		}
		if err := in.settle(init.CallWithStack(&in.native, nil)); err != nil {
			return err
		}
	}
	in.entries = make(map[string]api.Function, len(in.guest.cfg.Entries))
	for _, name := range in.guest.cfg.Entries {
		in.entries[name] = mod.ExportedFunction(name)
	}
	in.flushLog()
	return nil
}

// resolve links the guest's env to its own kernel. The other modules are the runtime's, found by name.
func (in *instance) resolve(name string) api.Module {
	if name == extismModule && in.kernel != nil {
		return in.kernel
	}
	return nil
}

// begin makes ready for a call.
func (in *instance) begin(ctx context.Context, export string, input Input) {
	l := &in.guest.limits
	timeout := l.Timeout
	if input.Timeout > 0 {
		timeout = input.Timeout
	}
	now := time.Now()
	output, log := in.output[:0], in.log
	log.reset(l)
	in.call = call{ctx: ctx, export: export, start: now, deadline: now.Add(timeout), timeout: timeout, input: input,
		fuelLimit: l.Fuel, output: output, log: log}
}

// run calls an export and has decode read its output, which is valid only during that call of decode.
func (in *instance) run(ctx context.Context, export string, input Input, decode func([]byte) error) (Stats, error) {
	in.begin(ctx, export, input)
	if in.kernel != nil {
		if err := in.k.reset.CallWithStack(&in.native, nil); err != nil {
			return Stats{}, in.settle(err)
		}
	}
	left := in.left()
	err := in.entries[export].CallWithStack(&in.native, in.stack[:])
	if err == nil {
		err = in.answer(decode)
	}
	err = in.settle(err)
	s := Stats{Duration: time.Since(in.start), HostCalls: in.hostCalls, Fuel: in.granted + left - in.left()}
	s.LogLost = in.flushLog()
	return s, err
}

// left is the fuel that was granted and is not used yet.
func (in *instance) left() uint64 {
	n := in.fuel.Get()
	if in.kfuel != nil {
		n += in.kfuel.Get()
	}
	return n
}

// answer turns what a clean return left behind into a result or a fault.
func (in *instance) answer(decode func([]byte) error) error {
	if in.kernel != nil && in.k.errLen.Get() != 0 {
		text, _ := in.kernel.Memory().Read(uint32(in.k.errOff.Get()), uint32(in.k.errLen.Get()))
		in.setError(text)
	}
	rc := int32(uint32(in.stack[0]))
	switch {
	case len(in.errorText) > 0:
		in.fault = in.newFault(KindError, errors.New(string(in.errorText)))
	case rc != 0:
		in.fault = in.newFault(KindError, fmt.Errorf("returned %d", rc))
	default:
		out := in.output
		if in.kernel != nil && in.k.outputState.Get() != 0 {
			out, _ = in.kernel.Memory().Read(uint32(in.k.output.Get()), uint32(in.k.outputLen.Get()))
		} else if !in.direct {
			out = nil
		}
		if limit := in.guest.limits.Output; len(out) > int(limit) {
			in.fault = in.newFault(KindOutput, fmt.Errorf("%d bytes of output, more than the limit of %d", len(out), limit))
		} else if err := decode(out); err != nil {
			in.fault = in.newFault(KindOutput, err)
		}
	}
	if in.fault != nil {
		return in.fault
	}
	return nil
}

func (in *instance) newFault(kind Kind, err error) *Fault {
	return &Fault{Extension: in.guest.cfg.Name, Export: in.export, Kind: kind, Err: err}
}

// settle turns what wazero returned into a fault. A fault that a host function recorded comes first, and the caller's
// ended context before the trap that it may have caused.
func (in *instance) settle(err error) error {
	if in.fault != nil {
		if k := in.fault.Kind; in.budget.refused && (k == KindExit || k == KindTrap) {
			in.fault.Kind = KindMemory
		}
		return in.fault
	}
	if err == nil {
		return nil
	}
	kind, cause := KindTrap, errors.New(firstLine(err))
	var exit *sys.ExitError
	switch {
	case in.ctx.Err() != nil:
		kind, cause = KindDeadline, in.ctx.Err()
	case errors.As(err, &exit):
		kind = KindExit
	case strings.Contains(err.Error(), "stack overflow"):
		kind = KindDepth
	case in.budget.refused:
		kind = KindMemory
		cause = fmt.Errorf("more than the limit of %d bytes was refused, then: %w", in.budget.limit, cause)
	case strings.Contains(err.Error(), "(recovered by wazero)"):
		kind = KindHost
	}
	in.fault = in.newFault(kind, cause)
	return in.fault
}

// firstLine is what wazero says of a trap, without the wasm stack below it.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(line, "wasm error: ")
}

// check ends the call when its time is up or its caller gave up.
func (in *instance) check() {
	if err := in.ctx.Err(); err != nil {
		in.fail(KindDeadline, context.Cause(in.ctx))
	}
	if !time.Now().Before(in.deadline) {
		in.fail(KindDeadline, fmt.Errorf("%v exceeded", in.timeout))
	}
}

// hostCall counts a host call that moves n bytes, and looks at the clock now and then.
func (in *instance) hostCall(n int) {
	in.hostCalls++
	if in.hostCalls > in.guest.limits.HostCalls {
		in.fail(KindHost, fmt.Errorf("more than %d host calls", in.guest.limits.HostCalls))
	}
	in.copied += n + 64
	if in.copied >= 1<<20 {
		in.copied = 0
		in.check()
	}
}

func meterFuncs() []hostFunc {
	return []hostFunc{
		{meter.Refill, nil, types(i64), func(ctx context.Context, _ api.Module, stack []uint64) {
			in := instanceOf(ctx)
			in.check()
			if in.granted >= in.fuelLimit {
				in.fail(KindFuel, fmt.Errorf("%d units used up", in.fuelLimit))
			}
			n := min(slice, in.fuelLimit-in.granted)
			in.granted += n
			stack[0] = n
		}},
		{meter.Overflow, nil, nil, func(ctx context.Context, _ api.Module, _ []uint64) {
			in := instanceOf(ctx)
			in.fail(KindDepth, fmt.Errorf("calls nest deeper than %d bytes of stack", in.guest.limits.Depth))
		}},
	}
}

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

// close frees the instance.
func (in *instance) close(ctx context.Context) error {
	var errs []error
	for _, m := range []api.Module{in.mod, in.kernel} {
		if m != nil {
			errs = append(errs, m.Close(ctx))
		}
	}
	in.mod, in.kernel = nil, nil
	return errors.Join(errs...)
}

package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// instance is a running module: the guest's instance, its kernel when it imports Extism's env, and the state of the call
// that is under way. Not safe for concurrent use: the guest that owns it runs one call at a time.
type instance struct {
	guest   *Guest
	mod     api.Module
	kernel  api.Module      // nil when the guest does not import Extism's env
	plugin  *extismInstance // of a module that extism/go-sdk runs: it has mod
	budget  memoryBudget
	entries []api.Function    // in the order of GuestConfig.Entries
	fuel    api.MutableGlobal // what is left of the slice that the guest was given last
	kfuel   api.MutableGlobal // the same of its kernel
	k       kernelState
	native  callContext
	stack   [1]uint64
	random  *rand.ChaCha8
	clock   time.Duration // virtual time since the instance was made: it moves only when the guest sleeps
	output  []byte        // kept over calls for its capacity
	log     logBuffer
	slow    bool // instantiating took long enough to be done ahead of the next call

	call
}

// kernelState are the kernel's globals that the host reads after a call.
type kernelState struct {
	reset                             api.Function
	output, outputLen, errOff, errLen api.Global
	outputState                       api.MutableGlobal // 1 once output_set was called after weir_output_write
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

// slowStart is how long instantiating may take before the next instance is made ahead of time: Go guests take 2 to 5 ms,
// C guests 30 µs.
const slowStart = time.Millisecond

// newInstance instantiates the module within the guest's load timeout.
func newInstance(ctx context.Context, g *Guest) (*instance, error) {
	in := &instance{guest: g, budget: memoryBudget{limit: g.limits.Memory}}
	in.budget.refuse = func(asked uint64, err error) {
		if err != nil {
			in.fail(KindMemory, fmt.Errorf("no memory for %d bytes: %w", asked, err))
		}
		in.fail(KindMemory, fmt.Errorf("asked for %d bytes of memory, more than the limit of %d", asked, in.budget.limit))
	}
	in.native.in = in
	in.random = rand.NewChaCha8(g.module.key.digest)
	in.begin(ctx, "load", Input{Timeout: g.limits.LoadTimeout, Bytes: g.module.source})
	defer in.end()
	err := in.settle(in.load())
	for _, f := range in.after { // a start counts as a call
		f()
	}
	g.drop(in.later, "it came while the guest started")
	in.flushLog()
	in.slow = in.now()-in.start > slowStart
	if err == nil {
		return in, nil
	}
	if g.module.plugin != nil {
		err = onExtism(err)
	}
	if cerr := in.close(ctx); cerr != nil {
		return nil, errors.Join(err, cerr)
	}
	return nil, err
}

func (in *instance) now() time.Duration { return in.guest.module.host.now() }

func (in *instance) load() error {
	h, m := in.guest.module.host, in.guest.module
	if m.plugin != nil {
		return in.loadPlugin()
	}
	if m.kernel {
		const table = 17 * pageSize // the kernel's table of blocks, which is ours, not the guest's
		k, err := in.instantiate(experimental.WithMemoryAllocator(&in.native, in.budget.allocator(table)), h.kernel)
		if err != nil {
			return fmt.Errorf("kernel: %w", err)
		}
		in.kernel = k
		in.kfuel = k.ExportedGlobal(h.kernelFuel).(api.MutableGlobal)
		in.k = kernelState{
			reset: k.ExportedFunction("weir_reset"), output: k.ExportedGlobal("weir_output"), outputLen: k.ExportedGlobal("weir_output_len"),
			errOff: k.ExportedGlobal("weir_error"), errLen: k.ExportedGlobal("weir_error_len"),
			outputState: k.ExportedGlobal("weir_output_state").(api.MutableGlobal),
		}
	}
	ctx := experimental.WithMemoryAllocator(&in.native, in.budget.allocator(0))
	mod, err := in.instantiate(experimental.WithImportResolver(ctx, in.resolve), m.compiled)
	if err != nil {
		return err
	}
	in.mod = mod
	in.fuel = mod.ExportedGlobal(m.info.FuelGlobal).(api.MutableGlobal)
	if init := mod.ExportedFunction("_initialize"); init != nil {
		if err := in.checkInitialize(init); err != nil {
			return err
		}
		if err := in.invoke(init, nil); err != nil {
			return err
		}
		if len(in.errorText) > 0 {
			return in.newFault(KindError, errors.New(string(in.errorText)))
		}
	}
	in.entries = make([]api.Function, len(in.guest.cfg.Entries))
	for i, name := range in.guest.cfg.Entries {
		in.entries[i] = mod.ExportedFunction(name)
	}
	return nil
}

func (in *instance) checkInitialize(init api.Function) error {
	if d := init.Definition(); len(d.ParamTypes())+len(d.ResultTypes()) > 0 {
		return in.newFault(KindLoad, errors.New("export \"_initialize\" has parameters or results; its type is () -> ()"))
	}
	return nil
}

// instantiate makes an instance of compiled. wazero does not recover a panic of the allocator while it makes the first
// memory: that one is recovered here, as is any that it did not expect.
func (in *instance) instantiate(ctx context.Context, compiled wazero.CompiledModule) (mod api.Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			mod, err = nil, panicError(r)
		}
	}()
	return in.guest.module.host.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
}

// resolve links the guest's env to its own kernel. The other modules are the runtime's, found by name.
func (in *instance) resolve(name string) api.Module {
	if name == extismModule && in.kernel != nil {
		return in.kernel
	}
	return nil
}

// close frees the instance.
func (in *instance) close(ctx context.Context) error {
	var errs []error
	if in.plugin != nil {
		errs = append(errs, in.plugin.CloseWithContext(ctx))
		in.plugin = nil
	}
	for _, m := range []api.Module{in.mod, in.kernel} {
		if m != nil {
			errs = append(errs, m.Close(ctx))
		}
	}
	in.mod, in.kernel = nil, nil
	in.budget.close()
	return errors.Join(errs...)
}

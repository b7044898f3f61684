package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"strings"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"weir/wasmhost/screen"
)

// This file runs plain Extism modules on extism/go-sdk instead of our own kernel, as the reference that ours is held against.
// What bounds a guest stays ours: the screen, the meter, the memory allocator, WASI, log and limits. What go-sdk does itself,
// blocks and variables in the main, is seen before it happens by listeners, which count it and look at the clock; its work is not
// part of the fuel.

// extismPlugin is a module that go-sdk compiled, and extismInstance a running one.
type (
	extismPlugin   = extism.CompiledPlugin
	extismInstance = extism.Plugin
)

// CompileExtism is [Host.Compile] for a plain Extism module that extism/go-sdk is to run. Refused is what go-sdk cannot serve, or
// would serve without our limits: functions of weir, and HTTP. The limits are those of [Host.Compile]'s modules, and so are faults,
// quarantine and WASI.
//
// It sets go-sdk's log level to debug, which holds for the whole process: at any other, guests that ask for the level would not log.
func (h *Host) CompileExtism(ctx context.Context, name string, wasm []byte, limits Limits) (*Module, error) {
	m, err := h.compileFor(ctx, name, wasm, limits, true)
	return m, onExtism(err)
}

// onExtism says in the fault of a module that does not load which runtime it did not load on.
func onExtism(err error) error {
	var f *Fault
	if !errors.As(err, &f) {
		return err
	}
	said := *f
	said.Err = fmt.Errorf("runtime extism: %w", f.Err)
	return &said
}

// Extism says whether extism/go-sdk runs the module.
func (m *Module) Extism() bool { return m.plugin != nil }

// PlainExtism says why the module cannot run on extism/go-sdk; nil when it can.
func (m *Module) PlainExtism() error { return plainExtism(m.summary) }

func plainExtism(s screen.Summary) error {
	const advice = `leave out runtime = "extism"`
	for _, x := range s.Exports {
		if x.Name == DescribeExport {
			return fmt.Errorf("the module exports %s, so it is a weir extension, which weir's own runtime has to run; %s", DescribeExport, advice)
		}
	}
	for _, i := range s.Imports {
		switch {
		case i.Module == userModule:
			return fmt.Errorf("the module imports %s.%s: extism/go-sdk cannot serve functions that take pointers, since its host functions see only the kernel's memory; %s", i.Module, i.Name, advice)
		case capabilityOf(i.Module, i.Name) != "":
			return fmt.Errorf("the module imports %s.%s: extism/go-sdk's own HTTP client does not keep to what is granted here; %s and grant it: %s", i.Module, i.Name, advice, GrantLine("http"))
		}
	}
	return nil
}

// compilePlugin gives the metered module to go-sdk, in a wazero runtime of its own.
func (h *Host) compilePlugin(ctx context.Context, wasm []byte) (p *extismPlugin, err error) {
	extism.SetLogLevel(extism.LogLevelDebug)
	manifest := extism.Manifest{
		Wasm:   []extism.Wasm{extism.WasmData{Data: wasm}},
		Memory: &extism.ManifestMemory{MaxVarBytes: maxVariableBytes},
	}
	// WASI is ours, not the one that go-sdk would add, for which proc_exit(0) is a success.
	var funcs []extism.HostFunction
	for _, module := range []string{meterModule, wasiModule} {
		for _, f := range hostFuncs(module) {
			hf := extism.NewHostFunctionWithStack(f.name, func(ctx context.Context, _ *extism.CurrentPlugin, stack []uint64) {
				f.fn(ctx, instanceOf(ctx).mod, stack)
			}, f.params, f.results)
			hf.SetNamespace(module)
			funcs = append(funcs, hf)
		}
	}
	ctx = experimental.WithFunctionListenerFactory(ctx, pluginListeners{})
	err = h.undamaged(func() error {
		p, err = extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{RuntimeConfig: h.runtimeConfig()}, funcs)
		return err
	})
	return p, err
}

// loadPlugin is load on go-sdk.
func (in *instance) loadPlugin() (err error) {
	defer func() {
		if r := recover(); r != nil { // of the allocator, as in instantiate
			err = panicError(r)
		}
	}()
	g := in.guest
	if g.values == nil {
		g.values = map[string][]byte{}
	}
	// go-sdk refuses a host call outside of a plugin's call, the meter's included: a start function needs a plugin to belong to.
	ctx := context.WithValue(experimental.WithMemoryAllocator(&in.native, in.budget.allocator(0)), extism.PluginCtxKey("plugin"), &extism.Plugin{})
	if in.plugin, err = g.module.plugin.Instance(ctx, extism.PluginInstanceConfig{}); err != nil {
		return err
	}
	in.plugin.SetLogger(func(extism.LogLevel, string) {}) // what a guest logs is taken by the listener; the rest is go-sdk's own
	in.plugin.Var = g.values
	in.plugin.Config = make(map[string]string, len(g.config.keys))
	for k, v := range g.config.keys {
		in.plugin.Config[k] = string(v)
	}
	if err := in.callPlugin(g.module.info.Enter, nil); err != nil { // makes mod known
		return err
	}
	// go-sdk has run what starts a guest from Haskell by now, _initialize included.
	if init := in.mod.ExportedFunction("_initialize"); init != nil && !g.module.Exports("hs_init") {
		if err := in.checkInitialize(init); err != nil {
			return err
		}
		if err := in.callPlugin("_initialize", g.module.source); err != nil {
			return err
		}
		if len(in.errorText) > 0 {
			return in.newFault(KindError, errors.New(string(in.errorText)))
		}
	}
	return nil
}

// callPlugin calls an export through go-sdk, and leaves what came of it where answer looks for it.
func (in *instance) callPlugin(export string, input []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError(r)
		}
	}()
	rc, out, err := in.plugin.CallWithContext(&in.native, export, input)
	if in.fault != nil {
		return in.fault
	}
	if err != nil {
		// go-sdk gives the guest's error text and a failure of the call in the same way.
		if text := in.plugin.GetErrorWithContext(&in.native); text == "" || text != err.Error() {
			return in.pluginError(err)
		} else {
			in.setError([]byte(text))
		}
	}
	if len(out) > int(in.guest.limits.Output) {
		return in.tooLarge(uint32(len(out)))
	}
	in.output = append(in.output[:0], out...)
	in.stack[0] = uint64(rc)
	return nil
}

// pluginError tells traps from what go-sdk's own functions fail with: a bad offset, an unknown block, variables beyond their limit.
func (in *instance) pluginError(err error) error {
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	if in.ctx.Err() == nil && !strings.HasPrefix(fmt.Sprintf("%T", cause), "*wasmruntime.") {
		line, _, _ := strings.Cut(cause.Error(), "\n")
		return in.newFault(KindHost, errors.New(strings.TrimSuffix(line, " (recovered by wazero)")))
	}
	return err
}

// pluginListeners watch the host functions of a plugin: ours of the meter, from which the first call shows the guest's instance,
// and go-sdk's env.
type pluginListeners struct{}

// NewFunctionListener implements experimental.FunctionListenerFactory.
func (pluginListeners) NewFunctionListener(def api.FunctionDefinition) experimental.FunctionListener {
	if def.GoFunction() == nil { // a guest may be named like a host module
		return nil
	}
	switch def.ModuleName() {
	case meterModule:
		return experimental.FunctionListenerFunc(sawMeter)
	case extismModule:
		switch def.ExportNames()[0] {
		case "alloc", "free", "length", "length_unsafe", "output_set", "error_set", "get_log_level", "log_trace":
			return experimental.FunctionListenerFunc(sawEnv)
		case "config_get", "var_get", "var_set":
			return experimental.FunctionListenerFunc(sawHostCall)
		case "log_debug":
			return pluginLog(0)
		case "log_info":
			return pluginLog(1)
		case "log_warn":
			return pluginLog(2)
		case "log_error":
			return pluginLog(3)
		}
	}
	return nil // also for what reads and writes blocks, which takes as long whatever there is
}

func sawMeter(ctx context.Context, mod api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	if in := instanceOf(ctx); in.mod == nil {
		in.mod = mod
		in.fuel = mod.ExportedGlobal(in.guest.module.info.FuelGlobal).(api.MutableGlobal)
	}
}

// sawEnv looks at the clock before a call of go-sdk's env: finding a block or a free one takes the longer the more there are.
func sawEnv(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	instanceOf(ctx).check()
}

// sawHostCall counts what is a host call on our kernel too.
func sawHostCall(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	in := instanceOf(ctx)
	in.hostCall(0)
	in.check()
}

// pluginLog keeps what a guest logs at a level.
type pluginLog uint32

// Before implements experimental.FunctionListener.
func (l pluginLog) Before(ctx context.Context, mod api.Module, def api.FunctionDefinition, params []uint64, stack experimental.StackIterator) {
	sawHostCall(ctx, mod, def, params, stack)
	kernel, ok := ctx.Value(extism.PluginCtxKey("extism")).(api.Module)
	if !ok || params[0] == 0 {
		return // go-sdk will say what it thinks of it
	}
	if length, err := kernel.ExportedFunction("length").Call(ctx, params[0]); err == nil {
		if text, ok := kernel.Memory().Read(uint32(params[0]), uint32(length[0])); ok {
			instanceOf(ctx).log.add(logLevel(uint32(l)), text)
		}
	}
}

// After implements experimental.FunctionListener.
func (pluginLog) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}

// Abort implements experimental.FunctionListener.
func (pluginLog) Abort(context.Context, api.Module, api.FunctionDefinition, error) {}

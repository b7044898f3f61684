package wasmhost

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"weir/wasmhost/meter"
)

//go:generate wat2wasm kernel.wat -o kernel.wasm

//go:embed kernel.wasm
var kernelWasm []byte

// Config configures a [Host]. The zero value is usable.
type Config struct {
	// CacheDir is a folder for compiled modules, created (0700) when missing. Whoever can write there decides what runs, so it must
	// belong to the user alone. "" compiles in memory, for this process.
	CacheDir string
	// Precompile, if not nil, is called with a module that CacheDir does not hold yet, before it is compiled here. It may
	// compile the same bytes in another process with a host of the same CacheDir, so that a compilation that runs wild
	// takes that process down and not this one; an error refuses the module.
	Precompile func(ctx context.Context, wasm []byte, limits Limits) error
	// Interpreter runs guests in wazero's interpreter, about 60 times slower; for comparison in tests.
	Interpreter bool
	// Logger gets what the host itself has to say; nil discards it.
	Logger *slog.Logger
}

// Host compiles and runs modules. One is enough for a process. Safe for concurrent use.
type Host struct {
	cfg       Config
	logger    *slog.Logger
	runtime   wazero.Runtime
	validator wazero.Runtime // interpreter: validates the original of a module before it is rewritten
	cache     wazero.CompilationCache
	store     moduleStore

	kernel     wazero.CompiledModule
	kernelFuel string // name under which the kernel exports its fuel

	mu      sync.Mutex
	modules map[moduleKey]*moduleEntry
	closed  bool
}

type moduleEntry struct {
	once   sync.Once
	module *Module
	err    error
}

// features is what a module may use: what wazero supports by default and the meter covers.
const features = api.CoreFeaturesV2

// New makes a host.
func New(ctx context.Context, cfg Config) (*Host, error) {
	h := &Host{cfg: cfg, logger: cfg.Logger, modules: map[moduleKey]*moduleEntry{}}
	if h.logger == nil {
		h.logger = slog.New(slog.DiscardHandler)
	}
	rc := wazero.NewRuntimeConfigCompiler()
	if cfg.Interpreter {
		rc = wazero.NewRuntimeConfigInterpreter()
	}
	if cfg.CacheDir != "" {
		if err := os.MkdirAll(cfg.CacheDir, 0o700); err != nil {
			return nil, fmt.Errorf("module cache: %w", err)
		}
		cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(cfg.CacheDir, "native"))
		if err != nil {
			return nil, fmt.Errorf("module cache: %w", err)
		}
		h.cache = cache
		h.store = moduleStore{dir: cfg.CacheDir}
		rc = rc.WithCompilationCache(cache)
	}
	rc = rc.WithCoreFeatures(features).WithDebugInfoEnabled(true)
	h.runtime = wazero.NewRuntimeWithConfig(ctx, rc)
	h.validator = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features))
	if err := h.prepare(ctx); err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	return h, nil
}

// prepare instantiates the modules that guests import from, and compiles the kernel.
func (h *Host) prepare(ctx context.Context) error {
	for _, m := range []struct {
		name string
		fns  []hostFunc
	}{
		{meterModule, meterFuncs()},
		{userModule, userFuncs()},
		{wasiModule, wasiFuncs()},
		{envModule, envFuncs()},
	} {
		b := h.runtime.NewHostModuleBuilder(m.name)
		for _, f := range m.fns {
			b = b.NewFunctionBuilder().WithGoModuleFunction(f.fn, f.params, f.results).Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("host module %s: %w", m.name, err)
		}
	}
	metered, info, err := meter.Instrument(kernelWasm, meter.Config{})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	h.kernelFuel = info.FuelGlobal
	if h.kernel, err = h.runtime.CompileModule(ctx, metered); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return nil
}

// Close closes every instance and frees all modules. Calls that still run fail.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	closed := h.closed
	h.closed = true
	h.mu.Unlock()
	if closed {
		return nil
	}
	errs := []error{h.runtime.Close(ctx), h.validator.Close(ctx)}
	if h.cache != nil {
		errs = append(errs, h.cache.Close(ctx))
	}
	return errors.Join(errs...)
}

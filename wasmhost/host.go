package wasmhost

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

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

	// What serve made: written under serving, read by who called it.
	serving    sync.Mutex
	kernel     wazero.CompiledModule
	kernelFuel string // name under which the kernel exports its fuel

	epoch time.Time

	mu        sync.Mutex
	modules   map[moduleKey]*moduleEntry
	guests    map[*Guest]struct{} // open ones
	closed    bool
	compiling sync.WaitGroup // added to under mu while the host is open
}

// moduleEntry is a module that is compiled or about to be. module and err may be read once done is closed.
type moduleEntry struct {
	done   chan struct{}
	module *Module
	err    error
	// holders counts those who have not released it; guarded by Host.mu.
	holders int
}

// features is what a module may use: what wazero supports by default and the meter covers.
const features = api.CoreFeaturesV2

// New makes a host.
func New(ctx context.Context, cfg Config) (*Host, error) {
	h := &Host{cfg: cfg, logger: cfg.Logger, epoch: time.Now(), modules: map[moduleKey]*moduleEntry{}, guests: map[*Guest]struct{}{}}
	if h.logger == nil {
		h.logger = slog.New(slog.DiscardHandler)
	}
	if cfg.CacheDir != "" {
		if err := os.MkdirAll(cfg.CacheDir, 0o700); err != nil {
			return nil, fmt.Errorf("module cache: %w", err)
		}
		cache, err := wazero.NewCompilationCacheWithDir(h.nativeDir())
		if err != nil {
			return nil, fmt.Errorf("module cache: %w", err)
		}
		h.cache = cache
		h.store = moduleStore{dir: cfg.CacheDir}
	}
	h.runtime = wazero.NewRuntimeWithConfig(ctx, h.runtimeConfig())
	h.validator = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features).WithDebugInfoEnabled(false))
	return h, nil
}

// runtimeConfig is that of every runtime in which guests run.
func (h *Host) runtimeConfig() wazero.RuntimeConfig {
	rc := wazero.NewRuntimeConfigCompiler()
	if h.cfg.Interpreter {
		rc = wazero.NewRuntimeConfigInterpreter()
	}
	if h.cache != nil {
		rc = rc.WithCompilationCache(h.cache)
	}
	return rc.WithCoreFeatures(features).WithDebugInfoEnabled(true) // the meter leaves no debug sections but the names
}

// serve instantiates the host modules of these names, and compiles the kernel, unless an earlier module had them: one that
// imports little starts sooner.
func (h *Host) serve(ctx context.Context, names []string, kernel bool) error {
	h.serving.Lock()
	defer h.serving.Unlock()
	if kernel {
		names = append(slices.Clone(names), envModule)
	}
	for _, name := range names {
		if h.runtime.Module(name) != nil {
			continue
		}
		b := h.runtime.NewHostModuleBuilder(name)
		for _, f := range hostFuncs(name) {
			b = b.NewFunctionBuilder().WithGoModuleFunction(f.fn, f.params, f.results).Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("host module %s: %w", name, err)
		}
	}
	if !kernel || h.kernel != nil {
		return nil
	}
	metered, info, err := meter.Instrument(kernelWasm, meter.Config{})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	compiled, err := h.native(ctx, metered)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	h.kernel, h.kernelFuel = compiled, info.FuelGlobal
	return nil
}

// hostFuncs are the functions of a host module.
func hostFuncs(module string) []hostFunc {
	switch module {
	case meterModule:
		return meterFuncs()
	case userModule:
		return userFuncs()
	case wasiModule:
		return wasiFuncs()
	case envModule:
		return envFuncs()
	default:
		return nil
	}
}

// now is the time since the host was made.
func (h *Host) now() time.Duration { return time.Since(h.epoch) }

// nativeDir is where wazero keeps machine code.
func (h *Host) nativeDir() string { return filepath.Join(h.cfg.CacheDir, "native") }

// open registers a guest, which Close will close.
func (h *Host) open(g *Guest) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.guests[g] = struct{}{}
	return nil
}

func (h *Host) forget(g *Guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.guests, g)
}

// Close closes every guest, as [Guest.Close] does, and frees all modules. It waits for compilations under way. A second
// call does nothing.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	closed := h.closed
	h.closed = true
	guests := slices.SortedFunc(maps.Keys(h.guests), func(a, b *Guest) int { return strings.Compare(a.cfg.Name, b.cfg.Name) })
	h.mu.Unlock()
	if closed {
		return nil
	}
	var errs []error
	for _, g := range guests {
		errs = append(errs, g.Close(ctx))
	}
	h.compiling.Wait()
	for _, e := range h.modules { // nobody changes them any more; what is not a plugin goes with the runtime
		if e.module.plugin != nil {
			errs = append(errs, e.module.free(ctx))
		}
	}
	errs = append(errs, h.runtime.Close(ctx), h.validator.Close(ctx))
	if h.cache != nil {
		errs = append(errs, h.cache.Close(ctx))
	}
	return errors.Join(errs...)
}

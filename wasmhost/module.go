package wasmhost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"weir/wasmhost/meter"
	"weir/wasmhost/screen"
)

// Module is a compiled module. It is shared by all who compiled the same bytes and lives as long as its host, unless all of them
// gave it back: see [Module.Release].
type Module struct {
	host     *Host
	key      moduleKey
	entry    *moduleEntry // of host
	digest   string
	size     int
	summary  screen.Summary
	compiled wazero.CompiledModule // nil for a plugin
	plugin   *extismPlugin         // what extism/go-sdk made of it, when that runs it
	kernel   bool                  // it imports Extism's env, and is no plugin
	info     meter.Info
	source   []byte // see WithSource; nil for most

	describe    sync.Mutex
	description []byte
}

// moduleKey is what decides the compiled form.
type moduleKey struct {
	digest [sha256.Size]byte
	table  uint32
	depth  uint32
	extism bool // for extism/go-sdk
}

func (k moduleKey) String() string {
	s := fmt.Sprintf("%s-m%s-t%d-d%d", hex.EncodeToString(k.digest[:]), meter.Version, k.table, k.depth)
	if k.extism {
		s += "-x"
	}
	return s
}

// Digest is the SHA-256 of the module's bytes, in lower-case hex.
func (m *Module) Digest() string { return m.digest }

// Size is the length of the module's bytes.
func (m *Module) Size() int { return m.size }

// Summary is what the module declares. It must not be changed.
func (m *Module) Summary() screen.Summary { return m.summary }

// MeterInfo is what the meter found out about the module.
func (m *Module) MeterInfo() meter.Info { return m.info }

// CompileFile reads and compiles a module file. name is used in errors.
func (h *Host) CompileFile(ctx context.Context, name, path string, limits Limits) (*Module, error) {
	wasm, err := ReadModule(name, path, limits)
	if err != nil {
		return nil, err
	}
	return h.Compile(ctx, name, wasm, limits)
}

// ReadModule reads a module file, if it is one and no larger than the limit Module. Every error is a *Fault of kind load for
// name.
func ReadModule(name, path string, limits Limits) ([]byte, error) {
	limits = limits.withDefaults()
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, loadFault(name, err)
	case !info.Mode().IsRegular():
		return nil, loadFault(name, fmt.Errorf("%s is not a file", path))
	case info.Size() > int64(limits.Module):
		return nil, loadFault(name, fmt.Errorf("%s has %d bytes, more than the limit of %d", path, info.Size(), limits.Module))
	}
	wasm, err := os.ReadFile(path)
	if err != nil {
		return nil, loadFault(name, err)
	}
	return wasm, nil
}

// Compile screens, validates, meters and compiles a module, or returns what an earlier call made of the same bytes. Of
// limits it uses Module, Memory, Table and Depth; the last two are written into the compiled form, and hold for all its
// guests. Every error is a *Fault of kind load for name. It does not keep wasm.
func (h *Host) Compile(ctx context.Context, name string, wasm []byte, limits Limits) (*Module, error) {
	return h.compileFor(ctx, name, wasm, limits, false)
}

func (h *Host) compileFor(ctx context.Context, name string, wasm []byte, limits Limits, extism bool) (*Module, error) {
	if err := limits.Validate(); err != nil {
		return nil, loadFault(name, err)
	}
	limits = limits.withDefaults()
	summary, err := screen.Screen(wasm, screen.Limits{ModuleBytes: int(limits.Module), MemoryBytes: int64(limits.Memory), TableElements: int(limits.Table)})
	if err != nil {
		return nil, loadFault(name, err)
	}
	key := moduleKey{digest: sha256.Sum256(wasm), table: limits.Table, depth: limits.Depth, extism: extism}
	for {
		e, mine, err := h.entry(key)
		if err != nil {
			return nil, loadFault(name, err)
		}
		if mine {
			if e.module, e.err = h.compile(ctx, key, wasm, summary, limits); e.err == nil {
				e.module.entry = e
			}
			h.compiled(key, e)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return nil, loadFault(name, errors.Join(ctx.Err(), h.release(context.WithoutCancel(ctx), key, e)))
		}
		switch {
		case e.err == nil:
			return e.module, nil
		case mine || !errors.Is(e.err, context.Canceled) && !errors.Is(e.err, context.DeadlineExceeded):
			return nil, loadFault(name, e.err)
		}
		// Whoever compiled it gave up; we have not.
	}
}

// entry finds the module of key, or makes an entry that the caller must fill and hand to compiled.
func (h *Host) entry(key moduleKey) (e *moduleEntry, mine bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false, ErrClosed
	}
	if e := h.modules[key]; e != nil {
		e.holders++
		return e, false, nil
	}
	e = &moduleEntry{done: make(chan struct{}), holders: 1}
	h.modules[key] = e
	h.compiling.Add(1)
	return e, true, nil
}

// compiled publishes an entry. One that failed is forgotten: a later call may fare better.
func (h *Host) compiled(key moduleKey, e *moduleEntry) {
	if e.err != nil {
		h.mu.Lock()
		delete(h.modules, key)
		h.mu.Unlock()
	}
	close(e.done)
	h.compiling.Done()
}

// Release gives back what one call of [Host.Compile] or [Host.CompileFile] returned. Once everybody who compiled the same bytes
// has done so, the machine code is freed, and the host compiles those bytes anew when they come again. The guests made of it must be
// closed by then, and nothing may be made of it afterwards. What [Module.WithSource] returned stands for the module that it was
// made of: one of the two is to be given back. After [Host.Close] it does nothing.
func (m *Module) Release(ctx context.Context) error { return m.host.release(ctx, m.key, m.entry) }

func (h *Host) release(ctx context.Context, key moduleKey, e *moduleEntry) error {
	h.mu.Lock()
	if h.modules[key] != e || h.closed { // it failed to compile and is forgotten, or all is freed together
		h.mu.Unlock()
		return nil
	}
	e.holders--
	last := e.holders == 0
	if last {
		delete(h.modules, key)
	}
	h.mu.Unlock()
	if !last {
		return nil
	}
	return e.module.free(ctx) // it is there: who compiles it holds it until then
}

func (m *Module) free(ctx context.Context) error {
	if m.plugin != nil {
		return m.plugin.Close(ctx)
	}
	return m.compiled.Close(ctx)
}

func (h *Host) compile(ctx context.Context, key moduleKey, wasm []byte, summary screen.Summary, limits Limits) (*Module, error) {
	if err := checkModule(summary); err != nil {
		return nil, err
	}
	if key.extism {
		if err := plainExtism(summary); err != nil {
			return nil, err
		}
	}
	for i := range summary.Imports { // they would keep all of wasm in memory
		summary.Imports[i].Params, summary.Imports[i].Results = nil, nil
	}
	for i := range summary.Exports {
		summary.Exports[i].Params, summary.Exports[i].Results = nil, nil
	}
	m := &Module{host: h, key: key, digest: hex.EncodeToString(key.digest[:]), size: len(wasm), summary: summary}
	m.kernel = !key.extism && slices.ContainsFunc(summary.Imports, func(i screen.Import) bool { return i.Module == extismModule })
	metered, err := h.metered(ctx, key, wasm, limits)
	if err != nil {
		return nil, err
	}
	m.info = metered.info
	if key.extism {
		if m.plugin, err = h.compilePlugin(ctx, metered.wasm); err != nil {
			return nil, fmt.Errorf("compile: %w", err)
		}
		return m, nil
	}
	imports := []string{meterModule}
	for _, i := range summary.Imports {
		if i.Module != extismModule {
			imports = append(imports, i.Module)
		}
	}
	if err := h.serve(ctx, imports, m.kernel); err != nil {
		return nil, err
	}
	if m.compiled, err = h.native(ctx, metered.wasm); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return m, nil
}

// native compiles to machine code, or reads what was compiled earlier.
func (h *Host) native(ctx context.Context, wasm []byte) (compiled wazero.CompiledModule, err error) {
	err = h.undamaged(func() error {
		compiled, err = h.runtime.CompileModule(ctx, wasm)
		return err
	})
	return compiled, err
}

// undamaged runs a compilation. wazero refuses a file of its cache that is damaged and keeps it; we empty that cache and
// compile again.
func (h *Host) undamaged(compile func() error) error {
	err := compile()
	if err == nil || h.cfg.CacheDir == "" || !strings.HasPrefix(err.Error(), "compilationcache: ") {
		return err
	}
	h.logger.Warn("the module cache is damaged and is emptied", "error", err)
	if rerr := removeFiles(h.nativeDir()); rerr != nil {
		return errors.Join(err, rerr)
	}
	return compile()
}

// meteredModule is the rewritten form of a valid module.
type meteredModule struct {
	info meter.Info
	wasm []byte
}

// metered gives the rewritten form of a module that is valid, from the store if it is there.
func (h *Host) metered(ctx context.Context, key moduleKey, wasm []byte, limits Limits) (meteredModule, error) {
	if m, ok, err := h.stored(key); err != nil || ok {
		return m, err
	}
	if h.cfg.Precompile != nil {
		if err := h.cfg.Precompile(ctx, wasm, limits); err != nil {
			return meteredModule{}, err
		}
		if m, ok, err := h.stored(key); err != nil || ok {
			return m, err
		}
	}
	// The original is validated before the meter touches it: the meter's globals would make valid what was not.
	original, err := h.validator.CompileModule(ctx, wasm)
	if err != nil {
		return meteredModule{}, fmt.Errorf("not a valid module: %w", err)
	}
	if err := original.Close(ctx); err != nil {
		return meteredModule{}, err
	}
	var m meteredModule
	if m.wasm, m.info, err = meter.Instrument(wasm, meter.Config{TableElements: key.table, Depth: int64(key.depth), Enter: key.extism}); err != nil {
		return meteredModule{}, err
	}
	info, err := json.Marshal(m.info)
	if err != nil {
		return meteredModule{}, err
	}
	return m, h.store.put(key.String(), storedModule, append(append(info, '\n'), m.wasm...))
}

// storedModule names the store's entry of a metered module: its meter.Info as a line of JSON, then the module.
const storedModule = "wasm"

func (h *Host) stored(key moduleKey) (m meteredModule, ok bool, err error) {
	data, err := h.store.get(key.String(), storedModule)
	if err != nil || data == nil {
		return m, false, err
	}
	info, wasm, found := bytes.Cut(data, []byte("\n"))
	if !found || json.Unmarshal(info, &m.info) != nil {
		return m, false, nil //nolint:nilerr // not what this version writes: made anew
	}
	m.wasm = wasm
	return m, true, nil
}

// DescribeExport is the entry point through which a module says what it is.
const DescribeExport = "weir_describe"

// Exports says whether the module exports anything under that name.
func (m *Module) Exports(name string) bool {
	return slices.ContainsFunc(m.summary.Exports, func(e screen.Export) bool { return e.Name == name })
}

// EntryError is an entry point that cannot be called.
type EntryError struct {
	Export string
	Kind   screen.Kind // of what is exported under this name; 0 for nothing
	Type   string      // of the function
}

// Error says what is exported and what is wanted.
func (e *EntryError) Error() string {
	switch e.Kind {
	case 0:
		return fmt.Sprintf("no export %q", e.Export)
	case screen.Function:
		return fmt.Sprintf("export %q has the type %s; an entry point has the type () -> i32", e.Export, e.Type)
	default:
		return fmt.Sprintf("export %q is a %v; an entry point is a function of type () -> i32", e.Export, e.Kind)
	}
}

// CheckEntry says what is wrong with an entry point: it must be a function of type () -> i32. The error is an *EntryError.
func (m *Module) CheckEntry(name string) error {
	for _, e := range m.summary.Exports {
		if e.Name != name {
			continue
		}
		if e.Kind != screen.Function || e.Type != "() -> i32" {
			return &EntryError{Export: name, Kind: e.Kind, Type: e.Type}
		}
		return nil
	}
	return &EntryError{Export: name}
}

// Describe runs weir_describe, with no grants and the default limits, and returns what it gave. The answer is kept, also
// on disk. The caller must not change it.
func (m *Module) Describe(ctx context.Context, name string) ([]byte, error) {
	m.describe.Lock()
	defer m.describe.Unlock()
	if m.description != nil {
		return m.description, nil
	}
	stored, err := m.host.store.get(m.describeKey(), "describe")
	if err != nil {
		return nil, loadFault(name, err)
	}
	if stored != nil {
		m.description = stored
		return stored, nil
	}
	var out []byte
	start := m.host.now()
	g, err := m.newGuest(ctx, GuestConfig{Name: name, Entries: []string{DescribeExport}}, true)
	if err != nil {
		return nil, err
	}
	rest := max(g.limits.LoadTimeout-(m.host.now()-start), time.Millisecond) // starting and describing share one timeout
	_, err = g.Call(ctx, DescribeExport, Input{Timeout: rest}, func(b []byte) error {
		if len(b) == 0 {
			return errors.New("no output")
		}
		out = append([]byte(nil), b...)
		return nil
	})
	err = errors.Join(err, g.Close(ctx))
	if err != nil {
		return nil, err
	}
	m.description = out
	if err := m.host.store.put(m.describeKey(), "describe", out); err != nil {
		return nil, loadFault(name, err)
	}
	return out, nil
}

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"weir/engine/script"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// load makes one extension of a set, or gives back the one that is running if x and its module are what that was made of.
func (e *Engine) load(ctx context.Context, x *set.Extension, running *member) (ext *guestExtension, err error) {
	limits := hostLimits(x.Limits)
	module, err := e.compile(ctx, x, limits)
	if err != nil {
		return nil, e.explained(x, err)
	}
	defer func() {
		if err != nil {
			err = e.explained(x, err)
			if rerr := module.Release(context.WithoutCancel(ctx)); rerr != nil {
				err = errors.Join(err, rerr)
			}
		}
	}()
	if x.SHA256 != "" && x.SHA256 != module.Digest() {
		return nil, x.At("sha256").Error("extension.sha256", fmt.Sprintf("extension %q: the module's digest is %s, not the pinned one", x.Name, module.Digest()),
			"if the new module is the one you want, pin its digest")
	}
	if kept := running.same(x, module); kept != nil {
		if err := x.CheckHooks(kept.describe.HookNames()); err != nil { // on_error may be another
			return nil, err
		}
		return kept, module.Release(ctx)
	}
	describe, err := Describe(ctx, x.Name, module)
	if err != nil {
		return nil, err
	}
	exports, err := entries(describe, module.CheckEntry)
	if err != nil {
		return nil, &wasmhost.Fault{Extension: x.Name, Export: "load", Kind: wasmhost.KindLoad, Err: err}
	}
	if err := x.CheckHooks(describe.HookNames()); err != nil {
		return nil, err
	}
	if err := checkConfig(x, describe.Config); err != nil {
		return nil, err
	}
	capabilities, err := e.capabilities(x)
	if err != nil {
		return nil, err
	}
	guest, err := module.NewGuest(ctx, wasmhost.GuestConfig{
		Name: x.Name, Entries: exports, Limits: limits, Config: x.Config, Capabilities: capabilities,
		RealClock: x.Grant.Clock, RealRandom: x.Grant.Random, Logger: e.logger.With("extension", x.Name),
	})
	if err != nil {
		return nil, err
	}
	scope := wire.Scope{SessionID: e.cfg.SessionID, Extension: x.Name, CWD: e.cfg.CWD, Mode: e.cfg.Mode, HasUI: e.cfg.Ask != nil || e.cfg.UI != nil}
	ext = newGuestExtension(x.Name, module, guest, describe, scope)
	if ext.toolTimeout = limits.ToolTimeout; ext.toolTimeout == 0 {
		ext.toolTimeout = defaultToolTimeout
	}
	return ext, nil
}

// compile finds the module of an extension and compiles it.
func (e *Engine) compile(ctx context.Context, x *set.Extension, limits wasmhost.Limits) (*wasmhost.Module, error) {
	if e.cfg.Host == nil {
		return nil, fmt.Errorf("extension %q: the engine has no host to run modules", x.Name)
	}
	compile := e.cfg.Host.Compile
	if x.Runtime == set.RuntimeExtism {
		compile = e.cfg.Host.CompileExtism
	}
	if name, ok := x.Bundled(); ok {
		var wasm []byte
		if e.cfg.Bundled != nil {
			wasm, ok = e.cfg.Bundled(name)
		}
		if wasm == nil || !ok {
			return nil, x.At("module").Error("extension.module", fmt.Sprintf("extension %q: there is no bundled extension %q", x.Name, name), "")
		}
		return compile(ctx, x.Name, wasm, limits)
	}
	if _, err := os.Stat(x.Module); err != nil {
		return nil, x.At("module").Error("extension.module", fmt.Sprintf("extension %q: %v", x.Name, err), "the path is relative to the set file")
	}
	if script.Is(x.Module) {
		if x.Runtime == set.RuntimeExtism {
			return nil, x.At("runtime").Error("extension.runtime", fmt.Sprintf("extension %q: a policy in JavaScript or TypeScript is no plain Extism module", x.Name), `leave out runtime = "extism"`)
		}
		return e.compileScript(ctx, x, limits)
	}
	if x.Runtime == set.RuntimeExtism {
		wasm, err := wasmhost.ReadModule(x.Name, x.Module, limits)
		if err != nil {
			return nil, err
		}
		return compile(ctx, x.Name, wasm, limits)
	}
	return e.cfg.Host.CompileFile(ctx, x.Name, x.Module, limits)
}

// compileScript bundles a policy and binds it to the engine for scripts, which is compiled once for all of them.
func (e *Engine) compileScript(ctx context.Context, x *set.Extension, limits wasmhost.Limits) (*wasmhost.Module, error) {
	fail := func(err error) error {
		return &wasmhost.Fault{Extension: x.Name, Export: "load", Kind: wasmhost.KindLoad, Err: err}
	}
	s, err := script.Load(x.Module)
	if err != nil {
		return nil, fail(err)
	}
	wasm, err := s.Engine()
	if err != nil {
		return nil, fail(err)
	}
	module, err := e.cfg.Host.Compile(ctx, x.Name, wasm, limits)
	if err != nil {
		return nil, err
	}
	return module.WithSource(s.Source()), nil
}

// Describe reads what a module says of itself. A plain Extism module, which says nothing, hooks what its exports are
// named like. The error is a *wasmhost.Fault of kind load, or of the kind of what went wrong in weir_describe.
func Describe(ctx context.Context, name string, module *wasmhost.Module) (*wire.Describe, error) {
	fail := func(err error) error {
		return &wasmhost.Fault{Extension: name, Export: "load", Kind: wasmhost.KindLoad, Err: err}
	}
	if module.Summary().Command {
		return nil, fail(wasmhost.ErrCommand)
	}
	if !module.Exports(wasmhost.DescribeExport) {
		d := &wire.Describe{Name: name, Version: "0.0.0"}
		for _, k := range Kinds() {
			if module.Exports(k.Event.String()) {
				d.Hooks = append(d.Hooks, wire.Hook{Event: k.Event, View: wire.ViewFull})
			}
		}
		if len(d.Hooks) == 0 {
			return nil, fail(fmt.Errorf("%w: it exports neither weir_describe nor a function named like a hook (such as tool_call); it exports %s", errNoHook, exportNames(module)))
		}
		for _, h := range d.Hooks {
			if err := module.CheckEntry(h.Event.String()); err != nil {
				return nil, fail(err)
			}
		}
		return d, nil
	}
	if err := module.CheckEntry(wasmhost.DescribeExport); err != nil {
		return nil, fail(err)
	}
	out, err := module.Describe(ctx, name)
	if err != nil {
		return nil, err
	}
	d, err := wire.ParseDescribe(out)
	if err != nil {
		return nil, fail(fmt.Errorf("weir_describe: %w", err))
	}
	for _, h := range d.Hooks {
		if err := module.CheckEntry(h.Event.String()); err != nil {
			return nil, fail(fmt.Errorf("weir_describe names the hook %s: %w", h.Event, err))
		}
	}
	return d, nil
}

var errNoHook = errors.New("not an extension")

// exportNames lists a module's exports for an error, shortened.
func exportNames(module *wasmhost.Module) string {
	const most = 8
	var names []string
	for _, x := range module.Summary().Exports {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, x.Name)
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// hostLimits are a set's limits as the host takes them; both mean the default by zero.
func hostLimits(l set.Limits) wasmhost.Limits {
	return wasmhost.Limits{
		Timeout: l.Timeout, ToolTimeout: l.ToolTimeout, LoadTimeout: l.LoadTimeout, Fuel: l.Fuel, Memory: uint64(l.Memory), Depth: uint32(l.Depth),
		Table: uint32(l.Table), Output: uint32(l.Output), ErrorText: uint32(l.ErrorText), LogLines: uint32(l.LogLines), LogBytes: uint32(l.LogBytes),
		HostCalls: uint32(l.HostCalls), Module: uint32(l.Module), Quarantine: uint32(l.Quarantine),
	}
}

// checkConfig checks an extension's settings against the schema that it describes.
func checkConfig(x *set.Extension, schema json.RawMessage) error {
	if schema == nil {
		if len(x.Config) > 0 && !bytes.Equal(x.Config, []byte("{}")) {
			return x.At("config").Error("extension.config", fmt.Sprintf("extension %q has no settings", x.Name), "remove [extension.config]")
		}
		return nil
	}
	const url = "config.json"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err == nil {
		c := jsonschema.NewCompiler()
		if err = c.AddResource(url, doc); err == nil {
			var s *jsonschema.Schema
			if s, err = c.Compile(url); err == nil {
				return validateConfig(x, s)
			}
		}
	}
	return &wasmhost.Fault{Extension: x.Name, Export: "load", Kind: wasmhost.KindLoad, Err: fmt.Errorf("weir_describe: config is not a valid JSON Schema: %w", err)}
}

func validateConfig(x *set.Extension, s *jsonschema.Schema) error {
	config := x.Config
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config))
	if err != nil {
		return fmt.Errorf("extension %q: settings: %w", x.Name, err)
	}
	err = s.Validate(doc)
	invalid, ok := err.(*jsonschema.ValidationError) //nolint:errorlint // the library returns exactly this type
	if !ok {
		return err
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	key := append([]string{"config"}, invalid.InstanceLocation...)
	return x.At(key...).Error("extension."+strings.Join(key, "."), fmt.Sprintf("extension %q: %s", x.Name, describeInvalid(invalid)), "")
}

// describeInvalid is the library's own sentence for the innermost error, without its preamble.
func describeInvalid(err *jsonschema.ValidationError) string {
	text := err.Error()
	if i := strings.LastIndex(text, "': "); i >= 0 {
		text = text[i+3:]
	}
	return text
}

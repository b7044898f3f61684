package engine

import (
	"errors"
	"io"
	"os"

	"weir/engine/script"
	"weir/engine/set"
	"weir/wasmhost"
)

// LoadError is why a module does not load. It is what the *wasmhost.Fault of such a module wraps.
type LoadError struct {
	Module string // as the set names it
	Err    error
	// Hint says how to build it right; "" when nothing better is known than what Err says.
	Hint string
}

// Error is MODULE: text (hint).
func (e *LoadError) Error() string {
	s := e.Module + ": " + e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap gives the cause.
func (e *LoadError) Unwrap() error { return e.Err }

// explained adds to the fault of a module that does not load which file it is and what to do. Other errors have their place already.
func (e *Engine) explained(x *set.Extension, err error) error {
	var fault *wasmhost.Fault
	var done *LoadError
	if !errors.As(err, &fault) || errors.As(err, &done) {
		return err
	}
	said := *fault
	said.Err = &LoadError{Module: x.Module, Err: fault.Err, Hint: loadHint(e.moduleBytes(x), fault.Err)}
	return &said
}

// moduleBytes reads a module that did not load once more, for a look at it; nil when it cannot be read, or is a script, whose errors
// have a line.
func (e *Engine) moduleBytes(x *set.Extension) []byte {
	if name, ok := x.Bundled(); ok {
		if e.cfg.Bundled == nil {
			return nil
		}
		wasm, _ := e.cfg.Bundled(name)
		return wasm
	}
	if script.Is(x.Module) {
		return nil
	}
	if info, err := os.Stat(x.Module); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(x.Module)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	const most = 32 << 20
	wasm, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return wasm
}

package wasmhost

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what went wrong in or around a guest. The zero value means unset; String gives the name used in messages
// and on the wire (ABI section 9).
type Kind uint8

// The fault kinds.
const (
	KindTrap     Kind = iota + 1 // a wasm trap
	KindDeadline                 // the time was used up, or the caller's context was cancelled
	KindFuel                     // the instruction budget was used up
	KindMemory                   // memory was refused, or a trap or exit came after a refusal
	KindDepth                    // the native stack would have grown past its limit
	KindExit                     // the guest called proc_exit, with whatever code
	KindError                    // the guest returned non-zero or set an error
	KindOutput                   // the output is too large or not what the export must return
	KindHost                     // a bad pointer, a refused or failed host call, a panic on our side
	KindLoad                     // the module does not load
)

// String is the kind's name in messages.
func (k Kind) String() string {
	switch k {
	case KindTrap:
		return "trap"
	case KindDeadline:
		return "deadline"
	case KindFuel:
		return "fuel"
	case KindMemory:
		return "memory"
	case KindDepth:
		return "depth"
	case KindExit:
		return "exit"
	case KindError:
		return "error"
	case KindOutput:
		return "output"
	case KindHost:
		return "host"
	case KindLoad:
		return "load"
	default:
		return "unset"
	}
}

// Fault is what every failed call of a guest returns. The instance that it happened in is closed and never used again.
//
// A fault of kind deadline satisfies errors.Is(err, context.DeadlineExceeded), one of a cancelled run
// errors.Is(err, context.Canceled).
type Fault struct {
	Extension string // name of the guest
	Export    string // the export that was called; "load" before any could be
	Kind      Kind
	Err       error
}

// Error is NAME: EXPORT: KIND: text.
func (f *Fault) Error() string {
	return fmt.Sprintf("%s: %s: %s: %v", f.Extension, f.Export, f.Kind, f.Err)
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Is makes deadline faults equal to context.DeadlineExceeded unless the cause is a cancellation.
func (f *Fault) Is(target error) bool {
	return target == context.DeadlineExceeded && f.Kind == KindDeadline && !errors.Is(f.Err, context.Canceled)
}

var (
	// ErrQuarantined is wrapped by the fault of a call that was not made, because the guest failed too often in a row.
	ErrQuarantined = errors.New("quarantined")
	// ErrReentrant is wrapped by the fault of a call that was made from inside a host call of the same guest.
	ErrReentrant = errors.New("called again from inside one of its own host calls")
	// ErrCommand is wrapped by the fault of a module that is a program: to be run once, not called. It is to be built as a reactor (Go:
	// -buildmode=c-shared, clang: -mexec-model=reactor).
	ErrCommand = errors.New("this is a WASI command (it exports _start and no _initialize), which runs once and cannot be called")
	// ErrClosed is returned by a guest or a host that was closed.
	ErrClosed = errors.New("closed")
)

// loadFault wraps err as the load fault of a module.
func loadFault(name string, err error) error {
	var f *Fault
	if errors.As(err, &f) {
		return err
	}
	return &Fault{Extension: name, Export: "load", Kind: KindLoad, Err: err}
}

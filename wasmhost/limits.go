package wasmhost

import (
	"fmt"
	"time"
)

// Limits bounds what one guest may use. A zero field means the default; there is no way to say "unlimited". The
// numbers are those of ABI section 14.
type Limits struct {
	Timeout     time.Duration // wall clock of one call, host calls included; default 500ms
	ToolTimeout time.Duration // the same for tool_execute and command_execute; default 60s
	LoadTimeout time.Duration // instantiation, start, _initialize and describe together; default 5s
	Fuel        uint64        // units of one call, about one an instruction; default 1e9
	Memory      uint64        // bytes of linear memory, the kernel's blocks included; default 64 MiB
	Depth       uint32        // bytes of native stack as the meter counts them; default 8 MiB
	Table       uint32        // elements of a table; default 100,000
	Output      uint32        // bytes of one output; default 8 MiB
	ErrorText   uint32        // bytes of an error text that are kept; default 4 KiB
	LogLines    uint32        // log lines of one call that are kept, the rest is counted; default 256
	LogBytes    uint32        // the same in bytes; default 64 KiB
	HostCalls   uint32        // host calls of one call; default 100,000
	Module      uint32        // bytes of a module file; default 32 MiB
	Quarantine  uint32        // faults in a row after which the guest is not called again; default 3
}

// DefaultLimits returns the defaults.
func DefaultLimits() Limits { return Limits{}.withDefaults() }

func (l Limits) withDefaults() Limits {
	def(&l.Timeout, 500*time.Millisecond)
	def(&l.ToolTimeout, time.Minute)
	def(&l.LoadTimeout, 5*time.Second)
	def(&l.Fuel, 1_000_000_000)
	def(&l.Memory, 64<<20)
	def(&l.Depth, 8<<20)
	def(&l.Table, 100_000)
	def(&l.Output, 8<<20)
	def(&l.ErrorText, 4<<10)
	def(&l.LogLines, 256)
	def(&l.LogBytes, 64<<10)
	def(&l.HostCalls, 100_000)
	def(&l.Module, 32<<20)
	def(&l.Quarantine, 3)
	return l
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// The largest values that make sense: beyond them 32-bit memory, the engine's native stack or plain arithmetic end.
const (
	maxTimeout = 24 * time.Hour
	maxFuel    = uint64(1) << 50
	maxMemory  = uint64(4) << 30
	maxDepth   = 64 << 20
)

// Validate names the first limit that is negative or beyond what can be enforced.
func (l Limits) Validate() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"timeout", l.Timeout}, {"tool_timeout", l.ToolTimeout}, {"load_timeout", l.LoadTimeout}} {
		if d.value < 0 || d.value > maxTimeout {
			return fmt.Errorf("limit %s: %v is not between 0 (the default) and %v", d.name, d.value, maxTimeout)
		}
	}
	switch {
	case l.Fuel > maxFuel:
		return fmt.Errorf("limit fuel: %d is more than %d", l.Fuel, maxFuel)
	case l.Memory > maxMemory:
		return fmt.Errorf("limit memory: %d bytes are more than a 32-bit memory has (%d)", l.Memory, maxMemory)
	case l.Depth > maxDepth:
		return fmt.Errorf("limit depth: %d bytes are more than %d", l.Depth, maxDepth)
	}
	return nil
}

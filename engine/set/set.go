package set

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// FileName is what a set file is called in the folder of its layer.
const FileName = "weir.toml"

// Version is the value that a file's version key must have.
const Version = 1

// Set is an ordered set of extensions: one file, or several composed.
type Set struct {
	// Path is the file as it was named and Dir its folder, which relative
	// paths in it start from. Both are empty for a set that is not one file.
	Path string `json:"path,omitzero"`
	Dir  string `json:"dir,omitzero"`
	// Version is always 1.
	Version int `json:"version"`
	// Recheck asks earlier extensions again when a later one rewrote the
	// arguments (abi.md section 6). Default true.
	Recheck bool `json:"recheck"`
	// Pairs refuses context edits that part a tool call from its result
	// (abi.md section 7). Default true.
	Pairs bool `json:"pairs"`
	// Protect keeps the agent's tools from changing weir's own files: sets,
	// modules in use, the trust file, settings, caches, sessions. Default true.
	Protect bool `json:"protect"`
	// Defaults is the file's [defaults]. It is already merged into the Limits
	// of each extension; a composed set has none.
	Defaults Limits `json:"defaults,omitzero"`
	// Extensions are in file order, a composed set's in layer order.
	Extensions []Extension `json:"extensions"`

	root *node
}

// At returns where the key stands in the file, as in At("recheck"), or the
// start of the file when it does not say.
func (s *Set) At(keys ...string) Position {
	if s.root == nil {
		return Position{File: s.Path}
	}
	return s.root.find(keys...).pos
}

// says reports whether the file has the top-level key, whatever its value.
func (s *Set) says(key string) bool {
	return s.root != nil && s.root.keys[key] != nil
}

// Extension is one [[extension]] of a set.
type Extension struct {
	// Name is unique in the set and matches [a-z][a-z0-9-]{0,63}.
	Name string `json:"name"`
	// Module is a clean path (relative ones start at the set's Dir, so that
	// it can be opened as it is) or bundled:NAME, kept as written. That a
	// module exists, and that the host can run a .js or .ts one, is for the
	// host to say.
	Module string `json:"module"`
	// SHA256 pins the module: 64 lower-case hex digits, empty when not pinned.
	SHA256 string `json:"sha256,omitzero"`
	// Mode is ModeEnforce unless the file says otherwise.
	Mode Mode `json:"mode"`
	// OnError is OnErrorUnset when the file does not say: then the event's own
	// rule applies (abi.md section 8).
	OnError OnError `json:"onError,omitzero"`
	// Runtime is RuntimeWeir unless the file says otherwise.
	Runtime Runtime `json:"runtime"`
	// Limits are the extension's own, and where it sets none those of the
	// file's [defaults]. A zero field means the host's default.
	Limits Limits `json:"limits,omitzero"`
	// Config is [extension.config] as JSON, without spaces and with sorted
	// keys, so that equal settings are equal bytes; nil when absent. Dates and
	// times become strings.
	Config json.RawMessage `json:"config,omitempty"`
	// Grant is [extension.grant]; zero grants nothing.
	Grant Grant `json:"grant,omitzero"`
	// Pos is where its [[extension]] stands.
	Pos Position `json:"pos"`
	// Source is the layer it came from, LayerUnset before [Compose].
	Source Layer `json:"source,omitzero"`

	where *node
}

// At returns where a key of the extension stands, as in At("config",
// "protect"); where the file lacks the key, the place of the nearest enclosing
// one. Use it to report what only the engine can find wrong.
func (e *Extension) At(keys ...string) Position {
	if e.where == nil {
		return e.Pos
	}
	return e.where.find(keys...).pos
}

// CheckHooks refuses what the set alone cannot: on_error = "isolate" for an
// extension whose module hooks tool_call, since a gate fails closed. hooks are
// the event names that the module describes. The error is an *Error.
func (e *Extension) CheckHooks(hooks []string) error {
	if e.OnError == OnErrorIsolate && slices.Contains(hooks, "tool_call") {
		return e.At("on_error").Error("extension.on_error",
			fmt.Sprintf("extension %q hooks tool_call, and a gate cannot be isolated: its fault blocks the call", e.Name),
			`remove on_error, or write on_error = "block"`)
	}
	return nil
}

// BundledPrefix starts the Module of an extension that ships with weir.
const BundledPrefix = "bundled:"

// Bundled returns the name of the bundled extension that the module is, and
// whether it is one.
func (e *Extension) Bundled() (string, bool) {
	return strings.CutPrefix(e.Module, BundledPrefix)
}

// Mode says whether an extension's decisions take effect.
type Mode uint8

const (
	// ModeUnset is the zero value; the engine treats it as ModeEnforce.
	ModeUnset Mode = iota
	// ModeEnforce applies decisions.
	ModeEnforce
	// ModeMonitor records decisions and changes nothing.
	ModeMonitor
)

func modes() []string { return []string{"", "enforce", "monitor"} }

// String is the name in the file, "" for ModeUnset.
func (m Mode) String() string { return name(modes(), uint8(m)) }

// MarshalText is String.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// OnError says what a fault does beyond the event's own rule.
type OnError uint8

const (
	// OnErrorUnset leaves it to the event's own rule.
	OnErrorUnset OnError = iota
	// OnErrorIsolate lets the run go on as if the extension were not there.
	OnErrorIsolate
	// OnErrorBlock stops what the event is about.
	OnErrorBlock
)

func onErrors() []string { return []string{"", "isolate", "block"} }

// String is the name in the file, "" for OnErrorUnset.
func (o OnError) String() string { return name(onErrors(), uint8(o)) }

// MarshalText is String.
func (o OnError) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Runtime says which host runs an extension.
type Runtime uint8

const (
	// RuntimeUnset is the zero value; the engine treats it as RuntimeWeir.
	RuntimeUnset Runtime = iota
	// RuntimeWeir is weir's own host.
	RuntimeWeir
	// RuntimeExtism is extism/go-sdk; it runs plain Extism modules only.
	RuntimeExtism
)

func runtimes() []string { return []string{"", "weir", "extism"} }

// String is the name in the file, "" for RuntimeUnset.
func (r Runtime) String() string { return name(runtimes(), uint8(r)) }

// MarshalText is String.
func (r Runtime) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// name is names[n], or the number where a caller converted one that has none.
func name(names []string, n uint8) string {
	if int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("%d", n)
}

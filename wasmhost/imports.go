package wasmhost

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"weir/wasmhost/meter"
	"weir/wasmhost/screen"
)

// Names of the modules that guests, kernels and metered code import from.
const (
	extismModule = "extism:host/env"
	userModule   = "extism:host/user"
	wasiModule   = "wasi_snapshot_preview1"
	envModule    = "weir:env" // for kernels only
	meterModule  = meter.Module
)

// hostFunc is a function that we provide.
type hostFunc struct {
	name            string
	params, results []api.ValueType
	fn              api.GoModuleFunc
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

func types(t ...api.ValueType) []api.ValueType { return t }

// kernelFuncs are what a kernel exports for guests: Extism's env, complete (ABI section 2), except what would let a guest
// rewrite its input or wipe an error.
func kernelFuncs() map[string]string {
	return map[string]string{
		"alloc": "(i64) -> i64", "free": "(i64)", "length": "(i64) -> i64", "length_unsafe": "(i64) -> i64",
		"load_u8": "(i64) -> i32", "load_u64": "(i64) -> i64", "store_u8": "(i64, i32)", "store_u64": "(i64, i64)",
		"input_length": "() -> i64", "input_offset": "() -> i64",
		"input_load_u8": "(i64) -> i32", "input_load_u64": "(i64) -> i64",
		"output_set": "(i64, i64)", "error_set": "(i64)",
		"config_get": "(i64) -> i64", "var_get": "(i64) -> i64", "var_set": "(i64, i64)",
		"log_trace": "(i64)", "log_debug": "(i64)", "log_info": "(i64)", "log_warn": "(i64)", "log_error": "(i64)",
		"get_log_level": "() -> i32",
		"http_request":  "(i64, i64) -> i64", "http_status_code": "() -> i32", "http_headers": "() -> i64",
	}
}

// capabilities maps what a guest may import to the grant that opens it, and that to the line of a set that gives it.
func capabilityOf(module, name string) string {
	switch {
	case module == extismModule && strings.HasPrefix(name, "http_"):
		return "http"
	case module == userModule:
		switch name {
		case "weir_kv", "weir_http", "weir_file", "weir_ui", "weir_session", "weir_journal":
			return strings.TrimPrefix(name, "weir_")
		}
	}
	return ""
}

// GrantLine is the line of an [extension.grant] table that grants a capability.
func GrantLine(capability string) string {
	switch capability {
	case "http":
		return `http = ["GET https://api.example.com"]`
	case "file":
		return `read = ["./docs"]`
	case "session":
		return `session = ["read"]  # and "append", "send", "control", as far as it needs them`
	case "journal":
		return `journal = "audit.jsonl"`
	default:
		return capability + " = true"
	}
}

// ImportError is an import that nobody here provides.
type ImportError struct {
	Module, Name string
	Kind         screen.Kind
	Type         string // as the module wants it
	// Provided is the type of the function that is there under this name; "" when there is none.
	Provided string
	// Known are the modules that are provided or, if Module is one of them, its functions, sorted.
	Known []string
	// ModuleKnown says that Module is one of those that are provided.
	ModuleKnown bool
}

// Error says what was wanted and what there is.
func (e *ImportError) Error() string {
	switch {
	case !e.ModuleKnown:
		return fmt.Sprintf("imports %s.%s: no such module here; there are %s", e.Module, e.Name, strings.Join(e.Known, ", "))
	case e.Kind != screen.Function:
		return fmt.Sprintf("imports the %v %s.%s: only functions can be imported", e.Kind, e.Module, e.Name)
	case e.Provided == "":
		return fmt.Sprintf("imports %s.%s: no such function here (it may need a newer weir)", e.Module, e.Name)
	default:
		return fmt.Sprintf("imports %s.%s as %s; its type is %s", e.Module, e.Name, e.Type, e.Provided)
	}
}

// checkModule refuses what no grant can make loadable: imports of other modules, unknown names, wrong types. The error is an
// *ImportError.
func checkModule(s screen.Summary) error {
	provided := map[string]map[string]string{extismModule: kernelFuncs(), userModule: signatures(userFuncs()), wasiModule: signatures(wasiFuncs())}
	for _, i := range s.Imports {
		funcs, ok := provided[i.Module]
		if ok && i.Kind == screen.Function && funcs[i.Name] == i.Type {
			continue
		}
		e := &ImportError{Module: i.Module, Name: i.Name, Kind: i.Kind, Type: i.Type, Provided: funcs[i.Name], Known: slices.Sorted(maps.Keys(funcs)), ModuleKnown: ok}
		if !ok {
			e.Known = slices.Sorted(maps.Keys(provided))
		}
		return e
	}
	return nil
}

// MissingGrants names the capabilities that the module imports and that are not granted, in order of import.
func (m *Module) missingGrants(granted map[string]Capability) []string {
	var missing []string
	for _, c := range m.Capabilities() {
		if _, ok := granted[c]; !ok {
			missing = append(missing, c)
		}
	}
	return missing
}

// Capabilities names the capabilities that the module imports: kv, http, file, ui, session, journal. What it does not import it
// cannot use.
func (m *Module) Capabilities() []string {
	var out []string
	for _, i := range m.summary.Imports {
		if c := capabilityOf(i.Module, i.Name); c != "" && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// signatures gives the types of functions in the notation of screen.Summary.
func signatures(funcs []hostFunc) map[string]string {
	out := make(map[string]string, len(funcs))
	for _, f := range funcs {
		out[f.name] = signature(f.params, f.results)
	}
	return out
}

func signature(params, results []api.ValueType) string {
	list := func(types []api.ValueType) string {
		names := make([]string, len(types))
		for i, t := range types {
			names[i] = api.ValueTypeName(t)
		}
		return strings.Join(names, ", ")
	}
	s := "(" + list(params) + ")"
	if len(results) == 1 {
		s += " -> " + list(results)
	}
	return s
}

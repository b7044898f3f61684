package wire

import (
	"encoding/json"
	"strconv"
	"strings"

	"weir/agentcore"
)

// Describe is what weir_describe says (ABI section 3). It owns its memory.
type Describe struct {
	Name        string
	Version     string
	Description string // "" when absent
	// Hooks are in the order in which describe named them.
	Hooks    []Hook
	Tools    []ToolSpec
	Commands []CommandSpec
	// Config is the JSON Schema of the settings, an object; nil when the extension has none. That it is a valid schema is
	// not checked here.
	Config       json.RawMessage
	Capabilities []CapabilityRequest // in the order of describe
	// Decisions says that the extension wants to hear what the set decided, through the export decision; nil when it does not.
	Decisions *DecisionHook
}

// DecisionHook are the options of hearing decisions (ABI section 12).
type DecisionHook struct {
	// Block is onError "block": a tool call whose decision could not be handed over is blocked.
	Block bool
}

// Hook returns the options of the hook for e; nil when the extension does not have it.
func (d *Describe) Hook(e Event) *Hook {
	for i := range d.Hooks {
		if d.Hooks[i].Event == e {
			return &d.Hooks[i]
		}
	}
	return nil
}

// HookNames are the names of the hooked events, in the order of Hooks.
func (d *Describe) HookNames() []string {
	names := make([]string, len(d.Hooks))
	for i := range d.Hooks {
		names[i] = d.Hooks[i].Event.String()
	}
	return names
}

// Hook is one event that an extension handles.
type Hook struct {
	Event Event
	// Tools are the patterns of the tools it wants to hear of (tool_call and tool_result only); nil means all. See [Hook.Wants].
	Tools []string
	// View is ViewFull unless the extension asked for another; it counts for context only.
	View View
	// Block is onError "block": a fault of this hook has the stricter consequence of ABI section 8.
	Block bool
	// Facts are the names of the facts it asks for, of [FactNames]. They count for tool_call and tool_result.
	Facts []string
}

// Wants says whether the hook wants calls of the tool. A '*' in a pattern stands for any text.
func (h *Hook) Wants(tool string) bool {
	if h.Tools == nil {
		return true
	}
	for _, p := range h.Tools {
		if matchPattern(p, tool) {
			return true
		}
	}
	return false
}

// matchPattern is linear in len(name) for each '*': it goes back to the latest star only.
func matchPattern(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// View is how a context hook gets the messages.
type View uint8

// The views of ABI section 7.
const (
	ViewFull View = iota
	ViewTable
)

// String is the wire name.
func (v View) String() string {
	if v == ViewTable {
		return "table"
	}
	return "full"
}

// MarshalText is String.
func (v View) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// FactNames are the names that hook option facts may hold. The caller owns the slice.
func FactNames() []string { return []string{"shell", "paths", "net", "secrets"} }

// ToolSpec is a tool that an extension registers (ABI section 12).
type ToolSpec struct {
	Name        string
	Label       string // "" when absent
	Description string
	// Parameters is a JSON Schema object. That it is a valid schema is not checked here.
	Parameters json.RawMessage
	// ExecutionMode is "" when absent.
	ExecutionMode agentcore.ExecutionMode
}

// CommandSpec is a command that an extension registers.
type CommandSpec struct {
	Name        string
	Description string
}

// CapabilityRequest is a capability that an extension asks for, and why, in words for the person who grants it.
type CapabilityRequest struct {
	Name   Capability
	Reason string
}

// Key tables; read only. The constants beside a table index it.
var (
	describeKeys = []string{"abi", "name", "version", "description", "hooks", "tools", "commands", "config", "capabilities", "decisions"}
	hookKeys     = []string{"tools", "view", "onError", "facts"}
	toolKeys     = []string{"name", "label", "description", "parameters", "executionMode"}
	commandKeys  = []string{"name", "description"}

	capabilityNames = []string{"kv", "http", "read", "ui", "session", "clock", "random", "journal", "file"}
	viewNames       = []string{"full", "table"}
	executionModes  = []string{"parallel", "sequential"}
)

const (
	describeABI = iota
	describeName
	describeVersion
	describeDescription
	describeHooks
	describeTools
	describeCommands
	describeConfig
	describeCapabilities
	describeDecisions
)

// ParseDescribe reads the output of weir_describe. abi, name and version are required; so are, of a tool, name,
// description and parameters, and of a command both keys. The error is an [*OutputError]; for an extension of a later ABI
// it wraps [ErrNewerABI], whatever else the output holds.
func ParseDescribe(out []byte) (*Describe, error) {
	if newer := newerABI(out); newer != nil {
		return nil, newer
	}
	r := reader{src: out}
	d := &Describe{}
	if !r.root() {
		return nil, r.err
	}
	f := r.object(describeKeys)
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		switch i {
		case describeABI:
			r.int(ABIVersion, ABIVersion)
		case describeName:
			d.Name = r.checked(validExtensionName, "an extension's name is a lower-case letter and up to 63 of a-z, 0-9, - and _")
		case describeVersion:
			d.Version = r.checked(validSemver, `not a semantic version, such as "1.2.3"`)
		case describeDescription:
			d.Description = r.string()
		case describeHooks:
			d.Hooks = r.hooks()
		case describeTools:
			d.Tools = r.toolSpecs()
		case describeCommands:
			d.Commands = r.commandSpecs()
		case describeConfig:
			d.Config = clone(r.rawObject())
		case describeCapabilities:
			d.Capabilities = r.capabilities()
		case describeDecisions:
			d.Decisions = r.decisionHook()
		}
	}
	r.require(&f, describeABI, describeName, describeVersion)
	r.end()
	if r.err != nil {
		return nil, r.err
	}
	return d, nil
}

// newerABI looks for an abi above ours before anything else is judged: a later ABI has keys that this reader does not
// know, and "needs a newer weir" is what its user must hear.
func newerABI(out []byte) error {
	r := reader{src: out}
	if !r.root() {
		return nil // ParseDescribe reports it
	}
	r.object(nil)
	for began := false; ; {
		start, end, key, ok := r.nextKey(&began)
		if !ok || !r.colon() {
			return nil
		}
		if key == nil {
			key = r.src[start+1 : end-1]
		}
		c := r.peek()
		at := r.pos
		r.skip()
		if r.err != nil {
			return nil //nolint:nilerr // the reader proper reports what is wrong with the output
		}
		if string(key) != "abi" || c < '0' || c > '9' {
			continue
		}
		text := string(out[at:r.pos])
		if strings.Trim(text, "0123456789") != "" {
			return nil
		}
		if n, err := strconv.ParseUint(text, 10, 64); err != nil || n > ABIVersion {
			return &OutputError{
				Path: "abi", Offset: at, Err: ErrNewerABI,
				Message: "the extension speaks ABI " + shorten(text) + ", this host up to " + strconv.Itoa(ABIVersion) + ": it needs a newer weir",
			}
		}
		return nil
	}
}

func shorten(s string) string {
	if len(s) > shownKey {
		return s[:shownKey] + "…"
	}
	return s
}

// require reports the first of the keys, by index, that the object lacks.
func (r *reader) require(f *fields, keys ...int) {
	if r.err != nil {
		return
	}
	for _, k := range keys {
		if !f.has(k) {
			r.failMissing(f, f.names[k])
			return
		}
	}
}

// checked reads a string that valid accepts.
func (r *reader) checked(valid func(string) bool, rule string) string {
	r.peek()
	at := r.pos
	s := r.string()
	if r.err == nil && !valid(s) {
		r.fail(at, quoteShort(s)+": "+rule)
	}
	return s
}

func (r *reader) hooks() []Hook {
	hooks := []Hook{}
	r.eachKey(eventNames[1:], "event", func(i int) {
		hooks = append(hooks, r.hook(Event(i+1)))
	})
	return hooks
}

func (r *reader) hook(e Event) Hook {
	h := Hook{Event: e}
	f := r.object(hookKeys)
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		r.peek()
		at := r.pos
		switch hookKeys[i] {
		case "tools":
			h.Tools = r.list(func() string {
				return r.checked(validPattern, "a tool pattern is 1 to 128 printable ASCII characters without spaces")
			})
			if r.err == nil && len(h.Tools) == 0 {
				r.fail(at, "an empty list would never be called; leave the key out to get all tools")
			}
			if r.err == nil && e != EventToolCall && e != EventToolResult {
				r.fail(at, "only tool_call and tool_result can be narrowed to tools")
			}
		case "view":
			h.View = View(max(0, r.oneOf(viewNames)))
			if r.err == nil && e != EventContext {
				r.fail(at, "only context has views")
			}
		case "onError":
			r.oneOf([]string{"block"})
			if r.err == nil && !e.FaultMayBlock() {
				r.fail(at, "a fault in "+e.String()+" cannot block anything")
			}
			h.Block = true
		case "facts":
			names := FactNames()
			h.Facts = r.list(func() string {
				if i := r.oneOf(names); i >= 0 {
					return names[i]
				}
				return ""
			})
		}
	}
	return h
}

func (r *reader) decisionHook() *DecisionHook {
	h := &DecisionHook{}
	f := r.object([]string{"onError"})
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		r.oneOf([]string{"block"})
		h.Block = true
	}
	return h
}

// list reads an array of strings, each at most once.
func (r *reader) list(elem func() string) []string {
	list := []string{}
	if !r.array() {
		return list
	}
	for n := 0; r.more(&n); {
		r.peek()
		at := r.pos
		s := elem()
		for _, have := range list {
			if r.err == nil && have == s {
				r.fail(at, quoteShort(s)+" stands in the list twice")
			}
		}
		if r.err == nil && n > maxList {
			r.fail(at, "more than "+strconv.Itoa(maxList)+" elements")
		}
		list = append(list, s)
	}
	return list
}

// maxList bounds the lists that are compared pairwise.
const maxList = 1024

// eachKey reads an object whose keys are out of names, more than fields can hold, and calls read for each value.
func (r *reader) eachKey(names []string, what string, read func(i int)) {
	if r.peek() != '{' {
		r.wrongType("an object")
		return
	}
	if !r.enter() {
		return
	}
	seen := make([]bool, len(names))
	for began := false; ; {
		start, end, key, ok := r.nextKey(&began)
		if !ok {
			return
		}
		if key == nil {
			key = r.src[start+1 : end-1]
		}
		found := -1
		for i, n := range names {
			if n == string(key) {
				found = i
			}
		}
		switch {
		case found < 0:
			r.failAfter(start, end, "unknown "+what+didYouMean(string(key), names))
			return
		case seen[found]:
			r.failAfter(start, end, "duplicate key")
			return
		}
		seen[found] = true
		if !r.colon() {
			return
		}
		if read(found); r.err != nil {
			return
		}
	}
}

func (r *reader) toolSpecs() []ToolSpec {
	var tools []ToolSpec
	names := map[string]bool{}
	if !r.array() {
		return nil
	}
	for n := 0; r.more(&n); {
		var t ToolSpec
		f := r.object(toolKeys)
		for i := r.next(&f); i >= 0; i = r.next(&f) {
			switch toolKeys[i] {
			case "name":
				t.Name = r.name(names, validToolName, "a tool's name is 1 to 64 of a-z, A-Z, 0-9, _ and -")
			case "label":
				t.Label = r.string()
			case "description":
				t.Description = r.stringNotEmpty()
			case "parameters":
				t.Parameters = clone(r.rawObject())
			case "executionMode":
				if i := r.oneOf(executionModes); i >= 0 {
					t.ExecutionMode = agentcore.ExecutionMode(executionModes[i])
				}
			}
		}
		r.require(&f, 0, 2, 3)
		tools = append(tools, t)
	}
	return tools
}

func (r *reader) commandSpecs() []CommandSpec {
	var commands []CommandSpec
	names := map[string]bool{}
	if !r.array() {
		return nil
	}
	for n := 0; r.more(&n); {
		var c CommandSpec
		f := r.object(commandKeys)
		for i := r.next(&f); i >= 0; i = r.next(&f) {
			switch commandKeys[i] {
			case "name":
				c.Name = r.name(names, validToolName, "a command's name is 1 to 64 of a-z, A-Z, 0-9, _ and -")
			case "description":
				c.Description = r.stringNotEmpty()
			}
		}
		r.require(&f, 0, 1)
		commands = append(commands, c)
	}
	return commands
}

// name is checked for names that may occur once.
func (r *reader) name(taken map[string]bool, valid func(string) bool, rule string) string {
	r.peek()
	at := r.pos
	s := r.checked(valid, rule)
	if r.err == nil && taken[s] {
		r.fail(at, quoteShort(s)+" is registered twice")
	}
	taken[s] = true
	return s
}

func (r *reader) capabilities() []CapabilityRequest {
	var list []CapabilityRequest
	r.eachKey(capabilityNames, "capability", func(i int) {
		name := Capability(capabilityNames[i])
		if name == "file" { // the import is weir_file, the grant is read: both words are understood
			name = CapabilityRead
		}
		list = append(list, CapabilityRequest{name, r.stringNotEmpty()})
	})
	return list
}

func validExtensionName(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '-' && c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func validToolName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '-' && (!isWord(c) || c >= 0x80) {
			return false
		}
	}
	return true
}

func validPattern(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// validSemver follows semver.org 2.0.0.
func validSemver(s string) bool {
	if len(s) > 128 {
		return false
	}
	s, build, hasBuild := strings.Cut(s, "+")
	if hasBuild && !semverParts(build, false) {
		return false
	}
	core, pre, hasPre := strings.Cut(s, "-")
	if hasPre && !semverParts(pre, true) {
		return false
	}
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return false
	}
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" || p[0] == '0' && len(p) > 1 {
			return false
		}
	}
	return true
}

// semverParts checks dotted identifiers; in a pre-release, numbers have no leading zero.
func semverParts(s string, pre bool) bool {
	for _, p := range strings.Split(s, ".") {
		if p == "" {
			return false
		}
		digits := true
		for i := 0; i < len(p); i++ {
			c := p[i]
			if c < '0' || c > '9' {
				digits = false
			}
			if c != '-' && (!isWord(c) || c == '_' || c >= 0x80) {
				return false
			}
		}
		if pre && digits && p[0] == '0' && len(p) > 1 {
			return false
		}
	}
	return true
}

package wire

import "errors"

// ABIVersion is the version of the ABI that this host speaks, and the only one.
const ABIVersion = 1

// ErrNewerABI is wrapped by the [*OutputError] for an extension whose describe names an ABI above [ABIVersion].
var ErrNewerABI = errors.New("needs a newer weir")

// The modules that an extension may import from (ABI section 1).
const (
	ModuleExtismEnv = "extism:host/env"
	ModuleWeir      = "extism:host/user"
	ModuleWASI      = "wasi_snapshot_preview1"
)

// The exports that are not hooks. All entry points, hooks included, have the type () -> i32.
const (
	ExportDescribe       = "weir_describe"
	ExportInitialize     = "_initialize"
	ExportToolExecute    = "tool_execute"
	ExportCommandExecute = "command_execute"
	ExportDecision       = "decision"
)

// ImportName is the name of a weir function, imported from [ModuleWeir].
type ImportName string

// The weir functions of ABI section 2.
const (
	ImportInputRead    ImportName = "weir_input_read"
	ImportOutputWrite  ImportName = "weir_output_write"
	ImportError        ImportName = "weir_error"
	ImportConfigRead   ImportName = "weir_config_read"
	ImportMessageRead  ImportName = "weir_message_read"
	ImportLog          ImportName = "weir_log"
	ImportToolUpdate   ImportName = "weir_tool_update"
	ImportResponseRead ImportName = "weir_response_read"
	ImportKV           ImportName = "weir_kv"
	ImportHTTP         ImportName = "weir_http"
	ImportFile         ImportName = "weir_file"
	ImportUI           ImportName = "weir_ui"
	ImportSession      ImportName = "weir_session"
	ImportJournal      ImportName = "weir_journal"
)

// Import is the signature of a weir function. All parameters and results are i32.
type Import struct {
	Name    ImportName
	Params  int
	Results int
	// Grant is the key of the set that the import needs; "" for what everybody has.
	Grant Capability
}

// Imports lists the weir functions in the order of ABI section 2. The caller owns the slice.
func Imports() []Import {
	return []Import{
		{ImportInputRead, 3, 1, ""},
		{ImportOutputWrite, 2, 0, ""},
		{ImportError, 2, 0, ""},
		{ImportConfigRead, 3, 1, ""},
		{ImportMessageRead, 4, 1, ""},
		{ImportLog, 3, 0, ""},
		{ImportToolUpdate, 2, 0, ""},
		{ImportResponseRead, 3, 1, ""},
		{ImportKV, 2, 1, CapabilityKV},
		{ImportHTTP, 2, 1, CapabilityHTTP},
		{ImportFile, 2, 1, CapabilityRead},
		{ImportUI, 2, 1, CapabilityUI},
		{ImportSession, 2, 1, CapabilitySession},
		{ImportJournal, 2, 1, CapabilityJournal},
	}
}

// Capability is what a set can grant, by its key under [extension.grant] (ABI section 10).
type Capability string

// The capabilities. Describe names those it asks for by the same words.
const (
	CapabilityKV      Capability = "kv"
	CapabilityHTTP    Capability = "http"
	CapabilityRead    Capability = "read"
	CapabilityUI      Capability = "ui"
	CapabilitySession Capability = "session"
	CapabilityJournal Capability = "journal"
	CapabilityClock   Capability = "clock"
	CapabilityRandom  Capability = "random"
)

// Level is the level of weir_log. Its zero value is debug, as on the wire.
type Level int32

// The levels of weir_log.
const (
	LevelDebug Level = iota
	LevelInfo
	LevelWarn
	LevelError
)

// Event is one of the 36 events an extension can hook. The zero value means unset; String gives the wire name, which is
// also the name of the export.
type Event uint8

// The events of ABI section 5. The order follows a session's life and means nothing.
const (
	EventProjectTrust Event = iota + 1
	EventResourcesDiscover
	EventSessionStart
	EventSessionInfoChanged
	EventSessionBeforeSwitch
	EventSessionBeforeFork
	EventSessionBeforeCompact
	EventSessionCompact
	EventSessionCompactFailed
	EventSessionShutdown
	EventSessionBeforeTree
	EventSessionTree
	EventContext
	EventBeforeProviderHeaders
	EventBeforeProviderRequest
	EventAfterProviderResponse
	EventBeforeAgentStart
	EventAgentStart
	EventAgentEnd
	EventAgentSettled
	EventTurnStart
	EventTurnEnd
	EventMessageStart
	EventMessageUpdate
	EventMessageEnd
	EventToolExecutionStart
	EventToolExecutionUpdate
	EventToolExecutionEnd
	EventModelSelect
	EventThinkingLevelSelect
	EventUIPromptStart
	EventUIPromptEnd
	EventUserBash
	EventInput
	EventToolCall
	EventToolResult
)

// EventCount is how many events there are; they are 1 to EventCount.
const EventCount = int(EventToolResult)

// eventNames is read only.
var eventNames = [EventCount + 1]string{
	EventProjectTrust:          "project_trust",
	EventResourcesDiscover:     "resources_discover",
	EventSessionStart:          "session_start",
	EventSessionInfoChanged:    "session_info_changed",
	EventSessionBeforeSwitch:   "session_before_switch",
	EventSessionBeforeFork:     "session_before_fork",
	EventSessionBeforeCompact:  "session_before_compact",
	EventSessionCompact:        "session_compact",
	EventSessionCompactFailed:  "session_compact_failed",
	EventSessionShutdown:       "session_shutdown",
	EventSessionBeforeTree:     "session_before_tree",
	EventSessionTree:           "session_tree",
	EventContext:               "context",
	EventBeforeProviderHeaders: "before_provider_headers",
	EventBeforeProviderRequest: "before_provider_request",
	EventAfterProviderResponse: "after_provider_response",
	EventBeforeAgentStart:      "before_agent_start",
	EventAgentStart:            "agent_start",
	EventAgentEnd:              "agent_end",
	EventAgentSettled:          "agent_settled",
	EventTurnStart:             "turn_start",
	EventTurnEnd:               "turn_end",
	EventMessageStart:          "message_start",
	EventMessageUpdate:         "message_update",
	EventMessageEnd:            "message_end",
	EventToolExecutionStart:    "tool_execution_start",
	EventToolExecutionUpdate:   "tool_execution_update",
	EventToolExecutionEnd:      "tool_execution_end",
	EventModelSelect:           "model_select",
	EventThinkingLevelSelect:   "thinking_level_select",
	EventUIPromptStart:         "ui_prompt_start",
	EventUIPromptEnd:           "ui_prompt_end",
	EventUserBash:              "user_bash",
	EventInput:                 "input",
	EventToolCall:              "tool_call",
	EventToolResult:            "tool_result",
}

// String is the wire name.
func (e Event) String() string {
	if e == 0 || int(e) > EventCount {
		return "unset"
	}
	return eventNames[e]
}

// MarshalText is String, so that an event is readable in JSON.
func (e Event) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// ParseEvent returns the event of a wire name; false when there is none.
func ParseEvent(name string) (Event, bool) {
	for i, n := range eventNames[1:] {
		if n == name {
			return Event(i + 1), true
		}
	}
	return 0, false
}

// Observes says whether an event is only watched: its hooks return nothing.
func (e Event) Observes() bool {
	switch e {
	case EventSessionStart, EventSessionInfoChanged, EventSessionCompact, EventSessionCompactFailed, EventSessionShutdown,
		EventSessionTree, EventAfterProviderResponse, EventAgentStart, EventAgentEnd, EventAgentSettled, EventTurnStart,
		EventTurnEnd, EventMessageStart, EventMessageUpdate, EventToolExecutionStart, EventToolExecutionUpdate,
		EventToolExecutionEnd, EventModelSelect, EventThinkingLevelSelect, EventUIPromptStart, EventUIPromptEnd:
		return true
	}
	return false
}

// FaultMayBlock says whether on_error = "block" changes what a fault of this event's hook does (ABI section 8).
func (e Event) FaultMayBlock() bool {
	return e != 0 && int(e) <= EventCount && !e.Observes() && e != EventProjectTrust && e != EventResourcesDiscover
}

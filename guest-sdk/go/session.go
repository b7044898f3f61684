package weir

// The functions of this file make the requests of the capability session. Each
// needs the grant session with the right that its documentation names. What is
// not granted, and a place without a session, is a *HostError.

// SessionState is what the session is and does.
type SessionState struct {
	ID, Name, CWD, File string // "" for what there is none of
	Leaf                string // id of the last entry
	Entries, Messages   int
	Idle                bool
	Streaming           bool
	Compacting          bool
	Retrying            bool
	Aborted             bool // what runs is aborted
	Queued              int
	Provider, Model     string
	ThinkingLevel       string
	SystemPrompt        string
	// ContextUsage is {tokens, contextWindow, percent}, or null.
	ContextUsage Value
}

// ReadSession returns the state of the session. Right: read.
func ReadSession() (SessionState, error) {
	v, err := Session("state")
	is := func(key string) bool { return v.Get(key).Bool(false) }
	count := func(key string) int { return int(v.Get(key).Int(0)) }
	return SessionState{
		ID: v.Get("id").Str(), Name: v.Get("name").Str(), CWD: v.Get("cwd").Str(), File: v.Get("file").Str(), Leaf: v.Get("leaf").Str(),
		Entries: count("entries"), Messages: count("messages"), Idle: is("idle"), Streaming: is("streaming"), Compacting: is("compacting"),
		Retrying: is("retrying"), Aborted: is("aborted"), Queued: count("queued"), Provider: v.Get("model").Get("provider").Str(),
		Model: v.Get("model").Get("id").Str(), ThinkingLevel: v.Get("thinkingLevel").Str(), SystemPrompt: v.Get("systemPrompt").Str(),
		ContextUsage: v.Get("contextUsage"),
	}, err
}

// SessionEntries returns up to limit entries of the session's file, those after
// the one of the id after, or from the first for "". limit is 1 to 1000; 0 means
// 100. more says that further ones follow. Right: read.
func SessionEntries(after string, limit int) (entries []Value, more bool, err error) {
	v, err := Session("entries", textField("after", after), limitField(limit))
	return elements(v.Get("entries")), v.Get("more").Bool(false), err
}

// SessionEntry returns an entry by its id. Right: read.
func SessionEntry(id string) (Value, error) {
	v, err := Session("entry", Field{"id", String(id)})
	return v.Get("entry"), err
}

// SessionMessages returns up to limit of the messages that the model works
// with, from the index from on; total is how many there are. limit is as for
// SessionEntries. Right: read.
func SessionMessages(from, limit int) (messages []Value, total int, err error) {
	v, err := Session("messages", Field{"from", Int(int64(from))}, limitField(limit))
	return elements(v.Get("messages")), int(v.Get("total").Int(0)), err
}

// SessionTool is a tool of the session.
type SessionTool struct {
	Name, Description string
	Active            bool // offered to the model
}

// SessionTools returns the session's tools. Right: read.
func SessionTools() ([]SessionTool, error) {
	v, err := Session("tools")
	var list []SessionTool
	for t := range v.Get("tools").Elements() {
		list = append(list, SessionTool{t.Get("name").Str(), t.Get("description").Str(), t.Get("active").Bool(false)})
	}
	return list, err
}

// SessionAppend keeps data, which may be "", in the session's file and out of
// the conversation, and returns the entry's id. Right: append.
func SessionAppend(customType string, data JSON) (id string, err error) {
	v, err := Session("append", Field{"customType", String(customType)}, Field{"data", data})
	return v.Get("id").Str(), err
}

// SessionLabel labels an entry; "" takes the label away. Right: append.
func SessionLabel(entryID, label string) error {
	_, err := Session("label", Field{"entryId", String(entryID)}, Field{"label", String(label)})
	return err
}

// SessionName names the session; "" takes the name away. Right: append.
func SessionName(name string) error {
	_, err := Session("name", Field{"name", String(name)})
	return err
}

// SessionMessage is a message for the model.
type SessionMessage struct {
	CustomType string
	Content    JSON   // a text, as by String, or an array of blocks
	Display    bool   // a person sees it too
	Details    JSON   // "" for none; the model does not see them
	Trigger    bool   // it starts a run when none is under way
	Deliver    string // steer, followUp, nextTurn, or "" for before the next turn
}

// SessionSend gives the model a message and does not wait for a run that it
// starts. Right: send.
func SessionSend(m SessionMessage) error {
	_, err := Session("send", Field{"customType", String(m.CustomType)}, Field{"content", m.Content}, flagField("display", m.Display),
		Field{"details", m.Details}, flagField("trigger", m.Trigger), textField("deliver", m.Deliver))
	return err
}

// SessionPrompt says content, a text or an array of blocks, as if the user had.
// deliver, steer or followUp, is needed during a run and otherwise "". Right: send.
func SessionPrompt(content JSON, deliver string) error {
	_, err := Session("prompt", Field{"content", content}, textField("deliver", deliver))
	return err
}

// SessionSetTools sets the tools that the model is offered from the next turn
// on, and returns them; unknown names are left out. Right: control.
func SessionSetTools(names ...string) ([]string, error) {
	v, err := Session("set_tools", Field{"tools", Strings(names...)})
	return v.Get("tools").Strs(), err
}

// SessionSetModel sets the model. Right: control.
func SessionSetModel(provider, id string) error {
	_, err := Session("set_model", Field{"provider", String(provider)}, Field{"id", String(id)})
	return err
}

// SessionSetThinkingLevel sets the level as far as the model allows, and
// returns it. Right: control.
func SessionSetThinkingLevel(level string) (string, error) {
	v, err := Session("set_thinking_level", Field{"level", String(level)})
	return v.Get("level").Str(), err
}

// SessionAbort ends the run, a retry, a compaction, when the handler has
// returned, as the functions below begin then. Right: control.
func SessionAbort() error {
	_, err := Session("abort")
	return err
}

// SessionCompact compacts the conversation; instructions may be "". Right: control.
func SessionCompact(instructions string) error {
	_, err := Session("compact", textField("instructions", instructions))
	return err
}

// SessionNew puts a new session in the place of this one. Right: control.
func SessionNew() error {
	_, err := Session("new")
	return err
}

// SessionFork continues in a new session from before an entry, or at it. Right:
// control.
func SessionFork(entryID string, at bool) error {
	position := "before"
	if at {
		position = "at"
	}
	_, err := Session("fork", Field{"entryId", String(entryID)}, Field{"position", String(position)})
	return err
}

// SessionNavigation says how a branch is left.
type SessionNavigation struct {
	Summarize    bool
	Instructions string // for the summary
	Replace      bool   // the instructions are all that the model is told
	Label        string
}

// SessionNavigate moves to another entry, when no run is under way. Right: control.
func SessionNavigate(entryID string, how SessionNavigation) error {
	_, err := Session("navigate", Field{"entryId", String(entryID)}, flagField("summarize", how.Summarize), textField("instructions", how.Instructions),
		flagField("replace", how.Replace), textField("label", how.Label))
	return err
}

// textField is left out of a request when text is "", as a field without a value is.
func textField(key, text string) Field {
	if text == "" {
		return Field{}
	}
	return Field{key, String(text)}
}

func flagField(key string, set bool) Field {
	if !set {
		return Field{}
	}
	return Field{key, Bool(true)}
}

func limitField(limit int) Field {
	if limit == 0 {
		return Field{}
	}
	return Field{"limit", Int(int64(limit))}
}

func elements(v Value) (list []Value) {
	for e := range v.Elements() {
		list = append(list, e)
	}
	return list
}

package weir

// ToolResult is what a tool returned, before anyone else sees it.
type ToolResult struct {
	event Event
	call  *call
}

// ToolName returns the tool's name.
func (r *ToolResult) ToolName() string { return r.call.name(r.event.Get("toolName")) }

// ID returns the model's id of the call.
func (r *ToolResult) ID() string { return r.event.Str("toolCallId") }

// Input returns the arguments the tool ran with.
func (r *ToolResult) Input() Value { return r.event.Get("input") }

// Content returns the array of text and image blocks.
func (r *ToolResult) Content() Value { return r.event.Get("content") }

// Details returns what the tool adds for programs; it may be absent.
func (r *ToolResult) Details() Value { return r.event.Get("details") }

// Usage returns what the tool's own model calls took; it may be absent.
func (r *ToolResult) Usage() Value { return r.event.Get("usage") }

// IsError reports whether the tool failed.
func (r *ToolResult) IsError() bool { return r.event.Get("isError").Bool(false) }

// Context is Event.Context.
func (r *ToolResult) Context() Value { return r.event.Context() }

// Text returns the text of all text blocks, a newline between two.
func (r *ToolResult) Text() string {
	var b []byte
	for block := range r.Content().Elements() {
		if !block.Get("type").Is("text") {
			continue
		}
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = append(b, block.Get("text").Str()...)
	}
	return string(b)
}

// MapText returns the content with the text of each text block replaced by what
// change makes of it, and whether anything changed. Other blocks stay as they
// are.
func (r *ToolResult) MapText(change func(text string) string) (content JSON, changed bool) {
	var blocks []JSON
	for block := range r.Content().Elements() {
		encoded := block.JSON()
		if block.Get("type").Is("text") {
			before := block.Get("text").Str()
			if after := change(before); after != before {
				encoded = encoded.With("text", String(after))
				changed = true
			}
		}
		blocks = append(blocks, encoded)
	}
	return Array(blocks...), changed
}

// TextContent returns the content that consists of one text block.
func TextContent(text string) JSON {
	return Array(Object(Field{"type", `"text"`}, Field{"text", String(text)}))
}

// ToolResultEdit is the answer to a tool_result: what to replace. The zero
// ToolResultEdit is a fault; say Keep to leave the result as it is.
type ToolResultEdit struct {
	set                     bool
	content, details, usage JSON
	isError                 JSON
	err                     error
}

// Keep leaves the result as it is.
func Keep() ToolResultEdit { return ToolResultEdit{set: true} }

// ReplaceContent replaces the content, an array of blocks.
func ReplaceContent(content JSON) ToolResultEdit { return Keep().Content(content) }

// FailResult answers with a fault of this text. What that means for the result
// is decided by the set and by Hook.BlockOnError.
func FailResult(text string) ToolResultEdit {
	return ToolResultEdit{set: true, err: answerText(text)}
}

// Content returns the edit that also replaces the content.
func (e ToolResultEdit) Content(content JSON) ToolResultEdit {
	e.content = content
	return e
}

// Details returns the edit that also replaces the details.
func (e ToolResultEdit) Details(details JSON) ToolResultEdit {
	e.details = details
	return e
}

// IsError returns the edit that also says whether the tool failed.
func (e ToolResultEdit) IsError(failed bool) ToolResultEdit {
	e.isError = Bool(failed)
	return e
}

// Usage returns the edit that also replaces the usage.
func (e ToolResultEdit) Usage(usage JSON) ToolResultEdit {
	e.usage = usage
	return e
}

// OnToolResult registers the handler that may rewrite what tools return.
func OnToolResult(handle func(*ToolResult) ToolResultEdit) *Hook {
	return ext.add(&Hook{event: toolResultEvent, run: func(c *call) error {
		r := &c.toolResult
		r.call = c
		if err := r.event.parse(c.readInput()); err != nil {
			return err
		}
		e := handle(r)
		if !e.set {
			return answerText("the handler returned the zero ToolResultEdit; return weir.Keep() to leave the result as it is")
		}
		return c.answer(Result{set: true, err: e.err, fields: []Field{
			{"content", e.content}, {"details", e.details}, {"isError", e.isError}, {"usage", e.usage},
		}})
	}})
}

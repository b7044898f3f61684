package weir

import "weir/guest-sdk/go/internal/hostfn"

// Tool is a tool that the extension offers to the model.
type Tool struct {
	Name, Label, Description string
	// Parameters is the JSON Schema of the arguments.
	Parameters JSON
	// ExecutionMode is "parallel", "sequential" or "" for the host's default.
	ExecutionMode string
	// Execute runs the tool. An error becomes an error result for the model; a
	// panic is a fault.
	Execute func(*ToolRun) (ToolOutput, error)
}

// ToolRun is one execution of a tool of the extension.
type ToolRun struct{ event Event }

// ToolName returns the tool's name.
func (r *ToolRun) ToolName() string { return r.event.Str("toolName") }

// ID returns the model's id of the call.
func (r *ToolRun) ID() string { return r.event.Str("toolCallId") }

// Args returns the arguments, checked against Parameters by the host.
func (r *ToolRun) Args() Value { return r.event.Get("args") }

// Context is Event.Context.
func (r *ToolRun) Context() Value { return r.event.Context() }

// Update sends a partial result, an object with content and details.
func (r *ToolRun) Update(partial JSON) { hostfn.ToolUpdate([]byte(partial)) }

// ToolOutput is the result of a tool.
type ToolOutput struct {
	Content JSON // an array of blocks: see TextContent
	Details JSON // "" for none
	// IsError tells the model that the tool failed.
	IsError bool
	// Terminate ends the run after this batch of calls.
	Terminate bool
}

// AddTool registers a tool.
func AddTool(t Tool) {
	if t.Name == "" || t.Execute == nil {
		ext.mistake("a tool without a name or without Execute")
	}
	for _, other := range ext.tools {
		if other.Name == t.Name {
			ext.mistake("two tools called " + t.Name)
		}
	}
	ext.tools = append(ext.tools, t)
}

// Command is a command that the extension offers to the person, as /name.
type Command struct {
	Name, Description string
	// Run returns a message to show, or "". An error is a fault.
	Run func(*CommandRun) (message string, err error)
}

// CommandRun is one execution of a command of the extension.
type CommandRun struct{ event Event }

// Name returns the command's name.
func (r *CommandRun) Name() string { return r.event.Str("name") }

// Args returns what was written after the command.
func (r *CommandRun) Args() Value { return r.event.Get("args") }

// Context is Event.Context.
func (r *CommandRun) Context() Value { return r.event.Context() }

// AddCommand registers a command.
func AddCommand(c Command) {
	if c.Name == "" || c.Run == nil {
		ext.mistake("a command without a name or without Run")
	}
	for _, other := range ext.commands {
		if other.Name == c.Name {
			ext.mistake("two commands called " + c.Name)
		}
	}
	ext.commands = append(ext.commands, c)
}

func (r *registry) appendTools(b []byte) (_ []byte, err error) {
	for i, t := range r.tools {
		if i == 0 {
			b = append(b, `,"tools":[`...)
		} else {
			b = append(b, ',')
		}
		parameters := t.Parameters
		if parameters == "" {
			parameters = `{"type":"object"}`
		}
		if _, err := appendCheckedObject(nil, "the parameters of tool "+t.Name, parameters); err != nil {
			return b, err
		}
		b = appendObject(b, []Field{
			{"name", String(t.Name)},
			{"label", optional(t.Label)},
			{"description", String(t.Description)},
			{"parameters", parameters},
			{"executionMode", optional(t.ExecutionMode)},
		})
	}
	if len(r.tools) > 0 {
		b = append(b, ']')
	}
	for i, c := range r.commands {
		if i == 0 {
			b = append(b, `,"commands":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendObject(b, []Field{{"name", String(c.Name)}, {"description", String(c.Description)}})
	}
	if len(r.commands) > 0 {
		b = append(b, ']')
	}
	return b, nil
}

// optional returns text as JSON, and for "" no JSON, which Object leaves out.
func optional(text string) JSON {
	if text == "" {
		return ""
	}
	return String(text)
}

func executeTool(c *call) error {
	run := ToolRun{}
	if err := run.event.parse(c.readInput()); err != nil {
		return err
	}
	name := run.ToolName()
	for _, t := range ext.tools {
		if t.Name != name {
			continue
		}
		out, err := t.Execute(&run)
		if err != nil {
			out = ToolOutput{Content: TextContent(err.Error()), IsError: true}
		}
		if out.Content == "" {
			return answerText("tool " + name + " returned no content")
		}
		return c.answer(Reply(Field{"content", out.Content}, Field{"details", out.Details},
			Field{"isError", onlyTrue(out.IsError)}, Field{"terminate", onlyTrue(out.Terminate)}))
	}
	return &answerError{"tool " + name, errNoHandler}
}

func executeCommand(c *call) error {
	run := CommandRun{}
	if err := run.event.parse(c.readInput()); err != nil {
		return err
	}
	name := run.Name()
	for _, command := range ext.commands {
		if command.Name != name {
			continue
		}
		message, err := command.Run(&run)
		if err != nil {
			return err
		}
		return c.answer(Reply(Field{"message", optional(message)}))
	}
	return &answerError{"command " + name, errNoHandler}
}

func onlyTrue(b bool) JSON {
	if !b {
		return ""
	}
	return "true"
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"weir/agentcore"
	"weir/engine/resources"
	"weir/engine/session"
)

// rpcCommand is a line that a client sends. Which fields go with which type is in rpcFields.
type rpcCommand struct {
	ID                 string     `json:"id"`
	Type               string     `json:"type"`
	Message            string     `json:"message"`
	Images             []rpcImage `json:"images"`
	StreamingBehavior  string     `json:"streamingBehavior"`
	Provider           string     `json:"provider"`
	ModelID            string     `json:"modelId"`
	Level              string     `json:"level"`
	Name               string     `json:"name"`
	CustomInstructions string     `json:"customInstructions"`
	Command            string     `json:"command"`
	ExcludeFromContext bool       `json:"excludeFromContext"`
	OutputPath         string     `json:"outputPath"`
	SessionPath        string     `json:"sessionPath"`
	EntryID            string     `json:"entryId"`
	Value              *string    `json:"value"`
	Confirmed          *bool      `json:"confirmed"`
	Cancelled          bool       `json:"cancelled"`
}

type rpcImage struct {
	Type     string `json:"type"` // "image"
	Data     string `json:"data"` // base64
	MimeType string `json:"mimeType"`
}

func (c *rpcCommand) images() []*agentcore.ImageBlock {
	var list []*agentcore.ImageBlock
	for _, i := range c.Images {
		list = append(list, &agentcore.ImageBlock{Data: i.Data, MimeType: i.MimeType})
	}
	return list
}

// rpcFields are the fields of a type of line besides id and type: those that it must have, and those that it may have.
type rpcFields struct{ must, may []string }

func rpcCommands() map[string]rpcFields {
	return map[string]rpcFields{
		"prompt":                  {[]string{"message"}, []string{"images", "streamingBehavior"}},
		"steer":                   {[]string{"message"}, []string{"images"}},
		"follow_up":               {[]string{"message"}, []string{"images"}},
		"clear_queue":             {},
		"abort":                   {},
		"set_model":               {[]string{"provider", "modelId"}, nil},
		"set_thinking_level":      {[]string{"level"}, nil},
		"set_session_name":        {[]string{"name"}, nil},
		"compact":                 {nil, []string{"customInstructions"}},
		"new_session":             {},
		"switch_session":          {[]string{"sessionPath"}, nil},
		"fork":                    {[]string{"entryId"}, nil},
		"clone":                   {},
		"bash":                    {[]string{"command"}, []string{"excludeFromContext"}},
		"abort_bash":              {},
		"get_state":               {},
		"get_messages":            {},
		"get_last_assistant_text": {},
		"get_fork_messages":       {},
		"get_commands":            {},
		"export_html":             {nil, []string{"outputPath"}},
		"extension_ui_response":   {[]string{"id"}, []string{"value", "confirmed", "cancelled"}},
	}
}

// unparsed is the command that the response to a line names which could not be read.
const unparsed = "parse"

// parseRPC reads a line. The command is there with an error too, as far as it was understood.
func parseRPC(line string) (*rpcCommand, error) {
	unknown := &rpcCommand{Type: unparsed}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &fields); err != nil || fields == nil {
		return unknown, fmt.Errorf("the line is not a JSON object: %w", cmpError(err))
	}
	if err := json.Unmarshal(fields["id"], &unknown.ID); fields["id"] != nil && err != nil {
		return unknown, errors.New("id is not a string")
	}
	var kind string
	if err := json.Unmarshal(fields["type"], &kind); err != nil || kind == "" {
		return unknown, errors.New(`the line has no "type"`)
	}
	commands := rpcCommands()
	want, ok := commands[kind]
	if !ok {
		return unknown, fmt.Errorf("there is no type %q; there are %s", kind, strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
	}
	unknown.Type = kind
	for _, name := range want.must {
		if fields[name] == nil {
			return unknown, fmt.Errorf("%s has no %q", kind, name)
		}
	}
	allowed := append(append([]string{"id", "type"}, want.must...), want.may...)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(allowed, name) {
			return unknown, fmt.Errorf("%s knows no field %q; it knows %s", kind, name, strings.Join(allowed, ", "))
		}
	}
	c := &rpcCommand{}
	if err := json.Unmarshal([]byte(line), c); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			err = fmt.Errorf("%s is a %s, not a %s", wrong.Field, wrong.Value, wrong.Type)
		}
		return unknown, fmt.Errorf("%s: %w", kind, err)
	}
	return c, c.validate()
}

func cmpError(err error) error {
	if err == nil {
		return errors.New("it is null")
	}
	return err
}

// validate says what is wrong with the values.
func (c *rpcCommand) validate() error {
	switch b := session.Behavior(c.StreamingBehavior); b {
	case "", session.BehaviorSteer, session.BehaviorFollowUp:
	default:
		return fmt.Errorf("streamingBehavior %q: it is %s or %s", b, session.BehaviorSteer, session.BehaviorFollowUp)
	}
	for i, image := range c.Images {
		if image.Type != "image" || image.Data == "" || image.MimeType == "" {
			return fmt.Errorf(`images[%d]: it needs "type":"image", and data (base64) and mimeType`, i)
		}
	}
	return nil
}

// maxRPCLine is how long a line may be, in bytes: images come in base64.
const maxRPCLine = 64 << 20

// rpcLines gives the lines of a stream that are not blank, one by one, without their ends. A line that is too long is an error
// of its own, and the next call gives the next line; else a line with an error is the last. Only "\n" ends a line, and a "\r"
// before it counts for nothing: the Unicode line breaks are part of JSON texts.
func rpcLines(in io.Reader) func() (string, error) {
	r := bufio.NewReaderSize(in, 64<<10)
	return func() (string, error) {
		for {
			var line []byte
			long := false
			for {
				piece, err := r.ReadSlice('\n')
				if long = long || len(line)+len(piece) > maxRPCLine; !long {
					line = append(line, piece...)
				}
				if errors.Is(err, bufio.ErrBufferFull) {
					continue
				}
				if err != nil && len(bytes.TrimSpace(line)) == 0 {
					return "", err
				}
				break
			}
			if long {
				return "{}", fmt.Errorf("the line is longer than %d MiB", maxRPCLine>>20)
			}
			if text := bytes.TrimSpace(line); len(text) > 0 {
				return string(text), nil
			}
		}
	}
}

// rpcResponse answers a line.
type rpcResponse struct {
	ID      string `json:"id,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Success bool   `json:"success"`
	Data    any    `json:"data,omitempty"`
	Error   string `json:"error,omitempty"`
}

// rpcError is what went wrong with something that was answered already, whose id it carries, or with nothing in particular.
type rpcError struct {
	Type  string `json:"type"`
	ID    string `json:"id,omitempty"`
	Error string `json:"error"`
}

// rpcState is the data of get_state.
type rpcState struct {
	Model               agentcore.Model         `json:"model"`
	ThinkingLevel       agentcore.ThinkingLevel `json:"thinkingLevel"`
	IsStreaming         bool                    `json:"isStreaming"`
	IsCompacting        bool                    `json:"isCompacting"`
	IsRetrying          bool                    `json:"isRetrying"`
	SessionFile         string                  `json:"sessionFile,omitempty"`
	SessionID           string                  `json:"sessionId"`
	SessionName         string                  `json:"sessionName,omitempty"`
	MessageCount        int                     `json:"messageCount"`
	PendingMessageCount int                     `json:"pendingMessageCount"`
	ContextUsage        *session.ContextUsage   `json:"contextUsage"`
	Extensions          []string                `json:"extensions"`
}

type queueData struct {
	Steering []string `json:"steering"`
	FollowUp []string `json:"followUp"`
}

type levelData struct {
	Level agentcore.ThinkingLevel `json:"level"`
}

type commandLine struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source"` // "extension", "prompt", "skill"
	Path        string `json:"path,omitempty"`
}

type commandsData struct {
	Commands []commandLine `json:"commands"`
}

func commandData(commands []session.NamedCommand, texts []resources.Command) commandsData {
	list := []commandLine{}
	for _, c := range commands {
		list = append(list, commandLine{Name: c.Called, Description: c.Description, Source: "extension"})
	}
	for _, c := range texts {
		list = append(list, commandLine{c.Name, c.Description, c.Source, c.Path})
	}
	return commandsData{list}
}

// knownLevel says what is wrong with the name of a thinking level.
func knownLevel(level string) error {
	if !slices.Contains(levelNames(), level) {
		return fmt.Errorf("thinking level %q: it is one of %s", level, strings.Join(levelNames(), ", "))
	}
	return nil
}

package transcript

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// codexEntry is a line of a Codex rollout, or the payload of one: lines of old rollouts are the payload itself.
type codexEntry struct {
	kind, name, namespace   string
	timestamp, payload, cwd []byte
	arguments               []byte // of function_call: JSON in a text
	input                   []byte // of custom_tool_call: a text
	callID, id, output      []byte
	action                  []byte
}

func newCodexEntry(raw []byte) (e codexEntry) {
	members(raw, func(key string, v []byte) {
		switch key {
		case "type":
			e.kind = str(v)
		case "name":
			e.name = str(v)
		case "namespace":
			e.namespace = str(v)
		case "timestamp":
			e.timestamp = v
		case "payload":
			e.payload = v
		case "cwd":
			e.cwd = v
		case "arguments":
			e.arguments = v
		case "input":
			e.input = v
		case "call_id":
			e.callID = v
		case "id":
			e.id = v
		case "output":
			e.output = v
		case "action":
			e.action = v
		}
	})
	return e
}

// codexTypes are the lines and items without tool calls of their own. event_msg mirrors calls.
const codexTypes = "event_msg compacted world_state inter_agent_communication ghost_snapshot message reasoning compaction compaction_summary context_compaction other"

func (r *reader) codex(raw []byte) error {
	e := newCodexEntry(raw)
	if t := stamp(str(e.timestamp)); !t.IsZero() {
		r.time = t
	}
	switch {
	case e.kind == "response_item":
		item := newCodexEntry(e.payload)
		return r.codexItem(&item)
	case e.kind == "session_meta" || e.kind == "turn_context":
		place := newCodexEntry(e.payload)
		if cwd := str(place.cwd); cwd != "" {
			r.cwd = cwd
		}
		return nil
	case e.payload == nil:
		if e.kind == "" { // the header of an old rollout, or one of its state records
			return nil
		}
		return r.codexItem(&e)
	case !among(codexTypes, e.kind):
		r.report.Unknown++
	}
	return nil
}

func (r *reader) codexItem(e *codexEntry) error {
	id := str(e.callID)
	if id == "" {
		id = str(e.id)
	}
	ev := &Event{CallID: id, Native: e.name}
	switch e.kind {
	case "function_call":
		if e.namespace != "" && !strings.HasPrefix(e.name, "mcp__") {
			ev.Native = strings.TrimSuffix(e.namespace, "__") + "__" + e.name
		}
		args := str(e.arguments)
		if len(e.arguments) > 0 && e.arguments[0] != '"' {
			args = string(e.arguments)
		}
		ev.Tool, ev.Input = codexFunction(ev.Native, args)
		return r.call(ev, e.arguments, "", true)
	case "custom_tool_call":
		key := "input"
		if ev.Native == "apply_patch" {
			key = "command"
		}
		ev.Tool, ev.Input = ev.Native, encode(map[string]json.RawMessage{key: e.input})
		return r.call(ev, e.input, "", true)
	case "local_shell_call":
		var argv []string
		members(e.action, func(key string, v []byte) {
			if key == "command" {
				elements(v, func(word []byte) { argv = append(argv, str(word)) })
			}
		})
		ev.Native = "local_shell"
		ev.Tool, ev.Input = codexShell(argv)
		return r.call(ev, e.action, "", true)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return r.result(str(e.callID), codexOutput(e.output))
	case "web_search_call", "image_generation_call", "tool_search_call":
		r.report.Remote++
	case "tool_search_output":
	default:
		if !among(codexTypes, e.kind) {
			r.report.Unknown++
		}
	}
	return nil
}

// codexFunction gives a call as the hook tells it: whatever runs a command is Bash with the command as a text.
func codexFunction(name, args string) (tool string, input json.RawMessage) {
	raw := json.RawMessage(args)
	if !json.Valid(raw) {
		raw = encode(args) // the model wrote no JSON; nothing ran
	}
	switch name {
	case "shell", "container.exec", "shell_command", "exec_command", "local_shell", "unified_exec":
	case "apply_patch":
		var a struct{ Input, Patch *string }
		if json.Unmarshal(raw, &a) == nil {
			for _, text := range [...]*string{a.Input, a.Patch} {
				if text != nil {
					return name, encode(map[string]string{"command": *text})
				}
			}
		}
		return name, raw
	default:
		return name, raw
	}
	var a struct{ Command, Cmd json.RawMessage }
	if json.Unmarshal(raw, &a) != nil {
		return "Bash", raw
	}
	command := a.Command
	if command == nil {
		command = a.Cmd
	}
	var line string
	var argv []string
	switch {
	case json.Unmarshal(command, &line) == nil:
		return "Bash", encode(map[string]string{"command": line})
	case json.Unmarshal(command, &argv) == nil && len(argv) > 0:
		return codexShell(argv)
	}
	return "Bash", raw
}

// codexShell unwraps an argument vector: what a shell is given with -c, a patch, or the words quoted.
func codexShell(argv []string) (tool string, input json.RawMessage) {
	var command string
	switch {
	case len(argv) == 2 && (argv[0] == "apply_patch" || argv[0] == "applypatch"):
		return "apply_patch", encode(map[string]string{"command": argv[1]})
	case len(argv) == 3 && (argv[1] == "-lc" || argv[1] == "-c") && isShell(argv[0]):
		command = argv[2]
	default:
		words := make([]string, len(argv))
		for i, w := range argv {
			words[i] = quote(w)
		}
		command = strings.Join(words, " ")
	}
	return "Bash", encode(map[string]string{"command": command})
}

func isShell(path string) bool {
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "bash", "sh", "zsh", "dash":
		return true
	}
	return false
}

// quote makes a word of a shell command.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// codexOutput reads the forms that an output has had: a text, a text that is JSON with output and metadata, an object with content, a
// list of items.
func codexOutput(raw []byte) *Event {
	ev := &Event{Outcome: OK}
	var s string
	switch {
	case len(raw) > 0 && raw[0] == '[':
		ev.Content, ev.Response = textItems(raw), bytes.Clone(raw)
		ev.Outcome = codexOutcome(allText(ev.Content))
		return ev
	case len(raw) > 0 && raw[0] == '{':
		members(raw, func(key string, v []byte) {
			switch {
			case key == "content":
				s = str(v)
			case key == "success" && string(v) == "false":
				ev.Outcome = Failed
			}
		})
	default:
		s = str(raw)
	}
	var wrapped struct {
		Output   *string
		Metadata *struct {
			ExitCode int `json:"exit_code"`
		}
	}
	if strings.HasPrefix(s, "{") && json.Unmarshal([]byte(s), &wrapped) == nil && wrapped.Output != nil && wrapped.Metadata != nil {
		s = *wrapped.Output
		if wrapped.Metadata.ExitCode != 0 {
			ev.Outcome = Failed
		}
	}
	ev.Content, ev.Response = text(s), encode(s)
	if o := codexOutcome(allText(ev.Content)); o != OK {
		ev.Outcome = o
	}
	return ev
}

// codexOutcome knows the texts of Codex for a call that was denied or failed.
func codexOutcome(text string) Outcome {
	for _, start := range [...]string{
		"exec command rejected by user", "patch rejected by user", "rejected by user", "This action was rejected",
		"Command blocked by PreToolUse hook", "Tool call blocked by PreToolUse hook",
	} {
		if strings.HasPrefix(text, start) {
			return Denied
		}
	}
	for _, start := range [...]string{"execution error:", "failed to parse function arguments", "unsupported call:", "aborted by user", "apply_patch verification failed", "exec_command failed"} {
		if strings.HasPrefix(text, start) {
			return Failed
		}
	}
	head := text[:min(len(text), 400)]
	for range 6 { // the head of what a command gave: chunk, wall time, exit code, then "Output:"
		line, rest, more := strings.Cut(head, "\n")
		for _, key := range [...]string{"Exit code: ", "Process exited with code "} {
			if n, ok := strings.CutPrefix(line, key); ok {
				if code, err := strconv.Atoi(strings.TrimSpace(n)); err == nil && code != 0 {
					return Failed
				}
				return OK
			}
		}
		if !more || line == "Output:" {
			break
		}
		head = rest
	}
	return OK
}

// encode is JSON of texts and values that are JSON, or absent.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // texts and raw values that were decoded from valid JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

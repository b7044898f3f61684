package backtest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/engine/transcript"
)

// planted is a kind of call whose verdict by guard-shell, guard-paths and redact-secrets is known.
type planted int

const (
	plain         planted = iota // allowed, ran
	broken                       // allowed, failed
	pending                      // allowed, no result
	secret                       // allowed, its result is rewritten
	push                         // asked about by guard-shell, ran
	destroy                      // blocked by guard-shell, ran
	destroyDenied                // the same, denied at the time
	destroyFailed                // the same, failed at the time
	outside                      // blocked by guard-paths, ran
	plantedKinds
)

const key = "AKIAIOSFODNN7EXAMPLQ"

// op is a tool call with what came of it.
type op struct {
	kind    planted
	id      string
	command string // "": a file is written
	path    string
	output  string
	outcome transcript.Outcome
	at      time.Time
}

// generate makes n calls. The same seed makes the same calls.
func generate(r *rand.Rand, name string, n int) []op {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	ops := make([]op, n)
	for i := range ops {
		o := op{kind: plain, id: fmt.Sprintf("call_%s_%d", name, i), command: fmt.Sprintf("ls dir%d", r.IntN(50)), output: "one two three", outcome: transcript.OK, at: at.Add(time.Duration(i) * time.Minute)}
		if r.IntN(3) == 0 {
			o.kind = planted(r.IntN(int(plantedKinds)))
		}
		switch o.kind {
		case broken:
			o.command, o.output, o.outcome = "false", "no such thing", transcript.Failed
		case pending:
			o.outcome = transcript.NoResult
		case secret:
			o.command, o.output = "env", "HOME=/home/x\nAWS="+key+"\n"
		case push:
			o.command = "git push origin main"
		case destroy:
			o.command = "rm -rf /"
		case destroyDenied:
			o.command, o.outcome = "rm -rf /", transcript.Denied
		case destroyFailed:
			o.command, o.output, o.outcome = "rm -rf /", "permission denied", transcript.Failed
		case outside:
			o.command, o.path, o.output = "", "/etc/passwd", "written"
		}
		ops[i] = o
	}
	return ops
}

// writer writes a transcript with noise between the calls.
type writer struct {
	b    strings.Builder
	rand *rand.Rand
	n    int // lines
}

func (w *writer) line(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.b.Write(raw)
	w.b.WriteByte('\n')
	w.n++
}

type m = map[string]any

const cwd = "/w/project"

// pi writes a session of version 3: a tree in which each entry follows the one before it.
func (w *writer) pi(name string, ops []op) {
	w.line(m{"type": "session", "version": 3, "id": name, "timestamp": "2026-03-01T08:00:00Z", "cwd": cwd})
	last := any(nil)
	entry := func(at time.Time, fields m) {
		id := fmt.Sprintf("%08x", w.n)
		fields["id"], fields["parentId"], fields["timestamp"] = id, last, at.Format(time.RFC3339Nano)
		w.line(fields)
		last = id
	}
	for _, o := range ops {
		if w.rand.IntN(4) == 0 {
			entry(o.at, m{"type": "message", "message": m{"role": "user", "content": "go on " + key, "timestamp": o.at.UnixMilli()}})
			entry(o.at, m{"type": "custom", "customType": "x", "data": m{"type": "toolCall", "id": "no", "name": "bash"}})
			entry(o.at, m{"type": "message", "message": m{"role": "bashExecution", "command": "rm -rf /", "output": "", "exitCode": 0}})
		}
		call := m{"type": "toolCall", "id": o.id, "name": "bash", "arguments": m{"command": o.command}}
		if o.command == "" {
			call = m{"type": "toolCall", "id": o.id, "name": "write", "arguments": m{"path": o.path, "content": "x"}}
		}
		entry(o.at, m{"type": "message", "message": m{"role": "assistant", "content": []any{m{"type": "text", "text": "now"}, call}, "stopReason": "toolUse", "timestamp": o.at.UnixMilli()}})
		text := o.output
		switch o.outcome {
		case transcript.NoResult:
			continue
		case transcript.Denied:
			text = "guard: no; the call was blocked"
		}
		entry(o.at, m{"type": "message", "message": m{
			"role": "toolResult", "toolCallId": o.id, "toolName": call["name"], "content": []any{m{"type": "text", "text": text}},
			"isError": o.outcome != transcript.OK, "timestamp": o.at.UnixMilli(),
		}})
	}
}

// claude writes a transcript of Claude Code, of a subagent when agent is not "".
func (w *writer) claude(name, agent string, ops []op) {
	entry := func(o *op, kind string, message m) m {
		e := m{
			"type": kind, "uuid": fmt.Sprintf("%s-%d", name, w.n), "parentUuid": nil, "sessionId": name, "timestamp": o.at.Format("2006-01-02T15:04:05.000Z"),
			"cwd": cwd, "version": "2.1.0", "isSidechain": agent != "", "message": message,
		}
		if agent != "" {
			e["agentId"] = agent
		}
		return e
	}
	w.line(m{"type": "summary", "summary": "rm -rf /", "leafUuid": "x"})
	for i := range ops {
		o := &ops[i]
		use := m{"type": "tool_use", "id": o.id, "name": "Bash", "input": m{"command": o.command, "description": "it"}}
		if o.command == "" {
			use = m{"type": "tool_use", "id": o.id, "name": "Write", "input": m{"file_path": o.path, "content": "x"}}
		}
		call := entry(o, "assistant", m{"id": "msg_" + o.id, "role": "assistant", "content": []any{use}, "usage": m{"input_tokens": 1}})
		if w.rand.IntN(4) == 0 { // one message over two lines, a mirror, and a line of a kind to come
			w.line(entry(o, "assistant", m{"id": "msg_" + o.id, "role": "assistant", "content": []any{m{"type": "text", "text": "now"}}}))
			w.line(m{"type": "progress", "data": m{"type": "agent_progress", "message": call}})
			w.line(m{"type": "telepathy", "message": m{"content": []any{use}}, "sessionId": name})
		}
		w.line(call)
		if w.rand.IntN(9) == 0 {
			w.line(call) // written twice
		}
		result := m{"type": "tool_result", "tool_use_id": o.id, "content": o.output}
		line := entry(o, "user", m{"role": "user", "content": []any{result}})
		switch o.outcome {
		case transcript.NoResult:
			continue
		case transcript.OK:
			line["toolUseResult"] = m{"stdout": o.output, "stderr": "", "interrupted": false, "isImage": false}
			if o.command == "" {
				line["toolUseResult"] = m{"type": "create", "filePath": o.path, "content": "x", "structuredPatch": []any{}}
			}
		case transcript.Failed:
			result["is_error"], line["toolUseResult"] = true, "Error: "+o.output
		case transcript.Denied:
			result["is_error"], line["toolUseResult"] = true, "User rejected tool use"
			result["content"] = "The user doesn't want to proceed with this tool use. The tool use was rejected."
		}
		w.line(line)
	}
}

// codex writes a rollout. at is what the lines are stamped with, since a fork stamps copies anew; zero: the time of the call.
func (w *writer) codex(name string, ops []op, at time.Time) {
	now := at
	line := func(kind string, payload m) {
		w.line(m{"timestamp": now.Format("2006-01-02T15:04:05.000Z"), "type": kind, "payload": payload})
	}
	line("session_meta", m{"id": name, "timestamp": "2026-03-01T08:00:00.000Z", "cwd": cwd, "cli_version": "0.149.0"})
	for _, o := range ops {
		if now = at; at.IsZero() {
			now = o.at
		}
		if w.rand.IntN(4) == 0 {
			line("turn_context", m{"cwd": cwd, "model": "m"})
			line("event_msg", m{"type": "token_count"})
			line("response_item", m{"type": "message", "role": "user", "content": []any{m{"type": "input_text", "text": "<environment_context>rm -rf /"}}})
			line("response_item", m{"type": "telepathy", "call_id": o.id})
		}
		args := func(v any) string {
			raw, err := json.Marshal(v)
			if err != nil {
				panic(err)
			}
			return string(raw)
		}
		output := "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n" + o.output
		custom := ""
		switch {
		case o.command == "":
			custom = "custom_tool_call"
			line("response_item", m{"type": custom, "name": "apply_patch", "call_id": o.id, "input": "*** Begin Patch\n*** Add File: " + o.path + "\n+x\n*** End Patch"})
		case o.at.Minute()%2 == 0:
			line("response_item", m{"type": "function_call", "name": "shell", "call_id": o.id, "arguments": args(m{"command": []string{"bash", "-lc", o.command}, "workdir": cwd})})
		default:
			line("response_item", m{"type": "function_call", "name": "exec_command", "call_id": o.id, "arguments": args(m{"cmd": o.command})})
		}
		switch o.outcome {
		case transcript.NoResult:
			continue
		case transcript.Failed:
			output = args(m{"output": o.output, "metadata": m{"exit_code": 1, "duration_seconds": 0.1}})
		case transcript.Denied:
			output = "exec command rejected by user"
		}
		line("event_msg", m{"type": "exec_command_end", "call_id": o.id, "aggregated_output": o.output, "exit_code": 0})
		if custom == "" {
			custom = "function_call"
		}
		line("response_item", m{"type": custom + "_output", "call_id": o.id, "output": output})
	}
}

// save writes what was written to a file, with tail behind it.
func (w *writer) save(t testing.TB, path, tail string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(w.b.String()+tail), 0o600); err != nil {
		t.Fatal(err)
	}
}

package agentcoretest

import (
	"context"
	"encoding/json"
	"fmt"

	"weir/agentcore"
)

// toolRun is one execution of a tool.
type toolRun struct {
	ToolCallID string  `json:"toolCallId"`
	ToolName   string  `json:"toolName"`
	Args       any     `json:"args"`
	Threw      *string `json:"threw,omitempty"`
	SawAbort   bool    `json:"sawAbort,omitempty"`
}

// NewTool makes a declared tool. prepare, which may be nil, completes the scope of an execution.
func (k *Kit) NewTool(def *ToolDef, prepare func(ctx context.Context, s *Scope)) *agentcore.Tool {
	tool := &agentcore.Tool{
		Name: def.Name, Label: orElse(def.Label, def.Name), Description: orElse(def.Description, def.Name),
		Parameters: def.Parameters, ExecutionMode: agentcore.ExecutionMode(def.ExecutionMode),
	}
	if tool.Parameters == nil {
		tool.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if def.Prepare != nil {
		tool.Prepare = func(args json.RawMessage) (json.RawMessage, error) {
			scope := &Scope{Kit: k, Who: "prepare:" + def.Name, Event: Object{"args": decode(args)}}
			result, err := scope.Run(def.Prepare)
			if err != nil || !result.Returned {
				return args, err
			}
			return encodeInOrder(result.Value, args, def.source), nil
		}
	}
	tool.Execute = func(
		ctx context.Context, callID string, args json.RawMessage, update func(*agentcore.ToolResult),
	) (*agentcore.ToolResult, error) {
		run := &toolRun{ToolCallID: callID, ToolName: def.Name, Args: k.Norm.Value(decode(args))}
		k.mu.Lock()
		k.runs = append(k.runs, run)
		k.mu.Unlock()
		scope := &Scope{
			Kit: k, Who: "tool:" + def.Name, Event: Object{"toolCallId": callID, "args": decode(args)}, Context: ctx,
			Update: func(v any) error {
				partial, err := toolResult(v)
				if err == nil {
					update(partial)
				}
				return err
			},
		}
		if prepare != nil {
			prepare(ctx, scope)
		}
		result, err := scope.Run(def.steps(callID))
		scope.flush()
		k.mu.Lock()
		defer k.mu.Unlock()
		run.SawAbort = Aborted(ctx)
		if err != nil {
			threw := err.Error()
			run.Threw = &threw
			return nil, err
		}
		if !result.Returned {
			return nil, nil
		}
		return toolResult(result.Value)
	}
	return tool
}

func (d *ToolDef) steps(callID string) []Action {
	if steps, ok := d.ByCall[callID]; ok {
		return steps
	}
	if d.Steps != nil {
		return d.Steps
	}
	return []Action{{"do": "return", "value": Object{
		"content": []any{Object{"type": "text", "text": d.Name + " ok"}}, "details": Object{},
	}}}
}

func toolResult(v any) (*agentcore.ToolResult, error) {
	if _, ok := v.(Object); !ok {
		return nil, fmt.Errorf("a tool result must be an object, not %s", text(v))
	}
	return agentcore.DecodeToolResult(encode(v))
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

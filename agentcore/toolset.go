package agentcore

import (
	"encoding/json"
	"fmt"
)

// toolset is a list of tools with their compiled schemas.
type toolset struct {
	tools   []*Tool
	schemas map[*Tool]*Schema
}

// newToolset checks tools and compiles their schemas, but for those that known has compiled. Of two tools with one
// name neither could be addressed for certain, so that is an error.
func newToolset(tools []*Tool, known *toolset) (*toolset, error) {
	set := &toolset{tools: append([]*Tool(nil), tools...), schemas: make(map[*Tool]*Schema, len(tools))}
	names := make(map[string]bool, len(tools))
	for i, tool := range tools {
		switch {
		case tool == nil:
			return nil, fmt.Errorf("agentcore: tool %d is nil", i)
		case tool.Name == "":
			return nil, fmt.Errorf("agentcore: tool %d has no name", i)
		case names[tool.Name]:
			return nil, fmt.Errorf("agentcore: two tools are named %q", tool.Name)
		case tool.Execute == nil:
			return nil, fmt.Errorf("agentcore: tool %q has no Execute function", tool.Name)
		}
		if err := checkModes(tool.ExecutionMode); err != nil {
			return nil, fmt.Errorf("agentcore: tool %q: %w", tool.Name, err)
		}
		names[tool.Name] = true
		if known != nil && known.schemas[tool] != nil {
			set.schemas[tool] = known.schemas[tool]
			continue
		}
		schema, err := CompileSchema(tool.Parameters)
		if err != nil {
			return nil, fmt.Errorf("agentcore: tool %q: parameters: %w", tool.Name, err)
		}
		set.schemas[tool] = schema
	}
	return set, nil
}

func (s *toolset) find(name string) *Tool {
	for _, tool := range s.tools {
		if tool.Name == name {
			return tool
		}
	}
	return nil
}

func (s *toolset) validate(tool *Tool, args json.RawMessage) (json.RawMessage, error) {
	return s.schemas[tool].Validate(tool.Name, args)
}

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"weir/agentcore"
)

// writeTool creates or overwrites a file. Parameters: dist/core/tools/write.d.ts, 0.85.0.
func (s *toolset) writeTool() *agentcore.Tool {
	return &agentcore.Tool{
		Name: "write",
		Description: "Write a whole file: create it, with the folders it needs, or replace what is there. " +
			"To change a part of a file use edit.",
		Parameters: json.RawMessage(`{"type":"object","required":["path","content"],"properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the working folder"},` +
			`"content":{"type":"string","description":"The whole new content"}}}`),
		Prepare: preparePath,
		Execute: s.write,
	}
}

func (s *toolset) write(ctx context.Context, _ string, raw json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
	args, err := parseArguments(raw)
	if err != nil {
		return nil, err
	}
	name, err := args.required("path")
	if err != nil {
		return nil, err
	}
	content, err := args.required("content")
	if err != nil {
		return nil, err
	}
	path, unlock, err := s.lockTarget(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	defer unlock()
	_, statErr := os.Lstat(path) // only for the wording of the result
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	if err := replaceFile(path, []byte(content)); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	done := "replaced"
	if statErr != nil {
		done = "created"
	}
	return textResult(fmt.Sprintf("%s %s with %s", done, name, byteSize(int64(len(content)))), nil)
}

// lockTarget finds the file behind a path argument and waits for the right to change it.
func (s *toolset) lockTarget(ctx context.Context, name string) (path string, unlock func(), err error) {
	if path, err = s.resolve(name); err != nil {
		return "", nil, err
	}
	if path, err = target(path); err != nil {
		return "", nil, err
	}
	if err := s.refuseFile(path); err != nil {
		return "", nil, err
	}
	if err := ctx.Err(); err != nil {
		return "", nil, fmt.Errorf("aborted: %w", err)
	}
	if unlock, err = s.files.lock(ctx, path); err != nil {
		return "", nil, fmt.Errorf("aborted: %w", err)
	}
	return path, unlock, nil
}

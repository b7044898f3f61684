package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"weir/agentcore"
)

// maxEditBytes is the largest file that edit works on; it holds the file in memory a few times over. Ours.
const maxEditBytes = 64 << 20

type edit struct{ oldText, newText string }

// editTool replaces parts of a text file. Parameters and the names in the details: dist/core/tools/edit.d.ts, 0.85.0.
func (s *toolset) editTool() *agentcore.Tool {
	return &agentcore.Tool{
		Name: "edit",
		Description: "Change parts of one text file by exact replacement. The oldText of every edit must be in the file exactly " +
			"once, white space included, and no two may touch the same text. All are looked up in the file as it is " +
			"before the call. Put several changes of a file into one call, and changes of neighbouring lines into one edit.",
		Parameters: json.RawMessage(`{"type":"object","required":["path","edits"],"properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the working folder"},` +
			`"edits":{"type":"array","description":"The replacements, at least one","items":{"type":"object","required":["oldText","newText"],"properties":{` +
			`"oldText":{"type":"string","description":"Text that is in the file exactly once"},` +
			`"newText":{"type":"string","description":"What stands there instead; empty deletes"}}}}}}`),
		Prepare: prepareEdit,
		Execute: s.edit,
	}
}

// prepareEdit mends shapes that models are known to send (reference: dist/core/tools/edit.js, 0.85.0): edits as a string
// of JSON, one edit without its list, oldText and newText beside path. Anything else is left for validation to refuse.
func prepareEdit(raw json.RawMessage) (json.RawMessage, error) {
	raw, err := preparePath(raw)
	if err != nil {
		return nil, err
	}
	args, err := parseArguments(raw)
	if err != nil {
		return raw, nil //nolint:nilerr // what is wrong with the arguments is for validation to say
	}
	edits, changed := args["edits"], false
	var inString string
	if json.Unmarshal(edits, &inString) == nil && json.Valid([]byte(inString)) {
		edits, changed = json.RawMessage(inString), true
	}
	if isEdit(edits) {
		edits, changed = wrap(edits), true
	}
	if isEdit(raw) {
		single, err := json.Marshal(map[string]json.RawMessage{"oldText": args["oldText"], "newText": args["newText"]})
		if err != nil {
			return nil, fmt.Errorf("encode the edit: %w", err)
		}
		var listed []json.RawMessage
		if len(edits) > 0 {
			if err := json.Unmarshal(edits, &listed); err != nil {
				return raw, nil //nolint:nilerr // as above
			}
		}
		if edits, err = json.Marshal(append(listed, single)); err != nil {
			return nil, fmt.Errorf("encode the edits: %w", err)
		}
		delete(args, "oldText")
		delete(args, "newText")
		changed = true
	}
	if !changed {
		return raw, nil
	}
	args["edits"] = edits
	return json.Marshal(args)
}

func isEdit(raw json.RawMessage) bool {
	_, err := parseEdit(raw)
	return err == nil
}

func wrap(edit json.RawMessage) json.RawMessage {
	return append(append(json.RawMessage{'['}, edit...), ']')
}

func parseEdit(raw json.RawMessage) (edit, error) {
	args, err := parseArguments(raw)
	if err != nil {
		return edit{}, err
	}
	oldText, err := args.required("oldText")
	if err != nil {
		return edit{}, err
	}
	newText, err := args.required("newText")
	return edit{oldText, newText}, err
}

func parseEdits(raw json.RawMessage) ([]edit, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New(`argument "edits" must be a list`)
	}
	if len(list) == 0 {
		return nil, errors.New(`argument "edits" is empty; it needs at least one edit`)
	}
	edits := make([]edit, len(list))
	for i, one := range list {
		var err error
		if edits[i], err = parseEdit(one); err != nil {
			return nil, fmt.Errorf("edits[%d]: %w", i, err)
		}
		if edits[i].oldText == "" {
			return nil, fmt.Errorf("edits[%d]: oldText is empty; to fill an empty file use write", i)
		}
	}
	return edits, nil
}

func (s *toolset) edit(ctx context.Context, _ string, raw json.RawMessage, _ func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
	args, err := parseArguments(raw)
	if err != nil {
		return nil, err
	}
	name, err := args.required("path")
	if err != nil {
		return nil, err
	}
	edits, err := parseEdits(args["edits"])
	if err != nil {
		return nil, err
	}
	path, unlock, err := s.lockTarget(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	defer unlock()
	before, err := readForEdit(path)
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	changes, err := locate(before, edits, name)
	if err != nil {
		return nil, err
	}
	after := apply(before, changes)
	if after == before {
		return nil, fmt.Errorf("%s was not changed: the new text is the same as the old", name)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("edit: aborted: %w", err)
	}
	if err := replaceFile(path, []byte(after)); err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	diff := newDiff(before, changes)
	done := "1 place"
	if len(changes) > 1 {
		done = fmt.Sprintf("%d places", len(changes))
	}
	return textResult(fmt.Sprintf("changed %s in %s", done, name), struct {
		Diff             string `json:"diff"`
		Patch            string `json:"patch"`
		FirstChangedLine int    `json:"firstChangedLine"`
	}{diff.display(), diff.unified(name), diff.firstChanged()})
}

func readForEdit(path string) (text string, err error) {
	file, info, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info.Size() > maxEditBytes {
		return "", fmt.Errorf("%s has %s; edit works on files of at most %s", path, byteSize(info.Size()), byteSize(maxEditBytes))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxEditBytes+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxEditBytes {
		return "", fmt.Errorf("%s is growing; edit works on files of at most %s", path, byteSize(maxEditBytes))
	}
	if bytes.IndexByte(data[:min(len(data), sniffBytes)], 0) >= 0 {
		return "", fmt.Errorf("%s is a binary file", path)
	}
	return string(data), nil
}

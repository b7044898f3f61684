package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"weir/agentcore"
)

const (
	// sniffBytes is how much of a file decides whether it is an image, binary or text.
	sniffBytes = 8 << 10
	// maxImageBase64 is the largest image that is sent, in bytes of base64. Reference: dist/utils/image-resize-core.js,
	// 0.85.0, which scales images down to it.
	maxImageBase64 = 4.5 * 1024 * 1024
)

// readTool reads a text file or an image. Parameters and limits: dist/core/tools/read.d.ts, 0.85.0.
func (s *toolset) readTool() *agentcore.Tool {
	return &agentcore.Tool{
		Name: "read",
		Description: fmt.Sprintf("Read a file: text, or an image (png, jpeg, gif, webp), which is attached. Of a text at most %d "+
			"lines or %s are returned at once; the result says with which offset to go on.", MaxLines, byteSize(MaxBytes)),
		Parameters: json.RawMessage(`{"type":"object","required":["path"],"properties":{` +
			`"path":{"type":"string","description":"The file, absolute or relative to the working folder"},` +
			`"offset":{"type":"number","description":"The first line to return, counted from 1"},` +
			`"limit":{"type":"number","description":"How many lines to return at most"}}}`),
		Prepare: preparePath,
		Execute: s.read,
	}
}

func (s *toolset) read(ctx context.Context, _ string, raw json.RawMessage, _ func(*agentcore.ToolResult)) (result *agentcore.ToolResult, err error) {
	args, err := parseArguments(raw)
	if err != nil {
		return nil, err
	}
	name, err := args.required("path")
	if err != nil {
		return nil, err
	}
	offset, err := args.number("offset", 1) // 0 and less mean the start, as in the reference
	if err != nil {
		return nil, err
	}
	limit, err := args.count("limit", 0, 1)
	if err != nil {
		return nil, err
	}
	path, err := s.resolve(name)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read: aborted: %w", err)
	}
	file, info, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read: %w", err)
	}
	head = head[:n]
	if mime := imageType(head); mime != "" {
		return readImage(file, head, mime, info.Size())
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, binaryError(name, head, info.Size())
	}
	t := textReader{
		in: bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), file), 64<<10), name: name,
		first: int64(min(max(1, offset), 1<<53)), limit: limit,
	}
	return t.read(ctx)
}

// imageType is the media type of an image that models take, by its first bytes; "" for anything else.
func imageType(head []byte) string {
	has := func(at int, magic string) bool {
		return len(head) >= at+len(magic) && string(head[at:at+len(magic)]) == magic
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n") && has(12, "IHDR"):
		return "image/png"
	case has(0, "\xff\xd8\xff") && !has(3, "\xf7"): // f7 is JPEG-LS, which no model takes
		return "image/jpeg"
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return "image/gif"
	case has(0, "RIFF") && has(8, "WEBP"):
		return "image/webp"
	default:
		return ""
	}
}

func readImage(file *os.File, head []byte, mime string, size int64) (*agentcore.ToolResult, error) {
	const maxImage = maxImageBase64 / 4 * 3
	tooLarge := func() (*agentcore.ToolResult, error) {
		return textResult(fmt.Sprintf("[image (%s, %s) left out: it is larger than %s; make it smaller first]",
			mime, byteSize(size), byteSize(maxImage)), nil)
	}
	if size > maxImage {
		return tooLarge()
	}
	rest, err := io.ReadAll(io.LimitReader(file, maxImage+1)) // the file may have grown since its size was taken
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	data := slices.Concat(head, rest)
	if len(data) > maxImage {
		size = int64(len(data))
		return tooLarge()
	}
	return &agentcore.ToolResult{Content: []agentcore.Block{
		&agentcore.TextBlock{Text: fmt.Sprintf("[image: %s, %s]", mime, byteSize(int64(len(data))))},
		&agentcore.ImageBlock{Data: base64.StdEncoding.EncodeToString(data), MimeType: mime},
	}}, nil
}

func binaryError(name string, head []byte, size int64) error {
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return fmt.Errorf("%s is UTF-16 text; convert it first, for example with bash: iconv -f UTF-16 -t UTF-8 %s",
			name, shellQuote(name))
	}
	return fmt.Errorf("%s is a binary file (%s); read returns text and images only. To look at its bytes use bash, for example: od -A x -t x1z %s | head",
		name, byteSize(size), shellQuote(name))
}

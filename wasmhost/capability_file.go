package wasmhost

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"weir/internal/granted"
)

// Limits of the capability file (ABI section 10).
const (
	maxFileBytes   = 8 << 20
	maxFileEntries = 2_000 // of one folder
)

// File is the capability file: reading below some folders, which must exist. The operations, with an answer each:
//
//	{"op":"read","path":"guide.md"}                      {"text":"# Guide\n"}
//	{"op":"read","path":"logo.png","encoding":"base64"}  {"base64":"iVBORw0…"}
//	{"op":"stat","path":"guide.md"}                      {"name":"guide.md","dir":false,"size":8}
//	{"op":"list","path":"."}                             {"entries":[{"name":"guide.md","dir":false,"size":8}]}
//
// A relative path is looked for in each folder in their order, and the first that has it counts; an absolute one must lie
// below one of them. Links are followed while they stay in the folder. Only regular files are read, up to 8 MiB, and as
// text only when they are UTF-8; folders of more than 2,000 entries are not listed. Entries are sorted. Anything else is
// an error for the guest to read, the same whether a file outside exists or not:
//
//	{"op":"read","path":"../secret"}                     read: ../secret: not below a granted folder
//
// Folders are opened at each request, so one that is replaced is seen, and nothing needs closing.
func File(folders []string) (Capability, error) {
	f := &fileCapability{}
	for _, folder := range folders {
		abs, err := filepath.Abs(folder)
		if err != nil {
			return Capability{}, err
		}
		if info, err := os.Stat(abs); err != nil {
			return Capability{}, err
		} else if !info.IsDir() {
			return Capability{}, fmt.Errorf("%s is not a folder", folder)
		}
		f.folders = append(f.folders, abs)
	}
	return Capability{Handle: f.handle}, nil
}

type fileCapability struct{ folders []string }

// fileInfo is what a guest is told of a file.
type fileInfo struct {
	Name string `json:"name"`
	Dir  bool   `json:"dir"`
	Size int64  `json:"size"` // 0 for what is no regular file
}

func infoOf(info fs.FileInfo) fileInfo {
	f := fileInfo{Name: strings.ToValidUTF8(info.Name(), "\uFFFD"), Dir: info.IsDir()}
	if info.Mode().IsRegular() {
		f.Size = info.Size()
	}
	return f
}

func (f *fileCapability) handle(_ context.Context, raw []byte) ([]byte, error) {
	r, err := parseRequest(raw)
	if err != nil {
		return nil, err
	}
	path := r.text("path")
	var answer any
	var run func(root *os.Root, name string) error
	switch r.op {
	case "read":
		encoding := r.optional("encoding")
		if encoding != "" && encoding != "base64" {
			r.fail("unknown encoding %q; there is base64", encoding)
		}
		run = func(root *os.Root, name string) (err error) {
			answer, err = readFile(root, name, encoding)
			return err
		}
	case "stat":
		run = func(root *os.Root, name string) error {
			info, err := root.Stat(name)
			if err == nil {
				answer = infoOf(info)
			}
			return err
		}
	case "list":
		run = func(root *os.Root, name string) (err error) {
			answer, err = listFolder(root, name)
			return err
		}
	default:
		return nil, r.unknown("read", "list", "stat")
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	if err := granted.Find(path, f.folders, run); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", r.op, path, err)
	}
	return respond(answer)
}

func readFile(root *os.Root, name, encoding string) (any, error) {
	file, err := granted.Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxFileBytes:
		return nil, fmt.Errorf("%d bytes, more than the limit of %d", info.Size(), maxFileBytes)
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > maxFileBytes:
		return nil, fmt.Errorf("more than the limit of %d bytes", maxFileBytes)
	case encoding == "base64":
		return struct {
			Base64 string `json:"base64"`
		}{base64.StdEncoding.EncodeToString(content)}, nil
	case !utf8.Valid(content):
		return nil, errors.New(`not UTF-8 text; ask for "encoding":"base64"`)
	}
	return struct {
		Text string `json:"text"`
	}{string(content)}, nil
}

func listFolder(root *os.Root, name string) (any, error) {
	dir, err := granted.Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // it was only read
	if info, err := dir.Stat(); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, errors.New("not a folder")
	}
	entries, err := dir.ReadDir(maxFileEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > maxFileEntries {
		return nil, fmt.Errorf("more than %d entries", maxFileEntries)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	list := make([]fileInfo, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, infoOf(info))
	}
	return struct {
		Entries []fileInfo `json:"entries"`
	}{list}, nil
}

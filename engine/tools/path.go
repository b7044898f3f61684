package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// resolve makes an absolute path of a path argument: ~ and ~/… are the home folder, a relative path starts at the
// working folder.
func (s *toolset) resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("the path is empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("the path %q holds a NUL character", path)
	}
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "~"+string(filepath.Separator)) {
		if s.home == "" {
			return "", fmt.Errorf("%s: the home folder is not known; give an absolute path", path)
		}
		return filepath.Join(s.home, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(s.cwd, path), nil
}

// preparePath drops a leading @ from the path argument, which models copy from the way people mention files (reference:
// dist/core/tools/path-utils.d.ts, 0.85.0). It happens before the gates see the arguments, so that they judge the path
// that will be opened.
func preparePath(raw json.RawMessage) (json.RawMessage, error) {
	args, err := parseArguments(raw)
	if err != nil || !args.has("path") {
		return raw, nil //nolint:nilerr // what is wrong with the arguments is for validation to say
	}
	path, err := args.text("path")
	if err != nil || len(path) < 2 || path[0] != '@' {
		return raw, nil //nolint:nilerr // as above
	}
	if args["path"], err = json.Marshal(path[1:]); err != nil {
		return nil, fmt.Errorf("encode the path: %w", err)
	}
	return json.Marshal(args)
}

// openRegular opens a regular file for reading. It never waits: neither for the other end of a FIFO nor for a device.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = requireRegular(path, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

func requireRegular(path string, info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a folder; use ls to list it", path)
	case mode&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%s is a named pipe, not a file", path)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%s is a socket, not a file", path)
	case mode&fs.ModeDevice != 0:
		return fmt.Errorf("%s is a device, not a file", path)
	default:
		return fmt.Errorf("%s is not a regular file (%s)", path, mode.Type())
	}
}

// searchRoot resolves the optional path argument of grep, find and ls; absent or empty means the working folder.
func (s *toolset) searchRoot(args arguments) (string, fs.FileInfo, error) {
	path, err := args.text("path")
	if err != nil {
		return "", nil, err
	}
	if path == "" {
		path = "."
	}
	root, err := s.resolve(path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(root)
	if err != nil {
		return "", nil, fmt.Errorf("cannot search there: %w", err)
	}
	return root, info, nil
}

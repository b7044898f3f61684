package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// historyFile keeps the lines that were typed in conversations from one program to the next, a line each: weir/chat-history in the
// user's data folder, which others cannot read. Several programs may add to it. It holds at most about twice maxHistory lines.
type historyFile struct {
	path   string
	failed error // why lines are kept no more
}

// maxHistoryLine is how long a line may be that is kept, in bytes.
const maxHistoryLine = 4096

// historyPath is where the file is.
func historyPath() (string, error) {
	sessions, err := sessionsFolder()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(sessions), "chat-history"), nil
}

// read gives the last lines of the file, at most maxHistory, and shortens it when it has grown. What could disturb a terminal is left
// out. No file is no lines.
func (h *historyFile) read() ([]string, error) {
	data, err := os.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && len(line) <= maxHistoryLine && printable(line) == line && utf8.ValidString(line) {
			lines = append(lines, line)
		}
	}
	grown := bytes.Count(data, []byte("\n")) > 2*maxHistory
	lines = lines[max(0, len(lines)-maxHistory):]
	if grown {
		err = h.rewrite(strings.Join(lines, "\n") + "\n")
	}
	return lines, err
}

// rewrite replaces the file in one step.
func (h *historyFile) rewrite(text string) error {
	file, err := os.CreateTemp(filepath.Dir(h.path), "chat-history-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), h.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}

// add appends a line, unless it begins with a space: so one that is not to be kept is typed. After a failure nothing is kept any more.
func (h *historyFile) add(line string) {
	if h.failed != nil || strings.HasPrefix(line, " ") || len(line) > maxHistoryLine {
		return
	}
	h.failed = h.append(line)
}

func (h *historyFile) append(line string) error {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	err = file.Chmod(0o600) // whoever made it
	if err == nil {
		_, err = file.WriteString(line + "\n")
	}
	return errors.Join(err, file.Close())
}

// keepIn has the history go on with the lines of a file, and add its own to it. typed says whether a line is as it was typed: one with
// the placeholder of a paste is not kept.
func (h *lineHistory) keepIn(file *historyFile, typed func(line string) bool) {
	lines, err := file.read()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.file, h.typed, file.failed = file, typed, err
	h.lines = append(lines, h.lines...)
}

// broken says why lines are not kept in the file; nil when they are.
func (h *lineHistory) broken() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file == nil {
		return nil
	}
	return h.file.failed
}

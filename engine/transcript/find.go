package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/validjson"
)

// Folders are where an agent keeps its sessions, as far as they exist. getenv and home stand for the environment and the user's
// home folder.
//
//	claude  $CLAUDE_CONFIG_DIR/projects, or ~/.claude/projects
//	codex   sessions and archived_sessions of $CODEX_HOME, or of ~/.codex
//	pi      $PI_CODING_AGENT_SESSION_DIR, or sessions of $PI_CODING_AGENT_DIR, or ~/.pi/agent/sessions
func Folders(f Format, getenv func(string) string, home string) ([]string, error) {
	base := func(variable string, standard ...string) string {
		dir := getenv(variable)
		switch {
		case dir == "":
			return filepath.Join(append([]string{home}, standard...)...)
		case dir == "~", strings.HasPrefix(dir, "~/"):
			return filepath.Join(home, dir[1:])
		}
		return dir
	}
	var all []string
	switch f {
	case Claude:
		all = []string{filepath.Join(base("CLAUDE_CONFIG_DIR", ".claude"), "projects")}
	case Codex:
		dir := base("CODEX_HOME", ".codex")
		all = []string{filepath.Join(dir, "archived_sessions"), filepath.Join(dir, "sessions")}
	case Pi:
		all = []string{filepath.Join(base("PI_CODING_AGENT_DIR", ".pi", "agent"), "sessions")}
		if getenv("PI_CODING_AGENT_SESSION_DIR") != "" {
			all = []string{base("PI_CODING_AGENT_SESSION_DIR")}
		}
	default:
		return nil, fmt.Errorf("there is no agent %q", string(f))
	}
	var found []string
	for _, dir := range all {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			found = append(found, dir)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there are no sessions of %s here: %s is not a folder", f, strings.Join(all, ", and so "))
	}
	return found, nil
}

// Find lists the transcripts that a path names: itself when it is a regular file, or the regular files below it whose names end in
// .jsonl, sorted by path. Below it symbolic links are not followed. Folders that cannot be read are skipped and named in the error,
// which may come beside files.
func Find(path string) ([]string, error) {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(root)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().IsRegular():
		return []string{path}, nil
	case !info.IsDir():
		return nil, fmt.Errorf("%s is neither a file nor a folder", path)
	}
	var files []string
	var errs []error
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			errs = append(errs, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && strings.HasSuffix(p, ".jsonl") {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			files = append(files, filepath.Join(path, rel))
		}
		return nil
	})
	slices.Sort(files)
	return files, errors.Join(append(errs, err)...)
}

// ErrFormat says that the first lines of a file are those of no format that is known.
var ErrFormat = errors.New("not a transcript of a known agent")

// probeLines is in how many lines the format shows, at the latest.
const probeLines = 40

// Detect tells the format from the first lines. The error is ErrFormat, or in's.
func Detect(in io.Reader) (Format, error) {
	l := newLines(in, 4<<20)
	for range probeLines {
		raw, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		if f := probe(raw); f != "" {
			return f, nil
		}
	}
	return "", ErrFormat
}

// probe tells the format from a line, if the line shows it.
func probe(raw []byte) Format {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || validjson.Check(raw) != nil {
		return ""
	}
	has := map[string][]byte{}
	members(raw, func(key string, v []byte) { has[key] = v })
	kind := str(has["type"])
	object := func(key string) bool { return len(has[key]) > 0 && has[key][0] == '{' }
	switch {
	case kind == "session" && has["id"] != nil:
		return Pi
	case object("payload") && among("session_meta response_item event_msg turn_context compacted", kind):
		return Codex
	case has["record_type"] != nil, kind == "" && has["id"] != nil && has["timestamp"] != nil, has["call_id"] != nil:
		return Codex // before there was a payload
	case has["sessionId"] != nil, has["leafUuid"] != nil, has["uuid"] != nil && object("message"), kind == "file-history-snapshot":
		return Claude
	}
	return ""
}

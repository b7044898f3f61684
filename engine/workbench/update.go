package workbench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"weir/engine/set"
)

// updater collects the expected outputs that are to be rewritten.
type updater struct {
	inline []replacement
	files  map[string]json.RawMessage
	done   int
}

type replacement struct {
	at  set.Position
	out string
}

// take notes an output and says whether it can be written: one that stands in a file of its own, where no other case wants another
// one there, or in a literal string of the test file. An output that is a table is the author's to change.
func (u *updater) take(f *File, e *Expect, out json.RawMessage) bool {
	var compact bytes.Buffer
	if json.Compact(&compact, out) != nil {
		return false
	}
	text := compact.String()
	switch {
	case e.outputFile != "":
		if before, ok := u.files[e.outputFile]; ok && !sameJSON(before, out) {
			return false
		}
		if u.files == nil {
			u.files = map[string]json.RawMessage{}
		}
		u.files[e.outputFile] = json.RawMessage(strings.Join(pretty(out), "\n") + "\n")
	case e.outputAt == nil, strings.Contains(text, "'''"), strings.HasSuffix(text, "'"), strings.ContainsFunc(text, control):
		return false
	default:
		r := replacement{*e.outputAt, text}
		if _, ok := replaceOutput(string(f.text), r); !ok {
			return false
		}
		u.inline = append(u.inline, r)
	}
	return true
}

// control says what a literal string of TOML cannot hold.
func control(r rune) bool { return r < ' ' || r == 0x7f }

// write rewrites the files.
func (u *updater) write(f *File) error {
	var errs []error
	for _, name := range sortedKeys(u.files) {
		if err := writeInPlace(name, u.files[name]); err != nil {
			errs = append(errs, err)
			continue
		}
		u.done++
	}
	if len(u.inline) == 0 {
		return errors.Join(errs...)
	}
	text := string(f.text)
	// From the end, so that what stands before keeps its place.
	slices.SortFunc(u.inline, func(a, b replacement) int {
		return -cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column))
	})
	for _, r := range u.inline {
		text, _ = replaceOutput(text, r) // take tried it
		u.done++
	}
	if _, err := set.ParseDocument(f.Path, []byte(text)); err != nil {
		return errors.Join(append(errs, fmt.Errorf("the updated file would not be valid, so it was left as it was: %w", err))...)
	}
	return errors.Join(append(errs, writeInPlace(f.Path, []byte(text)))...)
}

// outputLiteral is output = and a string without escapes. The form with three quotes comes first: two of them are the empty string.
var outputLiteral = regexp.MustCompile(`^output[ \t]*=[ \t]*('''(?s:.*?)'''|'[^'\n]*')`)

// replaceOutput puts out in the place of the string at r.at, and says whether one without escapes stands there.
func replaceOutput(text string, r replacement) (string, bool) {
	at := offset(text, r.at)
	m := outputLiteral.FindStringSubmatchIndex(text[at:])
	if m == nil {
		return text, false
	}
	quote := "'"
	if strings.Contains(r.out, "'") {
		quote = "'''"
	}
	return text[:at+m[2]] + quote + r.out + quote + text[at+m[3]:], true
}

// offset is the byte offset of a position.
func offset(text string, p set.Position) int {
	n := 0
	for range p.Line - 1 {
		n += strings.IndexByte(text[n:], '\n') + 1
	}
	column := 1
	for i := range text[n:] {
		if column == p.Column {
			return n + i
		}
		column++
	}
	return len(text)
}

// writeInPlace replaces a file whole, keeping its permissions.
func writeInPlace(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, werr := tmp.Write(data)
	if err = errors.Join(werr, tmp.Chmod(info.Mode().Perm()), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

package set

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// maxFile is the largest set file that is read, in bytes. One of a hundred
// extensions is some 30 KiB.
const maxFile = mib

// Load reads and parses a set file. An error of reading it is an *Error that
// wraps the system's, so that errors.Is finds fs.ErrNotExist; the others are
// those of [Parse].
func Load(path string) (*Set, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, &Error{File: path, Message: "the set file cannot be read: " + cause(err), Err: err}
	}
	return Parse(path, text)
}

// readFile reads one byte more than a set may have, for Parse to refuse.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return text, errors.Join(err, f.Close())
}

// document turns text into loose values and the places of its keys.
func document(path string, raw []byte) (doc map[string]any, root *node, problem *Error) {
	// All byte order marks: the library drops one itself, and would no longer
	// agree with the locator on where things stand.
	raw = bytes.TrimLeft(raw, "\uFEFF")
	text := string(raw)
	if problem := checkText(path, text); problem != nil {
		return nil, nil, problem
	}
	root, problem = locate(path, text)
	if problem != nil {
		return nil, nil, problem
	}
	defer func() {
		// The library panics where its own parts disagree.
		if r := recover(); r != nil {
			problem = root.pos.Error("", "this cannot be read as TOML", "")
		}
	}()
	if _, err := toml.Decode(text, &doc); err != nil {
		return nil, nil, syntaxError(path, text, err)
	}
	return doc, root, nil
}

// checkText refuses what is not text, with more exact positions than the
// library gives.
func checkText(path, text string) *Error {
	if len(text) > maxFile {
		return Position{File: path, Line: 1, Column: 1}.Error("", "the file is over 1 MiB", "is it the right one?")
	}
	for i, r := range text {
		var message, hint string
		switch {
		case r == 0:
			message, hint = "a NUL byte", "a set is UTF-8 text; was it saved as UTF-16?"
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			message, hint = fmt.Sprintf("invalid UTF-8: byte 0x%02x", text[i]), "save the file as UTF-8"
		case r == '\r' && !strings.HasPrefix(text[i:], "\r\n"):
			message, hint = "a carriage return without a line feed", `end lines with \n or \r\n`
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			message, hint = fmt.Sprintf("the control character U+%04X", r), fmt.Sprintf(`in a string, write \u%04x`, r)
		default:
			continue
		}
		return positionOf(path, text, i).Error("", message, hint)
	}
	return nil
}

// positionOf is the place of a byte offset, within the text whatever it is.
func positionOf(path, text string, offset int) Position {
	offset = min(max(offset, 0), len(text))
	for offset > 0 && offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset-- // the library counts back from the end in bytes
	}
	before := text[:offset]
	line := strings.LastIndexByte(before, '\n') + 1
	return Position{File: path, Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[line:]) + 1}
}

// syntaxError makes the library's error one of ours.
func syntaxError(path, text string, err error) *Error {
	var syntax toml.ParseError
	if !errors.As(err, &syntax) {
		return Position{File: path, Line: 1, Column: 1}.Error("", err.Error(), "")
	}
	message := strings.TrimSuffix(syntax.Message, ".")
	if r, n := utf8.DecodeRuneInString(message); n > 0 {
		message = string(unicode.ToLower(r)) + message[n:]
	}
	if utf8.RuneCountInString(message) > 3*quotedMax {
		message = string([]rune(message)[:3*quotedMax]) + "…"
	}
	// Line and column of the library do not agree at the end of a line.
	e := positionOf(path, text, syntax.Position.Start).Error(syntax.LastKey, message, "")
	e.Err = err
	return e
}

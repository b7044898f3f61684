package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	// keyMax is the longest key, in bytes: tokens of identity services have a few thousand.
	keyMax = 16 << 10
	// keyTime is how long a command may take: it may ask a person for a password.
	keyTime = 60 * time.Second
	// keyFresh is how long a command's key is used before the command is run again: what such commands print often
	// expires within the hour.
	keyFresh = 5 * time.Minute
)

// KeySource is where a key comes from: one of three places, or none. It never holds a key.
type KeySource struct {
	// Env is an environment variable.
	Env string
	// File is an absolute path. Nobody but its owner may have any right to the file (Windows, whose rights are others, is
	// not checked); its first line is the key.
	File string
	// Command is a program and its arguments; the first line that it prints is the key. No shell is involved.
	Command []string
}

func (s KeySource) set() bool { return s.Env != "" || s.File != "" || len(s.Command) > 0 }

// String says where, for people.
func (s KeySource) String() string {
	switch {
	case s.Env != "":
		return "the environment variable " + s.Env
	case s.File != "":
		return "the file " + s.File
	case len(s.Command) > 0:
		return "the command " + s.Command[0]
	default:
		return "nowhere: there is no key"
	}
}

// KeyError says that there is no key. Its text never holds one.
type KeyError struct {
	Provider string
	Source   KeySource
	// Message says what is wrong, Hint what to do.
	Message, Hint string
	Err           error
}

// Error implements error.
func (e *KeyError) Error() string {
	text := fmt.Sprintf("no key for [provider.%s]: %s", e.Provider, e.Message)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap gives the cause, nil if there is none.
func (e *KeyError) Unwrap() error { return e.Err }

// keys resolves the key of one provider.
type keys struct {
	provider string
	source   KeySource
	now      func() time.Time

	mu    sync.Mutex // held while the command runs, so that it runs once
	last  string
	until time.Time
}

// key resolves the key; "" when the source is none. The error is a *KeyError, or the context's.
func (k *keys) key(ctx context.Context) (string, error) {
	switch s := k.source; {
	case s.Env != "":
		return k.check(os.Getenv(s.Env), "the environment variable "+s.Env+" is not set", "export "+s.Env+"=…")
	case s.File != "":
		return k.file(s.File)
	case len(s.Command) > 0:
		return k.command(ctx)
	default:
		return "", nil
	}
}

func (k *keys) fail(message, hint string, err error) (string, error) {
	return "", &KeyError{Provider: k.provider, Source: k.source, Message: message, Hint: hint, Err: err}
}

// check takes the first line of what the source gave. A key goes into a header, so it must be printable.
func (k *keys) check(text, empty, hint string) (string, error) {
	key, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	key = strings.TrimSpace(key)
	switch {
	case key == "":
		return k.fail(empty, hint, nil)
	case len(key) > keyMax:
		return k.fail(fmt.Sprintf("what %s gives is over %d bytes long", k.source, keyMax), "is it a key?", nil)
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return k.fail("what "+k.source.String()+" gives has characters that no key has", "it is not repeated here; is it a key?", nil)
		}
	}
	return key, nil
}

func (k *keys) file(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return k.fail("the file "+path+" cannot be read: "+cause(err), "", err)
	}
	// Reading is done by then; the error of closing tells nothing.
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return k.fail("the file "+path+" cannot be read: "+cause(err), "", err)
	case !info.Mode().IsRegular():
		return k.fail(path+" is not a file", "", nil)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return k.fail(fmt.Sprintf("others have rights to the file %s (mode %04o)", path, info.Mode().Perm()), "chmod 600 "+path, nil)
	}
	text, err := io.ReadAll(io.LimitReader(f, keyMax+2))
	if err != nil {
		return k.fail("the file "+path+" cannot be read: "+cause(err), "", err)
	}
	return k.check(string(text), "the file "+path+" is empty", "put the key into its first line")
}

// cause is an error of the file system without the path.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func (k *keys) command(ctx context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != "" && k.now().Before(k.until) {
		return k.last, nil
	}
	timed, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	cmd := exec.CommandContext(timed, k.source.Command[0], k.source.Command[1:]...) //nolint:gosec // the user's own file names it
	cmd.WaitDelay = time.Second
	out := &limited{most: keyMax + 2}
	cmd.Stdout = out
	// What it prints to stderr is for the person who is asked for a password, and may repeat one: it is not kept.
	cmd.Stderr = nil
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		message := "the command " + k.source.Command[0] + " failed: " + cause(err)
		if timed.Err() != nil {
			message = fmt.Sprintf("the command %s did not end within %s", k.source.Command[0], keyTime)
		}
		return k.fail(message, "run it yourself to see why; arguments and output are not repeated here", err)
	}
	key, err := k.check(string(out.text), "the command "+k.source.Command[0]+" printed nothing", "it must print the key")
	if err == nil {
		k.last, k.until = key, k.now().Add(keyFresh)
	}
	return key, err
}

// limited keeps the first bytes that are written. It has no ReadFrom, by which a copy would go around the limit.
type limited struct {
	text []byte
	most int
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	l.text = append(l.text, p[:min(len(p), l.most-len(l.text))]...)
	return len(p), nil
}

// expand replaces ~ by the home folder, where there is one.
func expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

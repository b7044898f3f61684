package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"weir/engine/session"
)

// sessionFlags say where a run's session is kept.
type sessionFlags struct {
	file, resume string
	goOn, no     bool
}

// resumeList is the value of --resume without one: the session is chosen from a list.
const resumeList = "\x00"

func (f *sessionFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "session", "", "file of the session: gone on with if it is there, else made")
	cmd.Flags().BoolVar(&f.goOn, "continue", false, "go on with the last session of the folder")
	cmd.Flags().BoolVar(&f.no, "no-session", false, "keep no session file")
	cmd.Flags().StringVar(&f.resume, "resume", "", "go on with a session of the folder: chosen from a list, or named by a part of its id (--resume=ID)")
	cmd.Flags().Lookup("resume").NoOptDefVal = resumeList
	cmd.MarkFlagsMutuallyExclusive("session", "continue", "no-session", "resume")
}

// takeArgument lets --resume have its session as the first of two arguments, and returns the others.
func (f *sessionFlags) takeArgument(args []string) ([]string, error) {
	switch {
	case len(args) < 2:
		return args, nil
	case f.resume != resumeList:
		return nil, usageError(fmt.Errorf("one prompt, not %d arguments: put it in quotes", len(args)))
	}
	f.resume = args[0]
	return args[1:], nil
}

// choose is the session that --resume names, or that the person chooses from a list.
func (f *sessionFlags) choose(ctx context.Context, s streams, cwd string) (string, error) {
	if f.resume != resumeList {
		return findSession(f.resume)
	}
	files, err := sessionFiles(cwd, false)
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", usageError(fmt.Errorf("--resume: there is no session about %s yet; run once without it", cwd))
	}
	if !terminal(s.in) || !terminal(s.err) {
		return "", usageError(errors.New("--resume: there is nobody to choose a session; name one: --resume=ID (see `weir sessions list`)"))
	}
	const most = 20
	files = files[:min(len(files), most)]
	for i, file := range files {
		fmt.Fprintf(s.err, "%3d  %s\n", i+1, listLine(file, false))
	}
	fmt.Fprintf(s.err, "which? [1-%d] ", len(files))
	answer, err := s.lines.read(ctx)
	n, notNumber := strconv.Atoi(strings.TrimSpace(answer))
	if err != nil || notNumber != nil || n < 1 || n > len(files) {
		return "", usageError(errors.New("--resume: no session was chosen"))
	}
	return files[n-1].path, nil
}

// reopen opens the session that the run goes on with; nil when it begins one.
func (f *sessionFlags) reopen(ctx context.Context, s streams, cwd string) (*session.Store, error) {
	path := f.file
	if f.goOn {
		var err error
		if path, err = lastSession(cwd); err != nil {
			return nil, err
		}
	}
	if f.resume != "" {
		var err error
		if path, err = f.choose(ctx, s, cwd); err != nil {
			return nil, err
		}
	}
	if path == "" {
		return nil, nil
	}
	if _, err := os.Stat(path); f.file != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	store, err := session.OpenStore(path, session.StoreConfig{})
	if err != nil {
		return nil, usageError(err)
	}
	printReport(s, path, store.Report(), "was cut off")
	return store, nil
}

// create begins a session.
func (f *sessionFlags) create(cwd string, scripted bool) (*session.Store, error) {
	switch {
	case f.file != "":
		return createAt(f.file, cwd)
	case f.no || scripted:
		return session.NewStore(session.StoreConfig{CWD: cwd})
	}
	dir, err := sessionFolder(cwd)
	if err != nil {
		return nil, usageError(fmt.Errorf("%w (or run with --no-session)", err))
	}
	return session.NewStore(session.StoreConfig{CWD: cwd, Dir: dir})
}

// createAt begins a session in a file of the user's choice: a header, to which the store appends.
func createAt(path, cwd string) (*session.Store, error) {
	fresh, err := session.NewStore(session.StoreConfig{CWD: cwd})
	if err != nil {
		return nil, err
	}
	header, err := json.Marshal(struct {
		Type string `json:"type"`
		session.Header
	}{"session", fresh.Header()})
	if err != nil {
		return nil, errors.Join(err, fresh.Close())
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, usageError(fmt.Errorf("--session: %w", err))
	}
	_, err = file.Write(append(header, '\n'))
	if err := errors.Join(err, file.Close(), fresh.Close()); err != nil {
		return nil, usageError(fmt.Errorf("--session: %w", err))
	}
	return session.OpenStore(path, session.StoreConfig{})
}

// printReport tells what a session file should not hold; torn says what becomes of a last line that is not whole.
func printReport(s streams, path string, report session.Report, torn string) {
	for _, p := range report.Problems {
		fmt.Fprintf(s.err, "%s: %s\n", printable(path), printable(p.String()))
	}
	if report.TornBytes > 0 {
		fmt.Fprintf(s.err, "%s: the last line was not written to its end and %s (%d bytes)\n", printable(path), torn, report.TornBytes)
	}
}

// sessionsFolder is where sessions are kept: weir/sessions in the user's data folder ($XDG_DATA_HOME, which counts only when
// it is absolute, or ~/.local/share).
func sessionsFolder() (string, error) {
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no folder for sessions: %w; set XDG_DATA_HOME", err)
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "weir", "sessions"), nil
}

// sessionFolder is where the sessions about a folder are kept: a name that people recognise and a hash that keeps apart what
// looks alike.
func sessionFolder(cwd string) (string, error) {
	folder, err := sessionsFolder()
	if err != nil {
		return "", err
	}
	slug := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, cwd), "-")
	const most = 80
	slug = slug[max(0, len(slug)-most):]
	sum := sha256.Sum256([]byte(cwd))
	return filepath.Join(folder, slug+"-"+hex.EncodeToString(sum[:4])), nil
}

// lastSession is the file of the folder that was written last.
func lastSession(cwd string) (string, error) {
	files, err := sessionFiles(cwd, false)
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", usageError(fmt.Errorf("--continue: there is no session about %s yet; run once without it", cwd))
	}
	return files[0].path, nil
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/engine/session"
	"weir/engine/session/sessionhtml"
)

func newSessions(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, export, fork, name and delete sessions",
		Long: "Sessions are kept in weir/sessions of your data folder ($XDG_DATA_HOME or ~/.local/share), in a folder for each\n" +
			"working folder. A SESSION is a file, or the beginning or the end of an id that `weir sessions list` shows.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSessionsList(s), newSessionsShow(s), newSessionsExport(s), newSessionsFork(s), newSessionsName(s), newSessionsDelete(s))
	return cmd
}

func newSessionsList(s streams) *cobra.Command {
	var all bool
	var cwd string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions about a folder, the last one first",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			files, err := sessionFiles(cwd, all)
			if err != nil {
				return err
			}
			for _, f := range files {
				fmt.Fprintln(s.out, listLine(f, all))
			}
			if len(files) == 0 {
				fmt.Fprintln(s.err, "there are no sessions here; --all lists those of all folders")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "the sessions about all folders")
	cmd.Flags().StringVar(&cwd, "cwd", ".", "the folder")
	return cmd
}

// sessionFile is a file in the folder of sessions.
type sessionFile struct {
	path string
	at   time.Time
}

// sessionFiles are those about a folder, or all, the last written first.
func sessionFiles(cwd string, all bool) ([]sessionFile, error) {
	dir, err := sessionsFolder()
	if err != nil {
		return nil, usageError(err)
	}
	dir = filepath.Join(dir, "*")
	if !all {
		if cwd, err = filepath.Abs(cwd); err != nil {
			return nil, usageError(err)
		}
		if dir, err = sessionFolder(cwd); err != nil {
			return nil, usageError(err)
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, failed(err)
	}
	var files []sessionFile
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil { // else it was deleted meanwhile
			files = append(files, sessionFile{path, info.ModTime()})
		}
	}
	slices.SortStableFunc(files, func(a, b sessionFile) int { return b.at.Compare(a.at) })
	return files, nil
}

// listLine is the end of the id, which tells sessions apart, when it was written last, and what it is about. A file that
// cannot be read is listed with why.
func listLine(f sessionFile, all bool) string {
	store, err := session.ReadStore(f.path, session.StoreConfig{})
	if err != nil {
		return printable(err.Error())
	}
	h := store.Header()
	line := fmt.Sprintf("%s  %s  %4d messages  %s", h.ID[max(0, len(h.ID)-8):], f.at.Format("2006-01-02 15:04"), countMessages(store), sessionTitle(store))
	if all {
		line += "  (" + h.CWD + ")"
	}
	return printable(line)
}

func countMessages(store *session.Store) int {
	n := 0
	for _, e := range store.Branch("") {
		if e.Type == session.EntryMessage {
			n++
		}
	}
	return n
}

// sessionTitle is the session's name or what the user said first.
func sessionTitle(store *session.Store) string {
	if name := store.Name(); name != "" {
		return oneLine(name, 80)
	}
	for _, e := range store.Branch("") {
		if m, err := e.Message(); err == nil && m != nil && m.User() != nil {
			return oneLine(contentText(m.User().Content), 80)
		}
	}
	return "(nothing was said)"
}

// findSession is the file of a session that was named on the command line.
func findSession(ref string) (string, error) {
	if strings.ContainsRune(ref, filepath.Separator) || strings.HasSuffix(ref, ".jsonl") {
		if _, err := os.Stat(ref); err != nil {
			return "", usageError(err)
		}
		return ref, nil
	}
	files, err := sessionFiles("", true)
	if err != nil {
		return "", err
	}
	var found []string
	for _, f := range files {
		_, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f.path), ".jsonl"), "_")
		if ref != "" && (strings.HasPrefix(id, ref) || strings.HasSuffix(id, ref)) {
			found = append(found, f.path)
		}
	}
	switch len(found) {
	case 0:
		return "", usageError(fmt.Errorf("there is no session %q; see `weir sessions list --all`", ref))
	case 1:
		return found[0], nil
	default:
		return "", usageError(fmt.Errorf("%q may be several sessions; name more of its id, or the file:\n  %s", ref, strings.Join(found, "\n  ")))
	}
}

// readSession reads a session that was named, without locking it.
func readSession(s streams, ref string) (*session.Store, string, error) {
	path, err := findSession(ref)
	if err != nil {
		return nil, "", err
	}
	store, err := session.ReadStore(path, session.StoreConfig{})
	if err != nil {
		return nil, "", usageError(err)
	}
	printReport(s, path, store.Report(), "is left out")
	return store, path, nil
}

func newSessionsShow(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "show SESSION",
		Short: "Show what was said in a session",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store, path, err := readSession(s, args[0])
			if err != nil {
				return err
			}
			h := store.Header()
			fmt.Fprintf(s.out, "%s\nid %s, of %s, about %s\n\n", printable(path), printable(h.ID), printable(h.Timestamp), printable(h.CWD))
			fmt.Fprint(s.out, printable(sessionMarkdown(store)))
			return nil
		},
	}
}

func newSessionsExport(s streams) *cobra.Command {
	var markdown, html bool
	cmd := &cobra.Command{
		Use:   "export SESSION --html|--markdown",
		Short: "Write a session in a form for people to standard output",
		Long: "Writes a session in a form for people to standard output. The HTML page is one file without scripts: everything is in it, and it\n" +
			"requests nothing when it is looked at.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if markdown == html {
				return usageError(errors.New("in which form? say --html or --markdown"))
			}
			store, _, err := readSession(s, args[0])
			if err != nil {
				return err
			}
			if html {
				return sessionhtml.Write(s.out, store, sessionTitle(store))
			}
			text := "# " + sessionTitle(store) + "\n\n" + sessionMarkdown(store)
			if terminal(s.out) {
				text = printable(text)
			}
			_, err = fmt.Fprint(s.out, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&html, "html", false, "as a self-contained HTML page")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "as Markdown")
	return cmd
}

func newSessionsFork(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "fork SESSION",
		Short: "Copy a session, so that both can go on; prints the new file",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			store, path, err := readSession(s, args[0])
			if err != nil {
				return err
			}
			leaf := store.Leaf()
			if leaf == nil {
				return usageError(fmt.Errorf("%s: nothing was said in it yet", path))
			}
			fork, err := store.Fork(leaf.ID, session.StoreConfig{Dir: filepath.Dir(path), Parent: path})
			if err != nil {
				return failed(err)
			}
			fmt.Fprintln(s.out, fork.Path())
			return fork.Close()
		},
	}
}

func newSessionsName(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "name SESSION NAME",
		Short: "Give a session a name",
		Args:  cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := openSession(s, args[0])
			if err != nil {
				return err
			}
			name := strings.Join(strings.Fields(args[1]), " ")
			_, err = store.Append(session.EntrySessionInfo, &session.EntryData{Name: &name})
			return errors.Join(err, store.Close())
		},
	}
}

func newSessionsDelete(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "delete SESSION",
		Short: "Delete a session for good",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			// Only a session that nobody is using, and only what is one.
			store, err := openSession(s, args[0])
			if err != nil {
				return err
			}
			if err := errors.Join(os.Remove(store.Path()), store.Close()); err != nil {
				return failed(err)
			}
			fmt.Fprintln(s.out, "deleted", printable(store.Path()))
			return nil
		},
	}
}

// openSession opens a session that was named, for writing.
func openSession(s streams, ref string) (*session.Store, error) {
	path, err := findSession(ref)
	if err != nil {
		return nil, err
	}
	store, err := session.OpenStore(path, session.StoreConfig{})
	if err != nil {
		return nil, usageError(err)
	}
	printReport(s, path, store.Report(), "was cut off")
	return store, nil
}

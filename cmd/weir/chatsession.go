package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"weir/engine/session"
)

// chatLists are what the person was shown last, to be chosen from by number.
type chatLists struct {
	forks, tree []string // ids of entries
	sessions    []string // files
}

// chosen is the one of a list that a number names.
func chosen(list []string, number, command string) (string, error) {
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s N: %q is no number of the list that %s shows", command, number, command)
	case n < 1 || n > len(list):
		return "", fmt.Errorf("%s %d: there is no such number in the list; %s shows it", command, n, command)
	}
	return list[n-1], nil
}

// elsewhere goes to another session, or to another place in this one. What is typed meanwhile is said there.
func (c *chat) elsewhere(do func() error, abort func()) error {
	if c.busy.Load() > 0 {
		return errors.New("not while the agent works: wait until it is done, or end the turn with Ctrl-C")
	}
	there := make(chan struct{})
	c.taken = there
	c.start(func() error {
		defer close(there)
		return do()
	}, abort)
	return nil
}

// replaced tells what came of putting another session in the place of the present one.
func (c *chat) replaced(what string, cancelled bool, err error) error {
	switch {
	case err != nil:
		return err
	case cancelled:
		return errors.New("an extension was against it; the session stays")
	}
	c.lists = chatLists{}
	c.sink.note("%s: session %s, %d messages", what, c.session().Store().Header().ID, len(c.session().Messages()))
	return nil
}

func (c *chat) newSession(ctx context.Context, _ string) error {
	return c.elsewhere(func() error {
		cancelled, err := c.runtime.NewSession(ctx)
		return c.replaced("a new session", cancelled, err)
	}, func() {})
}

// fork lists what the person said on this branch, or goes on with a copy of what stands before one of it.
func (c *chat) fork(ctx context.Context, number string) error {
	if number == "" {
		c.lists.forks = nil
		for _, e := range c.session().Store().Branch("") {
			if m, err := e.Message(); err == nil && m != nil && m.User() != nil && e.Type == session.EntryMessage {
				c.lists.forks = append(c.lists.forks, e.ID)
				c.sink.show(fmt.Sprintf("%4d  %s", len(c.lists.forks), oneLine(contentText(m.User().Content), 100)))
			}
		}
		c.sink.note("%s", "/fork N goes on with a copy of what was said before N")
		return nil
	}
	id, err := chosen(c.lists.forks, number, "/fork")
	if err != nil {
		return err
	}
	return c.elsewhere(func() error {
		forked, err := c.runtime.Fork(ctx, id, false)
		if err = c.replaced("a copy", forked.Cancelled, err); err == nil {
			c.again(forked.Text)
		}
		return err
	}, func() {})
}

// again gives a text back that is to be said otherwise.
func (c *chat) again(text string) {
	switch {
	case text == "":
	case strings.Contains(text, "\n"):
		c.sink.note("there you said:\n    %s", indent(printable(text), "    "))
	default:
		c.edit.history.remember(text)
		c.sink.note("there you said (↑ has it back): %s", oneLine(text, 400))
	}
}

// resume lists the sessions about the folder, or goes on with one, by its number or a part of its id.
func (c *chat) resume(ctx context.Context, ref string) error {
	if ref == "" {
		files, err := sessionFiles(c.run.cwd, false)
		if err != nil {
			return err
		}
		const most = 20
		c.lists.sessions = nil
		for i, file := range files[:min(len(files), most)] {
			c.lists.sessions = append(c.lists.sessions, file.path)
			c.sink.show(fmt.Sprintf("%4d  %s", i+1, listLine(file, false)))
		}
		if len(files) == 0 {
			c.sink.note("%s", "there are no sessions about this folder")
			return nil
		}
		c.sink.note("%s", "/resume N, or a part of an id, goes on with one")
		return nil
	}
	path, err := findSession(ref)
	if n, notNumber := strconv.Atoi(ref); notNumber == nil && n <= len(c.lists.sessions) {
		path, err = chosen(c.lists.sessions, ref, "/resume")
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return err
	}
	return c.elsewhere(func() error {
		cancelled, err := c.switchTo(ctx, path)
		return c.replaced("gone on with", cancelled, err)
	}, func() {})
}

// tree shows the session's tree, or goes to one of its entries, with a summary of what is left if that is wanted.
func (c *chat) tree(ctx context.Context, args string) error {
	store := c.session().Store()
	if args == "" {
		c.lists.tree = nil
		for _, l := range treeLines(store) {
			c.lists.tree = append(c.lists.tree, l.id)
			c.sink.show(fmt.Sprintf("%4d %s %s%s", len(c.lists.tree), l.mark, strings.Repeat("  ", min(l.depth, 20)), l.text))
		}
		c.sink.note("%s", "• is the present branch; /tree N goes there, /tree N summary [WISHES] with a summary of what is left")
		return nil
	}
	number, rest, _ := strings.Cut(args, " ")
	how, wishes, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if how != "" && how != "summary" {
		return fmt.Errorf("/tree N %s: after the number comes nothing, or summary [WISHES]", how)
	}
	id, err := chosen(c.lists.tree, number, "/tree")
	if err != nil {
		return err
	}
	return c.elsewhere(func() error {
		done, err := c.session().Navigate(ctx, id, session.NavigateOptions{Summarize: how != "", Instructions: strings.TrimSpace(wishes)})
		switch {
		case err != nil:
			return err
		case done.Aborted:
			return errors.New("the summary was aborted; the session stays where it is")
		case done.Cancelled:
			return errors.New("an extension was against it; the session stays where it is")
		}
		c.lists = chatLists{}
		if done.Summary != nil {
			c.sink.note("%s", "what was left is summarised for the model")
		}
		c.sink.note("there: %d messages", len(c.session().Messages()))
		c.again(done.EditorText)
		return nil
	}, c.session().AbortBranchSummary)
}

// treeLine is an entry of a session's tree that is shown: what the user or the model said, or a summary.
type treeLine struct {
	id    string
	depth int    // branchings above it
	mark  string // • on the present branch
	text  string
}

// treeLines are what is shown of a tree: each branch stands under what it begins after, the older one first.
func treeLines(store *session.Store) []treeLine {
	children := map[string][]*session.Entry{}
	for _, e := range store.Entries() {
		children[e.ParentID] = append(children[e.ParentID], e)
	}
	present := map[string]bool{}
	if store.Leaf() != nil {
		for _, e := range store.Branch("") {
			present[e.ID] = true
		}
	}
	type place struct {
		entry *session.Entry
		depth int
	}
	var lines []treeLine
	var left []place // to be shown, the last one first
	push := func(parent string, depth int) {
		list := children[parent]
		if len(list) > 1 {
			depth++
		}
		for i := len(list) - 1; i >= 0; i-- {
			left = append(left, place{list[i], depth})
		}
	}
	push("", 0)
	for len(left) > 0 {
		at := left[len(left)-1]
		left = left[:len(left)-1]
		if text := treeText(at.entry); text != "" {
			mark := " "
			if present[at.entry.ID] {
				mark = "•"
			}
			if label := store.Label(at.entry.ID); label != "" {
				text += " [" + oneLine(label, 40) + "]"
			}
			lines = append(lines, treeLine{at.entry.ID, at.depth, mark, text})
		}
		push(at.entry.ID, at.depth)
	}
	return lines
}

// treeText is what is shown of an entry; "" for one that is left out.
func treeText(e *session.Entry) string {
	m, err := e.Message()
	if err != nil || m == nil {
		return ""
	}
	switch {
	case e.Type == session.EntryCompaction:
		return "(compacted)"
	case e.Type == session.EntryBranchSummary:
		return "(summary of another branch)"
	case e.Type != session.EntryMessage:
		return ""
	case m.User() != nil:
		return "you: " + oneLine(contentText(m.User().Content), 80)
	case m.Assistant() != nil:
		if text := blocksText(m.Assistant().Content); text != "" {
			return "agent: " + oneLine(text, 80)
		}
	}
	return ""
}

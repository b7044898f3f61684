package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"weir/agentcore"
	"weir/engine/session"
	"weir/engine/session/sessionhtml"
)

// messagesData is the data of get_messages.
type messagesData struct {
	Messages []*agentcore.Message `json:"messages"`
}

// textData is the data of get_last_assistant_text; null is none.
type textData struct {
	Text *string `json:"text"`
}

// pathData is the data of export_html.
type pathData struct {
	Path string `json:"path"`
}

// forkMessage is a message of the user before which the session can be forked.
type forkMessage struct {
	EntryID string `json:"entryId"`
	Text    string `json:"text"`
}

type forkMessagesData struct {
	Messages []forkMessage `json:"messages"`
}

// replacedData is what came of putting another session in the place of the present one. With Cancelled, an extension was against it.
type replacedData struct {
	Text      *string `json:"text,omitempty"` // of the message before which a fork was made
	Cancelled bool    `json:"cancelled"`
}

// lastAssistantText is what the model said last; nil when it has said nothing yet. A response that was aborted before it began does not
// count.
func lastAssistantText(messages []*agentcore.Message) *string {
	for i := len(messages) - 1; i >= 0; i-- {
		a := messages[i].Assistant()
		if a == nil || a.StopReason == agentcore.StopAborted && len(a.Content) == 0 {
			continue
		}
		var said strings.Builder
		for _, b := range a.Content {
			if text, ok := b.(*agentcore.TextBlock); ok {
				said.WriteString(text.Text)
			}
		}
		if text := strings.TrimSpace(said.String()); text != "" {
			return &text
		}
		return nil
	}
	return nil
}

// forkMessages are the texts of the user on all branches, in the order in which they were said.
func forkMessages(store *session.Store) []forkMessage {
	list := []forkMessage{}
	for _, e := range store.Entries() {
		if e.Type != session.EntryMessage {
			continue
		}
		if m, err := e.Message(); err == nil && m != nil && m.User() != nil {
			if text := contentText(m.User().Content); text != "" {
				list = append(list, forkMessage{e.ID, text})
			}
		}
	}
	return list
}

// exportHTML writes the page of a session to a new file, in the folder of the conversation unless path is absolute, and gives its
// absolute path. A file that is already there is an error, and stays. What was said is the user's own: others cannot read the file.
func exportHTML(store *session.Store, cwd, path string) (string, error) {
	if path == "" {
		path = "weir-session-" + store.Header().ID + ".html"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	var page bytes.Buffer
	if err := sessionhtml.Write(&page, store, sessionTitle(store)); err != nil {
		return "", err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("%s is already there; remove it, or name another file", path)
	}
	if err != nil {
		return "", err
	}
	_, err = file.Write(page.Bytes())
	return path, errors.Join(err, file.Close())
}

// bash runs a command of the user's, in the background.
func (r *rpcServer) bash(ctx context.Context, c *rpcCommand) {
	ctx, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	r.commands[c] = cancel // here, so that the next line can end it
	r.mu.Unlock()
	s := r.conv.session()
	r.work.Go(func() {
		result, err := s.UserBash(ctx, c.Command, session.BashOptions{ID: c.ID, ExcludeFromContext: c.ExcludeFromContext})
		if err != nil && ctx.Err() != nil { // it was ended before it had begun
			result, err = &session.BashResult{Cancelled: true}, nil
		}
		cancel()
		r.mu.Lock()
		delete(r.commands, c)
		r.mu.Unlock()
		r.respond(c, result, err)
	})
}

// abortBash ends the commands that run; each has its response.
func (r *rpcServer) abortBash() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, end := range r.commands {
		end()
	}
}

// replace puts another session in the place of the present one. The channel is closed when that is done, or refused: the lines behind it
// are for the session that is there then.
func (r *rpcServer) replace(ctx context.Context, c *rpcCommand) <-chan struct{} {
	done := make(chan struct{})
	r.work.Go(func() {
		defer close(done)
		var data replacedData
		var err error
		switch c.Type {
		case "new_session":
			data.Cancelled, err = r.conv.runtime.NewSession(ctx)
		case "switch_session":
			data.Cancelled, err = r.conv.switchTo(ctx, c.SessionPath)
		case "fork":
			var forked session.Forked
			forked, err = r.conv.runtime.Fork(ctx, c.EntryID, false)
			if data.Cancelled = forked.Cancelled; !forked.Cancelled {
				data.Text = &forked.Text
			}
		case "clone":
			data.Cancelled, err = r.conv.clone(ctx)
		}
		r.respond(c, data, err)
	})
	return done
}

package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"weir/agentcore"
)

// ErrStale is what a [Control] answers when its session was replaced. The text is the reference's, which extensions may know.
const ErrStale agentcore.Error = "This extension ctx is stale after session replacement or reload. Do not use a captured pi or command ctx after ctx.newSession(), " +
	"ctx.fork(), ctx.switchSession(), or ctx.reload(). For newSession, fork, and switchSession, move post-replacement work into withSession and use the ctx passed to " +
	"withSession. For reload, do not use the old ctx after await ctx.reload()."

// Control is what extensions hold of a session: everything that they may do from a handler, a tool or a command. None of
// it waits for the session, so it may be called from inside what the session waits for. After the session was replaced or
// reloaded, every method fails with ErrStale.
type Control struct {
	session *Session
	age     int
}

// Control gives an extension its hold of the session.
func (s *Session) Control() *Control {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Control{s, s.age}
}

// Session is the session itself, or the error ErrStale.
func (c *Control) Session() (*Session, error) {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	if c.session.age != c.age {
		return nil, ErrStale
	}
	return c.session, nil
}

// SendMessage is [Session.SendCustomMessage] in the background: a run that it starts goes on by itself, and its failure goes
// to Config.OnError.
func (c *Control) SendMessage(message CustomMessage, opts SendOptions) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	m, starts, err := s.placeCustom(message, opts)
	if err != nil || !starts {
		return err
	}
	s.background(func() {
		if err := s.runMessage(context.Background(), m); err != nil {
			s.failed(&BackgroundError{Extension: "<runtime>", Hook: "send_message", Err: err})
		}
	})
	return nil
}

// SendUserMessage is [Session.SendUserMessage] in the background; its failure goes to Config.OnError.
func (c *Control) SendUserMessage(content agentcore.Content, streaming Behavior) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	s.background(func() {
		if err := s.SendUserMessage(context.Background(), content, streaming); err != nil {
			s.failed(&BackgroundError{Extension: "<runtime>", Hook: "send_user_message", Err: err})
		}
	})
	return nil
}

// AppendEntry is [Session.AppendEntry].
func (c *Control) AppendEntry(customType string, data json.RawMessage) (*Entry, error) {
	s, err := c.Session()
	if err != nil {
		return nil, err
	}
	return s.AppendEntry(customType, data)
}

// Abort ends the run or compaction under way, without waiting for it.
func (c *Control) Abort() error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	s.AbortRetry()
	s.AbortCompaction()
	s.AbortBranchSummary()
	s.agent.Abort()
	return nil
}

// Compact is [Session.Compact] in the background; done hears what came of it.
func (c *Control) Compact(instructions string, done func(*CompactionResult, error)) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	s.background(func() {
		result, err := s.Compact(context.Background(), instructions)
		if done != nil {
			done(result, err)
		}
	})
	return nil
}

// SetLabel is [Session.SetLabel].
func (c *Control) SetLabel(entryID, label string) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	return s.SetLabel(entryID, label)
}

// SetName is [Session.SetName].
func (c *Control) SetName(name string) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	return s.SetName(name)
}

// SetActiveTools is [Session.SetActiveTools].
func (c *Control) SetActiveTools(names []string) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	return s.SetActiveTools(names)
}

// SetModel is [Session.SetModel] for one of Config.Models. Extensions that hear of it are waited for only as long as
// Config.Grace says, since the one that asks may be among them.
func (c *Control) SetModel(ctx context.Context, provider, id string) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	m := s.findModel(provider, id)
	if m == nil {
		return &UnknownModelError{Provider: provider, ID: id}
	}
	if err := s.authorize(ctx, *m); err != nil {
		return err
	}
	return s.switchModel(*m, "", "set", s.tell)
}

// UnknownModelError says that a session does not know a model.
type UnknownModelError struct{ Provider, ID string }

// Error implements error.
func (e *UnknownModelError) Error() string {
	return fmt.Sprintf("the session knows no model %q of the provider %q", e.ID, e.Provider)
}

// SetThinkingLevel is [Session.SetThinkingLevel]; it gives the level that was set.
func (c *Control) SetThinkingLevel(level agentcore.ThinkingLevel) (agentcore.ThinkingLevel, error) {
	s, err := c.Session()
	if err != nil {
		return "", err
	}
	if err := s.SetThinkingLevel(level); err != nil {
		return "", err
	}
	return s.ThinkingLevel(), nil
}

// ErrNotReplaceable is what a Control answers when another session is asked for and the program keeps one only: it has no
// [Runtime].
var ErrNotReplaceable = errors.New("the session cannot be replaced: this program keeps one session")

// NewSession is [Runtime.NewSession] in the background; its failure goes to Config.OnError of this session. The runtime calls
// Make and Attach from there.
func (c *Control) NewSession() error {
	return c.replace("new_session", func(r *Runtime, s *Session) error {
		_, err := r.newSession(context.Background(), s)
		return err
	})
}

// Fork is [Runtime.Fork] in the background, like NewSession. The errors that it returns are ErrNotReplaceable and a
// *[EntryError].
func (c *Control) Fork(entryID string, at bool) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	if s.store.Entry(entryID) == nil {
		return &EntryError{ID: entryID}
	}
	return c.replace("fork", func(r *Runtime, s *Session) error {
		_, err := r.fork(context.Background(), s, entryID, at)
		return err
	})
}

func (c *Control) replace(hook string, do func(*Runtime, *Session) error) error {
	s, r, err := c.replaceable()
	if err != nil {
		return err
	}
	return r.later(func() {
		if err := do(r, s); err != nil {
			s.failed(&BackgroundError{Extension: "<runtime>", Hook: hook, Err: err})
		}
	})
}

// replaceable gives the session and the runtime that replaces it.
func (c *Control) replaceable() (*Session, *Runtime, error) {
	s, err := c.Session()
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runtime == nil {
		return nil, nil, ErrNotReplaceable
	}
	return s, s.runtime, nil
}

// Navigate is [Session.Navigate] in the background; its failure goes to Config.OnError. The error that it returns is a
// *[EntryError].
func (c *Control) Navigate(target string, opts NavigateOptions) error {
	s, err := c.Session()
	if err != nil {
		return err
	}
	if s.store.Entry(target) == nil {
		return &EntryError{ID: target}
	}
	s.background(func() {
		if _, err := s.Navigate(context.Background(), target, opts); err != nil {
			s.failed(&BackgroundError{Extension: "<runtime>", Hook: "navigate", Err: err})
		}
	})
	return nil
}

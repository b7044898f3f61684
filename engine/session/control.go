package session

import (
	"context"
	"encoding/json"

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

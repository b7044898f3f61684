package session

import (
	"context"
	"encoding/json"
	"fmt"

	"weir/agentcore"
	"weir/wasmhost"
)

// ForGuests is the session as extensions in a sandbox hold it, by the capability session (engine.Config.Session). It goes
// stale as a [Control] does.
func (s *Session) ForGuests() wasmhost.Session { return guestHold{s.Control()} }

// guestHold is a Control in the terms of the sandbox, which are JSON.
type guestHold struct{ *Control }

func (h guestHold) State() (wasmhost.SessionState, error) {
	s, err := h.Session()
	if err != nil {
		return wasmhost.SessionState{}, err
	}
	state, run := s.State(), s.agent.State()
	queued := len(run.Steering) + len(run.FollowUp)
	out := wasmhost.SessionState{
		ID: s.store.Header().ID, Name: s.Name(), CWD: s.CWD(), File: s.store.Path(), Leaf: s.leafID(), Entries: s.store.Len(),
		Messages: len(run.Messages), Idle: state.Idle, Streaming: state.Streaming, Compacting: state.Compacting, Retrying: state.Retrying,
		Queued: queued, Model: wasmhost.SessionModel{Provider: run.Model.Provider, ID: run.Model.ID},
		ThinkingLevel: string(run.ThinkingLevel), SystemPrompt: s.SystemPrompt(),
	}
	if ctx := s.agent.Context(); ctx != nil {
		aborted := ctx.Err() != nil
		out.Aborted = &aborted
	}
	out.ContextUsage, err = json.Marshal(s.ContextUsage())
	return out, err
}

func (h guestHold) Entries(after string, most int) ([]json.RawMessage, bool, error) {
	s, err := h.Session()
	if err != nil {
		return nil, false, err
	}
	entries, from := s.store.Entries(), 0
	if after != "" {
		e := s.store.Entry(after)
		if e == nil {
			return nil, false, &EntryError{ID: after}
		}
		from = e.index + 1
	}
	page := entries[from:min(from+most, len(entries))]
	return entryJSON(page), from+len(page) < len(entries), nil
}

func (h guestHold) Entry(id string) (json.RawMessage, error) {
	s, err := h.Session()
	if err != nil {
		return nil, err
	}
	e := s.store.Entry(id)
	if e == nil {
		return nil, &EntryError{ID: id}
	}
	return e.JSON(), nil
}

func (h guestHold) Messages(from, most int) ([]json.RawMessage, int, error) {
	s, err := h.Session()
	if err != nil {
		return nil, 0, err
	}
	messages := s.Messages()
	total := len(messages)
	from = min(from, total)
	page := messages[from:min(from+most, total)]
	out := make([]json.RawMessage, len(page))
	for i, m := range page {
		if out[i], err = m.JSON(); err != nil {
			return nil, 0, fmt.Errorf("message %d: %w", from+i, err)
		}
	}
	return out, total, nil
}

func (h guestHold) Tools() ([]wasmhost.SessionTool, error) {
	s, err := h.Session()
	if err != nil {
		return nil, err
	}
	return s.tools.list(), nil
}

func (h guestHold) AppendEntry(customType string, data json.RawMessage) (string, error) {
	e, err := h.Control.AppendEntry(customType, data)
	if err != nil {
		return "", err
	}
	return e.ID, nil
}

func (h guestHold) SendMessage(m wasmhost.SessionMessage) error {
	if _, err := readable(m.Content); err != nil {
		return err
	}
	return h.Control.SendMessage(
		CustomMessage{CustomType: m.CustomType, Content: m.Content, Display: m.Display, Details: m.Details},
		SendOptions{Trigger: m.Trigger, Deliver: Delivery(m.Deliver)},
	)
}

func (h guestHold) SendUserMessage(content json.RawMessage, deliver string) error {
	c, err := readable(content)
	if err != nil {
		return err
	}
	return h.Control.SendUserMessage(c, Behavior(deliver))
}

// readable is content that a user's message may have: texts and images.
func readable(raw json.RawMessage) (agentcore.Content, error) {
	c, err := agentcore.DecodeContent(raw)
	if err != nil {
		return c, err
	}
	for i, b := range c.Blocks {
		switch b.(type) {
		case *agentcore.TextBlock, *agentcore.ImageBlock:
		default:
			return c, fmt.Errorf("block %d: want a text or an image", i)
		}
	}
	return c, nil
}

func (h guestHold) SetTools(names []string) error { return h.SetActiveTools(names) }

func (h guestHold) SetModel(ctx context.Context, provider, id string) error {
	return h.Control.SetModel(ctx, provider, id)
}

func (h guestHold) SetThinkingLevel(level string) (string, error) {
	set, err := h.Control.SetThinkingLevel(agentcore.ThinkingLevel(level))
	return string(set), err
}

// begin is what a call of the guest's leads to when it is over. What cannot be begun then has no caller.
func (h guestHold) begin(hook string, f func() error) (func(), error) {
	s, err := h.Session()
	if err != nil {
		return nil, err
	}
	return func() {
		if err := f(); err != nil {
			s.failed(&BackgroundError{Extension: "<runtime>", Hook: hook, Err: err})
		}
	}, nil
}

func (h guestHold) Abort() (func(), error) { return h.begin("abort", h.Control.Abort) }

func (h guestHold) Compact(instructions string) (func(), error) {
	s, err := h.Session()
	if err != nil {
		return nil, err
	}
	return h.begin("compact", func() error {
		return h.Control.Compact(instructions, func(_ *CompactionResult, err error) {
			if err != nil {
				s.failed(&BackgroundError{Extension: "<runtime>", Hook: "compact", Err: err})
			}
		})
	})
}

func (h guestHold) NewSession() (func(), error) {
	if _, _, err := h.replaceable(); err != nil {
		return nil, err
	}
	return h.begin("new_session", h.Control.NewSession)
}

func (h guestHold) Fork(entryID string, at bool) (func(), error) {
	s, _, err := h.replaceable()
	if err != nil {
		return nil, err
	}
	if s.store.Entry(entryID) == nil {
		return nil, &EntryError{ID: entryID}
	}
	return h.begin("fork", func() error { return h.Control.Fork(entryID, at) })
}

func (h guestHold) Navigate(entryID string, how wasmhost.SessionNavigation) (func(), error) {
	s, err := h.Session()
	if err != nil {
		return nil, err
	}
	if s.store.Entry(entryID) == nil {
		return nil, &EntryError{ID: entryID}
	}
	return h.begin("navigate", func() error {
		return h.Control.Navigate(entryID, NavigateOptions{
			Summarize: how.Summarize, Instructions: how.Instructions, Replace: how.Replace, Label: how.Label,
		})
	})
}

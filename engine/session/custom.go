package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"weir/agentcore"
	"weir/engine/wire"
)

// Delivery says when a custom message reaches the model. The zero value: during a run before its next turn, otherwise with
// the next prompt, as part of the transcript.
type Delivery string

// The deliveries.
const (
	DeliverSteer    Delivery = "steer"    // before the next turn of the run
	DeliverFollowUp Delivery = "followUp" // when the run would otherwise stop
	DeliverNextTurn Delivery = "nextTurn" // with the next prompt, after it
)

// SendOptions say how a custom message is delivered.
type SendOptions struct {
	// Trigger says whether a message that comes while nothing runs starts a run. Set to false during a run, the message goes to
	// the transcript at the end of the turn instead of to a queue.
	Trigger *bool
	Deliver Delivery
}

func (o SendOptions) triggers() bool  { return o.Trigger != nil && *o.Trigger }
func (o SendOptions) forbidden() bool { return o.Trigger != nil && !*o.Trigger }

// SendCustomMessage adds a message of an extension or a program to the conversation. When it starts a run, it returns when the
// session has settled.
func (s *Session) SendCustomMessage(ctx context.Context, message CustomMessage, opts SendOptions) error {
	m, starts, err := s.placeCustom(message, opts)
	if err != nil || !starts {
		return err
	}
	return s.runMessage(ctx, m)
}

// placeCustom delivers a custom message, but for one that starts a run.
func (s *Session) placeCustom(message CustomMessage, opts SendOptions) (m *agentcore.Message, starts bool, err error) {
	m, err = customMessage(&message, s.now().UnixMilli())
	if err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	streaming := s.active
	switch {
	case opts.Deliver == DeliverNextTurn:
		s.aside = append(s.aside, m)
		s.mu.Unlock()
		return m, false, nil
	case streaming && opts.forbidden():
		s.later = append(s.later, m)
		s.mu.Unlock()
		return m, false, nil
	}
	s.mu.Unlock()
	switch {
	case streaming && opts.Deliver == DeliverFollowUp:
		s.agent.FollowUp(m)
	case streaming:
		s.agent.Steer(m)
	case opts.triggers():
		return m, true, nil
	default:
		return m, false, s.addCustom(m)
	}
	return m, false, nil
}

// addCustom puts a custom message into transcript and store. Subscribers are told; extensions and the agent's listeners are
// not, since it is part of no run.
func (s *Session) addCustom(m *agentcore.Message) error {
	raw, err := m.JSON()
	if err != nil {
		return err
	}
	s.agree.Lock()
	s.appendToTranscript(m)
	err = s.persistCustom(raw)
	s.agree.Unlock()
	if err != nil {
		return err
	}
	if err := s.emit(&RunEvent{&agentcore.MessageStart{Message: m}}); err != nil {
		return err
	}
	return s.emit(&RunEvent{&agentcore.MessageEnd{Message: m}})
}

func (s *Session) persistCustom(raw json.RawMessage) error {
	var c CustomMessage
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	_, err := s.store.Append(EntryCustomMessage, &EntryData{CustomType: c.CustomType, Content: c.Content, Display: &c.Display, Details: c.Details})
	return err
}

// flushCustom adds the custom messages that waited for the end of the turn.
func (s *Session) flushCustom() error {
	s.mu.Lock()
	later := s.later
	s.later = nil
	s.mu.Unlock()
	var errs []error
	for _, m := range later {
		errs = append(errs, s.addCustom(m))
	}
	return errors.Join(errs...)
}

// SendUserMessage is a prompt that an extension or a program gives.
func (s *Session) SendUserMessage(ctx context.Context, content agentcore.Content, streaming Behavior) error {
	text, images := splitContent(content)
	return s.Prompt(ctx, text, PromptOptions{Images: images, Streaming: streaming, Source: "extension", Literal: true})
}

// splitContent gives the text, one block a line, and the images of a content.
func splitContent(c agentcore.Content) (string, []*agentcore.ImageBlock) {
	if c.Blocks == nil {
		return c.Text, nil
	}
	var images []*agentcore.ImageBlock
	for _, b := range c.Blocks {
		if image, ok := b.(*agentcore.ImageBlock); ok {
			images = append(images, image)
		}
	}
	return blockText(c.Blocks, "\n"), images
}

// AppendEntry keeps data of an extension in the session, out of the conversation.
func (s *Session) AppendEntry(customType string, data json.RawMessage) (*Entry, error) {
	e, err := s.store.Append(EntryCustom, &EntryData{CustomType: customType, Data: data})
	if err != nil {
		return nil, err
	}
	return e, s.emit(&EntryAppended{Entry: e})
}

// SetLabel marks an entry; "" takes the mark away. The errors are a *[EntryError] and those of the store.
func (s *Session) SetLabel(entryID, label string) error {
	if s.store.Entry(entryID) == nil {
		return &EntryError{ID: entryID}
	}
	data := &EntryData{TargetID: entryID}
	if label != "" {
		data.Label = &label
	}
	_, err := s.store.Append(EntryLabel, data)
	return err
}

// SetName gives the session a display name, on one line; "" takes it away.
func (s *Session) SetName(name string) error {
	name = oneLine(name)
	if _, err := s.store.Append(EntrySessionInfo, &EntryData{Name: &name}); err != nil {
		return err
	}
	err := s.emit(&InfoChanged{Name: name})
	s.tell(wire.SessionInfoChangedEvent{Name: name})
	return err
}

// oneLine trims a name and makes each run of line breaks one space.
func oneLine(name string) string {
	fields := strings.FieldsFunc(name, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.TrimSpace(strings.Join(fields, " "))
}

// Name is the session's display name; "" when it has none.
func (s *Session) Name() string { return s.store.Name() }

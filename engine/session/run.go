package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"weir/agentcore"
	"weir/engine/wire"
)

// Texts that callers see (NOTES section 4).
const (
	// ErrStreaming is returned by Prompt during a run when it was not said how to queue the message.
	ErrStreaming agentcore.Error = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message."
	// ErrCompacting is returned by Prompt during a compaction by hand.
	ErrCompacting agentcore.Error = "Cannot submit a prompt while compaction is in progress. Wait for compaction to finish and retry."
)

// Behavior says how a prompt that comes during a run is queued. The zero value means that it must not come then.
type Behavior string

// The behaviors.
const (
	BehaviorSteer    Behavior = "steer"
	BehaviorFollowUp Behavior = "followUp"
)

// PromptOptions complete a prompt. The zero value is what a person types.
type PromptOptions struct {
	Images    []*agentcore.ImageBlock
	Streaming Behavior
	// Source is told to extensions; "" is "interactive".
	Source string
	// Literal says that "/name" is text, not a command.
	Literal bool
	// Preflight, when it is not nil, is called once, when it is clear whether the prompt is taken.
	Preflight func(accepted bool)
}

// Prompt takes what the user says: runs a command, or has the extensions look at it and starts a run, or queues it during
// one. It returns when the session has settled: after retries, compactions and queued messages. A failure of the model is
// told by events, not by the error. Cancelling ctx aborts the run and all that would follow it.
func (s *Session) Prompt(ctx context.Context, text string, opts PromptOptions) error {
	start, err := s.takePrompt(ctx, text, &opts)
	if opts.Preflight != nil {
		opts.Preflight(err == nil)
	}
	if err != nil || start == nil {
		return err
	}
	return s.run(ctx, start)
}

// takePrompt does what comes before a run, and claims the session for it. No opening: there is nothing to run.
func (s *Session) takePrompt(ctx context.Context, text string, opts *PromptOptions) (*opening, error) {
	if !opts.Literal && s.runCommand(ctx, text) {
		return nil, nil
	}
	s.mu.Lock()
	compacting, streaming, closed := s.manual != nil, s.active, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case compacting:
		return nil, ErrCompacting
	}
	text, images, handled, err := s.input(ctx, text, opts, streaming)
	if err != nil || handled {
		return nil, err
	}
	if !opts.Literal {
		if text, err = s.expand(text); err != nil {
			return nil, err
		}
	}
	if s.State().Streaming {
		return nil, s.queuePrompt(text, images, opts.Streaming)
	}
	if err := errors.Join(s.flushCommands(), s.flushCustom()); err != nil {
		return nil, err
	}
	model := s.Model()
	if model.ID == "" {
		return nil, errors.New("no model is selected")
	}
	if s.cfg.Authorize != nil {
		if err := s.cfg.Authorize(ctx, model); err != nil {
			return nil, err
		}
	}
	if last := s.lastAssistant(); last != nil {
		if _, err := s.checkCompaction(ctx, last, true); err != nil {
			return nil, err
		}
	}
	start, err := s.open(ctx, text, images)
	if err != nil {
		return nil, err
	}
	if err := s.claim(ctx); err != nil {
		s.putAside(start.aside)
		if errors.Is(err, ErrStreaming) {
			// Another prompt was faster.
			err = s.queuePrompt(text, images, opts.Streaming)
		}
		return nil, err
	}
	return start, nil
}

// expand gives what a text stands for.
func (s *Session) expand(text string) (string, error) {
	if s.cfg.Expand == nil {
		return text, nil
	}
	return s.cfg.Expand(text)
}

// queuePrompt is what becomes of a prompt that comes during a run.
func (s *Session) queuePrompt(text string, images []*agentcore.ImageBlock, how Behavior) error {
	switch how {
	case BehaviorSteer:
		return s.enqueue(steering, text, images)
	case BehaviorFollowUp:
		return s.enqueue(followUp, text, images)
	default:
		return ErrStreaming
	}
}

// input has the extensions look at what was typed.
func (s *Session) input(ctx context.Context, text string, opts *PromptOptions, streaming bool) (string, []*agentcore.ImageBlock, bool, error) {
	event := wire.InputEvent{Text: text, Source: opts.Source}
	if event.Source == "" {
		event.Source = "interactive"
	}
	if streaming {
		event.StreamingBehavior = string(opts.Streaming)
	}
	var err error
	if event.Images, err = imageJSON(opts.Images); err != nil {
		return "", nil, false, err
	}
	out, err := ask[wire.InputOutcome](ctx, s.cfg.Extensions, event)
	if err != nil {
		return "", nil, false, fmt.Errorf("the input was refused: %w", err)
	}
	if out == nil {
		return text, opts.Images, false, nil
	}
	return out.Text, out.Images, out.Handled, nil
}

func imageJSON(images []*agentcore.ImageBlock) ([]json.RawMessage, error) {
	raw := make([]json.RawMessage, 0, len(images))
	for _, image := range images {
		r, err := agentcore.MarshalBlock(image)
		if err != nil {
			return nil, err
		}
		raw = append(raw, r)
	}
	return raw, nil
}

// opening is what a run begins with.
type opening struct {
	messages []*agentcore.Message
	// aside are those of them that waited for a prompt.
	aside []*agentcore.Message
	// setPrompt says that the run's system prompt is set: to prompt, or, when that is nil, to the program's.
	setPrompt bool
	prompt    *string
}

// open makes what a prompt's run begins with: the prompt, what was kept for it, what extensions add.
func (s *Session) open(ctx context.Context, text string, images []*agentcore.ImageBlock) (*opening, error) {
	raw, err := imageJSON(images)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	start := &opening{aside: s.aside, setPrompt: true}
	s.aside = nil
	s.mu.Unlock()
	start.messages = append([]*agentcore.Message{s.agent.UserMessage(text, images...)}, start.aside...)
	if err := s.askStart(ctx, start, text, raw); err != nil {
		s.putAside(start.aside)
		return nil, err
	}
	return start, nil
}

// askStart has the extensions add messages and set the system prompt.
func (s *Session) askStart(ctx context.Context, start *opening, text string, images []json.RawMessage) error {
	s.mu.Lock()
	base, program := s.basePrompt(), s.program
	s.mu.Unlock()
	event := wire.BeforeAgentStartEvent{
		Prompt: text, Images: images, SystemPrompt: base,
		SystemPromptOptions: wire.SystemPromptOptions{
			CWD: s.cwd, CustomPrompt: program, SelectedTools: s.ActiveTools(), ToolSnippets: map[string]string{},
			PromptGuidelines: []string{},
		},
	}
	out, err := ask[wire.BeforeAgentStartOutcome](ctx, s.cfg.Extensions, event)
	if err != nil {
		return fmt.Errorf("the prompt was refused: %w", err)
	}
	if out == nil {
		return nil
	}
	start.prompt = out.SystemPrompt
	for _, added := range out.Messages {
		m, err := customMessage(&CustomMessage{
			CustomType: added.CustomType, Content: added.ContentJSON, Display: added.Display, Details: added.Details,
		}, s.now().UnixMilli())
		if err != nil {
			return err
		}
		start.messages = append(start.messages, m)
	}
	return nil
}

// putAside keeps messages for the next prompt, before those that came later.
func (s *Session) putAside(messages []*agentcore.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aside = append(slices.Clip(messages), s.aside...)
}

// claim takes the session for a run. While another prompt compacts, or the leaf moves, it waits: both replace the transcript.
func (s *Session) claim(ctx context.Context) error {
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return ErrClosed
		case s.active:
			s.mu.Unlock()
			return ErrStreaming
		case s.manual != nil:
			s.mu.Unlock()
			return ErrCompacting
		case s.auto == nil && s.branching == nil:
			s.active = true
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		if err := s.WaitForIdle(ctx); err != nil {
			return err
		}
	}
}

// run is one activity of the session, which was claimed: from the first run of the agent until it has settled.
func (s *Session) run(ctx context.Context, start *opening) error {
	if start.setPrompt {
		s.mu.Lock()
		s.prompt = start.prompt
		s.mu.Unlock()
		s.agent.SetSystemPrompt(s.SystemPrompt())
	}
	err := s.agent.Prompt(ctx, start.messages...)
	for err == nil {
		var more bool
		if more, err = s.afterRun(ctx); err != nil || !more {
			break
		}
		err = s.agent.Continue(ctx)
	}
	s.mu.Lock()
	s.prompt = nil
	s.mu.Unlock()
	return errors.Join(err, s.flushCommands(), s.flushCustom(), s.settled(ctx))
}

// runMessage starts a run with one message.
func (s *Session) runMessage(ctx context.Context, m *agentcore.Message) error {
	if err := s.claim(ctx); err != nil {
		return err
	}
	return s.run(ctx, &opening{messages: []*agentcore.Message{m}})
}

// settled tells that nothing automatic will follow. What extensions start meanwhile begins when all have heard it.
func (s *Session) settled(ctx context.Context) error {
	s.mu.Lock()
	s.active = false
	s.settle++
	s.mu.Unlock()
	// Settling is told in any case: who waits for it must not wait for ever.
	s.observe(context.WithoutCancel(ctx), wire.AgentSettledEvent{})
	err := s.emit(&AgentSettled{})
	s.mu.Lock()
	s.settle--
	s.wakeIdle()
	var starts []func()
	if s.settle == 0 {
		starts, s.starts = s.starts, nil
	}
	s.mu.Unlock()
	for _, start := range starts {
		s.goOn(start)
	}
	return err
}

// background starts what is not waited for; while the session settles, it waits until that is done.
func (s *Session) background(f func()) {
	s.mu.Lock()
	if s.settle > 0 {
		s.starts = append(s.starts, f)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.goOn(f)
}

// goOn does something in the background, unless the session is closed; it tells which.
func (s *Session) goOn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(f)
	return true
}

// onEvent is the session's part in every event of a run. It is the agent's first listener.
func (s *Session) onEvent(ctx context.Context, ev agentcore.Event) error {
	if start, ok := ev.(*agentcore.MessageStart); ok && start.Message.Role() == agentcore.RoleUser {
		s.mu.Lock()
		s.overflowTried = false
		s.mu.Unlock()
		if err := s.dequeue(start.Message); err != nil {
			return err
		}
	}
	if s.cfg.Extensions != nil {
		if err := s.cfg.Extensions.Listener()(ctx, ev); err != nil {
			return err
		}
	}
	if err := s.forward(ev); err != nil {
		return err
	}
	switch ev := ev.(type) {
	case *agentcore.MessageEnd:
		if err := s.persist(ev.Message); err != nil {
			return err
		}
		return s.noteResponse(ev.Message)
	case *agentcore.TurnEnd:
		return s.flushCustom()
	}
	return nil
}

func (s *Session) forward(ev agentcore.Event) error {
	if end, ok := ev.(*agentcore.AgentEnd); ok {
		return s.emit(&AgentEnd{Messages: end.Messages, WillRetry: s.willRetry(end.Messages)})
	}
	return s.emit(&RunEvent{ev})
}

// persist keeps a finished message. Commands and summaries are kept where they are made.
func (s *Session) persist(m *agentcore.Message) error {
	raw, err := m.JSON()
	if err != nil {
		return err
	}
	switch m.Role() {
	case agentcore.RoleUser, agentcore.RoleAssistant, agentcore.RoleToolResult:
		_, err = s.store.Append(EntryMessage, &EntryData{Message: raw})
	case RoleCustom:
		err = s.persistCustom(raw)
	}
	return err
}

// noteResponse keeps count of what a response means for what follows the run.
func (s *Session) noteResponse(m *agentcore.Message) error {
	a := m.Assistant()
	if a == nil {
		return nil
	}
	s.mu.Lock()
	s.last = m
	if a.StopReason != agentcore.StopError && a.StopReason != agentcore.StopLength {
		s.overflowTried = false
	}
	attempt := s.retries
	s.mu.Unlock()
	if a.StopReason == agentcore.StopError || attempt == 0 {
		return nil
	}
	// An aborted response ends the retrying too.
	err := s.emit(&AutoRetryEnd{Success: true, Attempt: attempt})
	s.mu.Lock()
	s.retries = 0
	s.mu.Unlock()
	return err
}

// afterRun decides whether the session goes on by itself: to retry, after a compaction, with what was queued.
func (s *Session) afterRun(ctx context.Context) (more bool, err error) {
	s.mu.Lock()
	last := s.last
	s.last = nil
	s.mu.Unlock()
	if last == nil || ctx.Err() != nil {
		return false, nil //nolint:nilerr // a session whose caller has gone does not go on by itself; that is no error
	}
	a := last.Assistant()
	if s.retryable(a) {
		if more, err := s.prepareRetry(ctx, a); err != nil || more {
			return more, err
		}
	}
	s.mu.Lock()
	attempt := s.retries
	s.mu.Unlock()
	if a.StopReason == agentcore.StopError && attempt > 0 {
		if err := s.emit(&AutoRetryEnd{Attempt: attempt, FinalError: a.ErrorMessage}); err != nil {
			return false, err
		}
		s.mu.Lock()
		s.retries = 0
		s.mu.Unlock()
	}
	if more, err := s.checkCompaction(ctx, last, false); err != nil || more {
		return more, err
	}
	return s.waiting(), nil
}

// nextTurn is the hook between two turns of a run: it compacts a context that has grown too large, and brings in what was
// changed meanwhile: prompt, tools, model, thinking level.
func (s *Session) nextTurn(
	program func(context.Context, *agentcore.TurnContext) (*agentcore.TurnUpdate, error),
) func(context.Context, *agentcore.TurnContext) (*agentcore.TurnUpdate, error) {
	return func(ctx context.Context, turn *agentcore.TurnContext) (*agentcore.TurnUpdate, error) {
		next := turn.Context
		window := s.Model().ContextWindow
		if window > 0 && ShouldCompact(EstimateContext(next.Messages).Tokens, window, s.compactionSettings()) {
			if _, err := s.autoCompact(ctx, CompactThreshold, false, false); err != nil {
				return nil, err
			}
			next.Messages = s.Messages()
		}
		update := &agentcore.TurnUpdate{}
		if program != nil {
			given := *turn
			given.Context = next
			u, err := program(ctx, &given)
			if err != nil {
				return nil, err
			}
			if u != nil && u.Context != nil {
				next = *u.Context
			}
		}
		state := s.agent.State()
		next.SystemPrompt, next.Tools = s.SystemPrompt(), state.Tools
		update.Context, update.Model, update.ThinkingLevel = &next, &state.Model, &state.ThinkingLevel
		return update, nil
	}
}

func (s *Session) lastAssistant() *agentcore.Message {
	messages := s.Messages()
	for _, m := range slices.Backward(messages) {
		if m.Role() == agentcore.RoleAssistant {
			return m
		}
	}
	return nil
}

// dropLast removes the last message from the transcript, if it is an assistant's. It stays in the store.
func (s *Session) dropLast() {
	s.agent.EditMessages(func(messages []*agentcore.Message) []*agentcore.Message {
		if n := len(messages); n > 0 && messages[n-1].Role() == agentcore.RoleAssistant {
			return messages[:n-1]
		}
		return messages
	})
}

// appendToTranscript adds a message that belongs to no run.
func (s *Session) appendToTranscript(m *agentcore.Message) {
	s.agent.EditMessages(func(messages []*agentcore.Message) []*agentcore.Message { return append(messages, m) })
}

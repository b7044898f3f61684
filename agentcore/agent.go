package agentcore

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Defaults of [Config].
const (
	// DefaultUpdateGrace is how long a tool's update waits for its delivery.
	DefaultUpdateGrace = time.Millisecond
	// DefaultToolGrace is how long a run waits for a tool that was cancelled.
	DefaultToolGrace = 10 * time.Second
)

// Config says what an agent is made of. Only Provider is needed.
type Config struct {
	// Provider streams the model's responses.
	Provider Provider
	// Model, SystemPrompt, ThinkingLevel, Tools and Messages are the initial state.
	Model         Model
	SystemPrompt  string
	ThinkingLevel ThinkingLevel
	Tools         []*Tool
	Messages      []*Message
	// Hooks may change a run; the zero value changes nothing.
	Hooks Hooks
	// ToolExecution says how the calls of one message run; "" means parallel.
	ToolExecution ExecutionMode
	// SteeringMode and FollowUpMode say how much one poll of a queue delivers; "" means one message.
	SteeringMode QueueMode
	FollowUpMode QueueMode

	// UpdateGrace is how long a tool's call of update waits for the delivery it started. A delivery that takes longer
	// goes on beside the tool and may overlap with later ones; all are waited for before the result is processed. 0
	// means DefaultUpdateGrace; below 0 the tool never waits.
	UpdateGrace time.Duration
	// ToolGrace is how long a run waits for a tool after its context was cancelled. Then the run goes on with an error
	// result for the call, drops whatever the tool still reports, and tells OnOrphan. 0 means DefaultToolGrace.
	ToolGrace time.Duration
	// OnOrphan hears of tools that outlived ToolGrace, from the run's goroutine. nil: they are only logged.
	OnOrphan func(*OrphanError)
	// Logger gets what nobody else hears of. nil means slog.Default().
	Logger *slog.Logger
	// Now is the clock of timestamps; nil means time.Now.
	Now func() time.Time
	// NextID gives the numbers of messages; nil counts from 1. Calls are serialised.
	NextID func() uint64
}

// Agent holds a transcript and runs the loop over it. Its methods may be called from any goroutine, from listeners, hooks
// and tools too, but for those that wait for the run they are called from. See the package documentation.
type Agent struct {
	cfg       Config
	listeners listeners

	mu           sync.Mutex
	systemPrompt string
	model        Model
	thinking     ThinkingLevel
	tools        *toolset
	messages     []*Message
	shared       int // length of the prefix of messages that a snapshot holds
	streaming    *Message
	pending      []string
	// pendingShared says that a snapshot holds pending: it may grow, but no element may change.
	pendingShared bool
	errorMessage  string
	steering      queue
	followUp      queue
	lastID        uint64
	run           *run
}

// New makes an agent. The errors are a missing provider, an unknown mode, and a tool that cannot be used: without a name
// or Execute, named twice, or with an invalid schema.
func New(cfg Config) (*Agent, error) {
	if cfg.Provider == nil {
		return nil, errors.New("agentcore: config without a provider")
	}
	if err := checkModes(cfg.ToolExecution, cfg.SteeringMode, cfg.FollowUpMode); err != nil {
		return nil, err
	}
	tools, err := newToolset(cfg.Tools, nil)
	if err != nil {
		return nil, err
	}
	if cfg.UpdateGrace == 0 {
		cfg.UpdateGrace = DefaultUpdateGrace
	}
	if cfg.ToolGrace <= 0 {
		cfg.ToolGrace = DefaultToolGrace
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	a := &Agent{
		cfg: cfg, systemPrompt: cfg.SystemPrompt, model: cfg.Model, thinking: cfg.ThinkingLevel, tools: tools,
		steering: queue{mode: cfg.SteeringMode}, followUp: queue{mode: cfg.FollowUpMode},
	}
	a.SetMessages(cfg.Messages)
	return a, nil
}

// Subscribe adds a listener after those that there are and returns the function that removes it. During a delivery both
// take effect at once: the new listener still hears of that event, a removed one that has not been called does not.
func (a *Agent) Subscribe(l Listener) (unsubscribe func()) { return a.listeners.add(l) }

// Prompt adds messages to the transcript and runs until the model wants no more tools and no message is queued. It
// returns when the listeners of agent_end are done. A failure of the model, a tool, a hook or a listener is told by the
// events, not by the error: the error says that nothing was started ([ErrPromptRunning]) or that a listener failed
// during the failure sequence too. Cancelling ctx is the same as Abort. No messages at all is legal: the model is asked
// with the transcript as it is.
func (a *Agent) Prompt(ctx context.Context, messages ...*Message) error {
	a.mu.Lock()
	if a.run != nil {
		a.mu.Unlock()
		return ErrPromptRunning
	}
	r := a.begin(ctx)
	a.mu.Unlock()
	return r.execute(slices.Clone(messages))
}

// PromptText is Prompt with one user message: text first, then images.
func (a *Agent) PromptText(ctx context.Context, text string, images ...*ImageBlock) error {
	return a.Prompt(ctx, a.UserMessage(text, images...))
}

// UserMessage makes a user message of text and images, stamped by the agent's clock.
func (a *Agent) UserMessage(text string, images ...*ImageBlock) *Message {
	blocks := make([]Block, 0, 1+len(images))
	blocks = append(blocks, &TextBlock{Text: text})
	for _, image := range images {
		blocks = append(blocks, image)
	}
	return NewMessage(&UserMessage{Content: Content{Blocks: blocks}, Timestamp: a.nowMillis()})
}

// Continue runs on the transcript as it is, whose last message must not be an assistant's; if it is, queued steering
// messages, else queued follow-ups, become the prompt. Errors as for Prompt, and [ErrContinueRunning],
// [ErrNothingToContinue], [ErrContinueAssistant].
func (a *Agent) Continue(ctx context.Context) error {
	r, prompts, err := a.beginContinue(ctx)
	if err != nil {
		return err
	}
	return r.execute(prompts)
}

func (a *Agent) beginContinue(ctx context.Context) (*run, []*Message, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run != nil {
		return nil, nil, ErrContinueRunning
	}
	if len(a.messages) == 0 {
		return nil, nil, ErrNothingToContinue
	}
	if a.messages[len(a.messages)-1].Role() != RoleAssistant {
		return a.begin(ctx), nil, nil
	}
	if prompts := a.steering.drain(); len(prompts) > 0 {
		r := a.begin(ctx)
		// One at a time means one here too: the poll at the start of the run would deliver a second.
		r.skipPoll = true
		return r, prompts, nil
	}
	if prompts := a.followUp.drain(); len(prompts) > 0 {
		return a.begin(ctx), prompts, nil
	}
	return nil, nil, ErrContinueAssistant
}

// Steer queues a message for the next turn of the run, or for the start of the next run.
func (a *Agent) Steer(m *Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steering.messages = append(slices.Clip(a.steering.messages), m)
}

// FollowUp queues a message for when the run would otherwise stop.
func (a *Agent) FollowUp(m *Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.followUp.messages = append(slices.Clip(a.followUp.messages), m)
}

// ClearSteering removes the queued steering messages and returns them.
func (a *Agent) ClearSteering() []*Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.steering.clear()
}

// ClearFollowUp removes the queued follow-up messages and returns them.
func (a *Agent) ClearFollowUp() []*Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.followUp.clear()
}

// Abort cancels the context of the active run, if there is one. The run ends by itself, soon if the provider, the tools
// and the listeners heed their contexts.
func (a *Agent) Abort() {
	a.mu.Lock()
	r := a.run
	a.mu.Unlock()
	if r != nil {
		r.cancel(ErrAborted)
	}
}

// Context is the context of the active run, or nil when the agent is idle.
func (a *Agent) Context() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run == nil {
		return nil
	}
	return a.run.ctx
}

// WaitForIdle returns when the run that is active now is over, its agent_end listeners included, or with ctx's error. A
// listener, hook or tool that waits for its own run waits for ever.
func (a *Agent) WaitForIdle(ctx context.Context) error {
	a.mu.Lock()
	r := a.run
	a.mu.Unlock()
	if r == nil {
		return nil
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reset empties the transcript, the error and both queues; prompt, model and tools stay, and numbers go on. The error is
// [ErrResetRunning].
func (a *Agent) Reset() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run != nil {
		return ErrResetRunning
	}
	a.messages, a.shared = nil, 0
	a.streaming, a.pending, a.pendingShared, a.errorMessage = nil, nil, false, ""
	a.steering.messages, a.followUp.messages = nil, nil
	return nil
}

// begin makes the run active. The caller holds a.mu and has seen that there is none.
func (a *Agent) begin(ctx context.Context) *run {
	r := &run{agent: a, done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.model, r.thinking, r.system, r.tools = a.model, a.thinking, a.systemPrompt, a.tools
	r.workOn(a.snapshotMessages())
	a.run, a.streaming, a.errorMessage = r, nil, ""
	return r
}

func (a *Agent) nowMillis() int64 { return a.cfg.Now().UnixMilli() }

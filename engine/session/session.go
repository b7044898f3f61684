package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"weir/agentcore"
	"weir/engine/wire"
)

// Config says what a session is made of. Agent.Provider is needed; everything else has a usable zero value.
type Config struct {
	// Agent configures the loop: provider, model, tools, clock. SystemPrompt is what the program says; the session adds the
	// working directory. Messages come from the store. Hooks that the extensions have too are theirs.
	Agent agentcore.Config
	// Store keeps the session; nil keeps it in memory. The session closes it.
	Store *Store
	// Extensions hear and decide first; nil is none. The session does not close them.
	Extensions Extensions
	// Commands are what "/name args" runs instead of a prompt, until [Session.SetCommands].
	Commands []Command
	// Expand gives what a text stands for that a person sends: "/name" of a prompt template, say. It comes after the extensions
	// have seen the text, and not to literal ones, commands, and what extensions send. Its error keeps the text from being sent. It must
	// be safe for concurrent use; nil keeps all.
	Expand func(text string) (string, error)
	// Models are those that CycleModel goes through, and that a stored session's model is looked up in.
	Models []ScopedModel
	// DefaultThinkingLevel is what a switch of models sets, as far as the model allows; "" keeps the level.
	DefaultThinkingLevel agentcore.ThinkingLevel
	// Authorize says why a model cannot be used for lack of credentials; nil lets all be used. Prompt fails with its error.
	Authorize func(ctx context.Context, model agentcore.Model) error
	// Retry and Compaction say when the session goes on by itself; nil means DefaultRetry and DefaultCompaction.
	Retry      *RetrySettings
	Compaction *CompactionSettings
	// CWD is the working directory; "" takes the store's.
	CWD string
	// Bash runs the user's commands; nil refuses them. ShellPrefix is put before each, on a line of its own.
	Bash        wire.BashOperations
	ShellPrefix string
	// OutputDir is where the whole output of a command goes that is too long to be kept in the session; "" is os.TempDir.
	OutputDir string
	// Start tells extensions why the session is there; the zero value is a startup.
	Start wire.SessionStartEvent
	// OnError hears of failures that have no caller: a command's, a message's that an extension sent in the background. nil:
	// they are logged.
	OnError func(*BackgroundError)
	// Grace is how long the session waits for extensions to hear of what nobody waits for (names, thinking levels). 0 is
	// DefaultGrace.
	Grace time.Duration
	// Logger gets what nobody else hears of; nil is slog.Default().
	Logger *slog.Logger
}

// DefaultGrace is the zero value of Config.Grace.
const DefaultGrace = time.Millisecond

// ScopedModel is a model that CycleModel goes through, with the thinking level to use it with; "" leaves that open.
type ScopedModel struct {
	Model         agentcore.Model
	ThinkingLevel agentcore.ThinkingLevel
}

// BackgroundError is a failure that has no caller. Extension and Hook name its origin as the reference does: "<runtime>" and
// "send_message" or "send_user_message"; "command:NAME" and "command".
type BackgroundError struct {
	Extension, Hook string
	Err             error
}

// Error implements error.
func (e *BackgroundError) Error() string { return e.Extension + ": " + e.Hook + ": " + e.Err.Error() }

// Unwrap gives the failure.
func (e *BackgroundError) Unwrap() error { return e.Err }

// Session is a conversation that is kept: an agent, and the policy above it. Its methods may be called from any goroutine,
// from subscribers, tools and extensions too; but a call that waits for the session to be idle must not come from what the
// session waits for. See the package documentation.
type Session struct {
	cfg    Config
	agent  *agentcore.Agent
	store  *Store
	cwd    string
	retry  RetrySettings
	tools  toolbox
	subs   subscribers
	logger *slog.Logger
	work   sync.WaitGroup // runs and notices in the background
	agree  sync.Mutex     // held while transcript and store are brought to say the same

	mu      sync.Mutex
	active  bool          // from the start of a run until just before agent_settled
	idle    chan struct{} // closed when the session is idle; nil when nobody waits
	settle  int           // settlings under way
	starts  []func()      // what to start after settling
	age     int           // counts reloads; controls of an earlier age are stale
	runtime *Runtime      // that holds the session; nil when none does
	closed  bool
	queue   [2][]queued // steering, follow-up
	aside   []*agentcore.Message
	later   []*agentcore.Message // custom messages for the end of the turn
	shell   []*agentcore.Message // commands for the end of the run
	prompt  *string              // system prompt of the present run, when an extension gave one
	last    *agentcore.Message   // the run's last assistant message
	retries int
	// overflowTried is the guard of the overflow recovery: one attempt, until a user message or a good response.
	overflowTried bool
	compaction    CompactionSettings
	// What is under way; nil when it is not.
	manual, auto, branching, pause *task
	commands                       map[*task]bool
	asking                         int // questions to a person under way
	asked                          wire.UIPromptEvent
	slash                          []Command
	program                        string // the program's system prompt
	resources                      wire.ResourcesDiscoverOutcome
}

// New makes a session on a store, restores what the store holds, and notes model and thinking level in it. Extensions hear of
// session_start only with [Session.Begin]. The errors are those of agentcore.New and of the store.
func New(cfg Config) (*Session, error) {
	if cfg.Store == nil {
		store, err := NewStore(StoreConfig{Now: cfg.Agent.Now, CWD: cfg.CWD})
		if err != nil {
			return nil, err
		}
		cfg.Store = store
	}
	if cfg.Agent.Now == nil {
		cfg.Agent.Now = time.Now
	}
	if cfg.Grace == 0 {
		cfg.Grace = DefaultGrace
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	s := &Session{
		cfg: cfg, store: cfg.Store, cwd: cfg.CWD, logger: cfg.Logger, retry: DefaultRetry(), compaction: DefaultCompaction(),
		commands: map[*task]bool{}, slash: slices.Clone(cfg.Commands), program: cfg.Agent.SystemPrompt,
	}
	if s.cwd == "" {
		s.cwd = cfg.Store.Header().CWD
	}
	if cfg.Retry != nil {
		s.retry = *cfg.Retry
	}
	if cfg.Compaction != nil {
		s.compaction = *cfg.Compaction
	}
	if err := s.build(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Session) build() error {
	agentCfg := s.cfg.Agent
	restored := s.store.Context()
	if agentCfg.Model.ID == "" {
		if m := s.findModel(restored.Provider, restored.ModelID); m != nil {
			agentCfg.Model = *m
		}
	}
	if agentCfg.ThinkingLevel == "" {
		agentCfg.ThinkingLevel = restored.ThinkingLevel
	}
	agentCfg.ThinkingLevel = clampThinking(agentCfg.Model, agentCfg.ThinkingLevel)
	for _, err := range restored.Skipped {
		s.logger.Warn("a session entry cannot be read and is not sent to the model", "error", err)
	}
	s.tools.init(agentCfg.Tools)
	agentCfg.Tools = s.tools.current()
	agentCfg.Messages = restored.Messages
	agentCfg.SystemPrompt = s.basePrompt() // nobody else has the session yet
	agentCfg.Hooks = s.hooks(agentCfg.Hooks)
	agentCfg.Provider = told(agentCfg.Provider, s.cfg.Extensions)
	agent, err := agentcore.New(agentCfg)
	if err != nil {
		return err
	}
	s.agent = agent
	agent.Subscribe(s.onEvent)
	s.tellModel()
	return s.noteStart(agentCfg.Model, agentCfg.ThinkingLevel, len(restored.Messages) > 0)
}

// noteStart writes down what a session starts with. One that goes on has it from before.
func (s *Session) noteStart(model agentcore.Model, level agentcore.ThinkingLevel, goesOn bool) error {
	if goesOn && slices.ContainsFunc(s.store.Branch(""), func(e *Entry) bool { return e.Type == EntryThinkingLevel }) {
		return nil
	}
	if !goesOn && model.ID != "" {
		if _, err := s.store.Append(EntryModel, &EntryData{Provider: model.Provider, ModelID: model.ID}); err != nil {
			return err
		}
	}
	_, err := s.store.Append(EntryThinkingLevel, &EntryData{ThinkingLevel: string(level)})
	return err
}

// hooks joins the session's own hooks, those of the extensions, and the program's.
func (s *Session) hooks(h agentcore.Hooks) agentcore.Hooks {
	if s.cfg.Extensions != nil {
		x := s.cfg.Extensions.Hooks()
		if x.BeforeToolCall != nil {
			h.BeforeToolCall = x.BeforeToolCall
		}
		if x.AfterToolCall != nil {
			h.AfterToolCall = x.AfterToolCall
		}
		if x.ToolUpdate != nil {
			h.ToolUpdate = x.ToolUpdate
		}
		if x.TransformContext != nil {
			h.TransformContext = x.TransformContext
		}
		if x.MessageEnd != nil {
			h.MessageEnd = x.MessageEnd
		}
	}
	if h.ToolNotFound == nil {
		h.ToolNotFound = s.tools.whyGone
	}
	if h.ConvertToLLM == nil {
		h.ConvertToLLM = ConvertToLLM
	}
	h.PrepareNextTurn = s.nextTurn(h.PrepareNextTurn)
	return h
}

// Begin tells the extensions that the session is there, and asks them for resources. Call it once, after subscribing.
func (s *Session) Begin(ctx context.Context) (*wire.ResourcesDiscoverOutcome, error) {
	start := s.cfg.Start
	if start.Reason == "" {
		start.Reason = "startup"
	}
	s.observe(ctx, start)
	reason := "startup"
	if start.Reason == "reload" {
		reason = "reload"
	}
	return s.Discover(ctx, reason)
}

// Discover asks the extensions for resources, and keeps what they name: [Session.Begin] and [Session.Reload] do so. The reason is
// "startup" or "reload"; the latter is for a program that has reloaded extensions by itself.
func (s *Session) Discover(ctx context.Context, reason string) (*wire.ResourcesDiscoverOutcome, error) {
	found, err := ask[wire.ResourcesDiscoverOutcome](ctx, s.cfg.Extensions, wire.ResourcesDiscoverEvent{CWD: s.cwd, Reason: reason})
	if found == nil {
		found = &wire.ResourcesDiscoverOutcome{}
	}
	s.mu.Lock()
	s.resources = *found
	s.mu.Unlock()
	return found, err
}

// Resources are the paths of skills, prompts and themes that extensions named when they were asked last, in the order of the set; empty
// before. They are as the extensions gave them, which nobody has looked at: see package resources. The session makes no use of them.
func (s *Session) Resources() wire.ResourcesDiscoverOutcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.ResourcesDiscoverOutcome{
		Skills: slices.Clone(s.resources.Skills), Prompts: slices.Clone(s.resources.Prompts), Themes: slices.Clone(s.resources.Themes),
	}
}

// Reload tells the extensions that they are loaded anew: a shutdown, a start, and the question for resources. What they hold
// of the session is stale afterwards.
func (s *Session) Reload(ctx context.Context) (*wire.ResourcesDiscoverOutcome, error) {
	s.observe(ctx, wire.SessionShutdownEvent{Reason: "reload"})
	s.mu.Lock()
	s.age++
	s.mu.Unlock()
	s.observe(ctx, wire.SessionStartEvent{Reason: "reload"})
	return s.Discover(ctx, "reload")
}

// Close aborts what is under way, waits for it, and closes the store. Extensions are not told; see [Runtime.Close].
func (s *Session) Close(ctx context.Context) error {
	err := s.Abort(ctx)
	s.mu.Lock()
	s.age++
	s.starts = nil
	s.closed = true
	s.mu.Unlock()
	s.AbortBash()
	s.work.Wait()
	return errors.Join(err, s.store.Close())
}

// Agent is the loop under the session. Its listeners hear of each event after extensions, subscribers and the store.
func (s *Session) Agent() *agentcore.Agent { return s.agent }

// Store is where the session is kept.
func (s *Session) Store() *Store { return s.store }

// CWD is the working directory.
func (s *Session) CWD() string { return s.cwd }

// Messages are what the model works with now.
func (s *Session) Messages() []*agentcore.Message { return s.agent.State().Messages }

// State is what a session is doing.
type State struct {
	// Streaming is true from the start of a run until just before agent_settled, pauses and compactions included.
	Streaming bool
	// Compacting is true while a summary is made, of a branch too.
	Compacting bool
	// Idle says that neither is.
	Idle bool
	// Retrying says that the session waits before another attempt; RetryAttempt counts the attempts since the last success.
	Retrying     bool
	RetryAttempt int
}

// State is what the session is doing now.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{
		Streaming: s.active, Compacting: s.compacting(), Idle: s.isIdle(), Retrying: s.pause != nil, RetryAttempt: s.retries,
	}
}

// compacting and isIdle are called with s.mu held.
func (s *Session) compacting() bool {
	return s.manual != nil || s.auto != nil || s.branching != nil
}

func (s *Session) isIdle() bool { return !s.active && !s.compacting() }

// WaitForIdle returns when nothing runs any more, or with ctx's error.
func (s *Session) WaitForIdle(ctx context.Context) error {
	for {
		s.mu.Lock()
		if s.isIdle() {
			s.mu.Unlock()
			return nil
		}
		if s.idle == nil {
			s.idle = make(chan struct{})
		}
		idle := s.idle
		s.mu.Unlock()
		select {
		case <-idle:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wakeIdle tells those who wait, if the session is idle. The caller holds s.mu.
func (s *Session) wakeIdle() {
	if s.idle != nil && s.isIdle() {
		close(s.idle)
		s.idle = nil
	}
}

// Abort ends what is under way: a run, the pause before a retry, a compaction, the summary of a branch. It returns when the
// session is idle.
func (s *Session) Abort(ctx context.Context) error {
	s.AbortRetry()
	s.AbortCompaction()
	s.AbortBranchSummary()
	s.agent.Abort()
	return s.WaitForIdle(ctx)
}

// AbortRetry ends the pause before a retry; the session settles.
func (s *Session) AbortRetry() { s.abort(&s.pause) }

// AbortCompaction ends a compaction without effect.
func (s *Session) AbortCompaction() {
	s.abort(&s.manual)
	s.abort(&s.auto)
}

// AbortBranchSummary ends the summary of a branch; the session stays where it is.
func (s *Session) AbortBranchSummary() { s.abort(&s.branching) }

// task is something under way that can be ended.
type task struct{ cancel context.CancelCauseFunc }

// begin puts a task in its place and gives the context that ends with it. done takes it away again, if no other has taken
// the place since.
func (s *Session) begin(ctx context.Context, place **task) (_ context.Context, done func()) {
	ctx, done, _ = s.beginIf(ctx, place, func() bool { return true })
	return ctx, done
}

// beginIf is begin if allowed, which is called with s.mu held, says so.
func (s *Session) beginIf(ctx context.Context, place **task, allowed func() bool) (_ context.Context, done func(), ok bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &task{cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !allowed() {
		cancel(nil)
		return nil, nil, false
	}
	*place = t
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if *place == t {
			*place = nil
			s.wakeIdle()
		}
	}, true
}

func (s *Session) abort(place **task) {
	s.mu.Lock()
	t := *place
	s.mu.Unlock()
	if t != nil {
		t.cancel(agentcore.ErrAborted)
	}
}

// SystemPrompt is the present one: an extension's for the present run, or the program's.
func (s *Session) SystemPrompt() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prompt != nil {
		return *s.prompt
	}
	return s.basePrompt()
}

// SetSystemPrompt changes what the program says, from the next turn on. What an extension has put in its place for the present run
// stays until that ends.
func (s *Session) SetSystemPrompt(prompt string) {
	s.mu.Lock()
	s.program = prompt
	s.mu.Unlock()
	s.agent.SetSystemPrompt(s.SystemPrompt())
}

// basePrompt is the program's system prompt and the working directory, in the reference's form. s.mu is held.
func (s *Session) basePrompt() string {
	prompt := s.program
	if s.cwd != "" {
		prompt += "\nCurrent working directory: " + s.cwd + "\n"
	}
	return prompt
}

// ContextUsage is how full the context is.
type ContextUsage struct {
	// Tokens is nil after a compaction, until a response tells.
	Tokens        *int64   `json:"tokens"`
	ContextWindow int64    `json:"contextWindow"`
	Percent       *float64 `json:"percent"`
}

// ContextUsage tells how full the context is; nil when the model's window is not known.
func (s *Session) ContextUsage() *ContextUsage {
	window := s.Model().ContextWindow
	if window <= 0 {
		return nil
	}
	branch := s.store.Branch("")
	for i := len(branch) - 1; i >= 0; i-- {
		if branch[i].Type == EntryCompaction {
			return &ContextUsage{ContextWindow: window}
		}
		if m, err := branch[i].Message(); err == nil && m != nil && hasUsage(m.Assistant()) {
			break
		}
	}
	tokens := EstimateContext(s.Messages()).Tokens
	percent := float64(tokens) / float64(window) * 100
	return &ContextUsage{Tokens: &tokens, ContextWindow: window, Percent: &percent}
}

func hasUsage(a *agentcore.AssistantMessage) bool {
	return a != nil && a.StopReason != agentcore.StopAborted && a.StopReason != agentcore.StopError && ContextTokens(&a.Usage) > 0
}

func (s *Session) now() time.Time { return s.cfg.Agent.Now() }

// tell lets extensions hear of something that nobody waits for.
func (s *Session) tell(p wire.Payload) {
	if s.cfg.Extensions == nil || !s.cfg.Extensions.Handles(p.Kind()) {
		return
	}
	heard := make(chan struct{})
	if !s.goOn(func() {
		defer close(heard)
		s.observe(context.Background(), p)
	}) {
		return
	}
	timer := time.NewTimer(s.cfg.Grace)
	defer timer.Stop()
	select {
	case <-heard:
	case <-timer.C:
	}
}

// failed reports a failure that has no caller.
func (s *Session) failed(err *BackgroundError) {
	if s.cfg.OnError != nil {
		s.cfg.OnError(err)
		return
	}
	s.logger.Error("a failure in the background", "extension", err.Extension, "hook", err.Hook, "error", err.Err)
}

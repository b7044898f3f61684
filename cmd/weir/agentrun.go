package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/facts"
	"weir/engine/provider"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/tools"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// agentRun is what a conversation is made of: set, model, session, and where it is told. Every command that talks to an agent
// makes one, from [agentFlags] or by hand as `demo` does, and opens it.
type agentRun struct {
	host *wasmhost.Host // nil makes one; either is closed with the conversation
	set  *set.Set
	live *liveSet // where the set is reloaded from when its files change; nil does not
	// connect gives what answers the model's requests; the hooks act on those that go over a network.
	connect  func(hooks provider.Hooks) connection
	model    agentcore.Model
	models   []session.ScopedModel                     // those that the session knows by name
	find     func(ref string) (agentcore.Model, error) // gives the model of a name; for who changes models
	thinking agentcore.ThinkingLevel
	store    *session.Store // closed with the conversation
	start    string         // why the session is there: "startup" or "resume"
	system   string
	about    opening
	cwd      string
	mode     wire.Mode
	env      []string // of commands; nil is the process's
	sinks    []sink   // the first one's person is who is asked; they hear of everything in their order
}

// connection is the way to a model.
type connection struct {
	agentcore.Provider
	authorize func(ctx context.Context, model agentcore.Model) error // nil allows all
	close     func()                                                 // nil when there is nothing to close
}

// report is what a conversation leaves to be summed up.
type report struct {
	records  []engine.Record
	prompts  []engine.PromptChange
	messages []*agentcore.Message // what the session works with at the end
	kept     int                  // messages that the session keeps, those that a compaction took from the model too
	seen     []int                // messages that the model was sent, by request
	failure  string
	duration time.Duration
	first    time.Duration // from the start to the first request
	file     string        // where the session is kept; "" nowhere
}

// conversation is an agent that can be talked to. It is used so, whatever the mode:
//
//  1. [agentFlags.prepare] makes an agentRun of the flags; open makes the conversation: host, extensions, tools, provider,
//     session. Nothing has been said to anybody then but to the sinks, which know where the session is kept.
//  2. begin tells the extensions that the session is there. It is called once.
//  3. prompt, and what else session offers (steering, compaction, models), as often as is wanted. One who takes Ctrl-C for the
//     end of a turn rather than of the command has interrupts.take call session.Abort meanwhile.
//  4. close ends it, in the reverse order, and sums up. It is called once, whatever came before.
type conversation struct {
	session *session.Session
	engine  *engine.Engine
	report  *report

	run       *agentRun
	watch     *setWatch                       // nil when nothing is reloaded
	person    person                          // who is asked; nil when there is nobody
	present   atomic.Pointer[session.Session] // session, for those who may ask before it is there
	restored  session.Context
	began     time.Time
	closeLast []func(context.Context) error // in reverse order
}

// open makes the conversation. The error is what kept it from being made; nothing is left open then.
func (r *agentRun) open(ctx context.Context) (_ *conversation, err error) {
	c := &conversation{run: r, report: &report{}, began: time.Now()}
	c.defers(func(context.Context) error { return r.store.Close() })
	defer func() {
		if err != nil {
			err = errors.Join(err, c.shut(ctx))
		}
	}()
	if r.host == nil {
		if r.host, err = newHost(ctx); err != nil {
			return nil, err
		}
	}
	c.defers(r.host.Close)
	if err := c.openEngine(ctx); err != nil {
		return nil, err
	}
	c.defers(c.engine.Close)
	if err := c.openSession(); err != nil {
		return nil, err
	}
	for _, s := range r.sinks {
		c.session.Subscribe(s.event)
		s.begin(r.store.Header(), &r.about)
	}
	return c, nil
}

func (c *conversation) defers(f func(context.Context) error) { c.closeLast = append(c.closeLast, f) }

// shut closes what was opened.
func (c *conversation) shut(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, f := range slices.Backward(c.closeLast) {
		errs = append(errs, f(ctx))
	}
	c.closeLast = nil
	return errors.Join(errs...)
}

// openEngine loads the extensions.
func (c *conversation) openEngine(ctx context.Context) (err error) {
	r := c.run
	cfg := engine.Config{
		Host: r.host, Set: r.set, Bundled: extensions.Bundled, SessionID: r.store.Header().ID, CWD: r.cwd, Mode: r.mode,
		Session: func() wasmhost.Session {
			if s := c.present.Load(); s != nil {
				return s.ForGuests()
			}
			return nil
		},
		Record: func(rec engine.Record) {
			c.report.records = append(c.report.records, rec)
			for _, s := range r.sinks {
				s.record(rec)
			}
		},
		Prompt: func(p engine.PromptChange) {
			c.report.prompts = append(c.report.prompts, p)
			for _, s := range r.sinks {
				s.prompt(p)
			}
		},
		Logger: r.sinks[0].logger(),
		Facts:  facts.Config{Own: r.own()},
	}
	if c.person = r.sinks[0].person(); c.person != nil {
		a := &announced{c.person, c.present.Load}
		cfg.Ask, cfg.UI = a.ask, a
	}
	cfg.Reloads, cfg.ToolNames = r.live != nil, tools.Names()
	c.engine, err = engine.Open(ctx, cfg)
	return err
}

// own are the files that are weir's, besides those of the set.
func (r *agentRun) own() []string {
	own := ownFiles()
	if dir, err := sessionsFolder(); err == nil { // without one there is nothing of ours in it
		own = append(own, dir)
	}
	if path := r.store.Path(); path != "" {
		if abs, err := filepath.Abs(path); err == nil { // as above
			own = append(own, abs)
		}
	}
	if r.live != nil { // the agent must not change what decides about it, what policies import included
		own = append(own, r.live.note(r.set)...)
	}
	return own
}

// ownNow are the files that the agent's tools must not change now. What a reload that was refused would bring is among them: it is
// loaded once it is in order.
func (c *conversation) ownNow() []string {
	if s := c.engine.Set(); s != nil && !s.Protect {
		return nil
	}
	own := c.engine.FactsConfig().Own
	if c.run.live != nil {
		own = append(own, c.run.live.noted()...)
	}
	return own
}

// openSession makes the session, with its tools and the way to its model.
func (c *conversation) openSession() error {
	r := c.run
	toolCfg := tools.Config{
		Cwd: r.cwd, Env: agentEnv(r.env), WithholdFullOutput: func(tool string) bool { return c.engine.WithholdsUpdates(tool) != "" },
		Own: c.ownNow,
	}
	toolset, err := tools.New(toolCfg)
	if err != nil {
		return err
	}
	toolset = append(toolset, c.engine.Tools()...)
	hooks := session.ProviderHooks(c.engine)
	conn := r.connect(provider.Hooks{BeforeHeaders: hooks.Headers, BeforeRequest: hooks.Payload, AfterResponse: hooks.Response})
	if conn.close != nil {
		c.defers(func(context.Context) error { conn.close(); return nil })
	}
	c.restored = r.store.Context()
	logger := r.sinks[0].logger()
	level := r.thinking
	if len(c.restored.Messages) > 0 {
		level = "" // begin changes it, so that the session tells
	}
	c.session, err = session.New(session.Config{
		Agent: agentcore.Config{
			Provider: agentcore.ProviderFunc(func(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
				if len(c.report.seen) == 0 {
					c.report.first = time.Since(c.began)
				}
				c.report.seen = append(c.report.seen, len(req.Messages))
				return conn.Stream(ctx, req, emit)
			}),
			Model: r.model, SystemPrompt: r.system, Tools: toolset, ThinkingLevel: level,
		},
		Store: r.store, Extensions: c.engine, CWD: r.cwd, Start: wire.SessionStartEvent{Reason: r.start}, Authorize: conn.authorize, Models: r.models,
		OnError: func(err *session.BackgroundError) { logger.With("extension", err.Extension).Error(err.Error()) },
		Logger:  logger.With("extension", "session"), Commands: c.commands(), Bash: tools.Shell{Env: r.env},
	})
	if err != nil {
		return err
	}
	c.present.Store(c.session)
	return nil
}

// commands are those of the extensions. What one has to say is shown to the person, or logged where there is none.
func (c *conversation) commands() []session.Command {
	var list []session.Command
	for _, x := range c.engine.Commands() {
		list = append(list, session.Command{Name: x.Name, Description: x.Description, Run: func(ctx context.Context, args string) error {
			message, err := x.Run(ctx, args)
			switch {
			case err != nil || message == "":
				return err
			case c.person == nil:
				c.run.sinks[0].logger().With("extension", x.Extension).Info(message)
				return nil
			}
			return c.person.Notify(ctx, x.Extension, "info", message)
		}})
	}
	return list
}

// begin tells the extensions that the session is there, and the session what is other than when it was left.
func (c *conversation) begin(ctx context.Context) error {
	r := c.run
	if len(c.restored.Messages) > 0 {
		if c.restored.Provider != r.model.Provider || c.restored.ModelID != r.model.ID {
			if err := c.session.SetModel(ctx, r.model); err != nil {
				return err
			}
		}
		if r.thinking != "" {
			if err := c.session.SetThinkingLevel(r.thinking); err != nil {
				return err
			}
		}
	}
	if _, err := c.session.Begin(ctx); err != nil || r.live == nil {
		return err
	}
	return c.watchSet(ctx)
}

// prompt says something to the agent and returns when the session has settled. The error is what kept it from being said; a
// run that failed is told by the report.
func (c *conversation) prompt(ctx context.Context, text string) error {
	err := c.session.Prompt(ctx, text, session.PromptOptions{})
	state := c.session.Agent().State()
	c.report.messages, c.report.failure, c.report.duration = state.Messages, state.ErrorMessage, time.Since(c.began)
	return err
}

// close ends the conversation and has the sinks sum it up.
func (c *conversation) close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	c.watch.stop()
	rep, store := c.report, c.run.store
	c.engine.Observe(ctx, wire.SessionShutdownEvent{Reason: "quit"})
	err := c.session.Close(ctx)
	for _, e := range store.Branch("") {
		if m, err := e.Message(); err == nil && m != nil && e.Type != session.EntryCompaction {
			rep.kept++
		}
	}
	if path := store.Path(); path != "" {
		if _, err := os.Stat(path); err == nil { // a session in which nothing happened leaves no file
			rep.file = path
		}
	}
	for _, s := range c.run.sinks {
		s.end(rep)
	}
	return errors.Join(err, c.shut(ctx))
}

// once is a conversation of one prompt. No report means that it was not made; a run that failed is told by the report.
func (r *agentRun) once(ctx context.Context, prompt string) (*report, error) {
	c, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	if err = c.begin(ctx); err == nil {
		err = c.prompt(ctx, prompt)
	}
	return c.report, errors.Join(err, c.close(ctx))
}

// agentVariable tells commands that an agent runs them. `weir trust` does not take an answer there.
const agentVariable = "WEIR_AGENT"

func agentEnv(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	return append(slices.Clone(env), agentVariable+"=1")
}

// newID is a random session id.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// checkFolder says what is wrong with a working folder.
func checkFolder(dir string) error {
	if err := (&tools.Config{Cwd: dir}).Validate(); err != nil {
		return usageError(fmt.Errorf("--cwd: %w", err))
	}
	return nil
}

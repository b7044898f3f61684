package main

import (
	"context"
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
	"weir/engine/resources"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/tools"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// liveSession is a session of a conversation, with what was made for it alone: extensions begin anew with each, so that nothing that
// one keeps in variables or with the grant kv gets from one session into another.
//
//  1. [conversation.make] loads the extensions and makes the session, while another may still be there.
//  2. [conversation.attach] puts it in its place, and closes the other.
//  3. begin tells the extensions.
//  4. close closes what was made, but the session, which whoever ends it does.
type liveSession struct {
	session  atomic.Pointer[session.Session] // nil until it is there, for those who may ask before
	engine   *engine.Engine
	set      *set.Set // that the engine was opened with
	model    agentcore.Model
	thinking agentcore.ThinkingLevel // "" is what the session was left with
	restored session.Context
	texts    atomic.Pointer[resources.Set] // that extensions bring for the model to read; never nil
	closers
}

// closers are to be called in their reverse order.
type closers []func(context.Context) error

func (c *closers) defers(f func(context.Context) error) { *c = append(*c, f) }

func (c *closers) close(ctx context.Context) error {
	var errs []error
	for _, f := range slices.Backward(*c) {
		errs = append(errs, f(ctx))
	}
	*c = nil
	return errors.Join(errs...)
}

// close does nothing without a session.
func (l *liveSession) close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	return l.closers.close(ctx)
}

// make implements [session.RuntimeConfig]. The session goes on with model and thinking level of the present one; one that is resumed
// with its own, if that model is known.
func (c *conversation) make(ctx context.Context, store *session.Store, start wire.SessionStartEvent) (_ *session.Session, err error) {
	r := c.run
	l := &liveSession{restored: store.Context(), model: r.model, thinking: r.thinking}
	l.texts.Store(&resources.Set{})
	if present := c.now.Load(); present == nil {
		start.Reason = r.start
	} else {
		l.model, l.thinking = c.session().Model(), c.session().ThinkingLevel()
		if start.Reason == "resume" {
			l.thinking = ""
			if m, err := r.find(l.restored.Provider + "/" + l.restored.ModelID); err == nil {
				l.model = m
			}
			for _, p := range store.Report().Problems {
				r.sinks[0].logger().With("extension", "session").Warn(fmt.Sprintf("%s: %s", store.Path(), p))
			}
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close(context.WithoutCancel(ctx)))
		}
	}()
	if path := store.Path(); path != "" {
		if abs, err := filepath.Abs(path); err == nil { // without a working folder there is nothing to compare with
			c.files = append(c.files, abs)
		}
	}
	if err := c.openEngine(ctx, l, store); err != nil {
		return nil, err
	}
	s, err := c.openSession(l, store, start)
	if err != nil {
		return nil, err
	}
	err = c.next.close(context.WithoutCancel(ctx)) // one that did not get to its place
	c.next = nil
	if err = errors.Join(err, c.unqueue()); err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	c.next = l
	return s, nil
}

// unqueue takes back what is queued in the session that is to be replaced: it would be answered first. Who queued it is told.
func (c *conversation) unqueue() error {
	if c.now.Load() == nil {
		return nil
	}
	steering, followUp, err := c.session().ClearQueue()
	for _, text := range append(steering, followUp...) {
		if c.unsent != nil {
			c.unsent(text)
		}
	}
	return err
}

// attach implements [session.RuntimeConfig]. The first session is begun by [conversation.begin].
func (c *conversation) attach(ctx context.Context, s *session.Session) error {
	l := c.next
	c.next = nil
	c.reloading.Lock()
	before := c.now.Swap(l)
	c.reloading.Unlock()
	about := &c.run.about
	if before != nil {
		about = &opening{} // it was told
	}
	for _, sink := range c.run.sinks {
		s.Subscribe(sink.event)
		sink.begin(s.Store().Header(), about)
	}
	if before == nil {
		return nil
	}
	err := errors.Join(before.close(context.WithoutCancel(ctx)), l.begin(ctx, c.run))
	if before.engine.Set() != l.set { // the extensions were reloaded while this one was made
		c.reload(ctx, c.run.sinks[0].logger().With("extension", "weir"))
	}
	return err
}

// begin tells the extensions that the session is there, and the session what is other than when it was left.
func (l *liveSession) begin(ctx context.Context, r *agentRun) error {
	s := l.session.Load()
	if len(l.restored.Messages) > 0 {
		if l.restored.Provider != l.model.Provider || l.restored.ModelID != l.model.ID {
			if err := s.SetModel(ctx, l.model); err != nil {
				return err
			}
		}
		if l.thinking != "" {
			if err := s.SetThinkingLevel(l.thinking); err != nil {
				return err
			}
		}
	}
	found, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	l.takeResources(r, found)
	return nil
}

// takeResources reads the skills and templates that extensions name. What is left out is logged with its reason.
func (l *liveSession) takeResources(r *agentRun, found *wire.ResourcesDiscoverOutcome) {
	granted := func(extension string) []string {
		s := l.engine.Set()
		if s == nil {
			return nil
		}
		if i := slices.IndexFunc(s.Extensions, func(x set.Extension) bool { return x.Name == extension }); i >= 0 {
			return s.Extensions[i].Grant.Read
		}
		return nil
	}
	taken, problems := resources.Load(found, granted)
	for _, p := range problems {
		r.sinks[0].logger().With("extension", "weir").Warn(p.Error())
	}
	prompt := r.system
	if text := taken.SystemPrompt(); text != "" {
		prompt += "\n\n" + text
	}
	l.session.Load().SetSystemPrompt(prompt)
	l.texts.Store(taken)
}

// switchTo goes on with a session of a file; a relative path is in the conversation's folder. What the session is about stays that folder.
func (c *conversation) switchTo(ctx context.Context, path string) (cancelled bool, err error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.run.cwd, path)
	}
	wanted, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if present, err := os.Stat(c.session().Store().Path()); err == nil && os.SameFile(wanted, present) {
		return false, fmt.Errorf("%s is the present session", path)
	}
	return c.runtime.Switch(ctx, path)
}

// clone goes on with a copy of the present session.
func (c *conversation) clone(ctx context.Context) (cancelled bool, err error) {
	leaf := c.session().Store().Leaf()
	if leaf == nil {
		return false, errors.New("there is nothing to copy yet")
	}
	forked, err := c.runtime.Fork(ctx, leaf.ID, true)
	return forked.Cancelled, err
}

// openEngine loads the extensions.
func (c *conversation) openEngine(ctx context.Context, l *liveSession, store *session.Store) (err error) {
	r := c.run
	if l.set = r.set; c.now.Load() != nil {
		l.set = c.engine().Set()
	}
	cfg := engine.Config{
		Host: r.host, Set: l.set, Bundled: extensions.Bundled, SessionID: store.Header().ID, CWD: r.cwd, Mode: r.mode,
		Session: func() wasmhost.Session {
			if s := l.session.Load(); s != nil {
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
		Facts:  facts.Config{Own: c.own(l.set)},
	}
	if c.person != nil {
		a := &announced{c.person, l.session.Load}
		cfg.Ask, cfg.UI = a.ask, a
	}
	cfg.Reloads, cfg.ToolNames = r.live != nil, tools.Names()
	if l.engine, err = engine.Open(ctx, cfg); err != nil {
		return err
	}
	l.defers(l.engine.Close)
	return nil
}

// own are the files that are weir's, besides those of the set.
func (c *conversation) own(x *set.Set) []string {
	own := ownFiles()
	if dir, err := sessionsFolder(); err == nil { // without one there is nothing of ours in it
		own = append(own, dir)
	}
	if path, err := historyPath(); err == nil { // as above
		own = append(own, path)
	}
	own = append(own, c.files...)
	if live := c.run.live; live != nil { // the agent must not change what decides about it, what policies import included
		if c.now.Load() == nil {
			live.note(x)
		}
		own = append(own, live.noted()...)
	}
	return own
}

// ownNow are the files that the agent's tools must not change now. What a reload that was refused would bring is among them: it is
// loaded once it is in order.
func (c *conversation) ownNow(e *engine.Engine) []string {
	if s := e.Set(); s != nil && !s.Protect {
		return nil
	}
	own := e.FactsConfig().Own
	if c.run.live != nil {
		own = append(own, c.run.live.noted()...)
	}
	return own
}

// openSession makes the session, with its tools and the way to its model.
func (c *conversation) openSession(l *liveSession, store *session.Store, start wire.SessionStartEvent) (*session.Session, error) {
	r := c.run
	toolCfg := tools.Config{
		Cwd: r.cwd, Env: agentEnv(r.env), WithholdFullOutput: func(tool string) bool { return l.engine.WithholdsUpdates(tool) != "" },
		Own: func() []string { return c.ownNow(l.engine) },
	}
	toolset, err := tools.New(toolCfg)
	if err != nil {
		return nil, err
	}
	toolset = append(toolset, l.engine.Tools()...)
	hooks := session.ProviderHooks(l.engine)
	conn := r.connect(provider.Hooks{BeforeHeaders: hooks.Headers, BeforeRequest: hooks.Payload, AfterResponse: hooks.Response})
	if conn.close != nil {
		l.defers(func(context.Context) error { conn.close(); return nil })
	}
	logger := r.sinks[0].logger()
	level := l.thinking
	if len(l.restored.Messages) > 0 {
		level = "" // begin changes it, so that the session tells
	}
	s, err := session.New(session.Config{
		Agent: agentcore.Config{
			Provider: agentcore.ProviderFunc(func(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
				if len(c.report.seen) == 0 {
					c.report.first = time.Since(c.began)
				}
				c.report.seen = append(c.report.seen, len(req.Messages))
				return conn.Stream(ctx, req, emit)
			}),
			Model: l.model, SystemPrompt: r.system, Tools: toolset, ThinkingLevel: level,
		},
		Expand: func(text string) (string, error) { return l.texts.Load().Expand(text) },
		Store:  store, Extensions: l.engine, CWD: r.cwd, Start: start, Authorize: conn.authorize, Models: r.models,
		OnError: func(err *session.BackgroundError) { logger.With("extension", err.Extension).Error(err.Error()) },
		Logger:  logger.With("extension", "session"), Commands: c.commands(l.engine), Bash: tools.Shell{Env: r.env},
	})
	if err != nil {
		return nil, err
	}
	l.session.Store(s)
	return s, nil
}

// commands are those of the extensions. What one has to say is shown to the person, or logged where there is none.
func (c *conversation) commands(e *engine.Engine) []session.Command {
	var list []session.Command
	for _, x := range e.Commands() {
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

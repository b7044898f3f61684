package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/provider"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/tools"
	"weir/engine/wire"
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
	// replaceable says that other sessions may take the place of the first.
	replaceable bool
	system      string
	about       opening
	cwd         string
	mode        wire.Mode
	env         []string // of commands; nil is the process's
	sinks       []sink   // the first one's person is who is asked; they hear of everything in their order
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
//     end of a turn rather than of the command has interrupts.take call session.Abort meanwhile. With agentRun.replaceable,
//     runtime puts another session in the place of the present one; an extension may do so at any time.
//  4. close ends it, in the reverse order, and sums up. It is called once, whatever came before.
type conversation struct {
	report  *report
	runtime *session.Runtime  // nil when the session cannot be replaced
	unsent  func(text string) // hears of messages that were queued in a session that is replaced; nil drops them

	run       *agentRun
	now       atomic.Pointer[liveSession]
	next      *liveSession // made, and not in its place yet
	files     []string     // of all its sessions
	watch     *setWatch    // nil when nothing is reloaded
	reloading sync.Mutex   // held while extensions are reloaded and while a session takes its place
	person    person       // who is asked; nil when there is nobody
	began     time.Time
	closers
}

// session is the present one.
func (c *conversation) session() *session.Session { return c.now.Load().session.Load() }

// engine is that of the present session.
func (c *conversation) engine() *engine.Engine { return c.now.Load().engine }

// open makes the conversation. The error is what kept it from being made; nothing is left open then.
func (r *agentRun) open(ctx context.Context) (_ *conversation, err error) {
	c := &conversation{run: r, report: &report{}, person: r.sinks[0].person(), began: time.Now()}
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
	if r.replaceable {
		c.runtime, err = session.NewRuntime(ctx, r.store, session.RuntimeConfig{Make: c.make, Attach: c.attach})
		return c, err
	}
	s, err := c.make(ctx, r.store, wire.SessionStartEvent{})
	if err != nil {
		return nil, err
	}
	return c, c.attach(ctx, s)
}

// shut closes what was opened.
func (c *conversation) shut(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	return errors.Join(c.next.close(ctx), c.now.Load().close(ctx), c.closers.close(ctx))
}

// begin tells the extensions that the session is there, and the session what is other than when it was left.
func (c *conversation) begin(ctx context.Context) error {
	if err := c.now.Load().begin(ctx, c.run); err != nil || c.run.live == nil {
		return err
	}
	return c.watchSet(ctx)
}

// prompt says something to the agent and returns when the session has settled. The error is what kept it from being said; a
// run that failed is told by the report.
func (c *conversation) prompt(ctx context.Context, text string) error {
	s := c.session()
	err := s.Prompt(ctx, text, session.PromptOptions{})
	state := s.Agent().State()
	c.report.messages, c.report.failure, c.report.duration = state.Messages, state.ErrorMessage, time.Since(c.began)
	return err
}

// close ends the conversation and has the sinks sum it up.
func (c *conversation) close(ctx context.Context) (err error) {
	ctx = context.WithoutCancel(ctx)
	c.watch.stop()
	if c.runtime != nil {
		err = c.runtime.Close(ctx)
	} else {
		c.engine().Observe(ctx, wire.SessionShutdownEvent{Reason: "quit"})
		err = c.session().Close(ctx)
	}
	rep, store := c.report, c.session().Store()
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

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
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

// agentRun is one prompt to a session with a set, as `run` and `demo` do it.
type agentRun struct {
	streams
	set *set.Set
	// connect gives what answers the model's requests; the hooks act on those that go over a network.
	connect func(hooks provider.Hooks) connection
	model   agentcore.Model
	models  []session.ScopedModel // those that the session knows by name
	store   *session.Store        // do closes it
	start   string                // why the session is there: "startup" or "resume"
	system  string
	cwd     string
	output  string // "text" or "json"
	prompt  string
	env     []string  // of commands; nil is the process's
	log     io.Writer // gets the events as JSON lines too; nil does not
}

// connection is the way to a model.
type connection struct {
	agentcore.Provider
	authorize func(ctx context.Context, model agentcore.Model) error // nil allows all
	close     func()                                                 // nil when there is nothing to close
}

// report is what a run leaves to be summed up.
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

// do runs the session until it has settled. The error is what kept it from running; a run that failed is told by the report.
func (r *agentRun) do(ctx context.Context) (rep *report, err error) {
	begin := time.Now()
	// Closed twice at most, which does no harm: without it here, no return before the session is made may forget it.
	defer func() { err = errors.Join(err, r.store.Close()) }()
	host, err := newHost(ctx)
	if err != nil {
		return nil, err
	}
	out := newSink(r.streams, r.output)
	sinks := []sink{out}
	if r.log != nil {
		sinks = append(sinks, &jsonSink{w: r.log, err: io.Discard})
	}
	rep = &report{}
	own := ownFiles()
	if dir, err := sessionsFolder(); err == nil { // without one there is nothing of ours in it
		own = append(own, dir)
	}
	var talk *session.Session                   // made after the engine, and there when the first question comes
	var present atomic.Pointer[session.Session] // the same, for extensions, which may ask at any time
	eng, err := engine.Open(ctx, engine.Config{
		Host: host, Set: r.set, Bundled: extensions.Bundled, Ask: asker(&talk, out.ask()), SessionID: r.store.Header().ID, CWD: r.cwd,
		Mode: wire.Mode(r.output),
		Session: func() wasmhost.Session {
			if s := present.Load(); s != nil {
				return s.ForGuests()
			}
			return nil
		},
		Record: func(rec engine.Record) {
			rep.records = append(rep.records, rec)
			for _, s := range sinks {
				s.record(rec)
			}
		},
		Prompt: func(c engine.PromptChange) {
			rep.prompts = append(rep.prompts, c)
			for _, s := range sinks {
				s.prompt(c)
			}
		},
		Logger: out.logger(),
		Facts:  facts.Config{Own: own},
	})
	if err != nil {
		return nil, errors.Join(err, host.Close(ctx))
	}
	defer func() {
		err = errors.Join(err, eng.Close(context.WithoutCancel(ctx)), host.Close(context.WithoutCancel(ctx)))
	}()
	toolset, err := tools.New(tools.Config{Cwd: r.cwd, Env: r.env, WithholdFullOutput: func(tool string) bool { return eng.WithholdsUpdates(tool) != "" }})
	if err != nil {
		return nil, err
	}
	hooks := session.ProviderHooks(eng)
	conn := r.connect(provider.Hooks{BeforeHeaders: hooks.Headers, BeforeRequest: hooks.Payload, AfterResponse: hooks.Response})
	if conn.close != nil {
		defer conn.close()
	}
	stored := r.store.Context()
	talk, err = session.New(session.Config{
		Agent: agentcore.Config{
			Provider: agentcore.ProviderFunc(func(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
				if len(rep.seen) == 0 {
					rep.first = time.Since(begin)
				}
				rep.seen = append(rep.seen, len(req.Messages))
				return conn.Stream(ctx, req, emit)
			}),
			Model: r.model, SystemPrompt: r.system, Tools: toolset,
		},
		Store: r.store, Extensions: eng, CWD: r.cwd, Start: wire.SessionStartEvent{Reason: r.start}, Authorize: conn.authorize, Models: r.models,
		OnError: func(err *session.BackgroundError) { out.logger().With("extension", err.Extension).Error(err.Error()) },
		Logger:  out.logger().With("extension", "session"),
	})
	if err != nil {
		return nil, err
	}
	present.Store(talk)
	defer func() {
		eng.Observe(context.WithoutCancel(ctx), wire.SessionShutdownEvent{Reason: "quit"})
		err = errors.Join(err, talk.Close(context.WithoutCancel(ctx)))
		for _, s := range sinks {
			s.end(rep)
		}
	}()
	for _, s := range sinks {
		talk.Subscribe(s.event)
		s.begin(r.store.Header())
	}
	if len(stored.Messages) > 0 && (stored.Provider != r.model.Provider || stored.ModelID != r.model.ID) {
		if err := talk.SetModel(ctx, r.model); err != nil { // the session goes on with another model, and says so
			return rep, err
		}
	}
	if _, err := talk.Begin(ctx); err != nil {
		return rep, err
	}
	err = talk.Prompt(ctx, r.prompt, session.PromptOptions{})
	state := talk.Agent().State()
	rep.messages, rep.failure, rep.duration = state.Messages, state.ErrorMessage, time.Since(begin)
	for _, e := range r.store.Branch("") {
		if m, err := e.Message(); err == nil && m != nil && e.Type != session.EntryCompaction {
			rep.kept++
		}
	}
	if path := r.store.Path(); path != "" {
		if _, err := os.Stat(path); err == nil { // a session in which nothing happened leaves no file
			rep.file = path
		}
	}
	return rep, err
}

// asker lets extensions know, through the session, that a person is waited for. nil stays nil.
func asker(talk **session.Session, ask func(context.Context, []engine.Question) (bool, error)) func(context.Context, []engine.Question) (bool, error) {
	if ask == nil {
		return nil
	}
	return func(ctx context.Context, questions []engine.Question) (bool, error) {
		answer, err := (*talk).Ask(ctx, "confirm", questions[0].Title, func(ctx context.Context) (any, error) { return ask(ctx, questions) })
		yes, _ := answer.(bool)
		return yes && err == nil, err
	}
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

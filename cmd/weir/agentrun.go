package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/facts"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/tools"
	"weir/engine/wire"
	"weir/extensions"
)

// agentRun is one run of an agent with a set, as `run` and `demo` do it.
type agentRun struct {
	streams
	set      *set.Set
	provider agentcore.Provider
	model    agentcore.Model
	history  []*agentcore.Message
	system   string
	cwd      string
	output   string // "text" or "json"
	prompt   string
	env      []string  // of commands; nil is the process's
	log      io.Writer // gets the events as JSON lines too; nil does not
}

// report is what a run leaves to be summed up.
type report struct {
	records  []engine.Record
	messages []*agentcore.Message // the transcript at the end
	seen     []int                // messages that the model was sent, by request
	failure  string
	duration time.Duration
	first    time.Duration // from the start to the first turn
}

// do runs the agent to its end. The error is what kept it from running; a run that failed is told by the report.
func (r *agentRun) do(ctx context.Context) (rep *report, err error) {
	begin := time.Now()
	host, err := newHost(ctx)
	if err != nil {
		return nil, err
	}
	out := newSink(r.streams, r.output)
	sinks := []sink{out}
	if r.log != nil {
		sinks = append(sinks, &jsonSink{w: r.log, err: io.Discard})
	}
	id := newID()
	rep = &report{}
	eng, err := engine.Open(ctx, engine.Config{
		Host: host, Set: r.set, Bundled: extensions.Bundled, Ask: out.ask(), SessionID: id, CWD: r.cwd, Mode: wire.Mode(r.output),
		Record: func(rec engine.Record) {
			rep.records = append(rep.records, rec)
			for _, s := range sinks {
				s.record(rec)
			}
		},
		Logger: out.logger(),
		Facts:  facts.Config{Own: ownFiles()},
	})
	if err != nil {
		return nil, errors.Join(err, host.Close(ctx))
	}
	defer func() {
		err = errors.Join(err, eng.Close(context.WithoutCancel(ctx)), host.Close(context.WithoutCancel(ctx)))
	}()
	eng.SetModel(r.model, "")
	toolset, err := tools.New(tools.Config{Cwd: r.cwd, Env: r.env, WithholdFullOutput: func(tool string) bool { return eng.WithholdsUpdates(tool) != "" }})
	if err != nil {
		return nil, err
	}
	hooks := eng.Hooks()
	hooks.ConvertToLLM = session.ConvertToLLM
	agent, err := agentcore.New(agentcore.Config{
		Provider: agentcore.ProviderFunc(func(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
			if len(rep.seen) == 0 {
				rep.first = time.Since(begin)
			}
			rep.seen = append(rep.seen, len(req.Messages))
			return r.provider.Stream(ctx, req, emit)
		}),
		Model: r.model, SystemPrompt: r.system, Tools: toolset, Messages: r.history, Hooks: hooks,
	})
	if err != nil {
		return nil, err
	}
	agent.Subscribe(eng.Listener())
	for _, s := range sinks {
		agent.Subscribe(s.event)
		s.begin(id, r.cwd)
	}
	err = agent.PromptText(ctx, r.prompt)
	state := agent.State()
	rep.messages, rep.failure, rep.duration = state.Messages, state.ErrorMessage, time.Since(begin)
	for _, s := range sinks {
		s.end(rep)
	}
	return rep, err
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

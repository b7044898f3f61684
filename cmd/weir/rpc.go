package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"weir/agentcore"
	"weir/engine/session"
	"weir/engine/wire"
)

// rpcServer is a conversation with a program over standard input and output, a JSON object a line in both directions. The names
// are the reference's (docs/rpc.md, 0.85.0); docs/rpc.md is the page for those who write a client.
//
//  1. start reads the input. Answers to questions are handed out at once, from the start: whether a project is trusted is asked
//     before there is a conversation. Everything else waits.
//  2. serve does what the lines want, in their order, until the input ends or the context does, and waits for what is under way.
//
// A prompt keeps the lines behind it waiting until it is taken, a compaction or a command not at all, and another session until it is
// there. An abort does not wait for its turn.
type rpcServer struct {
	sink   *rpcSink
	in     io.Reader
	queue  chan *rpcCommand // closed at the end of the input
	aborts chan *rpcCommand
	conv   *conversation
	work   sync.WaitGroup // what is under way

	mu       sync.Mutex
	commands map[*rpcCommand]context.CancelFunc // of the bash commands that run
}

// maxRPCWaiting is how many lines may wait for their turn.
const maxRPCWaiting = 256

func newRPCServer(s streams) *rpcServer {
	sink := &rpcSink{jsonSink: jsonSink{w: s.out, err: s.err}}
	sink.asks.line = sink.line
	return &rpcServer{
		sink: sink, in: s.in, queue: make(chan *rpcCommand, maxRPCWaiting), aborts: make(chan *rpcCommand, maxRPCWaiting),
		commands: map[*rpcCommand]context.CancelFunc{},
	}
}

// runRPC is `run --rpc`.
func (f *runFlags) runRPC(ctx context.Context, s streams, args []string) error {
	if len(args) > 0 {
		return usageError(errors.New("--rpc has its prompts from standard input, not from an argument"))
	}
	server := newRPCServer(s)
	server.start()
	s.in = strings.NewReader("") // the server's
	p, err := f.prepare(ctx, s, server.sink, wire.ModeRPC)
	if err != nil {
		return err
	}
	p.replaceable = true
	c, err := p.open(ctx)
	if err != nil {
		return errors.Join(err, p.finish(false))
	}
	c.unsent = server.unsent
	if err = c.begin(ctx); err == nil {
		server.serve(ctx, c)
	}
	if err = errors.Join(err, c.close(ctx), server.sink.broken()); err != nil {
		err = failed(err)
	}
	err = errors.Join(err, p.finish(err == nil))
	if err == nil && ctx.Err() != nil {
		return &silentError{exitFailed} // a signal ended it; the events have told it
	}
	return err
}

// start reads the lines. What reads lives as long as the input gives nothing.
func (r *rpcServer) start() {
	go func() {
		defer close(r.queue)
		defer r.sink.asks.close()
		lines := rpcLines(r.in)
		for {
			line, err := lines()
			if line == "" && err != nil {
				return // the end of the input, in order or not
			}
			c, bad := parseRPC(line)
			if err != nil {
				bad = err
			}
			to := r.queue
			switch {
			case bad != nil:
				r.respond(c, nil, bad)
				continue
			case c.Type == "extension_ui_response":
				if err := r.sink.asks.answer(c); err != nil {
					r.respond(c, nil, err)
				}
				continue
			case c.Type == "abort":
				to = r.aborts
			}
			select {
			case to <- c:
			default:
				r.respond(c, nil, fmt.Errorf("%d lines wait already; send it again after some of their responses", maxRPCWaiting))
			}
		}
	}()
}

// serve does what the lines want.
func (r *rpcServer) serve(ctx context.Context, c *conversation) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.conv = c
	queue := r.queue
	var taken <-chan struct{} // closed when it is clear whether the last prompt is taken, or the session replaced; nil when it is
	for queue != nil || taken != nil {
		next := queue
		if taken != nil {
			next = nil
		}
		select {
		case cmd, more := <-next:
			switch {
			case !more:
				queue = nil
			case cmd.Type == "prompt":
				taken = r.prompt(ctx, cmd)
			case slices.Contains([]string{"new_session", "switch_session", "fork", "clone"}, cmd.Type):
				taken = r.replace(ctx, cmd)
			default:
				r.do(ctx, cmd)
			}
		case <-taken:
			taken = nil
		case cmd := <-r.aborts:
			r.abort(ctx, cmd)
		case <-ctx.Done():
			queue, taken = nil, nil
		}
		if r.sink.broken() != nil { // nobody listens: what runs is ended
			cancel()
		}
	}
	for len(r.aborts) > 0 {
		r.abort(ctx, <-r.aborts)
	}
	r.settle(ctx)
}

func (r *rpcServer) abort(ctx context.Context, c *rpcCommand) {
	r.work.Go(func() {
		err := r.conv.session().Abort(ctx)
		r.respond(c, nil, err)
	})
}

// settle waits for what is under way. What was sent and comes to nothing is not lost without a word.
func (r *rpcServer) settle(ctx context.Context) {
	r.work.Wait()
	_ = r.conv.session().WaitForIdle(context.WithoutCancel(ctx)) // fails with the context only
	for len(r.queue) > 0 {
		r.respond(<-r.queue, nil, errors.New("the session ends"))
	}
	steering, followUp := r.conv.session().Queues()
	for _, text := range append(steering, followUp...) {
		r.unsent(text)
	}
}

func (r *rpcServer) unsent(text string) {
	_ = r.sink.line(rpcError{Type: "error", Error: "the session ends before this queued message was sent: " + text}) // told at the end
}

// do does what a line wants, and responds.
func (r *rpcServer) do(ctx context.Context, c *rpcCommand) {
	s := r.conv.session()
	var data any
	var err error
	switch c.Type {
	case "compact":
		r.work.Go(func() {
			result, err := s.Compact(ctx, c.CustomInstructions)
			r.respond(c, result, err)
		})
		return
	case "steer":
		err = s.Steer(c.Message, c.images()...)
	case "follow_up":
		err = s.FollowUp(c.Message, c.images()...)
	case "clear_queue":
		var q session.QueueUpdate
		q.Steering, q.FollowUp, err = s.ClearQueue()
		data = queueData{q.Steering, q.FollowUp}
	case "set_model":
		var m agentcore.Model
		if m, err = r.conv.run.find(c.Provider + "/" + c.ModelID); err == nil {
			err = s.SetModel(ctx, m)
		}
		data = m
	case "set_thinking_level":
		if err = knownLevel(c.Level); err == nil {
			err = s.SetThinkingLevel(agentcore.ThinkingLevel(c.Level))
		}
		data = levelData{s.ThinkingLevel()}
	case "set_session_name":
		err = s.SetName(c.Name)
	case "bash":
		r.bash(ctx, c)
		return
	case "abort_bash":
		r.respond(c, nil, nil) // before those of the commands
		r.abortBash()
		return
	case "get_state":
		data = r.state()
	case "get_messages":
		data = messagesData{append([]*agentcore.Message{}, s.Messages()...)}
	case "get_last_assistant_text":
		data = textData{lastAssistantText(s.Messages())}
	case "get_fork_messages":
		data = forkMessagesData{forkMessages(s.Store())}
	case "export_html":
		var page pathData
		page.Path, err = exportHTML(s.Store(), s.CWD(), c.OutputPath)
		data = page
	case "get_commands":
		data = commandData(s.Commands(), r.conv.now.Load().texts.Load().Commands())
	}
	r.respond(c, data, err)
}

// prompt starts a run, or what else the prompt wants. The channel is closed when it is clear whether the prompt is taken.
func (r *rpcServer) prompt(ctx context.Context, c *rpcCommand) <-chan struct{} {
	known := make(chan struct{})
	r.work.Go(func() {
		taken := false
		err := r.conv.session().Prompt(ctx, c.Message, session.PromptOptions{
			Images: c.images(), Streaming: session.Behavior(c.StreamingBehavior), Source: "rpc",
			Preflight: func(accepted bool) {
				if taken = accepted; taken {
					r.respond(c, nil, nil)
				}
				close(known)
			},
		})
		switch {
		case err != nil && !taken:
			r.respond(c, nil, err)
		case err != nil: // it was answered; what the model fails with is told by events
			_ = r.sink.line(rpcError{Type: "error", ID: c.ID, Error: err.Error()}) // told at the end
		}
	})
	return known
}

// state is what a program may want to know.
func (r *rpcServer) state() rpcState {
	s := r.conv.session()
	steering, followUp := s.Queues()
	state := s.State()
	names := []string{}
	for _, x := range r.conv.engine().Extensions() {
		names = append(names, x.Name)
	}
	return rpcState{
		Model: s.Model(), ThinkingLevel: s.ThinkingLevel(), IsStreaming: state.Streaming, IsCompacting: state.Compacting, IsRetrying: state.Retrying,
		SessionFile: s.Store().Path(), SessionID: s.Store().Header().ID, SessionName: s.Name(), MessageCount: len(s.Messages()),
		PendingMessageCount: len(steering) + len(followUp), ContextUsage: s.ContextUsage(), Extensions: names,
	}
}

func (r *rpcServer) respond(c *rpcCommand, data any, err error) {
	resp := rpcResponse{ID: c.ID, Type: "response", Command: c.Type, Success: err == nil}
	if err != nil {
		resp.Error = err.Error()
	} else {
		resp.Data = data
	}
	_ = r.sink.line(resp) // told at the end
}

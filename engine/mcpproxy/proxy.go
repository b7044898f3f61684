package mcpproxy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"weir/engine"
	"weir/engine/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Engine is what decides: an *engine.Engine.
type Engine interface {
	ToolCall(ctx context.Context, ev wire.ToolCallEvent, validate func(json.RawMessage) (json.RawMessage, error)) engine.Decision
	ToolResult(ctx context.Context, ev wire.ToolResultEvent) (wire.ToolResultEvent, bool)
}

// Config configures a [Proxy].
type Config struct {
	// Server is what extensions know the server by: its tools are mcp__SERVER__TOOL. Never taken from the server itself, which
	// could give itself the name of another.
	Server string
	// Printable makes foreign text harmless for a terminal. Needed.
	Printable func(string) string
	// Note gets a line about what was dropped, one at a time; nil drops it.
	Note func(text string)
}

// Stream is one side of the proxy: messages, one a line.
type Stream struct {
	In  io.Reader
	Out io.Writer
}

// drain is how long the server has for what is under way when the client's input has ended.
const drain = 5 * time.Second

// maxWaiting is how many requests of the client may be without an answer.
const maxWaiting = 10_000

// ErrServerEnded is what Run returns when the server's output ended before the client's.
var ErrServerEnded = errors.New("the MCP server ended")

// Proxy is a proxy between one client and one server. See the package comment.
type Proxy struct {
	cfg    Config
	engine Engine

	client, server side
	queue          chan *call

	mu      sync.Mutex
	pending map[id]*call  // requests of the client without a response
	ended   bool          // no request is taken any more
	idle    chan struct{} // made when the client's input has ended; closed when nothing is pending
	asks    asks
	// handling are the messages that are being handled, each by the goroutine that read it, and the goroutine of the calls.
	handling sync.WaitGroup

	noting sync.Mutex
}

// side is where messages to one side are written, one at a time.
type side struct {
	name string
	mu   sync.Mutex
	out  io.Writer
}

func (s *side) write(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	const copied = 64 << 10
	var err error
	if len(line) <= copied {
		_, err = s.out.Write(append(line[:len(line):len(line)], '\n'))
	} else if _, err = s.out.Write(line); err == nil {
		_, err = s.out.Write([]byte{'\n'})
	}
	if err != nil {
		return fmt.Errorf("writing to the MCP %s: %w", s.name, err)
	}
	return nil
}

// state is how far a request has come.
type state int

const (
	undecided state = iota // the set is still to decide
	forwarded              // the server has it
	answering              // its response is on the way to the client
)

// call is a request of the client.
type call struct {
	id     id
	rawID  json.RawMessage
	method string
	state  state

	// Of a tool call:
	message *message
	params  object
	tool    string // as extensions know it
	callID  string
	input   json.RawMessage
	ctx     context.Context // ends when the client cancels; the call's own, which outlives no Run
	cancel  context.CancelFunc
}

// New makes a proxy for one [Proxy.Run].
func New(cfg Config) *Proxy {
	return &Proxy{cfg: cfg, queue: make(chan *call, maxWaiting), pending: map[id]*call{}, asks: newAsks()}
}

func (p *Proxy) note(format string, args ...any) {
	if p.cfg.Note == nil {
		return
	}
	p.noting.Lock()
	defer p.noting.Unlock()
	p.cfg.Note(p.cfg.Printable(fmt.Sprintf(format, args...)))
}

// Run passes messages on until a side ends. The end of the client's input is no error: requests under way have 5 s more. The
// caller ends the server then. When the server's output ends first, every request that waits is answered with
// an error, and the error is [ErrServerEnded]. Run does not close the streams: a reader that cannot be interrupted stays
// behind until its stream is closed.
func (p *Proxy) Run(ctx context.Context, e Engine, client, server Stream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.engine = e
	p.client.name, p.client.out = "client", client.Out
	p.server.name, p.server.out = "server", server.Out
	fromClient := p.pump("client", client.In, func(line []byte) error { return p.fromClient(ctx, line) })
	fromServer := p.pump("server", server.In, func(line []byte) error { return p.fromServer(ctx, line) })
	p.handling.Add(1)
	go func() {
		defer p.handling.Done()
		p.calls(ctx)
	}()
	var err error
	select {
	case err = <-fromClient:
		if err != nil {
			break
		}
		select {
		case <-p.drained():
		case err = <-fromServer:
			if err == nil && p.waiting() {
				err = ErrServerEnded
			}
		case <-ctx.Done():
		case <-time.After(drain):
		}
	case err = <-fromServer:
		if err == nil {
			err = ErrServerEnded
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	cancel()
	p.end(err)
	return err
}

// pump reads the messages of one side. The error is nil at its end.
func (p *Proxy) pump(name string, in io.Reader, each func(line []byte) error) <-chan error {
	done := make(chan error, 1)
	go func() {
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(r)
			switch {
			case errors.Is(err, io.EOF):
				err = nil
			case err != nil:
				err = fmt.Errorf("reading from the MCP %s: %w", name, err)
			case len(line) == 0:
				continue
			case p.begin():
				err = each(line)
				p.handling.Done()
				if err == nil {
					continue
				}
			}
			done <- err
			return
		}
	}()
	return done
}

// drained is closed when nothing is pending any more.
func (p *Proxy) drained() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = make(chan struct{})
	if len(p.pending) == 0 {
		close(p.idle)
	}
	return p.idle
}

// waiting says whether a request is without a response.
func (p *Proxy) waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending) > 0
}

// forget takes a request off those that wait, when the client has its response or wants none.
func (p *Proxy) forget(c *call) {
	if c.cancel != nil {
		c.cancel()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending[c.id] != c {
		return
	}
	if delete(p.pending, c.id); p.idle != nil && len(p.pending) == 0 {
		close(p.idle)
	}
}

// begin says that a message may be handled; p.handling.Done ends it.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.handling.Add(1)
	}
	return !p.ended
}

// end answers what waits, and takes nothing more.
func (p *Proxy) end(why error) {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	handled := make(chan struct{})
	go func() {
		p.handling.Wait()
		close(handled)
	}()
	select {
	case <-handled:
	case <-time.After(drain): // a side that takes nothing more
	}
	p.mu.Lock()
	waiting := p.pending
	p.pending, p.idle = map[id]*call{}, nil
	p.mu.Unlock()
	if why == nil {
		return
	}
	for _, which := range slices.Sorted(maps.Keys(waiting)) {
		c := waiting[which]
		if c.state == answering {
			continue
		}
		if p.client.write(failure(c.rawID, jsonrpc.CodeInternalError, p.cfg.Printable("weir mcp: "+why.Error()))) != nil {
			return // the client is gone as well
		}
	}
}

// fromClient handles a line of the client. The error is that of a broken pipe.
func (p *Proxy) fromClient(ctx context.Context, line []byte) error {
	list, err := batch(line)
	if err != nil {
		return p.client.write(failure(nil, jsonrpc.CodeParseError, "weir mcp: "+err.Error()))
	}
	for _, raw := range list {
		if err := p.clientMessage(ctx, raw); err != nil {
			return err
		}
	}
	return nil
}

func (p *Proxy) clientMessage(ctx context.Context, raw []byte) error {
	m, err := parseMessage(raw)
	if err != nil {
		var rawID json.RawMessage
		if m != nil && m.id != "" {
			rawID = m.object["id"]
		}
		return p.client.write(failure(rawID, jsonrpc.CodeInvalidRequest, p.cfg.Printable("weir mcp does not pass the message on: "+err.Error())))
	}
	switch {
	case m.isResponse():
		if p.asks.answered(m) {
			return nil
		}
	case m.isRequest():
		return p.request(ctx, m)
	case m.method == "notifications/cancelled":
		if p.cancelled(m) {
			return nil
		}
	case m.method == "tools/call" || m.method == "tasks/result":
		p.note("a %s of the client without an id was dropped", m.method)
		return nil
	}
	return p.server.write(m.raw)
}

// request handles a request of the client.
func (p *Proxy) request(ctx context.Context, m *message) error {
	c := &call{id: m.id, rawID: m.object["id"], method: m.method, message: m}
	refuse := func(code int64, why string) error {
		return p.client.write(failure(c.rawID, code, p.cfg.Printable("weir mcp: "+why)))
	}
	switch m.method {
	case "tasks/result":
		return refuse(jsonrpc.CodeMethodNotFound, "results of tasks are not passed on, since extensions would not see them")
	case "initialize":
		p.asks.learn(m.object["params"])
	case "tools/call":
		if err := c.parse(p.cfg.Server); err != nil {
			return p.client.write(p.block(c.rawID, "weir mcp blocked the call: "+err.Error()))
		}
		c.ctx, c.cancel = context.WithCancel(ctx)
	}
	p.mu.Lock()
	_, twice := p.pending[c.id]
	full, ended := len(p.pending) >= maxWaiting, p.ended
	if !twice && !full && !ended {
		p.pending[c.id] = c
		if c.ctx == nil {
			c.state = forwarded
		}
	}
	p.mu.Unlock()
	if c.cancel != nil && (twice || full || ended) {
		c.cancel()
	}
	switch {
	case ended:
		return nil // Run answers nothing more
	case twice:
		return refuse(jsonrpc.CodeInvalidRequest, "another request with this id is without an answer")
	case full:
		return refuse(jsonrpc.CodeInternalError, fmt.Sprintf("%d requests are without an answer", maxWaiting))
	case c.ctx == nil:
		return p.server.write(m.raw)
	}
	select {
	case p.queue <- c:
		return nil
	default: // calls that were cancelled keep their places until their turn
		p.forget(c)
		return p.client.write(p.block(c.rawID, fmt.Sprintf("weir mcp blocked the call: %d calls wait for the set", maxWaiting)))
	}
}

// parse reads the parameters of a tool call.
func (c *call) parse(server string) error {
	var err error
	if c.params, err = parseObject(c.message.object["params"], "name", "arguments", "_meta", "task"); err != nil {
		return fmt.Errorf("the parameters cannot be read: %w", err)
	}
	name, ok := c.params.text("name")
	if !ok || name == "" {
		return errors.New("it names no tool")
	}
	if _, ok := c.params["task"]; ok {
		return errors.New("it is to run as a task, whose result extensions would not see; call it without")
	}
	c.tool, c.input, c.callID = "mcp__"+server+"__"+name, json.RawMessage("{}"), string(c.id[1:])
	if raw, ok := c.params["arguments"]; ok && string(raw) != "null" {
		if _, err := parseObject(raw); err != nil {
			return fmt.Errorf("the arguments cannot be read: %w", err)
		}
		c.input = raw
	}
	return nil
}

// cancelled handles a cancellation. It returns true when the server must not hear of it: it has not got the call.
func (p *Proxy) cancelled(m *message) bool {
	params, err := parseObject(m.object["params"], "requestId")
	if err != nil {
		return false // it cancels nothing that can be told
	}
	raw, ok := params["requestId"]
	if !ok {
		return false
	}
	which, err := parseID(raw)
	if err != nil {
		return false
	}
	p.mu.Lock()
	c, ok := p.pending[which]
	unheard := ok && c.state == undecided
	p.mu.Unlock()
	if ok {
		p.forget(c) // no response is due to a request that was cancelled; one that comes is dropped
	}
	return unheard
}

// calls puts tool calls to the set, in order, until ctx ends.
func (p *Proxy) calls(ctx context.Context) {
	for {
		select {
		case c := <-p.queue:
			p.call(c)
		case <-ctx.Done():
			return
		}
	}
}

// call decides about a tool call and passes it on, or answers it.
func (p *Proxy) call(c *call) {
	reason, line := p.decide(c)
	p.mu.Lock()
	live := p.pending[c.id] == c && c.ctx.Err() == nil
	switch {
	case !live:
	case line != nil:
		c.state = forwarded
	default:
		c.state = answering
	}
	p.mu.Unlock()
	switch {
	case !live:
		c.cancel() // cancelled: no answer is due; or Run ends, and answers
	case line != nil:
		if err := p.server.write(line); err != nil {
			p.note("the server takes no call: %v", err) // its output ends too, and then all that waits is answered
		}
	default:
		p.forget(c)
		if err := p.client.write(p.block(c.rawID, reason)); err != nil {
			p.note("the client takes no answer: %v", err) // its input ends too
		}
	}
}

// decide gives the line for the server, or the reason why there is none. A panic blocks.
func (p *Proxy) decide(c *call) (reason string, line []byte) {
	defer func() {
		if v := recover(); v != nil {
			reason, line = fmt.Sprintf("weir could not decide, so this is blocked: internal error: %v", v), nil
		}
	}()
	d := p.engine.ToolCall(c.ctx, wire.ToolCallEvent{ToolName: c.tool, ToolCallID: c.callID, Input: c.input}, nil)
	if d.Block {
		if d.Reason == "" {
			d.Reason = "blocked by weir"
		}
		return d.Reason, nil
	}
	if len(d.Rewritten) == 0 {
		return "", c.message.raw
	}
	if _, err := parseObject(d.Input); err != nil {
		return fmt.Sprintf("the rewritten arguments cannot be passed on, so the call is blocked: %v", err), nil
	}
	c.input, c.params["arguments"] = d.Input, encode(d.Input)
	c.message.object["params"] = c.params.encode()
	return "", c.message.object.encode()
}

// fromServer handles a line of the server. The error is that of a broken pipe.
func (p *Proxy) fromServer(ctx context.Context, line []byte) error {
	list, err := batch(line)
	if err != nil {
		p.note("a line of the server was dropped: %v", err)
		return nil
	}
	for _, raw := range list {
		m, err := parseMessage(raw)
		if err != nil {
			p.note("a message of the server was dropped: %v", err)
			continue
		}
		out := m.raw
		var c *call
		if m.isResponse() {
			if c = p.answered(m); c == nil {
				p.note("a response of the server to nothing that waits for one was dropped (id %.80s)", m.object["id"])
				continue
			}
			if c.ctx != nil {
				out = p.safeResult(ctx, c, m)
			}
		}
		if c != nil {
			p.forget(c) // before the client can use the id again; Run waits for the line nevertheless
		}
		if err := p.client.write(out); err != nil {
			return err
		}
	}
	return nil
}

// answered is the request that a response is to; nil when none waits for it.
func (p *Proxy) answered(m *message) *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.pending[m.id]
	if !ok || c.state != forwarded {
		return nil
	}
	c.state = answering
	return c
}

// safeResult is result, with a panic as a result that is withheld.
func (p *Proxy) safeResult(ctx context.Context, c *call, m *message) (line []byte) {
	defer func() {
		if v := recover(); v != nil {
			line = p.block(c.rawID, fmt.Sprintf("The result of this call was withheld: internal error: %v", v))
		}
	}()
	return p.result(ctx, c, m)
}

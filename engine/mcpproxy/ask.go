package mcpproxy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"weir/engine"
)

// askTimeout is how long a person has for an answer. No answer is a no.
const askTimeout = 10 * time.Minute

// asks are the questions that wait for an answer of the client.
type asks struct {
	prefix string // of the ids: a server cannot guess it

	mu      sync.Mutex
	can     bool // the client said that it can put questions to a person
	n       int
	waiting map[id]chan *message
}

func newAsks() asks {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return asks{prefix: "weir-" + hex.EncodeToString(b[:]) + "-", waiting: map[id]chan *message{}}
}

// learn reads from the parameters of initialize whether the client can ask.
func (a *asks) learn(params json.RawMessage) {
	var p struct {
		Capabilities struct {
			Elicitation map[string]json.RawMessage `json:"elicitation"`
		} `json:"capabilities"`
	}
	can := json.Unmarshal(params, &p) == nil && p.Capabilities.Elicitation != nil
	if can && len(p.Capabilities.Elicitation) > 0 { // without a mode named, forms are meant
		_, can = p.Capabilities.Elicitation["form"]
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.can = can
}

// answered takes a response to a question of ours. It returns false for any other.
func (a *asks) answered(m *message) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait, ok := a.waiting[m.id]
	if ok {
		delete(a.waiting, m.id)
		wait <- m
	}
	return ok || strings.HasPrefix(string(m.id), "s"+a.prefix) // late: nobody waits any more
}

// Ask puts questions to the client's person, by an elicitation: engine.Config.Ask. Without a client that can, or an answer in
// 10 minutes, it is engine.ErrNoPerson; anything but an explicit yes is a no.
func (p *Proxy) Ask(ctx context.Context, questions []engine.Question) (bool, error) {
	a := &p.asks
	a.mu.Lock()
	if !a.can {
		a.mu.Unlock()
		return false, engine.ErrNoPerson
	}
	a.n++
	text := fmt.Sprintf("%s%d", a.prefix, a.n)
	wait := make(chan *message, 1)
	a.waiting[id("s"+text)] = wait
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.waiting, id("s"+text))
	}()
	if err := p.client.write(p.question(text, questions)); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	select {
	case m := <-wait:
		return isYes(m), nil
	case <-ctx.Done():
		p.withdraw(text)
		return false, engine.ErrNoPerson
	}
}

// question is the request that asks.
func (p *Proxy) question(requestID string, questions []engine.Question) []byte {
	var says []string
	for _, q := range questions {
		says = append(says, fmt.Sprintf("%s asks: %s", q.Extension, q.Title))
		if q.Message != "" {
			says = append(says, q.Message)
		}
		says = append(says, fmt.Sprintf("%s %.400s", q.Tool, q.Input))
	}
	return object{
		"jsonrpc": json.RawMessage(`"2.0"`), "id": encode(requestID), "method": json.RawMessage(`"elicitation/create"`),
		"params": object{
			"message": encode(p.cfg.Printable(strings.Join(says, "\n"))),
			"requestedSchema": json.RawMessage(`{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow the call",` +
				`"description":"Whether the tool may be called"}},"required":["allow"]}`),
		}.encode(),
	}.encode()
}

// withdraw tells the client that the answer is not waited for any more.
func (p *Proxy) withdraw(requestID string) {
	line := object{
		"jsonrpc": json.RawMessage(`"2.0"`), "method": json.RawMessage(`"notifications/cancelled"`),
		"params": object{"requestId": encode(requestID), "reason": json.RawMessage(`"the call was cancelled, or the time is up"`)}.encode(),
	}.encode()
	if err := p.client.write(line); err != nil {
		p.note("the client takes no message: %v", err) // its input ends too
	}
}

// isYes says whether a response agrees.
func isYes(m *message) bool {
	result, err := parseObject(m.object["result"], "action", "content")
	if err != nil {
		return false
	}
	content, err := parseObject(result["content"], "allow")
	action, _ := result.text("action")
	return err == nil && action == "accept" && string(content["allow"]) == "true"
}

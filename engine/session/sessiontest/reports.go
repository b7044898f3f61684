package sessiontest

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"

	"weir/agentcore/agentcoretest"
	"weir/engine/session"
	"weir/wasmhost"
)

// reports is the store of a guest, through which it reports and waits: see the package of the guest. All else that the
// guest keeps there is kept.
type reports struct {
	world *World
	who   string      // the observer
	def   *HandlerDef // nil for a command or tool
	kept  wasmhost.Store

	mu      sync.Mutex
	control *session.Control
	aborts  []agentcoretest.Action
}

// begin is called before a call of the guest, done after it. The guest holds the session of now, also when there is
// another one before it is done.
func (r *reports) begin() (done func()) {
	control := r.world.session().Control()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.control = control
	return func() {
		r.mu.Lock()
		aborts := r.aborts
		r.aborts = nil
		r.mu.Unlock()
		for _, a := range aborts {
			if err := r.act(map[string]any{"control": control}, a); err != nil {
				r.world.Kit.Fail(err)
			}
		}
	}
}

// Get implements [wasmhost.Store].
func (r *reports) Get(key string) (string, bool, error) {
	switch what, arg, _ := strings.Cut(key, "/"); what {
	case "wait":
		return "", false, r.act(nil, agentcoretest.Action{"do": "wait", "gate": arg})
	case "tick":
		ms, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			return "", false, err
		}
		return "", false, r.act(nil, agentcoretest.Action{"do": "tick", "ms": ms})
	}
	return r.kept.Get(key)
}

// Set implements [wasmhost.Store].
func (r *reports) Set(key, value string) error {
	switch key {
	case "record":
		return r.record(json.RawMessage(value))
	case "note":
		return r.act(nil, agentcoretest.Action{"do": "note", "text": value})
	case "open":
		return r.act(nil, agentcoretest.Action{"do": "open", "gate": value})
	case "session":
		return r.session(json.RawMessage(value))
	}
	return r.kept.Set(key, value)
}

func (r *reports) record(value json.RawMessage) error {
	event, ok := agentcoretest.Decode(value).(Object)
	if !ok || r.def == nil {
		return errors.New("only a handler records an event, which is an object")
	}
	var extra Object
	if r.def.State {
		extra = Object{"state": r.world.state()}
	}
	r.world.Kit.RecordEvent(&agentcoretest.ListenerDef{Name: r.who, Record: r.def.Record}, scrubbed(event), extra)
	return nil
}

// session does what an extension may do to its session. It stands in for the capability session. What aborts waits until the
// guest's call is over: a call ends with the run that it is for, and what the guest still decides would count for nothing.
func (r *reports) session(value json.RawMessage) error {
	call, _ := agentcoretest.Decode(value).(Object)
	a, _ := call["action"].(Object)
	r.mu.Lock()
	values := map[string]any{"control": r.control}
	if do := a["do"]; do == "ctx.abort" || do == "abortCompaction" {
		r.aborts = append(r.aborts, a)
		r.mu.Unlock()
		return nil
	}
	r.mu.Unlock()
	if prompt, ok := call["systemPrompt"].(string); ok {
		values["systemPrompt"] = prompt
	}
	return r.act(values, agentcoretest.Action(a))
}

// act performs one action for the guest.
func (r *reports) act(values map[string]any, a agentcoretest.Action) error {
	sc := &agentcoretest.Scope{Kit: r.world.Kit, Who: r.who, Event: Object{}, Values: values}
	_, err := sc.Run([]agentcoretest.Action{a})
	return err
}

// Delete implements [wasmhost.Store].
func (r *reports) Delete(key string) error { return r.kept.Delete(key) }

// Keys implements [wasmhost.Store].
func (r *reports) Keys() ([]string, error) { return r.kept.Keys() }

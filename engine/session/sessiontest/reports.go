package sessiontest

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"weir/agentcore/agentcoretest"
	"weir/wasmhost"
)

// reports is the store of a guest, through which it reports and waits: see the package of the guest. All else that the
// guest keeps there is kept.
type reports struct {
	world *World
	who   string      // the observer
	def   *HandlerDef // nil for a command or tool
	kept  wasmhost.Store
}

// Get implements [wasmhost.Store].
func (r *reports) Get(key string) (string, bool, error) {
	switch what, arg, _ := strings.Cut(key, "/"); what {
	case "wait":
		return "", false, r.act(agentcoretest.Action{"do": "wait", "gate": arg})
	case "tick":
		ms, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			return "", false, err
		}
		return "", false, r.act(agentcoretest.Action{"do": "tick", "ms": ms})
	}
	return r.kept.Get(key)
}

// Set implements [wasmhost.Store].
func (r *reports) Set(key, value string) error {
	switch key {
	case "record":
		return r.record(json.RawMessage(value))
	case "note":
		return r.act(agentcoretest.Action{"do": "note", "text": value})
	case "open":
		return r.act(agentcoretest.Action{"do": "open", "gate": value})
	case "trace":
		return r.trace(json.RawMessage(value))
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

// trace takes down what came of a call of the guest's.
func (r *reports) trace(value json.RawMessage) error {
	result, ok := agentcoretest.Decode(value).(Object)
	if !ok {
		return errors.New("what came of a call is an object")
	}
	normal, _ := r.world.Kit.Norm.Value(result).(Object)
	r.world.Kit.Trace(r.who, normal)
	return nil
}

// act performs one action for the guest.
func (r *reports) act(a agentcoretest.Action) error {
	sc := &agentcoretest.Scope{Kit: r.world.Kit, Who: r.who, Event: Object{}}
	_, err := sc.Run([]agentcoretest.Action{a})
	return err
}

// Delete implements [wasmhost.Store].
func (r *reports) Delete(key string) error { return r.kept.Delete(key) }

// Keys implements [wasmhost.Store].
func (r *reports) Keys() ([]string, error) { return r.kept.Keys() }

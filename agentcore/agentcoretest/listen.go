package agentcoretest

import (
	"context"
	"slices"

	"weir/agentcore"
)

// EventObject is an event as plain JSON values.
func EventObject(ev agentcore.Event) Object {
	raw, err := agentcore.AppendEvent(nil, ev)
	if err != nil {
		panic(err) // the thing under test made an event that is not JSON
	}
	object, _ := decode(raw).(Object)
	return object
}

// RecordEvent records a delivery the way the listener asks for.
func (k *Kit) RecordEvent(l *ListenerDef, event, extra Object) {
	kind, _ := event["type"].(string)
	if l.Record == "none" || l.Types != nil && !slices.Contains(l.Types, kind) {
		return
	}
	shown := event
	full := l.Record == nil || l.Record == "full"
	if list, ok := l.Record.([]any); ok {
		full = slices.Contains(list, any(kind))
	}
	if !full {
		shown = Brief(event)
	}
	record := Object{"event": k.Norm.Value(shown)}
	for key, v := range extra {
		record[key] = v
	}
	k.Trace(l.Name, record)
}

// Observer makes a listener that records and then runs the first rule that matches. state gives the record of the state
// for listeners that want it.
func (k *Kit) Observer(l *ListenerDef, state func(event Object) Object) agentcore.Listener {
	rules := NewRules(l.On)
	return func(ctx context.Context, ev agentcore.Event) error {
		event := EventObject(ev)
		extra := Object{}
		if l.State {
			extra["state"] = state(event)
		}
		if Aborted(ctx) {
			extra["aborted"] = true
		}
		k.RecordEvent(l, event, extra)
		var err error
		if rule := rules.Pick(event, ev.Type().String()); rule != nil {
			scope := &Scope{Kit: k, Who: l.Name, Event: event, Context: ctx}
			_, err = scope.Run(rule.Do)
		}
		k.Hold(ctx)
		return err
	}
}

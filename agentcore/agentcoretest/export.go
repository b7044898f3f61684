package agentcoretest

import (
	"context"
	"encoding/json"
	"time"
)

// ErrOver is what an action returns that was still waiting when the scenario ended.
var ErrOver = errOver

// Encode writes a plain JSON value; it panics on what cannot be written.
func Encode(v any) json.RawMessage { return encode(v) }

// Decode reads a plain JSON value; it panics on what is none.
func Decode(raw json.RawMessage) any { return decode(raw) }

// Clone is a deep copy of a plain JSON value.
func Clone(v any) any { return clone(v) }

// Same compares plain JSON values.
func Same(a, b any) bool { return same(a, b) }

// Truthy is JavaScript's idea of true.
func Truthy(v any) bool { return truthy(v) }

// ToActions reads a list of actions.
func ToActions(v any) []Action { return toActions(v) }

// Attempt performs actions that are started but not waited for, as JavaScript does with an asynchronous function: it returns
// when they are done, or when they wait. finished says which; err is what they threw.
func (k *Kit) Attempt(s *Scope, actions []Action) (finished bool, err error) {
	done := make(chan error, 1)
	k.Go(func() {
		_, err := s.Run(actions)
		done <- err
	})
	timer := time.NewTimer(time.Microsecond) // of virtual time: it ends when everything waits
	defer timer.Stop()
	select {
	case err := <-done:
		return true, err
	case <-timer.C:
		return false, nil
	}
}

// Is makes an error that is named like a browser's aborted request one for errors.Is too.
func (t *Thrown) Is(target error) bool {
	return t.Name == "AbortError" && target == context.Canceled
}

// SortedKeys are the keys of an object, in order.
func SortedKeys(o Object) []string { return sortedKeys(o) }

// FullUsage is a usage as a script gives it, with the counts that it leaves out.
func FullUsage(v any) (any, error) {
	var raw json.RawMessage
	if v != nil {
		raw = encode(v)
	}
	usage, err := scriptedUsage(raw)
	return Value(usage), err
}

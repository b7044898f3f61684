package agentcoretest

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ActionFunc performs one action. It returns when the action is done; an error is what JavaScript would throw.
type ActionFunc func(s *Scope, a Action) error

// Scope is what a list of actions runs in.
type Scope struct {
	Kit *Kit
	// Who is the observer that the actions act for.
	Who string
	// Event is what the actions see and may change.
	Event any
	// Context is the signal in scope; nil falls back to the active run's.
	Context context.Context
	// Update is a tool's callback for partial results.
	Update func(result any) error
	// Values are the layer's own things, such as the extension API.
	Values map[string]any
	// Assigned are the top-level fields of the event that "set" replaced: in JavaScript that differs from changing in
	// place what they held.
	Assigned map[string]bool

	// later are updates whose gate was open when they were registered: they come when the list next waits or ends.
	later []func()
}

func (s *Scope) flush() {
	later := s.later
	s.later = nil
	for _, f := range later {
		f()
	}
}

// Result is how a list of actions ended.
type Result struct {
	Returned bool
	Value    any
}

// Thrown is an error that an action threw.
type Thrown struct {
	// Value is what was thrown if it was not an Error.
	Value   any
	IsError bool
	Message string
	// Name is the error's name, such as "AbortError".
	Name string
}

// Error implements error.
func (t *Thrown) Error() string { return t.Message }

// Run performs the actions in order, up to a return.
func (s *Scope) Run(actions []Action) (Result, error) {
	for _, a := range actions {
		if a.Do() == "return" {
			v, err := s.Eval(a["value"])
			if err != nil {
				return Result{}, err
			}
			return Result{Returned: true, Value: v}, nil
		}
		if err := s.do(a); err != nil {
			return Result{}, err
		}
	}
	return Result{}, nil
}

func (s *Scope) do(a Action) error {
	switch a.Do() {
	case "wait", "tick", "awaitAbort", "join":
		s.flush()
	}
	act, ok := s.Kit.World.Actions[a.Do()]
	if !ok {
		act, ok = s.Kit.control[a.Do()]
	}
	if !ok {
		err := fmt.Errorf("%s: unknown action %q", s.Who, a.Do())
		s.Kit.Fail(err)
		return err
	}
	err := act(s, a)
	var thrown *Thrown
	if err != nil && !errors.As(err, &thrown) && !errors.Is(err, errOver) {
		err = fmt.Errorf("%s: action %q: %w", s.Who, a.Do(), err)
		s.Kit.Fail(err)
	}
	return err
}

// Signal is the context in scope, or nil.
func (s *Scope) Signal() context.Context {
	if s.Context != nil {
		return s.Context
	}
	return s.Kit.World.Signal()
}

// yield marks a place where JavaScript would let others go on. Calls that were started and not awaited have run up to
// their own first such place and go on only now, when their starter reaches one. ctx is the scope's, or nil.
func (k *Kit) yield(ctx context.Context) {
	if ctx != nil {
		k.Hold(ctx)
	}
	k.Yield()
}

// Yield is such a place outside any run, as in the driver.
func (k *Kit) Yield() {
	k.mu.Lock()
	holds := k.holds
	k.holds = nil
	k.mu.Unlock()
	for _, hold := range holds {
		close(hold)
	}
}

type job struct {
	name string
	done chan struct{}
	out  Object
	// hold stops the run that the job has started at its first event, until the starter waits.
	hold chan struct{}
}

// Call performs an asynchronous call of the thing under test and records its outcome, at once or, with "as", when it
// is joined.
func (s *Scope) Call(name string, a Action, call func(ctx context.Context) (any, error)) error {
	k := s.Kit
	run := func(ctx context.Context) Object {
		v, err := call(ctx)
		if err != nil {
			return Object{"error": k.Norm.Text(err.Error())}
		}
		out := Object{"ok": true}
		if v != nil {
			out["value"] = k.Norm.Value(v)
			switch v.(type) {
			case Undefined:
				delete(out, "value")
			case Null:
				out["value"] = nil
			}
		}
		return out
	}
	if as := a.Text("as"); as != "" {
		j := &job{name: name, done: make(chan struct{}), hold: make(chan struct{})}
		k.mu.Lock()
		k.jobs[as] = j
		k.holds = append(k.holds, j.hold)
		k.mu.Unlock()
		go func() {
			defer close(j.done)
			j.out = run(context.WithValue(k.ctx, holdKey{}, j.hold))
		}()
		k.settle()
		return nil
	}
	k.yield(s.Context)
	out := run(k.ctx)
	if a["quiet"] == true {
		return nil
	}
	out["call"] = name
	k.Trace(s.Who, out)
	return nil
}

// CallNow performs a synchronous call. An error is always recorded, success only if record is set.
func (s *Scope) CallNow(name string, record bool, call func() (any, error)) {
	v, err := call()
	out := Object{"call": name}
	switch {
	case err != nil:
		out["error"] = s.Kit.Norm.Text(err.Error())
	case !record:
		return
	default:
		out["ok"] = true
		if _, undefined := v.(Undefined); !undefined {
			out["value"] = s.Kit.Norm.Value(v)
		}
	}
	s.Kit.Trace(s.Who, out)
}

type holdKey struct{}

// Hold stops a run that a call with "as" has started, once, until the starter waits. The first listener calls it after
// its own actions on the first event.
func (k *Kit) Hold(ctx context.Context) {
	hold, ok := ctx.Value(holdKey{}).(chan struct{})
	if !ok {
		return
	}
	select {
	case <-hold:
	case <-k.closed:
	}
}

// controlActions are the actions that every layer has.
func controlActions() map[string]ActionFunc {
	return map[string]ActionFunc{
		"open": func(s *Scope, a Action) error { s.Kit.Gates.Open(a.Text("gate")); return nil },
		"wait": func(s *Scope, a Action) error {
			s.Kit.yield(s.Context)
			return s.Kit.Gates.Wait(a.Text("gate"))
		},
		"throw": func(_ *Scope, a Action) error {
			if v, ok := a["value"]; ok {
				return &Thrown{Value: v, Message: text(v)}
			}
			return &Thrown{IsError: true, Message: a.Text("message"), Name: a.Text("name")}
		},
		"note": func(s *Scope, a Action) error { s.Kit.Trace(s.Who, Object{"note": a.Text("text")}); return nil },
		"state": func(s *Scope, a Action) error {
			s.Kit.Trace(s.Who, Object{"state": s.Kit.World.State(a["full"] == true)})
			return nil
		},
		"join":   join,
		"jitter": func(*Scope, Action) error { return nil },
		"seq": func(s *Scope, a Action) error {
			_, err := s.Run(a.Actions("actions"))
			s.Kit.yield(s.Context)
			return err
		},
		"tick": func(s *Scope, a Action) error {
			s.Kit.yield(s.Context)
			ms, _ := a["ms"].(float64)
			s.Kit.Tick(ms)
			return nil
		},
		"awaitAbort": func(s *Scope, _ Action) error {
			s.Kit.yield(s.Context)
			return s.awaitAbort()
		},
		"noteSignal": func(s *Scope, _ Action) error {
			var aborted any
			if ctx := s.Signal(); ctx != nil {
				aborted = Aborted(ctx)
			}
			s.Kit.Trace(s.Who, Object{"aborted": aborted})
			return nil
		},
		"retain": func(s *Scope, a Action) error {
			v, ok := get(s.Event, a.Text("path"))
			if !ok {
				v = Undefined{}
			}
			s.Kit.Keep(a.Text("as"), v)
			return nil
		},
		"dump": func(s *Scope, a Action) error {
			record := Object{"dump": a.Text("name")}
			if v, ok := s.Kit.Kept(a.Text("name")); ok {
				record["value"] = s.Kit.Norm.Value(v)
			}
			s.Kit.Trace(s.Who, record)
			return nil
		},
		"set": func(s *Scope, a Action) error {
			v, err := s.Eval(a["value"])
			if err != nil {
				return err
			}
			if path := a.Text("path"); !strings.Contains(path, ".") {
				if s.Assigned == nil {
					s.Assigned = make(map[string]bool)
				}
				s.Assigned[path] = true
			}
			return setPath(s.Event, a.Text("path"), v)
		},
		"delete": func(s *Scope, a Action) error { return deletePath(s.Event, a.Text("path")) },
		"push": func(s *Scope, a Action) error {
			v, err := s.Eval(a["value"])
			if err != nil {
				return err
			}
			return pushPath(s.Event, a.Text("path"), v)
		},
		"update": func(s *Scope, a Action) error {
			if s.Update == nil {
				return errors.New("only a tool can report updates")
			}
			v, err := s.Eval(a["result"])
			if err != nil {
				return err
			}
			return s.Update(v)
		},
		"updateLater": updateLater,
		"subscribe":   func(s *Scope, a Action) error { return s.Kit.World.Subscribe(a.Text("listener")) },
		"unsubscribe": func(s *Scope, a Action) error { s.Kit.World.Unsubscribe(a.Text("listener")); return nil },
	}
}

func join(s *Scope, a Action) error {
	k := s.Kit
	name := a.Text("name")
	k.mu.Lock()
	j := k.jobs[name]
	k.mu.Unlock()
	if j == nil {
		return fmt.Errorf("no call was started as %q", name)
	}
	k.yield(s.Context)
	select {
	case <-j.done:
	case <-k.closed:
		return errOver
	}
	record := Object{"joined": name, "call": j.name}
	for key, v := range j.out {
		record[key] = v
	}
	k.Trace(s.Who, record)
	return nil
}

func updateLater(s *Scope, a Action) error {
	if s.Update == nil {
		return errors.New("only a tool can report updates")
	}
	v, err := s.Eval(a["result"])
	if err != nil {
		return err
	}
	k, update := s.Kit, s.Update
	report := func() {
		if err := update(v); err != nil {
			k.Fail(err)
		}
		if gate := a.Text("open"); gate != "" {
			k.Gates.Open(gate)
		}
	}
	if k.Gates.IsOpen(a.Text("after")) {
		s.later = append(s.later, report)
		return nil
	}
	k.Go(func() {
		if k.Gates.Wait(a.Text("after")) == nil {
			report()
		}
	})
	return nil
}

// awaitAbort waits for an abort. The end of the run for another reason is none.
func (s *Scope) awaitAbort() error {
	ctx := s.Signal()
	if ctx == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		if Aborted(ctx) {
			return nil
		}
		<-s.Kit.closed
	case <-s.Kit.closed:
	}
	return errOver
}

// Keep remembers a value under a name.
func (k *Kit) Keep(name string, v any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[name] = v
}

// Kept is a value that was kept.
func (k *Kit) Kept(name string) (any, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.kept[name]
	if _, undefined := v.(Undefined); undefined {
		return nil, false
	}
	return v, ok
}

// Stamped is a message with a timestamp: its own or the clock's.
func (k *Kit) Stamped(message any) Object {
	object, _ := clone(message).(Object)
	if _, ok := object["timestamp"]; !ok {
		object["timestamp"] = float64(k.Now().UnixMilli())
	}
	return object
}

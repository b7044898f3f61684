package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"weir/agentcore"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Reload is what [Engine.Reload] is to do.
type Reload struct {
	// Set is what is to run from now on; nil names no extensions. It is to be read as for [Open], by set.Open say, which has the
	// managed layer in it. It must not be changed afterwards.
	Set *set.Set
	// Own are files that the set depends on and does not name, absolute: to facts they are weir's own, besides Config.Facts.Own.
	Own []string
	// Test, when it is not nil, is asked about each extension of the set that is new or changed, once all have loaded. It tries
	// the module out on its own; an error refuses the reload. It must not call the engine's Reload or Close.
	Test func(ctx context.Context, x *set.Extension) error
}

// Reloaded says what a reload changed, by the names of extensions, in the order of the set.
type Reloaded struct {
	// Changed are also those of which only the mode or on_error is another; and, if that is all, those whose place is.
	Added, Changed, Removed []string
	// Tools and Commands say that others are there than before, or that they describe themselves otherwise: the program must
	// then take those of [Engine.Tools] and [Engine.Commands] anew.
	Tools, Commands bool
	// ToolsGone are tools that nobody brings any longer, with what a later call of one is to be answered with.
	ToolsGone map[string]string
}

// Any says whether an extension was added, changed or removed.
func (r *Reloaded) Any() bool { return len(r.Added)+len(r.Changed)+len(r.Removed) > 0 }

// Reload loads a set in the place of the present one, while the session goes on. Modules that changed, and extensions with other
// settings, limits or grants, are compiled, described, checked against their settings and grants, and started; the others keep
// running as they are. If anything is wrong, nothing changes: the error, which is also logged, is like that of [Open] and names the
// file.
//
//  1. Everything is loaded and, if r says so, tested.
//  2. Guests that are about to go hear session_shutdown with the reason "reload", and then those that come in their place
//     session_start with that reason.
//  3. Events that begin from now on go through the new set. Those under way, a tool call with its rechecks and its question to a
//     person for example, end as they began, and so does a call of a guest's tool.
//  4. Old guests are closed, and their modules freed, when the last event that they are needed for has ended.
//
// A guest that is replaced starts anew: what it kept in variables is lost, what it kept with the grant kv is not. One of which only
// mode or on_error has changed goes on with its state.
//
// The set may not be looser where a higher layer has a say: see set.Set.CheckReload.
//
// Reloads run one at a time. Config.Reloads must be set. Call it once the session has begun, and do not announce it by
// session.Session.Reload as well.
func (e *Engine) Reload(ctx context.Context, r Reload) (Reloaded, error) {
	if !e.cfg.Reloads {
		return Reloaded{}, errors.New("engine: Reload needs Config.Reloads, so that the hooks of the next set are there")
	}
	e.loading.Lock()
	defer e.loading.Unlock()
	if e.closed {
		return Reloaded{}, wasmhost.ErrClosed
	}
	done, err := e.reload(ctx, r)
	if err != nil {
		e.logger.With("extension", "weir").Error(fmt.Sprintf("the reload was refused, and what was loaded stays: %v", err))
	}
	return done, err
}

func (e *Engine) reload(ctx context.Context, r Reload) (Reloaded, error) {
	before := e.lineup.Load()
	if err := r.Set.CheckReload(before.set); err != nil {
		return Reloaded{}, err
	}
	after, fresh, err := e.assemble(ctx, r.Set, slices.Clone(r.Own), before)
	if err != nil {
		return Reloaded{}, err
	}
	for _, m := range fresh {
		if err := r.try(ctx, m); err != nil {
			return Reloaded{}, errors.Join(fmt.Errorf("%s: %s: %w", m.source.Name, m.source.Module, err), after.drop(ctx))
		}
	}
	for _, m := range before.members {
		if next := after.find(m.ext.Name()); next == nil || next.ext != m.ext {
			e.say(ctx, before, m.ext, wire.SessionShutdownEvent{Reason: "reload"})
		}
	}
	for _, m := range fresh {
		e.say(ctx, after, m.ext, wire.SessionStartEvent{Reason: "reload"})
	}
	done := compareLineups(before, after)
	e.mu.Lock()
	e.replaced[before] = true
	e.mu.Unlock()
	e.lineup.Store(after)
	e.leave(ctx, before) // the engine's own hold
	return done, nil
}

// try says what speaks against an extension that has loaded.
func (r *Reload) try(ctx context.Context, m *member) error {
	if x, ok := m.ext.(*guestExtension); ok && !m.monitor {
		for i := range x.tools { // the program is to take them, and could not refuse them any more
			if _, err := agentcore.CompileSchema(x.tools[i].Parameters); err != nil {
				return fmt.Errorf("the tool %s: parameters: %w", x.tools[i].Name, err)
			}
		}
	}
	if r.Test == nil {
		return nil
	}
	return r.Test(ctx, m.source)
}

func compareLineups(before, after *lineup) Reloaded {
	var r Reloaded
	for _, m := range after.members {
		switch old := before.find(m.ext.Name()); {
		case old == nil:
			r.Added = append(r.Added, m.ext.Name())
		case old.ext != m.ext || old.monitor != m.monitor || old.onError != m.onError:
			r.Changed = append(r.Changed, m.ext.Name())
		}
	}
	for _, m := range before.members {
		if after.find(m.ext.Name()) == nil {
			r.Removed = append(r.Removed, m.ext.Name())
		}
	}
	if names := after.names(); !r.Any() && !slices.Equal(before.names(), names) {
		r.Changed = names
	}
	tools := func(x *guestExtension) any { return x.tools }
	commands := func(x *guestExtension) any { return x.commands }
	r.Tools = !reflect.DeepEqual(before.offered(tools), after.offered(tools))
	r.ToolsGone = toolsGone(before, after)
	r.Commands = !reflect.DeepEqual(before.offered(commands), after.offered(commands))
	return r
}

func toolsGone(before, after *lineup) map[string]string {
	var gone map[string]string
	for x := range before.bringers() {
		for i := range x.tools {
			name := x.tools[i].Name
			if after.brings(name) {
				continue
			}
			if gone == nil {
				gone = map[string]string{}
			}
			gone[name] = toolGone(x.name, name)
		}
	}
	return gone
}

// bringers are the guests whose tools and commands count: those that do more than monitor.
func (l *lineup) bringers() iter.Seq[*guestExtension] {
	return func(yield func(*guestExtension) bool) {
		for _, m := range l.members {
			if x, ok := m.ext.(*guestExtension); ok && !m.monitor && !yield(x) {
				return
			}
		}
	}
}

// brings says whether one of the extensions brings the tool.
func (l *lineup) brings(tool string) bool {
	for x := range l.bringers() {
		if slices.ContainsFunc(x.tools, func(t wire.ToolSpec) bool { return t.Name == tool }) {
			return true
		}
	}
	return false
}

func (l *lineup) names() []string {
	names := make([]string, len(l.members))
	for i, m := range l.members {
		names[i] = m.ext.Name()
	}
	return names
}

// offered is what the extensions that do more than monitor bring of a kind, each with the extension's name.
func (l *lineup) offered(kind func(*guestExtension) any) []any {
	var list []any
	for x := range l.bringers() {
		if reflect.ValueOf(kind(x)).Len() > 0 {
			list = append(list, x.name, kind(x))
		}
	}
	return list
}

package engine

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"weir/engine/set"
	"weir/engine/wire"
)

// Warnings says what in the set is probably not meant: nothing of it is wrong, but something of it can have no effect. tools are the
// names of the tools that there are without the extensions. The order is that of the set; each has its place in the file, or that of
// the module in it where the module itself says what is odd. Settings that equal a default are no warning.
func (e *Engine) Warnings(tools []string) []*set.Error {
	l := e.lineup.Load()
	w := &warner{builtin: tools, known: slices.Clone(tools)}
	for _, m := range l.members {
		if x, ok := m.ext.(*guestExtension); ok && m.source != nil {
			w.guests = append(w.guests, warned{m, x})
			for _, t := range x.tools {
				if !m.monitor {
					w.known = append(w.known, t.Name)
				}
			}
		}
	}
	for i := range w.guests {
		g := &w.guests[i]
		w.matchers(g)
		w.twice(i)
		w.names(i)
		w.grants(g)
		w.onError(g)
		w.monitor(g)
		w.pin(g)
	}
	return w.list
}

type warned struct {
	*member
	guest *guestExtension
}

type warner struct {
	builtin, known []string
	guests         []warned
	list           []*set.Error
}

func (w *warner) warn(g *warned, keys []string, hint, format string, args ...any) {
	text := fmt.Sprintf("extension %q: ", g.source.Name) + fmt.Sprintf(format, args...)
	w.list = append(w.list, g.source.At(keys...).Error("extension."+strings.Join(keys, "."), text, hint))
}

// matchers finds patterns that match no tool, and extensions that for this reason hear of nothing. A pattern with a star and a tool
// of an MCP server may be of a tool that is not here yet; and beside patterns that match, one that looks like no other name is for a
// tool of another agent.
func (w *warner) matchers(g *warned) {
	d := g.guest.describe
	alive := len(d.Tools)+len(d.Commands) > 0 || d.Decisions != nil
	for i := range d.Hooks {
		h := &d.Hooks[i]
		if h.Tools == nil {
			alive = true
			continue
		}
		matches := func(pattern string) bool {
			return strings.Contains(pattern, "*") || strings.HasPrefix(pattern, "mcp__") || slices.Contains(w.known, pattern)
		}
		some := slices.ContainsFunc(h.Tools, matches)
		alive = alive || some
		for _, pattern := range h.Tools {
			hint := nearestHint(pattern, w.known)
			if matches(pattern) || some && hint == "" {
				continue
			}
			if hint == "" {
				hint = "there are " + strings.Join(w.known, ", ") + "; correct it in weir_describe, unless it is a tool of another agent"
			}
			w.warn(g, []string{"module"}, hint, "its hook %s is for the tool %q, and there is no such tool", h.Event, pattern)
		}
	}
	if !alive {
		w.warn(g, []string{"module"}, "remove it, or correct what the module says in weir_describe", "it can never be asked anything: it has no hook that an event could reach, no tool and no command")
	}
}

// twice finds an extension that does what one before it does.
func (w *warner) twice(i int) {
	g := &w.guests[i]
	for _, other := range w.guests[:i] {
		a, b := other.source, g.source
		if other.guest.module.Digest() == g.guest.module.Digest() && bytes.Equal(a.Config, b.Config) && reflect.DeepEqual(a.Grant, b.Grant) && a.Mode == b.Mode && a.OnError == b.OnError {
			w.warn(g, []string{"module"}, "remove one of them, or give it other settings", "it is the same module with the same settings as %q%s", a.Name, at(a))
			return
		}
	}
}

// at says where another extension stands.
func at(x *set.Extension) string {
	if x.Pos.String() == "" {
		return ""
	}
	if x.Source == set.LayerUnset {
		return " at " + x.Pos.String()
	}
	return fmt.Sprintf(" at %s (%s layer)", x.Pos, x.Source)
}

// names finds tools and commands that somebody else has the name of. Two extensions with one tool do not load.
func (w *warner) names(i int) {
	g := &w.guests[i]
	if g.monitor {
		return
	}
	for _, t := range g.guest.tools {
		if slices.Contains(w.builtin, t.Name) {
			w.warn(g, []string{"module"}, "give it another name", "it brings a tool %q, which takes the place of the built-in one", t.Name)
		}
	}
	for _, c := range g.guest.commands {
		for _, other := range w.guests[:i] {
			if !other.monitor && slices.ContainsFunc(other.guest.commands, func(o wire.CommandSpec) bool { return o.Name == c.Name }) {
				w.warn(g, []string{"module"}, "give it another name", "it brings the command /%s, which %q%s brings too: they are called /%s:1 and /%s:2", c.Name, other.source.Name, at(other.source), c.Name, c.Name)
				break
			}
		}
	}
}

// grants finds what is granted and not used: a module can use only what it imports.
func (w *warner) grants(g *warned) {
	imports := func(names ...string) bool {
		for _, i := range g.guest.module.Summary().Imports {
			if i.Module == "wasi_snapshot_preview1" && slices.Contains(names, i.Name) {
				return true
			}
		}
		return false
	}
	used := g.guest.module.Capabilities()
	for _, name := range g.source.Grant.Names() {
		uses := slices.Contains(used, name)
		switch name {
		case "read":
			// What resources_discover names is read for it only with this grant.
			uses = slices.Contains(used, "file") || g.guest.hooks[wire.EventResourcesDiscover] != nil
		case "clock":
			uses = imports("clock_time_get", "clock_res_get", "poll_oneoff")
		case "random":
			uses = imports("random_get")
		}
		if !uses {
			w.warn(g, []string{"grant", name}, "remove the line", "it is granted %s, which the module does not use", name)
		}
	}
}

// onError finds an on_error that changes nothing.
func (w *warner) onError(g *warned) {
	d := g.guest.describe
	key := []string{"on_error"}
	tightens := d.Decisions != nil
	var demanded []string
	if d.Decisions != nil && d.Decisions.Block {
		demanded = append(demanded, "decisions")
	}
	for i := range d.Hooks {
		tightens = tightens || kindOf(d.Hooks[i].Event).OnFault == FaultTighten
		if d.Hooks[i].Block {
			demanded = append(demanded, d.Hooks[i].Event.String())
		}
	}
	switch {
	case g.onError == set.OnErrorBlock && g.monitor:
		w.warn(g, key, `remove it, or write mode = "enforce"`, `on_error has no effect with mode = "monitor": a fault changes nothing`)
	case g.onError == set.OnErrorBlock && !tightens:
		w.warn(g, key, "remove it", "on_error = \"block\" has no effect: a fault of its hooks (%s) blocks anyway, or has nothing to block", strings.Join(d.HookNames(), ", "))
	case g.onError == set.OnErrorIsolate && len(demanded) > 0 && !g.monitor:
		w.warn(g, key, "remove it", "on_error = \"isolate\" has no effect for %s: the module itself demands that a fault blocks", strings.Join(demanded, ", "))
	}
}

// monitor finds tools and commands that are missing because the extension only monitors.
func (w *warner) monitor(g *warned) {
	if !g.monitor || len(g.guest.tools)+len(g.guest.commands) == 0 {
		return
	}
	var names []string
	for _, t := range g.guest.tools {
		names = append(names, t.Name)
	}
	for _, c := range g.guest.commands {
		names = append(names, "/"+c.Name)
	}
	w.warn(g, []string{"mode"}, `write mode = "enforce" to have them`, "what it brings is left out with mode = \"monitor\": %s", strings.Join(names, ", "))
}

// pin finds a managed module that whoever can write its file may replace.
func (w *warner) pin(g *warned) {
	if _, bundled := g.source.Bundled(); bundled || g.source.Source != set.LayerManaged || g.source.SHA256 != "" {
		return
	}
	w.warn(g, []string{"module"}, fmt.Sprintf("pin it: sha256 = %q", g.guest.module.Digest()), "the module of a managed extension is not pinned: whoever can write its file decides what is enforced")
}

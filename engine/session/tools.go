package session

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"weir/agentcore"
	"weir/wasmhost"
)

// toolbox is the tools that there are, and which of them the model is offered.
type toolbox struct {
	changing sync.Mutex // held until the agent has what was changed, so that of two changes the later one counts

	mu     sync.Mutex
	all    []*agentcore.Tool
	active []string
	gone   map[string]string // what a call of a tool that was taken out is answered with, by name
}

func (b *toolbox) init(tools []*agentcore.Tool) {
	for _, t := range tools {
		if t != nil {
			b.all = append(b.all, b.wrap(t))
			b.active = append(b.active, t.Name)
		}
	}
}

// current are the tools that are offered.
func (b *toolbox) current() []*agentcore.Tool {
	b.mu.Lock()
	defer b.mu.Unlock()
	tools := make([]*agentcore.Tool, 0, len(b.active))
	for _, name := range b.active {
		if i := b.find(name); i >= 0 {
			tools = append(tools, b.all[i])
		}
	}
	return tools
}

// find is called with b.mu held.
func (b *toolbox) find(name string) int {
	return slices.IndexFunc(b.all, func(t *agentcore.Tool) bool { return t.Name == name })
}

func (b *toolbox) names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.active...)
}

// list describes all tools.
func (b *toolbox) list() []wasmhost.SessionTool {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]wasmhost.SessionTool, len(b.all))
	for i, t := range b.all {
		list[i] = wasmhost.SessionTool{Name: t.Name, Description: t.Description, Active: slices.Contains(b.active, t.Name)}
	}
	return list
}

func (b *toolbox) setActive(names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active = nil
	for _, name := range names {
		if b.find(name) >= 0 && !slices.Contains(b.active, name) {
			b.active = append(b.active, name)
		}
	}
}

// replace takes tools out and puts others in. One that takes the place of another is active if that was.
func (b *toolbox) replace(out map[string]string, in []*agentcore.Tool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.active, b.gone = slices.Clone(b.all), slices.Clone(b.active), maps.Clone(b.gone)
	for name, why := range out {
		if b.find(name) < 0 {
			continue
		}
		b.all = slices.DeleteFunc(b.all, func(t *agentcore.Tool) bool { return t.Name == name })
		b.active = slices.DeleteFunc(b.active, func(n string) bool { return n == name })
		if b.gone == nil {
			b.gone = map[string]string{}
		}
		b.gone[name] = why
	}
	for _, t := range in {
		delete(b.gone, t.Name)
		if i := b.find(t.Name); i >= 0 {
			b.all[i] = b.wrap(t)
			continue
		}
		b.all = append(b.all, b.wrap(t))
		b.active = append(b.active, t.Name)
	}
}

// whyGone is what a call of a tool that was taken out is answered with; "" for any other.
func (b *toolbox) whyGone(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gone[name]
}

func (b *toolbox) register(t *agentcore.Tool) {
	t = b.wrap(t)
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.find(t.Name); i >= 0 {
		b.all = slices.Clone(b.all)
		b.all[i] = t
	} else {
		b.all = append(b.all, t)
	}
	if !slices.Contains(b.active, t.Name) {
		b.active = append(b.active, t.Name)
	}
}

// wrap has a tool's result name the tools that were made available while it ran, so that the model learns of them where it
// asked for them. When a tool was taken away meanwhile, the whole list changes anyway and nothing is named.
func (b *toolbox) wrap(t *agentcore.Tool) *agentcore.Tool {
	wrapped := *t
	wrapped.Execute = func(ctx context.Context, callID string, args json.RawMessage, update func(*agentcore.ToolResult)) (*agentcore.ToolResult, error) {
		before := b.names()
		result, err := t.Execute(ctx, callID, args, update)
		if err != nil || result == nil {
			return result, err
		}
		after := b.names()
		var added []string
		for _, name := range after {
			if !slices.Contains(before, name) {
				added = append(added, name)
			}
		}
		if len(added) == 0 || slices.ContainsFunc(before, func(name string) bool { return !slices.Contains(after, name) }) {
			return result, nil
		}
		named := *result
		named.AddedToolNames = added
		return &named, nil
	}
	return &wrapped
}

// ActiveTools are the names of the tools that the model is offered.
func (s *Session) ActiveTools() []string { return s.tools.names() }

// SetActiveTools offers the tools of these names, from the next turn on. Names that nobody has registered are left out.
func (s *Session) SetActiveTools(names []string) error {
	return s.changeTools(func() { s.tools.setActive(names) })
}

// RegisterTool adds a tool, or replaces the one of that name, and offers it from the next turn on. The errors are those of
// agentcore.New for tools; nothing is changed then.
func (s *Session) RegisterTool(t *agentcore.Tool) error {
	return s.changeTools(func() { s.tools.register(t) })
}

// ReplaceTools takes tools out and puts others in, from the next turn on: a turn ends with the tools that it began with. out
// says, by name, what a later call of a tool that is gone is answered with; names that there are none of do not count. A tool
// with the name of one that stays takes its place, and is offered if that was; any other one is offered. The errors are those of
// agentcore.New for tools; nothing is changed then.
func (s *Session) ReplaceTools(out map[string]string, in []*agentcore.Tool) error {
	return s.changeTools(func() { s.tools.replace(out, in) })
}

// changeTools gives the agent what change makes of the tools, or undoes it.
func (s *Session) changeTools(change func()) error {
	s.tools.changing.Lock()
	defer s.tools.changing.Unlock()
	before := s.tools.snapshot()
	change()
	if err := s.agent.SetTools(s.tools.current()); err != nil {
		s.tools.restore(before)
		return err
	}
	return nil
}

type toolSnapshot struct {
	all    []*agentcore.Tool
	active []string
	gone   map[string]string
}

func (b *toolbox) snapshot() toolSnapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return toolSnapshot{slices.Clip(b.all), slices.Clip(b.active), b.gone}
}

func (b *toolbox) restore(s toolSnapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.active, b.gone = s.all, s.active, s.gone
}

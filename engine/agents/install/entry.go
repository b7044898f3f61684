package install

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// entry is a handler of weir's in a configuration.
type entry struct {
	event   string
	group   map[string]any // what holds the handler, and its matcher; nil where handlers stand alone
	handler map[string]any
	line    string // as sh reads it
}

// line is the command line of a handler, as sh reads it; "" when it has none.
func (l *layout) line(handler map[string]any) string {
	line, _ := handler[l.command].(string)
	args, ok := handler["args"].([]any)
	if !ok || line == "" {
		return line
	}
	words := []string{quoteWord(line)} // with args there is no shell in between
	for _, a := range args {
		word, ok := a.(string)
		if !ok {
			return ""
		}
		words = append(words, quoteWord(word))
	}
	return strings.Join(words, " ")
}

// ours says whether a handler runs weir for the agent.
func (p *Place) ours(handler any) bool {
	h, ok := handler.(map[string]any)
	if !ok {
		return false
	}
	_, is := parseLine(p.layout.line(h), p.Agent.Name)
	return is
}

// oursIn says whether something in an event's list is weir's: the handler itself, or a group whose handlers are all weir's.
// mixed: some of the group's are.
func (p *Place) oursIn(element any) (all, mixed bool) {
	if !p.layout.nested {
		return p.ours(element), false
	}
	group, _ := element.(map[string]any)
	handlers, _ := group["hooks"].([]any)
	n := 0
	for _, h := range handlers {
		if p.ours(h) {
			n++
		}
	}
	return n > 0 && n == len(handlers), n > 0 && n < len(handlers)
}

// entries lists weir's handlers, by event in the agent's order, then those of events that weir does not ask for.
func (p *Place) entries(tree map[string]any) []entry {
	hooks, _ := tree["hooks"].(map[string]any)
	events := slices.Clone(p.layout.events)
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		if !slices.Contains(events, name) {
			events = append(events, name)
		}
	}
	var list []entry
	for _, event := range events {
		elements, _ := hooks[event].([]any)
		for _, e := range elements {
			top, _ := e.(map[string]any)
			group, handlers := map[string]any(nil), []any{e}
			if p.layout.nested {
				group = top
				handlers, _ = top["hooks"].([]any)
			}
			for _, h := range handlers {
				if p.ours(h) {
					handler, _ := h.(map[string]any) // ours made sure
					list = append(list, entry{event, group, handler, p.layout.line(handler)})
				}
			}
		}
	}
	return list
}

// without is a configuration without weir's handlers, and without what is empty then and holds nothing else. The tree is not
// changed.
func (p *Place) without(tree map[string]any) map[string]any {
	out := maps.Clone(tree)
	hooks, ok := tree["hooks"].(map[string]any)
	if !ok {
		return out
	}
	kept := map[string]any{}
	for event, value := range hooks {
		elements, ok := value.([]any)
		if !ok {
			kept[event] = value
			continue
		}
		var rest []any
		for _, e := range elements {
			all, mixed := p.oursIn(e)
			if all {
				continue
			}
			if mixed {
				group := maps.Clone(e.(map[string]any))
				group["hooks"] = slices.DeleteFunc(slices.Clone(group["hooks"].([]any)), p.ours)
				e = group
			}
			rest = append(rest, e)
		}
		if len(rest) > 0 {
			kept[event] = rest
		}
	}
	if out["hooks"] = kept; len(kept) == 0 {
		delete(out, "hooks")
	}
	return out
}

// prove says whether two versions of a file differ by weir's entries alone.
func (p *Place) prove(before, after []byte) error {
	old, err := p.parse(before)
	if err != nil {
		return err
	}
	changed, err := p.parse(after)
	if err != nil {
		return fmt.Errorf("the changed file could not be read again, so it was not written: %w", err)
	}
	a, b := p.without(old), p.without(changed)
	if p.layout.version {
		for _, tree := range []map[string]any{a, b} {
			if len(tree) == 1 && fmt.Sprint(tree["version"]) == "1" {
				delete(tree, "version") // a file of weir's alone
			}
			if _, ok := a["version"]; !ok {
				delete(b, "version") // added: the agent wants it
			}
		}
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%s: the change would have touched more than weir's entries, so it was not written", p.Path)
	}
	return nil
}

// wanted are the members of weir's handler, in order.
func (l *layout) wanted(line string) []field {
	members := slices.Clone(l.handler)
	at := 0 // after what comes before the command line: a name, a type
	for at < len(members) && (members[at].key == "name" || members[at].key == "type") {
		at++
	}
	return slices.Insert(members, at, field{l.command, line})
}

// element is what is put into the list of an event.
func (l *layout) element(line string) []field {
	if !l.nested {
		return l.wanted(line)
	}
	return []field{{"hooks", []any{l.wanted(line)}}}
}

// isWanted says whether an element that was read is the one that would be written.
func (l *layout) isWanted(element any, line string) bool {
	return reflect.DeepEqual(element, decoded(l.element(line)))
}

// decoded is a value as parsing it gives it.
func decoded(v any) any {
	switch v := v.(type) {
	case []field:
		m := map[string]any{}
		for _, f := range v {
			m[f.key] = decoded(f.value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = decoded(v[i])
		}
		return list
	case int:
		return int64(v)
	}
	return v
}

package agentcoretest

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Norm makes what differs from run to run equal: timestamps, ids, folders. Safe for concurrent use.
type Norm struct {
	// DefaultModel is left out of assistant messages: api, provider and id.
	DefaultModel Object
	// KeepUsage keeps the usage of assistant messages.
	KeepUsage bool
	// Replace are texts that stand for others, as pairs: from, to.
	Replace [][2]string
	// IsEntryID says whether a text is the id of a session entry; nil: none is.
	IsEntryID func(string) bool

	mu       sync.Mutex
	entries  map[string]string
	sessions map[string]string
}

var (
	sessionID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	sessionTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_`)
)

func (n *Norm) number(seen *map[string]string, raw, name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if *seen == nil {
		*seen = make(map[string]string)
	}
	if _, ok := (*seen)[raw]; !ok {
		(*seen)[raw] = fmt.Sprintf("<%s%d>", name, len(*seen)+1)
	}
	return (*seen)[raw]
}

// Text normalises a text.
func (n *Norm) Text(s string) string {
	for _, pair := range n.Replace {
		if pair[0] != "" {
			s = strings.ReplaceAll(s, pair[0], pair[1])
		}
	}
	s = sessionID.ReplaceAllStringFunc(s, func(id string) string { return n.number(&n.sessions, id, "session") })
	return sessionTime.ReplaceAllString(s, "<ts>_")
}

// Value normalises a JSON value; it returns a copy.
func (n *Norm) Value(v any) any { return n.value(v, "") }

func (n *Norm) value(v any, key string) any {
	switch v := v.(type) {
	case string:
		switch {
		case key == "timestamp":
			return "<ts>"
		case n.IsEntryID != nil && n.IsEntryID(v):
			return n.number(&n.entries, v, "e")
		default:
			return n.Text(v)
		}
	case float64:
		if key == "timestamp" {
			return "<ts>"
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = n.value(item, "")
		}
		return out
	case Object:
		return n.object(v)
	default:
		return v
	}
}

func (n *Norm) object(v Object) Object {
	out := make(Object, len(v))
	assistant := v["role"] == "assistant"
	// Ids are numbered in the order of their first sight, so the order of keys must not vary.
	for _, key := range sortedKeys(v) {
		item := v[key]
		if _, ok := item.(Undefined); ok {
			continue
		}
		if assistant && (key == "usage" && !n.KeepUsage || n.isDefault(key, item)) {
			continue
		}
		if key == "assistantMessageEvent" {
			if update, ok := item.(Object); ok && v["message"] != nil && same(update["partial"], v["message"]) {
				short := make(Object, len(update))
				for k, x := range update {
					short[k] = x
				}
				short["partial"] = "=message"
				item = short
			}
		}
		out[key] = n.value(item, key)
	}
	return out
}

func (n *Norm) isDefault(key string, value any) bool {
	switch key {
	case "model":
		return n.DefaultModel != nil && value == n.DefaultModel["id"]
	case "api", "provider":
		return n.DefaultModel != nil && value == n.DefaultModel[key]
	}
	return false
}

// Brief is the short form of an event.
func Brief(event Object) Object {
	out := make(Object, len(event))
	for key, v := range event {
		if key == "timestamp" {
			continue
		}
		switch x := v.(type) {
		case Undefined:
		case []any:
			switch key {
			case "steering", "followUp":
				out[key] = x
			case "messages":
				out[key] = pluck(x, "role")
			case "toolResults":
				out[key] = pluck(x, "toolCallId")
			}
		case Object:
			switch key {
			case "message":
				out[key] = roleAndStop(x)
			case "assistantMessageEvent":
				out[key] = x["type"]
				if delta, ok := x["delta"].(string); ok {
					out["delta"] = delta
				}
			}
		default:
			out[key] = x
		}
	}
	return out
}

func roleAndStop(message Object) string {
	role, _ := message["role"].(string)
	if stop, _ := message["stopReason"].(string); stop != "" {
		return role + ":" + stop
	}
	return role
}

// pluck is one field of every object of a list.
func pluck(list []any, field string) []any {
	out := make([]any, len(list))
	for i, item := range list {
		if object, ok := item.(Object); ok {
			out[i] = object[field]
		}
	}
	return out
}

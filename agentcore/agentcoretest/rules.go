package agentcoretest

import "sync"

// Rule is a list of actions and what it answers to.
type Rule struct {
	Match Match    `json:"match"`
	Do    []Action `json:"do"`
}

// Match says which events a rule answers to. Absent fields match everything.
type Match struct {
	Type string `json:"type"`
	// Where compares values at dotted paths.
	Where Object `json:"where"`
	// Nth counts the events that match type and where.
	Nth int `json:"nth"`
}

// Rules picks the first rule that matches. Safe for concurrent use.
type Rules struct {
	mu    sync.Mutex
	rules []Rule
	seen  []int
}

// NewRules makes a set of rules.
func NewRules(rules []Rule) *Rules { return &Rules{rules: rules, seen: make([]int, len(rules))} }

// Pick is the first rule that matches, or nil.
func (r *Rules) Pick(event any, eventType string) *Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.rules {
		m := &r.rules[i].Match
		if m.Type != "" && m.Type != eventType || !where(event, m.Where) {
			continue
		}
		r.seen[i]++
		if m.Nth != 0 && r.seen[i] != m.Nth {
			continue
		}
		return &r.rules[i]
	}
	return nil
}

func where(event any, conditions Object) bool {
	for path, want := range conditions {
		if got, ok := get(event, path); !ok || !same(got, want) {
			return false
		}
	}
	return true
}

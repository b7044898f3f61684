package backtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"weir/agentcore"
	"weir/engine/facts"
)

// maxText is how much of a reason, or of a call's arguments, is kept, in bytes.
const maxText = 400

// sample is the event in short.
func (p *place) sample() Sample {
	s := Sample{File: p.file, Line: p.event.Line, Tool: p.masked(p.event.Native), Outcome: p.outcome.String()}
	if !p.event.Time.IsZero() {
		s.Time = p.event.Time.UTC().Format(time.RFC3339)
	}
	// Texts are masked as they are meant, not as JSON writes them, which could hide a credential.
	dec := json.NewDecoder(bytes.NewReader(p.event.Input))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return s // absent
	}
	if m, ok := v.(map[string]any); ok {
		if command, ok := m["command"].(string); ok {
			s.Input = p.masked(command)
			return s
		}
	}
	first := ""
	if m, ok := v.(map[string]any); ok {
		for _, key := range [...]string{"path", "file_path"} {
			if path, ok := m[key].(string); ok {
				first = p.masked(path) + " "
				delete(m, key)
			}
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(p.maskAll(v)) == nil {
		s.Input = cut(strings.TrimSuffix(first+strings.TrimSuffix(b.String(), "\n"), " {}"))
	}
	return s
}

// maskAll masks every text of a JSON value, keys included.
func (p *place) maskAll(v any) any {
	switch v := v.(type) {
	case string:
		return p.masked(v)
	case []any:
		for i := range v {
			v[i] = p.maskAll(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // two keys may be masked alike
			out[p.masked(key)] = p.maskAll(v[key])
		}
		return out
	}
	return v
}

// masked is a text of at most maxText bytes, in which the kind of a credential stands for it.
func (p *place) masked(s string) string {
	if s == "" {
		return ""
	}
	found := p.secrets.ToolResult("", nil, []agentcore.Block{&agentcore.TextBlock{Text: s}}).Secrets()
	spans := append(found.Spans, found.Base64...) // in which nothing was looked for
	slices.SortFunc(spans, func(a, b facts.Span) int { return cmp.Compare(a.Start, b.Start) })
	var b strings.Builder
	at := 0
	for _, span := range spans {
		if b.Len() > maxText {
			break
		}
		if span.Start < at {
			continue
		}
		b.WriteString(s[at:span.Start] + "[" + cmp.Or(span.Kind, "base64") + "]")
		at = span.End
	}
	if b.Len() <= maxText {
		b.WriteString(s[at:min(len(s), at+maxText+utf8.UTFMax)])
	}
	return cut(strings.ToValidUTF8(b.String(), ""))
}

// cut shortens a text to at most maxText bytes and says so.
func cut(s string) string {
	n := maxText
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"weir/engine/provider/internal/secret"
)

// mostDifferences is how many differences an error lists.
const mostDifferences = 5

// varies says that a header may differ between two runs that are otherwise the same: versions of the SDK, of Go and of the
// machine, and what the network adds.
func varies(name string) bool {
	switch strings.ToLower(name) {
	case "user-agent", "content-length", "accept-encoding", "host", "connection", "traceparent", "tracestate", "idempotency-key":
		return true
	}
	return strings.HasPrefix(strings.ToLower(name), "x-stainless-") || secret.Header(name)
}

// differences says how now differs from what was recorded. The host does not count: a recording made with a gateway plays
// without it.
func differences(recorded, now *request) []string {
	d := &differ{}
	d.text("method", recorded.Method, now.Method)
	d.text("path", path(recorded.URL), path(now.URL))
	d.headers(recorded.Headers, now.Headers)
	if recorded.Text != "" || now.Text != "" || recorded.Body == nil || now.Body == nil {
		d.text("body", recorded.Text+string(recorded.Body), now.Text+string(now.Body))
		return d.found
	}
	d.value("body", decode(recorded.Body), decode(now.Body))
	return d.found
}

func path(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.RequestURI()
}

func decode(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // 1 and 1.0 are not the same bytes, and large numbers must not be rounded
	var v any
	if dec.Decode(&v) != nil {
		return string(raw) // it was JSON when it was read
	}
	return v
}

type differ struct{ found []string }

func (d *differ) add(format string, args ...any) {
	switch {
	case len(d.found) < mostDifferences:
		d.found = append(d.found, fmt.Sprintf(format, args...))
	case len(d.found) == mostDifferences:
		d.found = append(d.found, "and more")
	}
}

func (d *differ) text(where, recorded, now string) {
	if recorded != now {
		a, b := around(recorded, now)
		d.add("%s: recorded %s, now %s", where, a, b)
	}
}

func (d *differ) headers(recorded, now map[string][]string) {
	names := slices.Sorted(maps.Keys(recorded))
	for name := range now {
		if recorded[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if !varies(name) {
			d.text("header "+strings.ToLower(name), strings.Join(recorded[name], ", "), strings.Join(now[name], ", "))
		}
	}
}

func (d *differ) value(where string, recorded, now any) {
	switch a := recorded.(type) {
	case map[string]any:
		if b, ok := now.(map[string]any); ok {
			d.object(where, a, b)
			return
		}
	case []any:
		if b, ok := now.([]any); ok {
			for i := range min(len(a), len(b)) {
				d.value(where+"["+strconv.Itoa(i)+"]", a[i], b[i])
			}
			if len(a) != len(b) {
				d.add("%s: recorded %d elements, now %d", where, len(a), len(b))
			}
			return
		}
	case string:
		if b, ok := now.(string); ok {
			d.text(where, a, b)
			return
		}
	}
	if a, b := encode(recorded), encode(now); a != b {
		d.text(where, a, b)
	}
}

func (d *differ) object(where string, recorded, now map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(recorded)) {
		if v, ok := now[k]; ok {
			d.value(where+"."+k, recorded[k], v)
		} else {
			d.add("%s.%s: recorded %s, now absent", where, k, short(encode(recorded[k]), 0))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(now)) {
		if _, ok := recorded[k]; !ok {
			d.add("%s.%s: not recorded, now %s", where, k, short(encode(now[k]), 0))
		}
	}
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // decoded JSON always encodes
	}
	return string(raw)
}

// shown is how many characters of each side an error shows.
const shown = 60

// around quotes both texts from shortly before the first difference.
func around(a, b string) (string, string) {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	from = max(0, from-shown/3)
	for from > 0 && !utf8.RuneStart(a[from]) {
		from--
	}
	return short(a, from), short(b, from)
}

// short quotes what text has from an offset on.
func short(text string, from int) string {
	text = text[min(from, len(text)):]
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if r := []rune(text); len(r) > shown {
		text, after = string(r[:shown]), "…"
	}
	return before + strconv.Quote(text) + after
}

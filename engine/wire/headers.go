package wire

import (
	"slices"
	"strings"
)

// HeaderEdit sets or deletes one header of a provider request.
type HeaderEdit struct {
	Name string
	// Value is the new value; nil deletes the header.
	Value *string
}

func sameHeader(a, b string) bool { return strings.EqualFold(a, b) }

// ParseBeforeProviderHeaders reads the answer of a before_provider_headers hook: edits in the order in which the guest
// wrote them; nil to keep all. Names must be HTTP tokens and differ in more than case; values must not hold control
// characters, since they would split the request.
func ParseBeforeProviderHeaders(out []byte) ([]HeaderEdit, error) {
	var edits []HeaderEdit
	err := parse(out, []string{"headers"}, func(r *reader, _ int) {
		edits = []HeaderEdit{}
		seen := map[string]bool{}
		if r.peek() != '{' {
			r.wrongType("an object")
			return
		}
		r.enter()
		for began := false; ; {
			start, end, key, ok := r.nextKey(&began)
			if !ok {
				return
			}
			if key == nil {
				key = r.src[start+1 : end-1]
			}
			e := HeaderEdit{Name: string(key)}
			folded := strings.ToLower(e.Name)
			switch {
			case !validHeaderName(e.Name):
				r.failAfter(start, end, "not the name of a header")
			case seen[folded]:
				r.failAfter(start, end, "the same header twice; names do not differ by case")
			}
			seen[folded] = true
			if !r.colon() {
				return
			}
			if r.peek() == 'n' {
				r.skip()
			} else {
				at := r.pos
				v := r.string()
				if r.err == nil && !validHeaderValue(v) {
					// The value is not repeated: it may be a key.
					r.fail(at, "a header's value must not hold control characters")
				}
				e.Value = &v
			}
			if r.err != nil {
				return
			}
			edits = append(edits, e)
		}
	}, nil)
	if err != nil {
		return nil, err
	}
	return edits, nil
}

// validHeaderName is the token of RFC 9110 section 5.6.2.
func validHeaderName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || !isWord(c) && !strings.ContainsRune("!#$%&'*+-.^`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func validHeaderValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// ApplyHeaderEdits applies edits to headers that are edits themselves: a header that is deleted stays as the mark that it is
// not to be sent, whoever would add it. Names match whatever their case. headers is not changed.
func ApplyHeaderEdits(headers, edits []HeaderEdit) []HeaderEdit {
	out := slices.Clone(headers)
	for _, e := range edits {
		at := slices.IndexFunc(out, func(h HeaderEdit) bool { return sameHeader(h.Name, e.Name) })
		if at < 0 {
			out = append(out, e)
			continue
		}
		out[at] = e
	}
	return out
}

package set

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Document is a TOML document of another kind than a set, read as carefully: for the other files that people write for
// weir, so that errors in them have the same form. It is read only.
type Document struct {
	// Values are as the TOML library gives them: string, int64, float64, bool, time.Time, map[string]any, []any,
	// []map[string]any.
	Values map[string]any

	root *node
}

// ParseDocument reads a TOML document of at most 1 MiB. path names it in errors and is not opened. The error is Errors, of one, with the
// position; text that is no TOML has a toml.ParseError as its cause, and a message that may quote it.
func ParseDocument(path string, text []byte) (*Document, error) {
	values, root, problem := document(path, text)
	if problem != nil {
		return nil, Errors{problem}
	}
	return &Document{Values: values, root: root}, nil
}

// Path is where something stands in a document: keys (string) and indexes (int), from the root. A Path is not changed by what is made
// of it.
type Path []any

// In is the path of a key of the table at p.
func (p Path) In(key string) Path { return append(slices.Clone(p), key) }

// Item is the path of element i, from 0, of the array at p.
func (p Path) Item(i int) Path { return append(slices.Clone(p), i) }

// String is the path for people, as in response[2].call[1].args: indexes are from 1.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step+1)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

// At returns where something stands, or the nearest enclosing thing that the document has. The steps are those of a [Path], as in
// At("case", 2, "event").
func (d *Document) At(steps ...any) Position {
	return d.place(steps).node.pos
}

func (d *Document) place(steps []any) place {
	p := place{node: d.root}
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			p = p.child(s)
		case int:
			p = p.item(s)
		default:
			panic(fmt.Sprintf("set: a step is a string or an int, not %T", s))
		}
	}
	return p
}

// JSON makes a table of the document JSON, without spaces and with sorted keys; dates and times become strings. steps say
// where it stands, for the error, which is Errors.
func (d *Document) JSON(table map[string]any, steps ...any) (json.RawMessage, error) {
	var dec decoder
	raw := dec.config(d.place(steps), table)
	if dec.errs != nil {
		dec.errs.Sort()
		return nil, dec.errs
	}
	return raw, nil
}

// Found describes a value of a document, for an error that says what stands in the place of what was wanted.
func Found(v any) string { return found(v) }

// Tables makes an array of tables of either form that the TOML library gives one.
func Tables(v any) ([]map[string]any, bool) { return tables(v) }

// Suggest is the hint for a word that is not one of known: the nearest, or all when they are few; "" when there is none.
func Suggest(word string, known []string) string { return suggest(word, known) }

package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFile edits a JSON file, with comments or without, on its syntax tree: what is not touched stays byte for byte.
type jsonFile struct {
	place *Place
	raw   []byte
	root  hujson.Value
	nl    string // a line break; "" where all is on one line
	unit  string // one step of indentation
}

// openJSON parses raw, which Place.parse has accepted.
func (p *Place) openJSON(raw []byte) (*jsonFile, error) {
	f := &jsonFile{place: p, raw: raw, nl: "\n", unit: "  "}
	if blank(raw) {
		f.root.Value = &hujson.Object{}
		f.root.AfterExtra = hujson.Extra("\n")
		return f, nil
	}
	var err error
	if f.root, err = hujson.Parse(raw); err != nil {
		return nil, p.positioned(err)
	}
	root := f.root.Value.(*hujson.Object) // parse saw to it
	switch {
	case bytes.Contains(raw, []byte("\r\n")):
		f.nl = "\r\n"
	case len(root.Members) > 0 && !bytes.Contains(bytes.TrimSpace(raw), []byte("\n")):
		f.nl, f.unit = "", ""
	}
	if len(root.Members) > 0 {
		if own := lastLine(root.Members[0].Name.BeforeExtra); own != "" {
			f.unit = own
		}
	}
	return f, nil
}

// lastLine is the indentation that stands at the end of white space and comments; "" when there is no line break.
func lastLine(x hujson.Extra) string {
	i := bytes.LastIndexByte(x, '\n')
	if i < 0 || len(bytes.Trim(x[i+1:], " \t")) > 0 {
		return ""
	}
	return string(x[i+1:])
}

// install puts the wanted element into every event's list, and takes other entries of weir's out.
func (f *jsonFile) install(line string) error {
	l := &f.place.layout
	root := f.root.Value.(*hujson.Object)
	if l.version && member(root, "version") == nil {
		f.addMember(root, "version", 1, 0)
	}
	hooks, err := f.object(root, "hooks", 0)
	if err != nil {
		return err
	}
	for _, event := range l.events {
		list, err := f.array(hooks, event, 1)
		if err != nil {
			return err
		}
		if f.hasWanted(list, line) {
			continue
		}
		f.removeFrom(list)
		f.addElement(list, l.element(line), 2)
	}
	return nil
}

// hasWanted says whether the one entry of weir's in a list is the one that would be written.
func (f *jsonFile) hasWanted(list *hujson.Array, line string) bool {
	wanted, others := 0, 0
	for i := range list.Elements {
		e, err := f.place.fromJSON(f.raw, list.Elements[i])
		if err != nil {
			return false
		}
		all, mixed := f.place.oursIn(e)
		switch {
		case f.place.layout.isWanted(e, line):
			wanted++
		case all || mixed:
			others++
		}
	}
	return wanted == 1 && others == 0
}

// uninstall takes weir's entries out, and the lists and the object that are empty then.
func (f *jsonFile) uninstall() {
	root := f.root.Value.(*hujson.Object)
	hooks, ok := memberObject(root, "hooks")
	if !ok {
		return
	}
	removed := false
	for i := len(hooks.Members) - 1; i >= 0; i-- {
		list, ok := hooks.Members[i].Value.Value.(*hujson.Array)
		if !ok || !f.removeFrom(list) {
			continue
		}
		removed = true
		if len(list.Elements) == 0 && list.AfterExtra.IsStandard() {
			removeMember(hooks, i)
		}
	}
	if removed && len(hooks.Members) == 0 && hooks.AfterExtra.IsStandard() {
		i := slices.IndexFunc(root.Members, func(m hujson.ObjectMember) bool { return name(m) == "hooks" })
		removeMember(root, i)
	}
}

// removeFrom takes weir's entries out of an event's list. Groups that hold others too keep those.
func (f *jsonFile) removeFrom(list *hujson.Array) (removed bool) {
	for i := len(list.Elements) - 1; i >= 0; i-- {
		e, err := f.place.fromJSON(f.raw, list.Elements[i])
		if err != nil {
			continue
		}
		all, mixed := f.place.oursIn(e)
		switch {
		case all:
			removeElement(list, i)
			removed = true
		case mixed:
			handlers, ok := list.Elements[i].Value.(*hujson.Object)
			if !ok {
				continue
			}
			inner := member(handlers, "hooks").Value.Value.(*hujson.Array) // oursIn found handlers in it
			for j := len(inner.Elements) - 1; j >= 0; j-- {
				if h, err := f.place.fromJSON(f.raw, inner.Elements[j]); err == nil && f.place.ours(h) {
					removeElement(inner, j)
					removed = true
				}
			}
		}
	}
	return removed
}

func name(m hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	return lit.String()
}

func member(o *hujson.Object, key string) *hujson.ObjectMember {
	for i := range o.Members {
		if name(o.Members[i]) == key {
			return &o.Members[i]
		}
	}
	return nil
}

func memberObject(o *hujson.Object, key string) (*hujson.Object, bool) {
	m := member(o, key)
	if m == nil {
		return nil, false
	}
	inner, ok := m.Value.Value.(*hujson.Object)
	return inner, ok
}

// object is the object under a key, made where there is none. depth is how deep o stands.
func (f *jsonFile) object(o *hujson.Object, key string, depth int) (*hujson.Object, error) {
	if m := member(o, key); m != nil {
		inner, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return nil, f.place.at(f.raw, m.Value.StartOffset, strconv.Quote(key)+" is not an object")
		}
		return inner, nil
	}
	f.addMember(o, key, []field{}, depth)
	inner, _ := memberObject(o, key)
	return inner, nil
}

// array is the list under a key, made where there is none.
func (f *jsonFile) array(o *hujson.Object, key string, depth int) (*hujson.Array, error) {
	m := member(o, key)
	if m == nil {
		f.addMember(o, key, []any{}, depth)
		m = member(o, key)
	}
	list, ok := m.Value.Value.(*hujson.Array)
	if !ok {
		return nil, f.place.at(f.raw, m.Value.StartOffset, strconv.Quote(key)+" is not a list")
	}
	return list, nil
}

// addMember appends to an object that stands at depth.
func (f *jsonFile) addMember(o *hujson.Object, key string, value any, depth int) {
	indent := strings.Repeat(f.unit, depth+1)
	if len(o.Members) > 0 {
		if own := lastLine(o.Members[len(o.Members)-1].Name.BeforeExtra); own != "" {
			indent = own
		}
	}
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(key)}, Value: f.value(value, indent)}
	if f.nl != "" || depth > 0 || len(o.Members) > 0 {
		m.Value.BeforeExtra = hujson.Extra(" ")
	}
	trailing := len(o.Members) > 0 && o.Members[len(o.Members)-1].Value.AfterExtra != nil
	m.Name.BeforeExtra = f.lead(o.AfterExtra, indent, len(o.Members) > 0)
	o.AfterExtra = f.close(o.AfterExtra, strings.Repeat(f.unit, depth))
	if trailing {
		m.Value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, m)
}

// addElement appends to a list that stands at depth.
func (f *jsonFile) addElement(list *hujson.Array, value any, depth int) {
	indent := strings.Repeat(f.unit, depth+1)
	if len(list.Elements) > 0 {
		if own := lastLine(list.Elements[len(list.Elements)-1].BeforeExtra); own != "" {
			indent = own
		}
	}
	v := f.value(value, indent)
	trailing := len(list.Elements) > 0 && list.Elements[len(list.Elements)-1].AfterExtra != nil
	v.BeforeExtra = f.lead(list.AfterExtra, indent, len(list.Elements) > 0)
	list.AfterExtra = f.close(list.AfterExtra, strings.Repeat(f.unit, depth))
	if trailing {
		v.AfterExtra = hujson.Extra{}
	}
	list.Elements = append(list.Elements, v)
}

// lead is what stands before something appended: the comments that stood at the end, and a new line.
func (f *jsonFile) lead(after hujson.Extra, indent string, follows bool) hujson.Extra {
	var out []byte
	if !after.IsStandard() {
		out = append(out, bytes.TrimRight(after, " \t\r\n")...)
	}
	switch {
	case f.nl != "":
		out = append(out, f.nl+indent...)
	case follows:
		out = append(out, ' ')
	}
	return out
}

// close is what stands before the closing bracket after something was appended: as before where that was a line of its own.
func (f *jsonFile) close(after hujson.Extra, indent string) hujson.Extra {
	if f.nl == "" {
		return after
	}
	if i := bytes.LastIndexByte(after, '\n'); i >= 0 {
		indent = string(after[i+1:])
	}
	return hujson.Extra(f.nl + indent)
}

// value renders a value that stands at an indentation.
func (f *jsonFile) value(v any, indent string) hujson.Value {
	var b strings.Builder
	f.render(&b, v, indent)
	parsed, err := hujson.Parse([]byte(b.String()))
	if err != nil {
		panic(err) // a bug here: only fields, lists, texts and numbers are rendered
	}
	return parsed
}

func (f *jsonFile) render(b *strings.Builder, v any, indent string) {
	inner := indent + f.unit
	switch v := v.(type) {
	case []field:
		b.WriteByte('{')
		for i, x := range v {
			f.item(b, i, inner)
			fmt.Fprintf(b, "%s: ", scalar(x.key))
			f.render(b, x.value, inner)
		}
		f.end(b, len(v), indent, '}')
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			f.item(b, i, inner)
			f.render(b, x, inner)
		}
		f.end(b, len(v), indent, ']')
	default:
		b.Write(scalar(v))
	}
}

// scalar encodes a text, a number or a bool.
func scalar(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // as in value
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (f *jsonFile) item(b *strings.Builder, i int, indent string) {
	if i > 0 {
		b.WriteByte(',')
		if f.nl == "" {
			b.WriteByte(' ')
		}
	}
	if f.nl != "" {
		b.WriteString(f.nl + indent)
	}
}

func (f *jsonFile) end(b *strings.Builder, n int, indent string, bracket byte) {
	if n > 0 && f.nl != "" {
		b.WriteString(f.nl + indent)
	}
	b.WriteByte(bracket)
}

// removeElement takes an element out and keeps the comments around it.
func removeElement(list *hujson.Array, i int) {
	e := list.Elements[i]
	kept := comments(e.BeforeExtra)
	if i < len(list.Elements)-1 {
		next := &list.Elements[i+1]
		next.BeforeExtra = joined(kept, next.BeforeExtra)
	} else {
		list.AfterExtra = joined(kept, list.AfterExtra)
		if i > 0 {
			prev := &list.Elements[i-1]
			prev.AfterExtra, list.AfterExtra = endOf(prev.AfterExtra, e.AfterExtra, list.AfterExtra)
		}
	}
	list.Elements = slices.Delete(list.Elements, i, i+1)
}

// removeMember is removeElement for an object.
func removeMember(o *hujson.Object, i int) {
	m := o.Members[i]
	kept := comments(m.Name.BeforeExtra)
	if i < len(o.Members)-1 {
		next := &o.Members[i+1].Name
		next.BeforeExtra = joined(kept, next.BeforeExtra)
	} else {
		o.AfterExtra = joined(kept, o.AfterExtra)
		if i > 0 {
			prev := &o.Members[i-1].Value
			prev.AfterExtra, o.AfterExtra = endOf(prev.AfterExtra, m.Value.AfterExtra, o.AfterExtra)
		}
	}
	if o.Members = slices.Delete(o.Members, i, i+1); len(o.Members) == 0 && o.AfterExtra.IsStandard() {
		o.AfterExtra = nil
	}
}

// comments are what an extra holds beside white space; with the break before them, without what comes after.
func comments(x hujson.Extra) hujson.Extra {
	if x.IsStandard() {
		return nil
	}
	return bytes.TrimRight(x, " \t\r\n")
}

// joined puts comments before an extra, on lines of their own.
func joined(kept, x hujson.Extra) hujson.Extra {
	if kept == nil {
		return x
	}
	out := slices.Clone(kept)
	if !bytes.Contains(x, []byte("\n")) {
		out = append(out, '\n') // a comment to the end of the line needs one
	}
	return append(out, x...)
}

// endOf gives the extra of what is last now, and of its container, when what was last is gone: the comma after the last stays
// as it was.
func endOf(prev, gone, container hujson.Extra) (last, end hujson.Extra) {
	if gone != nil {
		if prev == nil {
			prev = hujson.Extra{}
		}
		return prev, container
	}
	if prev.IsStandard() {
		return nil, container
	}
	return nil, append(slices.Clone(prev), container...)
}

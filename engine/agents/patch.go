package agents

import (
	"errors"
	"strings"
)

// patchCalls parts a patch in Codex's form into calls, one for each file that is added (write), changed (edit), moved (edit,
// write and removal) or removed. Lines that are headers only after white space count too: rather a file too many than
// one too few.
func patchCalls(patch string) ([]Call, error) {
	var calls []Call
	var file patchFile
	end := func() {
		calls = append(calls, file.calls()...)
		file = patchFile{}
	}
	for line := range strings.SplitSeq(patch, "\n") {
		line = strings.TrimSuffix(line, "\r")
		header := strings.TrimSpace(line)
		switch name, kind := patchHeader(header); kind {
		case patchMove:
			if file.kind != patchUpdate {
				return nil, errors.New("the patch moves a file that it does not change")
			}
			file.moved = name
		case patchAdd, patchUpdate, patchDelete:
			end()
			if name == "" {
				return nil, errors.New("the patch names a file with no name")
			}
			file = patchFile{kind: kind, name: name}
		default:
			if header == "*** End Patch" {
				end()
			}
			file.line(line)
		}
	}
	end()
	if len(calls) == 0 {
		return nil, errors.New("the patch names no file")
	}
	return calls, nil
}

type patchKind int

const (
	patchNone patchKind = iota
	patchAdd
	patchUpdate
	patchDelete
	patchMove
)

func patchHeader(line string) (name string, kind patchKind) {
	for _, h := range [...]struct {
		prefix string
		kind   patchKind
	}{{"*** Add File:", patchAdd}, {"*** Update File:", patchUpdate}, {"*** Delete File:", patchDelete}, {"*** Move to:", patchMove}} {
		if rest, ok := strings.CutPrefix(line, h.prefix); ok {
			return strings.TrimSpace(rest), h.kind
		}
	}
	return "", patchNone
}

// patchFile is what a patch does to one file.
type patchFile struct {
	kind        patchKind
	name, moved string
	old, fresh  strings.Builder // of the hunk at hand
	all         strings.Builder // what is written, as far as the patch says
	edits       []map[string]string
}

func (f *patchFile) line(s string) {
	if f.kind == patchUpdate && strings.HasPrefix(s, "@@") {
		f.hunk()
		return
	}
	if s == "" {
		s = " "
	}
	switch s[0] {
	case '+':
		f.fresh.WriteString(s[1:] + "\n")
		f.all.WriteString(s[1:] + "\n")
	case '-':
		f.old.WriteString(s[1:] + "\n")
	case ' ':
		f.old.WriteString(s[1:] + "\n")
		f.fresh.WriteString(s[1:] + "\n")
		f.all.WriteString(s[1:] + "\n")
	}
}

func (f *patchFile) hunk() {
	if f.old.Len()+f.fresh.Len() > 0 {
		f.edits = append(f.edits, map[string]string{"oldText": f.old.String(), "newText": f.fresh.String()})
	}
	f.old.Reset()
	f.fresh.Reset()
}

func (f *patchFile) calls() []Call {
	switch f.kind {
	case patchAdd:
		return []Call{{Tool: "write", Input: encode(map[string]string{"path": f.name, "content": f.all.String()})}}
	case patchDelete:
		return []Call{removal(f.name)}
	case patchUpdate:
		f.hunk()
		if f.edits == nil {
			f.edits = []map[string]string{{"oldText": "", "newText": ""}}
		}
		calls := []Call{{Tool: "edit", Input: encode(map[string]any{"path": f.name, "edits": f.edits})}}
		if f.moved != "" {
			calls = append(calls, Call{Tool: "write", Input: encode(map[string]string{"path": f.moved, "content": f.all.String()})}, removal(f.name))
		}
		return calls
	}
	return nil
}

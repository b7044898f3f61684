package main

import (
	"errors"
	"strconv"
	"strings"

	weir "weir/guest-sdk/go"
)

func context(t *weir.Table) error {
	for i := range t.Len() {
		m := t.At(i)
		if m.Role() != weir.RoleCustom {
			continue
		}
		switch name := m.Name(); name {
		case "drop":
			t.Drop(i)
		case "twice":
			t.Drop(i)
			t.Drop(i)
		case "replace", "roles", "headers":
			body, err := t.Message(i)
			if err != nil {
				return err
			}
			content := "replaced"
			if name != "replace" {
				content = list(t, name)
			}
			t.Replace(i, body.With("content", weir.String(content)))
		case "insert":
			t.Insert(i, `{"role":"user","content":"inserted","timestamp":0}`)
		case "append":
			t.Insert(t.Len(), `{"role":"user","content":"appended","timestamp":0}`)
		case "fail":
			return errors.New("as told")
		case "panic":
			panic("as told")
		}
	}
	return nil
}

// list is a text about all messages: their roles, or a line of headers each.
func list(t *weir.Table, what string) string {
	items := make([]string, t.Len())
	for i := range items {
		if items[i] = role(t.At(i)); what == "headers" {
			items[i] = header(t.At(i))
		}
	}
	if what == "headers" {
		return strings.Join(items, "\n")
	}
	return strings.Join(items, ",")
}

func role(m weir.Row) string {
	switch m.Role() {
	case weir.RoleUser:
		return "user"
	case weir.RoleAssistant:
		return "assistant"
	case weir.RoleToolResult:
		return "toolResult"
	case weir.RoleCustom:
		return "custom"
	case weir.RoleBashExecution:
		return "bashExecution"
	case weir.RoleBranchSummary:
		return "branchSummary"
	case weir.RoleCompactionSummary:
		return "compactionSummary"
	}
	return "other"
}

func header(m weir.Row) string {
	flags := ""
	for _, f := range []struct {
		set    bool
		letter string
	}{{m.IsError(), "e"}, {m.HasImage(), "i"}, {m.HasToolCall(), "c"}, {m.HasThinking(), "t"}, {m.Display(), "d"}} {
		if f.set {
			flags += f.letter
		}
	}
	pair := ""
	if index, ok := m.Pair(); ok {
		pair = strconv.Itoa(index)
	}
	return strings.Join([]string{
		role(m), dash(flags), dash(m.Name()), strconv.Itoa(m.TextBytes()), strconv.Itoa(m.EncodedBytes()), dash(pair),
		strconv.FormatUint(m.ID(), 10), strconv.FormatInt(m.UnixMilli(), 10),
	}, " ")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// migrate brings entries of an earlier version to the present one. Fields that it does not know stay as they are.
//
// Version 1 is linear: entries have no ids, and a compaction names the first entry that is kept by its line, the header
// being 0. Version 2 calls the role "custom" "hookMessage".
func (p *parser) migrate(from int) {
	at := 0
	for i, raw := range p.lines {
		if at >= len(p.log.entries) || !sameBytes(p.log.entries[at], raw) {
			continue // an unreadable line
		}
		e := p.log.entries[at]
		at++
		e.raw = p.migrateEntry(e, from)
		p.lines[i] = e.raw
	}
}

// sameBytes says whether raw is the line that e was read from; a repaired line differs in length at most.
func sameBytes(e *Entry, raw json.RawMessage) bool {
	return bytes.Equal(e.raw, raw) || bytes.Equal(e.raw, bytes.ToValidUTF8(raw, []byte("\uFFFD")))
}

func (p *parser) migrateEntry(e *Entry, from int) json.RawMessage {
	line := p.lineOf[e.index]
	out := []byte{'{'}
	member := func(key string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		// Keys are written as they stand in the file, with their escapes.
		out = append(append(append(out, '"'), key...), '"', ':')
		out = append(out, value...)
	}
	scanObject(e.raw, func(key string, _ int, value []byte) {
		switch {
		case from == 1 && (key == "id" || key == "parentId"):
			return // version 1 has none; what stands there is something else's
		case from == 1 && key == "firstKeptEntryIndex" && e.Type == EntryCompaction:
			// Line 1 of the file is the header, which the index counts as 0.
			n, err := strconv.Atoi(string(value))
			kept := p.byLine[n+1]
			if err != nil || kept == nil {
				p.problem(line, e.ID, "the compaction keeps from line %s on, which is no entry; nothing before it is kept", value)
				return
			}
			key, value = "firstKeptEntryId", quoted(kept.ID)
		case key == "message" && (e.Type == EntryMessage):
			value = renameHookRole(value)
		}
		member(key, value)
		if key == "type" && from == 1 {
			member("id", quoted(e.ID))
			parent := []byte("null")
			if e.ParentID != "" {
				parent = quoted(e.ParentID)
			}
			member("parentId", parent)
		}
	})
	return append(out, '}')
}

// renameHookRole gives a message of version 2 the role that version 3 has for it.
func renameHookRole(message []byte) []byte {
	if !bytes.Contains(message, []byte(`hookMessage`)) || message[0] != '{' {
		return message
	}
	out := message
	scanObject(message, func(key string, at int, value []byte) {
		if key != "role" || string(value) != `"hookMessage"` {
			return
		}
		out = append(append(append([]byte{}, message[:at]...), `"custom"`...), message[at+len(value):]...)
	})
	return out
}

// quoted is an id of our own making, eight hexadecimal digits unless Config says otherwise, as JSON.
func quoted(id string) []byte { return strconv.AppendQuote(nil, id) }

// headerLine is the header as it is written: that of the file with the present version, so that fields of earlier
// versions stay.
func headerLine(h Header) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if h.raw != nil {
		if err := json.Unmarshal(h.raw, &fields); err != nil {
			return nil, fmt.Errorf("session header: %w", err)
		}
	}
	known, err := encodeJSON(struct {
		Type string `json:"type"`
		Header
	}{"session", h})
	if err != nil {
		return nil, fmt.Errorf("session header: %w", err)
	}
	if len(fields) == 0 {
		return known, nil
	}
	var over map[string]json.RawMessage
	if err := json.Unmarshal(known, &over); err != nil {
		return nil, fmt.Errorf("session header: %w", err)
	}
	// The known fields first, in their order; then what else there was, in the order of names.
	out := known[:len(known)-1]
	rest := map[string]json.RawMessage{}
	for key, value := range fields {
		if _, ok := over[key]; !ok {
			rest[key] = value
		}
	}
	if len(rest) == 0 {
		return known, nil
	}
	tail, err := encodeJSON(rest)
	if err != nil {
		return nil, fmt.Errorf("session header: %w", err)
	}
	return append(append(out, ','), tail[1:]...), nil
}

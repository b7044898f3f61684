package tck

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"weir/agentcore"
	"weir/engine/wire"
	"weir/wasmhost"
)

// input makes the input of a case, and the messages of a context event.
func (s *subject) input(t *testCase, w *world) (wasmhost.Input, []*agentcore.Message, error) {
	if t.Messages == "" {
		b, err := t.input(w.url)
		return wasmhost.Input{Bytes: b}, nil, err
	}
	text, err := t.filled(t.Messages)
	if err != nil {
		return wasmhost.Input{}, nil, err
	}
	messages, err := decodeMessages(text)
	if err != nil {
		return wasmhost.Input{}, nil, err
	}
	// The engine's own encoders, so that a guest gets what it gets in a run.
	enc := wire.NewEncoder(wire.Scope{SessionID: "tck-session", Extension: "tck", CWD: "/tck", Mode: wire.ModeText, HasUI: true})
	at := wire.Moment{Provider: "p", Model: "m", TurnIndex: 3, CallIndex: 7}
	var b []byte
	if s.view == wire.ViewTable {
		var table wire.Table
		b, err = table.Encode(messages, enc.AppendContext(nil, at))
		b = withIDs(b, len(messages))
	} else {
		b, err = enc.AppendMessages(nil, at, messages)
	}
	return wasmhost.Input{Bytes: b}, messages, err
}

// withIDs numbers the messages of a table, 101 and so on: only an agent gives them ids.
func withIDs(table []byte, messages int) []byte {
	table = bytes.Clone(table)
	for i := range messages {
		binary.LittleEndian.PutUint64(table[32+32*i+16:], uint64(101+i))
	}
	return table
}

func decodeMessages(text string) ([]*agentcore.Message, error) {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	messages := make([]*agentcore.Message, len(list))
	for i, m := range list {
		var err error
		if messages[i], err = agentcore.DecodeMessage(m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return messages, nil
}

// applied is the messages after an answer, as a JSON array; the error says why the host would not take it.
func applied(r *wire.ContextResult, before []*agentcore.Message) ([]byte, error) {
	after, err := r.Apply(before)
	if err != nil {
		return nil, err
	}
	if err := r.Gate(before, after); err != nil {
		return nil, err
	}
	list, err := encoded(after)
	if err != nil {
		return nil, err
	}
	return append(append([]byte("["), bytes.Join(list, []byte(","))...), ']'), nil
}

func encoded(messages []*agentcore.Message) ([][]byte, error) {
	list := make([][]byte, len(messages))
	for i, m := range messages {
		var err error
		if list[i], err = m.JSON(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

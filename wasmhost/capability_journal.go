package wasmhost

import (
	"context"
	"encoding/json"
	"fmt"
)

// JournalEntry names an entry of a journal: its number, and the hash of its line.
type JournalEntry struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// Journal is the capability journal: appending records to a file which the guest can neither read nor change. There is one
// operation:
//
//	{"op":"append","record":{"decision":"block"}}  {"seq":12,"hash":"9f86d0…"}
//
// record is an object. write adds it and returns when it is kept for good; it must be safe for concurrent use, and give up when ctx
// ends. Its error is given to the guest as a text.
func Journal(write func(ctx context.Context, record json.RawMessage) (JournalEntry, error)) Capability {
	return Capability{Handle: func(ctx context.Context, raw []byte) ([]byte, error) {
		r, err := parseRequest(raw)
		if err != nil {
			return nil, err
		}
		if r.op != "append" {
			return nil, r.unknown("append")
		}
		record, ok := r.take("record")
		if !ok || len(record) == 0 || record[0] != '{' {
			r.fail("record must be an object")
		}
		if err := r.done(); err != nil {
			return nil, err
		}
		entry, err := write(ctx, record)
		if err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
		return respond(entry)
	}}
}

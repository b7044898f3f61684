package session

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// FuzzScanObject scans whatever is a valid object.
func FuzzScanObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a" : [ 1 , {"b":"c"} ] } `, `{"a":"\"}","a":2,"\u0061":{"}":[]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) || len(raw) == 0 || raw[0] != '{' {
			return
		}
		count := 0
		scanObject(raw, func(key string, at int, value []byte) {
			count++
			if !json.Valid(value) || string(raw[at:at+len(value)]) != string(value) {
				t.Fatalf("%q: the value of %q is %q at %d", raw, key, value, at)
			}
		})
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			t.Fatal(err)
		}
		if count < len(members) {
			t.Fatalf("%q: %d members were seen of %d", raw, count, len(members))
		}
	})
}

// FuzzParseFile loads whatever bytes: never a crash, never a lost line, and what is rewritten loads again.
func FuzzParseFile(f *testing.F) {
	for _, name := range []string{"v1.jsonl", "v2.jsonl"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"type":"session","version":3,"id":"s"}` + "\n" + `{"type":"message","id":"a","parentId":"a","message":{"role":"user","content":"x"}}` + "\n{\n\xff\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseFile(data, time.Now, randomID)
		if err != nil {
			return
		}
		if len(l.log.entries)+len(l.report.Problems) < len(l.lines) {
			t.Fatalf("%d lines, but %d entries and %d problems", len(l.lines), len(l.log.entries), len(l.report.Problems))
		}
		for i := range l.log.entries {
			if path := l.log.path(i); len(path) > len(l.log.entries) {
				t.Fatal("a branch is longer than the session")
			}
		}
		buildContext(l.log.path(l.log.leaf))
		header, err := headerLine(l.log.header)
		if err != nil {
			t.Fatal(err)
		}
		again := append(header, '\n')
		for _, line := range l.lines {
			again = append(append(again, line...), '\n')
		}
		second, err := parseFile(again, time.Now, randomID)
		if err != nil || len(second.log.entries) != len(l.log.entries) || second.report.Version != Version {
			t.Fatalf("written anew it loads as %d entries, %v; there were %d", len(second.log.entries), err, len(l.log.entries))
		}
	})
}

package mcpproxy

import (
	"encoding/json"
	"testing"
)

// FuzzParseObject: what is taken is what encoding/json takes, with the same values, and no object that it would read another
// way is taken.
func FuzzParseObject(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a" : [ {"b":"}\""} , -1.5e+3 ] , "c":null}`, `{"a":1,"a":2}`, `{"A":1,"a":2}`, `{"a":1}x`, `{"a":"\u0061"}`, `[1]`, `{"a":true,"b":{"c":[]}}`, `{"a":1,}`,
		"{\"a\":\"\xff\"}", `{"\u0061":1,"a":2}`, `{"":""}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := parseObject(raw, "a")
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(raw, &want)
		if err != nil {
			return
		}
		if wantErr != nil || len(want) != len(o) {
			t.Fatalf("%q was taken as %d members; encoding/json: %v, %d", raw, len(o), wantErr, len(want))
		}
		for key, value := range want {
			if string(o[key]) != string(value) {
				t.Errorf("%q: %q is %q, want %q", raw, key, o[key], value)
			}
		}
		var loose struct{ A json.RawMessage }
		if json.Unmarshal(raw, &loose) == nil && string(loose.A) != string(o["a"]) {
			t.Errorf("%q: a reader that does not mind case takes %q, this one %q", raw, loose.A, o["a"])
		}
	})
}

package agentcore

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// FuzzPlainSchema holds that the short way never accepts what the schema library refuses.
func FuzzPlainSchema(f *testing.F) {
	schema := `{"type":"object","properties":{"s":{"type":"string"},"i":{"type":"integer"},"n":{"type":["number","null"]},` +
		`"b":{"type":"boolean"},"a":{"type":"array"},"o":{"type":"object"}},"required":["s","i"],"additionalProperties":false}`
	for _, args := range []string{
		`{"s":"x","i":1}`, `{"s":"x","i":1.0}`, `{"s":"x","i":1e2}`, ` { "s" : "\"}" , "i" : -3 , "a" : [ "]" , {} ] , "o" : { "}" : [ ] } } `,
		`{"s":"x","i":1,"z":0}`, `{"s":1,"s":"x","i":1}`, `{"\u0073":"x","i":1}`, `{"s":"x"}`, `{}`, `[]`, `null`, `{"n":null,"b":true,"s":"","i":0}`,
		`{"s":"x","i":1`, ``, `{"s":"x\\","i":1}`,
	} {
		f.Add([]byte(schema), []byte(args))
	}
	f.Add([]byte(`{"type":"object"}`), []byte(`{"x":1}`))
	f.Add([]byte(`{"type":"object","required":["x"]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		s, err := CompileSchema(schema)
		if err != nil || s.plain == nil || !s.plain.accepts(args) {
			return
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
		if err != nil {
			t.Fatalf("%q is accepted, but no JSON: %v", args, err)
		}
		if err := s.root.Validate(value); err != nil {
			t.Errorf("%s accepts %q, which the library refuses: %v", schema, args, err)
		}
	})
}

func TestPlainSchemaIsUsed(t *testing.T) {
	for _, c := range []struct {
		schema, args    string
		plain, accepted bool
	}{
		{`{"type":"object","properties":{"p":{"type":"string","description":"d"}},"required":["p"]}`, `{"p":"x","other":[1,{"a":"}"}]}`, true, true},
		{`{"type":"object","properties":{"p":{"type":"string"}},"additionalProperties":false}`, `{"q":1}`, true, false},
		{`{"type":"object","properties":{"p":{"type":"integer"}}}`, `{"p":"1"}`, true, false},
		{`{"type":"object","properties":{"p":{"type":"string","minLength":1}}}`, ``, false, false},
		{`{"type":"object","properties":{"p":true}}`, ``, false, false},
		{`{"type":"object","required":["x"]}`, ``, false, false},
		{`{"type":"object","minProperties":1}`, ``, false, false},
		{`{"properties":{}}`, ``, false, false},
	} {
		s, err := CompileSchema(json.RawMessage(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		if (s.plain != nil) != c.plain {
			t.Errorf("%s: short form %v, want %v", c.schema, s.plain, c.plain)
		} else if c.plain && s.plain.accepts(json.RawMessage(c.args)) != c.accepted {
			t.Errorf("%s with %s: accepted %v, want %v", c.schema, c.args, !c.accepted, c.accepted)
		}
	}
}

package agentcore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema for the arguments of a tool. Safe for concurrent use.
type Schema struct {
	root  *jsonschema.Schema // nil: no schema, everything is valid
	plain *plainSchema       // nil: the schema has no short form
	order sourceOrder
}

// sourceOrder is what the library's maps and bit sets lose: the order of the source, which coercion and errors follow.
// The keys are locations of schemas.
type sourceOrder struct {
	properties map[string][]string // names under "properties"
	types      map[string][]string // members of a "type" that is a list
}

// typeNames are the types that s allows.
func (o sourceOrder) typeNames(s *jsonschema.Schema) []string {
	if s.Types == nil {
		return nil
	}
	if names := o.types[s.Location]; len(names) > 0 {
		return names
	}
	return s.Types.ToStrings()
}

// schemaURL names the schema inside the compiler; nothing is ever loaded from it.
const schemaURL = "tool:///parameters"

// CompileSchema compiles a JSON Schema (draft 2020-12, or the one that $schema names; formats are asserted). References
// outside the schema are refused: nothing is loaded. Empty parameters accept everything.
func CompileSchema(parameters json.RawMessage) (*Schema, error) {
	if len(parameters) == 0 {
		return &Schema{}, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	if _, ok := doc.(map[string]any); !ok {
		return nil, errors.New("a schema must be an object")
	}
	root, err := compileDraft(doc, jsonschema.Draft2020)
	if err != nil && strings.Contains(string(parameters), `"items"`) {
		// Lists of item schemas are older than 2020-12; models' tools still use them without naming a draft.
		if older, olderErr := compileDraft(doc, jsonschema.Draft2019); olderErr == nil {
			root, err = older, nil
		}
	}
	if err != nil {
		return nil, schemaError(err)
	}
	s := &Schema{root: root, plain: newPlainSchema(parameters), order: sourceOrder{properties: map[string][]string{}, types: map[string][]string{}}}
	location := root.Location
	if !strings.Contains(location, "#") {
		location += "#"
	}
	if err := s.order.read(json.NewDecoder(bytes.NewReader(parameters)), location, nil); err != nil {
		return nil, err
	}
	return s, nil
}

func compileDraft(doc any, draft *jsonschema.Draft) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

type noLoader struct{}

// Load implements [jsonschema.URLLoader].
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s: a tool's schema must be complete in itself", url)
}

// schemaError leaves out the compiler's location, which is ours and says nothing.
func schemaError(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), schemaURL, ""))
}

// read notes the order in one value of the source. note, if not nil, gets the keys of an object or the strings of a list.
func (o sourceOrder) read(dec *json.Decoder, at string, note func(string)) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		if text, ok := token.(string); ok && note != nil {
			note(text)
		}
		return nil
	}
	for i := 0; dec.More(); i++ {
		if delim == '[' {
			if err := o.read(dec, fmt.Sprintf("%s/%d", at, i), note); err != nil {
				return err
			}
			continue
		}
		token, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		var inner func(string)
		switch {
		case note != nil:
			note(key)
		case key == "properties":
			inner = func(name string) { o.properties[at] = append(o.properties[at], name) }
		case key == "type":
			inner = func(name string) { o.types[at] = append(o.types[at], name) }
		}
		if err := o.read(dec, at+"/"+pointerToken(key), inner); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

func pointerToken(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// ValidationError says why a tool did not get its arguments. Its text is for the model.
type ValidationError struct {
	Tool string
	// Problems are the lines "path: message", in the order of the schema.
	Problems []string
	// Received are the arguments as they came.
	Received json.RawMessage
}

// Error implements error.
func (e *ValidationError) Error() string {
	var b strings.Builder
	b.WriteString(`Validation failed for tool "` + e.Tool + "\":\n")
	for _, p := range e.Problems {
		b.WriteString("  - " + p + "\n")
	}
	b.WriteString("\nReceived arguments:\n")
	b.Write(indentJSON(e.Received))
	return b.String()
}

// Validate coerces args to the schema (see the package documentation) and checks them. It returns args themselves when
// nothing had to be coerced. The error is a [*ValidationError].
func (s *Schema) Validate(tool string, args json.RawMessage) (json.RawMessage, error) {
	if s.valid(args) {
		return args, nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return nil, &ValidationError{Tool: tool, Problems: []string{"root: not valid JSON: " + err.Error()}, Received: args}
	}
	if s.root == nil {
		return args, nil
	}
	c := coercion{order: s.order}
	c.dropNulls(value, s.root)
	value = c.coerce(value, s.root)
	if err := s.root.Validate(value); err != nil {
		return nil, &ValidationError{Tool: tool, Problems: s.explain(value, err), Received: args}
	}
	if !c.changed {
		return args, nil
	}
	return appendValue(nil, value), nil
}

// valid is the short way for arguments that fit as they are: coercion leaves those alone. It reads numbers as float64,
// which is faster; what it does not accept is looked at again with exact numbers.
func (s *Schema) valid(args json.RawMessage) bool {
	if s.plain != nil && s.plain.accepts(args) {
		return true
	}
	var value any
	return json.Unmarshal(args, &value) == nil && (s.root == nil || s.root.Validate(value) == nil)
}

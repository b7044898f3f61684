package agentcore

import (
	"bytes"
	"encoding/json"
	"slices"
)

// plainSchema is the short form of a schema that most tools have: an object whose properties have a type and nothing
// more. It can tell from the bytes of arguments, without decoding them, that they are valid. It never says that they are
// not: that is for the schema library, which decides about everything else too.
type plainSchema struct {
	fields   map[string]plainField
	required uint64 // one bit for each required field
	closed   bool   // no other properties
}

type plainField struct {
	kinds plainKind
	bit   uint64 // 0: optional
}

// plainKind is a set of JSON types.
type plainKind uint8

const (
	plainNull plainKind = 1 << iota
	plainBoolean
	plainInteger
	plainFraction
	plainString
	plainArray
	plainObject
)

func plainKindOf(name string) plainKind {
	switch name {
	case "null":
		return plainNull
	case "boolean":
		return plainBoolean
	case "integer":
		return plainInteger
	case "number":
		return plainInteger | plainFraction
	case "string":
		return plainString
	case "array":
		return plainArray
	case "object":
		return plainObject
	default:
		return 0
	}
}

// newPlainSchema gives the short form of a schema, or nil if it says more than the short form can. parameters are known to
// be a valid schema.
func newPlainSchema(parameters json.RawMessage) *plainSchema {
	var root map[string]json.RawMessage
	if json.Unmarshal(parameters, &root) != nil || !onlyKeys(root, "type", "properties", "required", "additionalProperties") {
		return nil
	}
	var properties map[string]map[string]json.RawMessage
	var required []string
	var open *bool
	if string(root["type"]) != `"object"` || decodeIfPresent(root["properties"], &properties) != nil ||
		decodeIfPresent(root["required"], &required) != nil || decodeIfPresent(root["additionalProperties"], &open) != nil ||
		len(required) > 64 {
		return nil
	}
	p := &plainSchema{fields: make(map[string]plainField, len(properties)), closed: open != nil && !*open}
	for name, property := range properties {
		kinds := plainKinds(property)
		if kinds == 0 {
			return nil
		}
		f := plainField{kinds: kinds}
		if i := slices.Index(required, name); i >= 0 {
			f.bit = 1 << i
			p.required |= f.bit
		}
		p.fields[name] = f
	}
	for _, name := range required {
		if _, ok := p.fields[name]; !ok {
			return nil
		}
	}
	return p
}

func decodeIfPresent(raw json.RawMessage, into any) error {
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// onlyKeys says whether a schema has no keywords but the given ones and those that only describe.
func onlyKeys(schema map[string]json.RawMessage, keys ...string) bool {
	for key := range schema {
		switch key {
		case "title", "description", "default", "examples":
		default:
			if !slices.Contains(keys, key) {
				return false
			}
		}
	}
	return true
}

// plainKinds are the types of a property that has a type and nothing more, else 0.
func plainKinds(property map[string]json.RawMessage) plainKind {
	if property == nil || !onlyKeys(property, "type") {
		return 0
	}
	var name string
	if json.Unmarshal(property["type"], &name) == nil {
		return plainKindOf(name)
	}
	var names []string
	if json.Unmarshal(property["type"], &names) != nil {
		return 0
	}
	var kinds plainKind
	for _, name := range names {
		kinds |= plainKindOf(name)
	}
	return kinds
}

// accepts says that args are certainly valid.
func (p *plainSchema) accepts(args json.RawMessage) bool {
	if !json.Valid(args) {
		return false
	}
	// From here on the bytes are known to be JSON, so the scan need not look for what cannot be.
	i := skipBlanks(args, 0)
	if args[i] != '{' {
		return false
	}
	var seen uint64
	for i = skipBlanks(args, i+1); args[i] != '}'; i = skipBlanks(args, i) {
		if args[i] == ',' {
			i = skipBlanks(args, i+1)
		}
		end := skipString(args, i)
		key := args[i+1 : end-1]
		if slices.Contains(key, '\\') {
			return false
		}
		i = skipBlanks(args, end)
		i = skipBlanks(args, i+1) // past the colon
		kind, next := scanValue(args, i)
		i = next
		field, known := p.fields[string(key)]
		switch {
		case known && kind&field.kinds == 0, !known && p.closed:
			return false
		case known:
			seen |= field.bit
		}
	}
	return seen == p.required
}

func skipBlanks(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// skipString is the index after the string that begins at i.
func skipString(b []byte, i int) int {
	// Texts are long and have few quotes, which are searched for with what the processor has for it.
	for i++; ; {
		i += bytes.IndexByte(b[i:], '"') + 1
		escapes := 0
		for b[i-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

// scanValue is the kind of the value that begins at i, which lies in an object, and the index after it.
func scanValue(b []byte, i int) (plainKind, int) {
	switch b[i] {
	case '"':
		return plainString, skipString(b, i)
	case '{', '[':
		kind := plainObject
		if b[i] == '[' {
			kind = plainArray
		}
		for depth := 0; ; {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return kind, i
			}
		}
	case 't', 'f':
		return plainBoolean, skipLiteral(b, i)
	case 'n':
		return plainNull, skipLiteral(b, i)
	default:
		kind := plainInteger
		end := skipLiteral(b, i)
		for _, c := range b[i:end] {
			if c == '.' || c == 'e' || c == 'E' {
				kind = plainFraction // 1.0 is an integer too, but that is for the library to say
			}
		}
		return kind, end
	}
}

// skipLiteral is the index after the number or word that begins at i.
func skipLiteral(b []byte, i int) int {
	for {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
}

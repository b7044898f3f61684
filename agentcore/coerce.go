package agentcore

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// coercion adapts arguments to a schema: models give "3" for 3 and null for what they leave out. The rules are the
// reference's for plain JSON schemas. Values are those of encoding/json with json.Number.
type coercion struct {
	order   sourceOrder
	changed bool
}

// dropNulls removes optional properties that are null although their schema does not allow it.
func (c *coercion) dropNulls(value any, s *jsonschema.Schema) {
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if sub := itemSchema(s, i); sub != nil {
				c.dropNulls(item, sub)
			}
		}
	case map[string]any:
		for name, sub := range s.Properties {
			item, ok := v[name]
			if !ok {
				continue
			}
			if item == nil && !slices.Contains(s.Required, name) && sub.Ref == nil && sub.Validate(nil) != nil {
				delete(v, name)
				c.changed = true
				continue
			}
			c.dropNulls(item, sub)
		}
	}
}

// itemSchema is the schema that "items" gives for element i, or nil.
func itemSchema(s *jsonschema.Schema, i int) *jsonschema.Schema {
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		return items
	case []*jsonschema.Schema:
		if i < len(items) {
			return items[i]
		}
		return nil
	}
	return s.Items2020
}

func (c *coercion) coerce(value any, s *jsonschema.Schema) any {
	for _, sub := range s.AllOf {
		value = c.coerce(value, sub)
	}
	if len(s.AnyOf) > 0 {
		value = c.coerceUnion(value, s.AnyOf)
	}
	if len(s.OneOf) > 0 {
		value = c.coerceUnion(value, s.OneOf)
	}
	types := c.order.typeNames(s)
	if len(types) < 2 || !slices.ContainsFunc(types, func(t string) bool { return hasType(value, t) }) {
		for _, t := range types {
			if next, ok := coercePrimitive(value, t); ok {
				value, c.changed = next, true
				break
			}
		}
	}
	if slices.Contains(types, "object") {
		if object, ok := value.(map[string]any); ok {
			c.coerceObject(object, s)
		}
	}
	if slices.Contains(types, "array") {
		if list, ok := value.([]any); ok {
			for i, item := range list {
				if sub := itemSchema(s, i); sub != nil {
					list[i] = c.coerce(item, sub)
				}
			}
		}
	}
	return value
}

func (c *coercion) coerceObject(object map[string]any, s *jsonschema.Schema) {
	for name, sub := range s.Properties {
		if item, ok := object[name]; ok {
			object[name] = c.coerce(item, sub)
		}
	}
	sub, ok := s.AdditionalProperties.(*jsonschema.Schema)
	if !ok {
		return
	}
	for name, item := range object {
		if _, defined := s.Properties[name]; !defined {
			object[name] = c.coerce(item, sub)
		}
	}
}

// coerceUnion takes the first member that value matches as it is, else the first that it matches when coerced.
func (c *coercion) coerceUnion(value any, members []*jsonschema.Schema) any {
	for _, sub := range members {
		if sub.Validate(value) == nil {
			return value
		}
	}
	for _, sub := range members {
		attempt := coercion{order: c.order}
		candidate := attempt.coerce(cloneValue(value), sub)
		if sub.Validate(candidate) == nil {
			c.changed = c.changed || attempt.changed
			return candidate
		}
	}
	return value
}

func cloneValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		v = maps.Clone(v)
		for name, item := range v {
			v[name] = cloneValue(item)
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i, item := range v {
			v[i] = cloneValue(item)
		}
		return v
	default:
		return value
	}
}

func hasType(value any, name string) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case json.Number:
		return name == "number" || name == "integer" && isInteger(v)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	default:
		return false
	}
}

func isInteger(n json.Number) bool {
	r, ok := new(big.Rat).SetString(n.String())
	return ok && r.IsInt()
}

// coercePrimitive gives value as the type name, if it differs and can be.
func coercePrimitive(value any, name string) (any, bool) {
	switch name {
	case "number", "integer":
		switch v := value.(type) {
		case nil:
			return json.Number("0"), true
		case bool:
			if v {
				return json.Number("1"), true
			}
			return json.Number("0"), true
		case string:
			f, ok := scriptNumber(v)
			if !ok || name == "integer" && f != math.Trunc(f) {
				return nil, false
			}
			return json.Number(appendNumber(nil, f)), true
		}
	case "boolean":
		switch v := value.(type) {
		case nil:
			return false, true
		case string:
			return v == "true", v == "true" || v == "false"
		case json.Number:
			f, err := v.Float64()
			return f == 1, err == nil && (f == 0 || f == 1)
		}
	case "string":
		switch v := value.(type) {
		case nil:
			return "", true
		case bool:
			return strconv.FormatBool(v), true
		case json.Number:
			return scriptText(v), true
		}
	case "null":
		switch v := value.(type) {
		case string:
			return nil, v == ""
		case bool:
			return nil, !v
		case json.Number:
			f, err := v.Float64()
			return nil, err == nil && f == 0
		}
	}
	return nil, false
}

// scriptText is a number as JavaScript turns it into a string.
func scriptText(n json.Number) string {
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return string(appendNumber(nil, f))
}

// scriptNumber reads text as JavaScript's Number does: blanks around it, exponents, 0x, 0o and 0b are fine; the empty
// string and what is not finite are not taken.
func scriptNumber(text string) (float64, bool) {
	text = strings.TrimFunc(text, func(r rune) bool {
		return r == '\uFEFF' || r == '\u2028' || r == '\u2029' || r == ' ' || r >= '\t' && r <= '\r' || r == '\u00A0' ||
			r == '\u1680' || r >= '\u2000' && r <= '\u200A' || r == '\u202F' || r == '\u205F' || r == '\u3000'
	})
	if text == "" || strings.ContainsAny(text, "_pP") {
		return 0, false // Go reads 1_000 and 0x1p4, JavaScript does not
	}
	if len(text) > 2 && text[0] == '0' && strings.ContainsRune("xXoObB", rune(text[1])) {
		n, ok := new(big.Int).SetString(text, 0)
		if !ok {
			return 0, false
		}
		f, _ := new(big.Float).SetInt(n).Float64()
		return f, !math.IsInf(f, 0)
	}
	for _, r := range text {
		if (r < '0' || r > '9') && !strings.ContainsRune("+-.eE", r) {
			return 0, false // Go reads words for the infinities
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

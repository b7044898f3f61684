package agentcoretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Undefined is the value of an expression that JavaScript calls undefined: a field with it is left out.
type Undefined struct{}

// Null is the value of a call that answers null, since nil stands for a call without a value.
type Null struct{}

// Object is a JSON object.
type Object = map[string]any

// Value turns anything that encoding/json can write into plain JSON values: maps, slices, strings, float64, bool, nil.
// It panics on what cannot be written, which only a broken kit passes.
func Value(v any) any {
	return decode(encode(v))
}

func encode(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("agentcoretest: encode %T: %v", v, err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func decode(raw json.RawMessage) any {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(fmt.Sprintf("agentcoretest: decode %.80s: %v", raw, err))
	}
	return v
}

// encodeInOrder writes v with the keys of objects in the order in which the sources first mention them: texts that a
// model reads show arguments in the order of JavaScript's objects.
func encodeInOrder(v any, sources ...json.RawMessage) json.RawMessage {
	rank := make(map[string]int)
	for _, source := range sources {
		dec := json.NewDecoder(bytes.NewReader(source))
		for {
			token, err := dec.Token()
			if err != nil {
				break
			}
			// Texts that are no keys do no harm: they only rank names.
			if name, ok := token.(string); ok {
				if _, seen := rank[name]; !seen {
					rank[name] = len(rank)
				}
			}
		}
	}
	return appendInOrder(nil, v, rank)
}

func appendInOrder(dst []byte, v any, rank map[string]int) []byte {
	switch v := v.(type) {
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendInOrder(dst, item, rank)
		}
		return append(dst, ']')
	case Object:
		keys := sortedKeys(v)
		slices.SortStableFunc(keys, func(a, b string) int {
			i, known := rank[a]
			if !known {
				i = len(rank)
			}
			j, known := rank[b]
			if !known {
				j = len(rank)
			}
			return i - j
		})
		dst = append(dst, '{')
		for i, key := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, encode(key)...), ':')
			dst = appendInOrder(dst, v[key], rank)
		}
		return append(dst, '}')
	default:
		return append(dst, encode(v)...)
	}
}

// clone is a deep copy.
func clone(v any) any {
	switch v := v.(type) {
	case Object:
		c := make(Object, len(v))
		for key, item := range v {
			c[key] = clone(item)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, item := range v {
			c[i] = clone(item)
		}
		return c
	default:
		return v
	}
}

// same compares JSON values.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// get is the value at a dotted path, and whether there is one.
func get(v any, path string) (any, bool) {
	if path == "" {
		return v, true
	}
	for key := range strings.SplitSeq(path, ".") {
		switch c := v.(type) {
		case Object:
			item, ok := c[key]
			if !ok {
				return nil, false
			}
			v = item
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// edit changes the container that holds the last key of path: remove, or put value there. Lists are changed in their
// holder, since a Go slice cannot grow in place.
func edit(root any, path string, change func(container any, key string) (any, error)) error {
	parent, key := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, key = path[:i], path[i+1:]
	}
	container, ok := get(root, parent)
	if !ok {
		return fmt.Errorf("nothing at %q", parent)
	}
	changed, err := change(container, key)
	if err != nil || parent == "" {
		return err
	}
	if _, isList := changed.([]any); isList {
		return setPath(root, parent, changed)
	}
	return nil
}

func setPath(root any, path string, value any) error {
	return edit(root, path, func(container any, key string) (any, error) {
		switch c := container.(type) {
		case Object:
			c[key] = value
			return c, nil
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(c) {
				return nil, fmt.Errorf("no element %q", key)
			}
			c[i] = value
			return container, nil
		default:
			return nil, fmt.Errorf("%q is not in an object", path)
		}
	})
}

func deletePath(root any, path string) error {
	return edit(root, path, func(container any, key string) (any, error) {
		if c, ok := container.(Object); ok {
			delete(c, key)
			return c, nil
		}
		return nil, fmt.Errorf("%q is not in an object", path)
	})
}

func pushPath(root any, path string, value any) error {
	list, ok := get(root, path)
	items, isList := list.([]any)
	if !ok || !isList {
		return fmt.Errorf("no list at %q", path)
	}
	return setPath(root, path, append(slices.Clip(items), value))
}

// truthy is JavaScript's idea of true.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil, Undefined:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	default:
		return true
	}
}

// text is what JavaScript's String makes of a value.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case Undefined:
		return "undefined"
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			if item != nil {
				parts[i] = text(item)
			}
		}
		return strings.Join(parts, ",")
	case Object:
		return "[object Object]"
	default:
		return string(encode(v))
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

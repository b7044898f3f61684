package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// get is the value at a dotted path.
func get(v any, path string) (any, bool) {
	if path == "" {
		return v, true
	}
	for key := range strings.SplitSeq(path, ".") {
		switch c := v.(type) {
		case object:
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

// put sets the value at a dotted path.
func put(root any, path string, v any) error {
	parent, key := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, key = path[:i], path[i+1:]
	}
	holder, _ := get(root, parent)
	switch c := holder.(type) {
	case object:
		c[key] = v
		return nil
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(c) {
			c[i] = v
			return nil
		}
	}
	return fmt.Errorf("nothing at %q", path)
}

func clone(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for key := range v {
			out[key] = clone(v[key])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return v
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// truthy is JavaScript's idea of true.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	}
	return true
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(encode(v))
}

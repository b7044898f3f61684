package agentcoretest

import (
	"fmt"
	"maps"
	"strings"
)

// Eval evaluates a value that may hold expressions: objects with one key that begins with "$".
func (s *Scope) Eval(x any) (any, error) {
	switch v := x.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = s.Eval(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	case Object:
		if len(v) == 1 {
			for name, arg := range v {
				if strings.HasPrefix(name, "$") {
					return s.expression(name, arg)
				}
			}
		}
		out := make(Object, len(v))
		for key, item := range v {
			value, err := s.Eval(item)
			if err != nil {
				return nil, err
			}
			if _, undefined := value.(Undefined); !undefined {
				out[key] = value
			}
		}
		return out, nil
	default:
		return x, nil
	}
}

func (s *Scope) expression(name string, arg any) (any, error) {
	if own, ok := s.Kit.World.Expressions[name]; ok {
		return own(arg, s)
	}
	fields, _ := arg.(Object)
	switch name {
	case "$event":
		path, _ := arg.(string)
		if v, ok := get(s.Event, path); ok {
			return v, nil
		}
		return Undefined{}, nil
	case "$undefined":
		return Undefined{}, nil
	case "$concat":
		v, err := s.Eval(arg)
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		list, _ := v.([]any)
		for _, item := range list {
			if _, undefined := item.(Undefined); item != nil && !undefined {
				b.WriteString(text(item))
			}
		}
		return b.String(), nil
	case "$upper":
		v, err := s.Eval(arg)
		return strings.ToUpper(text(v)), err
	case "$length":
		v, err := s.Eval(arg)
		switch v := v.(type) {
		case []any:
			return float64(len(v)), err
		case string:
			return float64(len([]rune(v))), err
		}
		return Undefined{}, err
	case "$filter":
		return s.filter(fields)
	case "$append":
		to, err := s.list(fields["to"])
		if err != nil {
			return nil, err
		}
		items, err := s.list(fields["items"])
		return append(append([]any{}, to...), items...), err
	case "$merge":
		base, err := s.Eval(fields["base"])
		if err != nil {
			return nil, err
		}
		with, err := s.Eval(fields["with"])
		out := Object{}
		for _, v := range []any{base, with} {
			if object, ok := v.(Object); ok {
				maps.Copy(out, object)
			}
		}
		return out, err
	default:
		return nil, fmt.Errorf("unknown expression %s", name)
	}
}

func (s *Scope) list(x any) ([]any, error) {
	v, err := s.Eval(x)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("not a list: %s", encode(v))
	}
	return list, nil
}

func (s *Scope) filter(fields Object) (any, error) {
	from, err := s.list(fields["from"])
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, item := range from {
		message, _ := item.(Object)
		drop := true
		for field, value := range map[string]any{"role": fields["dropRole"], "customType": fields["dropCustomType"]} {
			drop = drop && (value == nil || message[field] == value)
		}
		if !drop {
			out = append(out, item)
		}
	}
	return out, nil
}

package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"
)

// What a configuration file may be at most.
const (
	maxFile  = 8 << 20 // bytes
	maxDepth = 1000    // of brackets: both parsers are recursive, and a stack that overflows ends the process
)

// parse reads a file into maps, lists, strings, bools, int64 and json.Number or float64. A file of nothing is an empty one.
func (p *Place) parse(raw []byte) (map[string]any, error) {
	if err := p.parsable(raw); err != nil {
		return nil, err
	}
	if p.layout.toml {
		return p.parseTOML(raw)
	}
	if blank(raw) {
		return map[string]any{}, nil
	}
	v, err := hujson.Parse(raw)
	if err != nil {
		return nil, p.positioned(err)
	}
	tree, err := p.fromJSON(raw, v)
	if err != nil {
		return nil, err
	}
	root, ok := tree.(map[string]any)
	if !ok {
		return nil, p.at(raw, v.StartOffset, "the file is not a JSON object")
	}
	return root, nil
}

func blank(raw []byte) bool { return len(bytes.TrimSpace(raw)) == 0 }

// parsable keeps from the parsers what they are not made for.
func (p *Place) parsable(raw []byte) error {
	if len(raw) > maxFile {
		return fmt.Errorf("%s: the file is longer than %d MiB", p.Path, maxFile>>20)
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 || r == 0 {
			return p.at(raw, i, "the file is not UTF-8 text")
		}
		i += n
	}
	depth := 0
	for i, c := range raw {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth = max(0, depth-1)
		}
		if depth > maxDepth {
			return p.at(raw, i, fmt.Sprintf("more than %d brackets are open", maxDepth))
		}
	}
	return nil
}

// at is an error about a place in the file.
func (p *Place) at(raw []byte, offset int, what string) error {
	line := 1 + bytes.Count(raw[:offset], []byte("\n"))
	column := utf8.RuneCount(raw[bytes.LastIndexByte(raw[:offset], '\n')+1:offset]) + 1
	return fmt.Errorf("%s:%d:%d: %s; mend it first: weir does not change a file that it cannot read", p.Path, line, column, what)
}

// positioned turns the position of hujson's error into ours.
func (p *Place) positioned(err error) error {
	found := regexp.MustCompile(`^hujson: line (\d+), column (\d+): (?s:(.*))$`).FindStringSubmatch(err.Error())
	if found == nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	return fmt.Errorf("%s:%s:%s: %s; mend it first: weir does not change a file that it cannot read", p.Path, found[1], found[2], found[3])
}

// fromJSON is a parsed value as Go values. A key twice is an error: which of them the agent takes cannot be known.
func (p *Place) fromJSON(raw []byte, v hujson.Value) (any, error) {
	switch t := v.Value.(type) {
	case *hujson.Object:
		m := map[string]any{}
		for i := range t.Members {
			key := t.Members[i].Name.Value.(hujson.Literal).String() // the parser takes nothing else
			if _, twice := m[key]; twice {
				return nil, p.at(raw, t.Members[i].Name.StartOffset, fmt.Sprintf("the key %q is there twice", key))
			}
			value, err := p.fromJSON(raw, t.Members[i].Value)
			if err != nil {
				return nil, err
			}
			m[key] = value
		}
		return m, nil
	case *hujson.Array:
		list := make([]any, len(t.Elements))
		for i := range t.Elements {
			value, err := p.fromJSON(raw, t.Elements[i])
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	case hujson.Literal:
		switch t.Kind() {
		case 'n':
			return nil, nil
		case 't', 'f':
			return t.Bool(), nil
		case '"':
			return t.String(), nil
		default:
			if n, err := strconv.ParseInt(string(t), 10, 64); err == nil {
				return n, nil
			}
			return json.Number(t), nil
		}
	}
	return nil, fmt.Errorf("%s: a value of no known kind", p.Path) // the three above are all that the parser makes
}

func (p *Place) parseTOML(raw []byte) (map[string]any, error) {
	var tree map[string]any
	if err := toml.Unmarshal(raw, &tree); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return nil, p.at(raw, min(at.Position.Start, len(raw)), strings.TrimPrefix(at.Message, "toml: "))
		}
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	if tree == nil {
		tree = map[string]any{}
	}
	plain, _ := plainTOML(tree).(map[string]any) // a map stays one
	return plain, nil
}

// plainTOML gives lists of tables the type that other lists have.
func plainTOML(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = plainTOML(value)
		}
	case []any:
		for i := range v {
			v[i] = plainTOML(v[i])
		}
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainTOML(v[i])
		}
		return list
	}
	return v
}

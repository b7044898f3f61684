package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// encodeArguments writes a TOML table as JSON, keys in alphabetical order: TOML tables have no order.
func encodeArguments(args map[string]any) (json.RawMessage, error) {
	if err := checkJSON("args", args); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(args); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// checkJSON refuses what TOML has and JSON has not.
func checkJSON(key string, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := checkJSON(key+"."+name, v[name]); err != nil {
				return err
			}
		}
	case []map[string]any:
		for i, element := range v {
			if err := checkJSON(fmt.Sprintf("%s[%d]", key, i+1), element); err != nil {
				return err
			}
		}
	case []any:
		for i, element := range v {
			if err := checkJSON(fmt.Sprintf("%s[%d]", key, i+1), element); err != nil {
				return err
			}
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s is %v, which JSON has not", key, v)
		}
	case time.Time:
		return fmt.Errorf("%s is a date, which JSON has not; write it as a string", key)
	}
	return nil
}

// kindOf names the type of a TOML value for people.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case bool:
		return "true or false"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	default:
		return "a list"
	}
}

var indexes = regexp.MustCompile(`\[\d+\]`)

// plain is a key without its indexes.
func plain(key string) string { return indexes.ReplaceAllString(key, "") }

// deltas cuts a text into the pieces that a model would stream: words with the white space after them, or pieces of
// chunk characters.
func deltas(text string, chunk int) []string {
	var pieces []string
	for text != "" {
		end := wordEnd(text)
		if chunk > 0 {
			end = charEnd(text, chunk)
		}
		pieces = append(pieces, text[:end])
		text = text[end:]
	}
	return pieces
}

func wordEnd(text string) int {
	space := strings.IndexAny(text, " \t\r\n")
	if space < 0 {
		return len(text)
	}
	return len(text) - len(strings.TrimLeft(text[space:], " \t\r\n"))
}

func charEnd(text string, chars int) int {
	for at := range text {
		if chars == 0 {
			return at
		}
		chars--
	}
	return len(text)
}

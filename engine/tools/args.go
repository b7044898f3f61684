package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// arguments are the members of a call's argument object under their exact names. encoding/json would also take
// "Path" for "path", the last of two equal keys included, so that a tool could act on a value that a gate never looked at.
type arguments map[string]json.RawMessage

func parseArguments(raw json.RawMessage) (arguments, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, fmt.Errorf("the arguments are not a JSON object")
	}
	args := arguments{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
		}
		key, _ := token.(string) // a key is always a string: the decoder saw to it
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("argument %q is not valid JSON: %w", key, err)
		}
		if _, twice := args[key]; twice {
			return nil, fmt.Errorf("argument %q is given twice", key)
		}
		args[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	return args, nil
}

func (a arguments) has(key string) bool {
	value, ok := a[key]
	return ok && string(value) != "null"
}

// text returns a string argument, or "" when it is absent.
func (a arguments) text(key string) (string, error) {
	if !a.has(key) {
		return "", nil
	}
	var value string
	if err := json.Unmarshal(a[key], &value); err != nil {
		return "", fmt.Errorf("argument %q must be a string", key)
	}
	return value, nil
}

// required returns a string argument that must be there; it may be empty.
func (a arguments) required(key string) (string, error) {
	if !a.has(key) {
		return "", fmt.Errorf("argument %q is missing", key)
	}
	return a.text(key)
}

func (a arguments) flag(key string) (bool, error) {
	if !a.has(key) {
		return false, nil
	}
	var value bool
	if err := json.Unmarshal(a[key], &value); err != nil {
		return false, fmt.Errorf("argument %q must be true or false", key)
	}
	return value, nil
}

// number returns a numeric argument, or missing when it is absent.
func (a arguments) number(key string, missing float64) (float64, error) {
	if !a.has(key) {
		return missing, nil
	}
	var value float64
	if err := json.Unmarshal(a[key], &value); err != nil {
		return 0, fmt.Errorf("argument %q must be a number", key)
	}
	return value, nil
}

// count returns a whole number of at least low, or missing when it is absent. Fractions are cut off: the reference's
// schemas say number, not integer.
func (a arguments) count(key string, missing, low int) (int, error) {
	if !a.has(key) {
		return missing, nil
	}
	value, err := a.number(key, 0)
	if err != nil {
		return 0, err
	}
	value = math.Trunc(value)
	if value < float64(low) {
		return 0, fmt.Errorf("argument %q is %v; it must be at least %d", key, value, low)
	}
	return int(min(value, math.MaxInt32)), nil
}

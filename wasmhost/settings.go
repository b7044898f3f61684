package wasmhost

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// guestConfig is a guest's settings, as one JSON object and by key.
type guestConfig struct {
	all  []byte
	keys map[string][]byte
}

// wholeConfigKey is the key under which Extism's config_get gives all settings.
const wholeConfigKey = "weir.config"

// sourceKey is the same for the source of a module that has one; see [Module.WithSource].
const sourceKey = "weir.source"

// parseConfig takes the settings apart for config_get: a string is given raw, any other value as JSON (ABI section 11).
func parseConfig(config json.RawMessage, source []byte) (guestConfig, error) {
	if len(bytes.TrimSpace(config)) == 0 {
		config = json.RawMessage("{}")
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(config, &values); err != nil {
		return guestConfig{}, fmt.Errorf("settings: %w", err)
	}
	if values == nil {
		return guestConfig{}, fmt.Errorf("settings: %s is not an object", config)
	}
	config = bytes.Clone(config)
	c := guestConfig{all: config, keys: make(map[string][]byte, len(values)+2)}
	for k, v := range values {
		c.keys[k] = v
		if v[0] != '"' {
			continue
		}
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return guestConfig{}, fmt.Errorf("settings: %w", err)
		}
		c.keys[k] = []byte(s)
	}
	c.keys[wholeConfigKey] = config
	if source != nil {
		c.keys[sourceKey] = source
	}
	return c, nil
}

// maxVariableBytes is what a guest's Extism variables may take, keys included (ABI section 10). entryOverhead is what an
// entry costs us beside its bytes: without it 300,000 empty values would fit.
const (
	maxVariableBytes = 1 << 20
	entryOverhead    = 64
)

// variables are the Extism variables of a guest. They outlive its instance. Guarded by the guest's turn.
type variables struct {
	values map[string][]byte
	size   int
}

func (v *variables) get(key string) ([]byte, bool) {
	value, ok := v.values[key]
	return value, ok
}

func (v *variables) set(key string, value []byte) error {
	size := v.size + entryOverhead + len(key) + len(value)
	if old, ok := v.values[key]; ok {
		size -= entryOverhead + len(key) + len(old)
	}
	if size > maxVariableBytes {
		return fmt.Errorf("variables would take %d bytes, more than the limit of %d", size, maxVariableBytes)
	}
	if v.values == nil {
		v.values = map[string][]byte{}
	}
	v.values[key] = value
	v.size = size
	return nil
}

func (v *variables) remove(key string) {
	if old, ok := v.values[key]; ok {
		v.size -= entryOverhead + len(key) + len(old)
		delete(v.values, key)
	}
}

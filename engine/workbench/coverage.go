package workbench

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/engine/wire"
)

// Coverage says what the cases of a module exercised of what it declares.
type Coverage struct {
	Module string `json:"module"`
	// Hooks are those that some case called, MissedHooks the others.
	Hooks       []string `json:"hooks"`
	MissedHooks []string `json:"missedHooks"`
	// Config are the settings of its schema that some case gave a value, MissedConfig the others.
	Config       []string `json:"config"`
	MissedConfig []string `json:"missedConfig"`
}

// String is one line: "policy.wasm: hooks 1/2 (never: context), settings 0/0".
func (c *Coverage) String() string {
	part := func(name string, hit, missed []string) string {
		s := fmt.Sprintf("%s %d/%d", name, len(hit), len(hit)+len(missed))
		if len(missed) > 0 {
			s += " (never: " + strings.Join(missed, ", ") + ")"
		}
		return s
	}
	return c.Module + ": " + part("hooks", c.Hooks, c.MissedHooks) + ", " + part("settings", c.Config, c.MissedConfig)
}

// coverage counts, by module.
type coverage struct {
	modules []string
	seen    map[string]*counted
}

type counted struct {
	hooks    []string
	settings []string
	hit      map[string]bool // of hooks by name, of settings with a dot before
}

func (c *coverage) module(name string, d *wire.Describe) {
	if c.seen[name] != nil {
		return
	}
	if c.seen == nil {
		c.seen = map[string]*counted{}
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if len(d.Config) > 0 && json.Unmarshal(d.Config, &schema) != nil {
		schema.Properties = nil // a schema without properties declares no settings that could be counted
	}
	c.modules = append(c.modules, name)
	c.seen[name] = &counted{hooks: d.HookNames(), settings: sortedKeys(schema.Properties), hit: map[string]bool{}}
}

func (c *coverage) hook(module string, e wire.Event) { c.seen[module].hit[e.String()] = true }

func (c *coverage) config(module string, config json.RawMessage) {
	var keys map[string]json.RawMessage
	if len(config) > 0 && json.Unmarshal(config, &keys) != nil {
		return // the engine refuses such settings
	}
	for k := range keys {
		c.seen[module].hit["."+k] = true
	}
}

func (c *coverage) list() []Coverage {
	list := make([]Coverage, 0, len(c.modules))
	for _, name := range c.modules {
		m := c.seen[name]
		cov := Coverage{Module: name, Hooks: []string{}, MissedHooks: []string{}, Config: []string{}, MissedConfig: []string{}}
		for _, h := range m.hooks {
			if m.hit[h] {
				cov.Hooks = append(cov.Hooks, h)
			} else {
				cov.MissedHooks = append(cov.MissedHooks, h)
			}
		}
		for _, s := range m.settings {
			if m.hit["."+s] {
				cov.Config = append(cov.Config, s)
			} else {
				cov.MissedConfig = append(cov.MissedConfig, s)
			}
		}
		list = append(list, cov)
	}
	return list
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

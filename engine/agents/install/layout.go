package install

import (
	"errors"
	"fmt"
	"path/filepath"

	"weir/engine/agents"
)

// Scope says whose configuration it is.
type Scope int

// The scopes.
const (
	// User is a person's own configuration.
	User Scope = iota + 1
	// Project is that of the working folder.
	Project
)

// String is the scope's name on the command line.
func (s Scope) String() string {
	switch s {
	case User:
		return "user"
	case Project:
		return "project"
	default:
		return "unset"
	}
}

// Env is where the configuration is looked for.
type Env struct {
	// Home and CWD are absolute.
	Home, CWD string
	// Getenv reads the variables with which agents let their folders be moved.
	Getenv func(string) string
}

// Place is a configuration file of an agent, which need not exist.
type Place struct {
	Agent *agents.Agent
	Scope Scope
	// Path is the file as it is named; it may be a symbolic link.
	Path string

	layout layout
}

// layout is how an agent writes hooks down.
type layout struct {
	toml     bool   // otherwise JSON, with comments or without
	nested   bool   // handlers stand in groups, which hold the matcher
	version  bool   // the file has a "version"
	command  string // the key of the command line
	events   []string
	handler  []field // what stands beside the command line
	fallback fallback
	binary   string // of the agent, in PATH
	checked  string // the newest version that the contract was read of; "" is not known
	since    string // the first version that has the option that a hook that fails blocks; "" says nothing
	unseen   string // what keeps the agent from running hooks and does not stand in the file; "" nothing
	off      []switchOff
}

// field is a member of an object, in its place.
type field struct {
	key   string
	value any // a string, a number, []field or []any
}

// fallback is what the command line answers when weir itself did not.
type fallback int

const (
	exitTwo  fallback = iota // a text on standard error and exit 2
	denyJSON                 // a denial on standard output and exit 0
)

// switchOff is a setting of the agent that keeps hooks from running.
type switchOff struct {
	path []string
	// when says which value does it: true or false, or a list that holds the hook's name.
	when any
}

// hookName is what the entry is called, in agents that name hooks.
const hookName = "weir"

// Seconds that an agent waits for an answer: more than [agents.DefaultTimeout], after which weir denies by itself.
const hookSeconds = 30

func layouts() map[string]layout {
	seconds := field{"timeout", hookSeconds}
	command := field{"type", "command"}
	return map[string]layout{
		"claude": {
			nested: true, command: "command", binary: "claude", checked: "2.1.295", since: "2.1.295",
			events:  []string{"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "PreCompact", "SessionStart"},
			handler: []field{command, seconds, {"onFailure", "block"}},
			off:     []switchOff{{[]string{"disableAllHooks"}, true}},
		},
		"codex": {
			toml: true, nested: true, command: "command", binary: "codex", checked: "0.149.0", unseen: "Codex CLI skips a hook until a person has trusted it, which weir cannot see: run /hooks in Codex",
			events:  []string{"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "PreCompact", "SessionStart"},
			handler: []field{command, seconds},
			off:     []switchOff{{[]string{"features", "hooks"}, false}, {[]string{"features", "codex_hooks"}, false}},
		},
		"gemini": {
			nested: true, command: "command", binary: "gemini",
			events:  []string{"BeforeTool", "AfterTool", "BeforeAgent", "PreCompress", "SessionStart"},
			handler: []field{{"name", hookName}, command, {"timeout", hookSeconds * 1000}},
			off: []switchOff{
				{[]string{"hooksConfig", "enabled"}, false},
				{[]string{"hooksConfig", "disabled"}, hookName},
				{[]string{"tools", "enableHooks"}, false},
			},
		},
		"cursor": {
			version: true, command: "command", binary: "cursor-agent",
			events:  []string{"preToolUse", "postToolUse", "postToolUseFailure", "beforeReadFile", "beforeTabFileRead", "beforeSubmitPrompt", "preCompact", "sessionStart"},
			handler: []field{seconds, {"failClosed", true}},
		},
		"copilot": {
			version: true, command: "bash", binary: "copilot", fallback: denyJSON,
			events:  []string{"preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted", "preCompact", "sessionStart"},
			handler: []field{command, {"timeoutSec", hookSeconds}},
			off:     []switchOff{{[]string{"disableAllHooks"}, true}},
		},
		"crush": {
			command: "command", binary: "crush", unseen: "versions of Crush that are configured by crushrc may not read crush.json, which weir cannot see",
			events:  []string{"PreToolUse"},
			handler: []field{{"name", hookName}, seconds},
		},
	}
}

// Find is where an agent's hooks are configured. The error names what is wrong with the agent's name or with env.
func Find(agent string, scope Scope, env Env) (*Place, error) {
	a, err := agents.Find(agent)
	if err != nil {
		return nil, err
	}
	base := env.CWD
	if scope == User {
		base = env.Home
	}
	if !filepath.IsAbs(base) {
		return nil, fmt.Errorf("there is no absolute path to the %s's folder (%q)", scope, base)
	}
	moved := func(variable string, parts ...string) string {
		if dir := env.Getenv(variable); scope == User && filepath.IsAbs(dir) {
			return filepath.Join(append([]string{dir}, parts...)...)
		}
		return ""
	}
	var path, other string
	switch agent {
	case "claude":
		path, other = filepath.Join(base, ".claude", "settings.json"), moved("CLAUDE_CONFIG_DIR", "settings.json")
	case "codex":
		path, other = filepath.Join(base, ".codex", "config.toml"), moved("CODEX_HOME", "config.toml")
	case "gemini":
		path = filepath.Join(base, ".gemini", "settings.json")
	case "cursor":
		path = filepath.Join(base, ".cursor", "hooks.json")
	case "copilot":
		path, other = filepath.Join(base, ".copilot", "hooks", "weir.json"), moved("COPILOT_HOME", "hooks", "weir.json")
		if scope == Project {
			path = filepath.Join(base, ".github", "hooks", "weir.json")
		}
	case "crush":
		path, other = filepath.Join(base, ".config", "crush", "crush.json"), moved("XDG_CONFIG_HOME", "crush", "crush.json")
		if dir := moved("CRUSH_GLOBAL_CONFIG", "crush.json"); dir != "" {
			other = dir
		}
		if scope == Project {
			path = filepath.Join(base, "crush.json")
		}
	default:
		return nil, errors.New(a.Title + " cannot be configured by weir; docs/agents says how to do it by hand")
	}
	if other != "" {
		path = other
	}
	return &Place{Agent: a, Scope: scope, Path: path, layout: layouts()[agent]}, nil
}

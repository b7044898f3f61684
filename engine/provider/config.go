package provider

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"weir/agentcore"
	"weir/engine/provider/anthropic"
	"weir/engine/provider/internal/reply"
	"weir/engine/provider/openai"
	"weir/engine/set"
)

// FileName is what the file is called in the user's folder.
const FileName = "models.toml"

// Prices are what a model costs, in US dollars for a million tokens. The zero value costs nothing.
type Prices = reply.Prices

// Config says which models there are and who serves them. It is plain data; the zero value has no providers.
//
//	default = "anthropic/claude-sonnet-4-5"
//
//	[provider.anthropic]
//	kind    = "anthropic"                 # or "openai-chat", "openai-responses"
//	key_env = "ANTHROPIC_API_KEY"         # or key_file = "~/.keys/anthropic", or key_command = ["pass", "show", "anthropic"]
//
//	[provider.local]
//	kind     = "openai-chat"
//	base_url = "http://localhost:8080/v1"
//
//	[[model]]
//	id             = "claude-sonnet-4-5"
//	provider       = "anthropic"
//	context_window = 200000
//	max_tokens     = 64000
//	thinking       = "budget"             # how the model is asked to reason: "off", "budget" or "effort"
//	input          = ["text", "image"]
//	cost           = { input = 3, output = 15, cache_read = 0.3, cache_write = 3.75 }
type Config struct {
	// Path is the file that was read, or would be; "" when there is none.
	Path string
	// Default is the model to use when none is named; "" means the first of Models.
	Default string
	// Providers are in the order of the file, then the built-in ones that the file does not replace.
	Providers []Provider
	// Models are in the order of the file.
	Models []Model
}

// Provider is a server of models.
type Provider struct {
	Name string
	Kind Kind
	// BaseURL is where the API is; "" means that of the kind's vendor.
	BaseURL string
	// Key is where the key comes from; the zero value is no key.
	Key KeySource
	// Builtin says that no file names it.
	Builtin bool
}

// Kind is a wire protocol.
type Kind uint8

// The wire protocols. The zero value means unset.
const (
	KindUnset Kind = iota
	KindAnthropic
	KindOpenAIChat
	KindOpenAIResponses
)

func kinds() []string { return []string{"", "anthropic", "openai-chat", "openai-responses"} }

// String is the name in the file.
func (k Kind) String() string { return kinds()[min(int(k), len(kinds())-1)] }

// API is what messages and sessions call the wire.
func (k Kind) API() string {
	return []string{"", anthropic.API, openai.ChatAPI, openai.ResponsesAPI}[min(int(k), int(KindOpenAIResponses))]
}

// Thinking is how a model is asked to reason. The zero value means that it is not asked.
type Thinking uint8

// The ways to ask. With budget, a level is a number of tokens (Anthropic's models up to Claude 4.5); with effort, a word.
const (
	ThinkingOff Thinking = iota
	ThinkingBudget
	ThinkingEffort
)

func thinkings() []string { return []string{"off", "budget", "effort"} }

// String is the name in the file.
func (t Thinking) String() string { return thinkings()[min(int(t), len(thinkings())-1)] }

// Model is a model and how it is asked.
type Model struct {
	agentcore.Model
	Thinking Thinking
	Prices   Prices
}

// Ref is the model's full name, PROVIDER/ID.
func (m *Model) Ref() string { return m.Provider + "/" + m.ID }

const (
	// maxFile is the largest file that is read, in bytes.
	maxFile = 1 << 20
	// defaultWindow and defaultOutput are for models that the file does not describe, in tokens: what nearly every model
	// of today has. defaultOutput counts only on wires that demand a number.
	defaultWindow = 128_000
	defaultOutput = 8192
)

// Builtin are the providers that need no file: the vendors by their customary variables, and a local Ollama.
func Builtin() []Provider {
	return []Provider{
		{Name: "anthropic", Kind: KindAnthropic, Key: KeySource{Env: "ANTHROPIC_API_KEY"}, Builtin: true},
		{Name: "openai", Kind: KindOpenAIResponses, Key: KeySource{Env: "OPENAI_API_KEY"}, Builtin: true},
		{
			Name: "openrouter", Kind: KindOpenAIChat, BaseURL: "https://openrouter.ai/api/v1",
			Key: KeySource{Env: "OPENROUTER_API_KEY"}, Builtin: true,
		},
		{Name: "ollama", Kind: KindOpenAIChat, BaseURL: "http://localhost:11434/v1", Builtin: true},
	}
}

// Load reads a configuration file. When there is none at path, the result has the built-in providers only. The error is
// a set.Errors, or a *set.Error that wraps the system's.
func Load(path string) (*Config, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Config{Path: path, Providers: Builtin()}, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	// One byte more than there may be, for Parse to refuse.
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, unreadable(path, err)
	}
	return Parse(path, text)
}

func unreadable(path string, err error) *set.Error {
	cause := err
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		cause = pathErr.Err // the path is said already
	}
	return &set.Error{File: path, Message: "the file cannot be read: " + cause.Error(), Err: err}
}

// Add puts a provider first, in place of one of the same name: for flags such as --base-url.
func (c *Config) Add(p Provider) error {
	if problem := checkBaseURL(p.Kind, p.BaseURL, p.Key); problem != "" {
		return fmt.Errorf("provider %q: %s", p.Name, problem)
	}
	c.Providers = slices.DeleteFunc(c.Providers, func(q Provider) bool { return q.Name == p.Name })
	c.Providers = append([]Provider{p}, c.Providers...)
	return nil
}

func (c *Config) provider(name string) *Provider {
	for i := range c.Providers {
		if c.Providers[i].Name == name {
			return &c.Providers[i]
		}
	}
	return nil
}

// DefaultPath is where the user's file is: models.toml in weir's folder of the user's configuration.
func DefaultPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "weir", FileName), nil
}

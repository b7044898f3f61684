package provider_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
	"weir/engine/provider"
	"weir/engine/set"
)

const good = `
default = "sonnet"

[provider.local]
kind     = "openai-chat"
base_url = "http://localhost:8080/v1"

[provider.anthropic]
kind    = "anthropic"
key_file = "keys/anthropic"

[provider.work]
kind        = "openai-responses"
base_url    = "https://gateway.example/v1"
key_command = ["pass", "show", "work"]

[[model]]
id             = "sonnet"
provider       = "anthropic"
name           = "Sonnet"
context_window = 200_000
max_tokens     = 64_000
thinking       = "budget"
input          = ["text", "image"]
cost           = { input = 3, output = 15, cache_read = 0.3, cache_write = 3.75 }

[[model]]
id       = "vendor/qwen3:8b"
provider = "local"

[[model]]
id       = "gpt"
provider = "work"
thinking = "effort"
[model.cost]
input = 1.25
`

func TestParse(t *testing.T) {
	got, err := provider.Parse("/home/u/.config/weir/models.toml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	text := []string{"text"}
	want := &provider.Config{
		Path: "/home/u/.config/weir/models.toml", Default: "sonnet",
		Providers: []provider.Provider{
			{Name: "local", Kind: provider.KindOpenAIChat, BaseURL: "http://localhost:8080/v1"},
			{Name: "anthropic", Kind: provider.KindAnthropic, Key: provider.KeySource{File: "/home/u/.config/weir/keys/anthropic"}},
			{
				Name: "work", Kind: provider.KindOpenAIResponses, BaseURL: "https://gateway.example/v1",
				Key: provider.KeySource{Command: []string{"pass", "show", "work"}},
			},
			provider.Builtin()[1], provider.Builtin()[2], provider.Builtin()[3],
		},
		Models: []provider.Model{
			{
				Model: agentcore.Model{
					ID: "sonnet", Name: "Sonnet", API: "anthropic-messages", Provider: "anthropic", Reasoning: true,
					Input: []string{"text", "image"}, ContextWindow: 200_000, MaxTokens: 64_000,
				},
				Thinking: provider.ThinkingBudget, Prices: provider.Prices{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75},
			},
			{Model: agentcore.Model{
				ID: "vendor/qwen3:8b", API: "openai-completions", Provider: "local", BaseURL: "http://localhost:8080/v1",
				Input: text, ContextWindow: 128_000,
			}},
			{
				Model: agentcore.Model{
					ID: "gpt", API: "openai-responses", Provider: "work", BaseURL: "https://gateway.example/v1", Reasoning: true,
					Input: text, ContextWindow: 128_000,
				},
				Thinking: provider.ThinkingEffort, Prices: provider.Prices{Input: 1.25},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBad shows every error that a file can have, with its place.
func TestBad(t *testing.T) {
	const head = "[provider.p]\nkind = \"openai-chat\"\n"
	const secret = "sk-live-0123456789abcdef"
	for _, c := range []struct{ name, text, want string }{
		{"syntax", "[provider.p]\nkind = anthropic", `m.toml:2:8: not valid TOML (strings need quotes, as in kind = "anthropic")`},
		{"not UTF-8", "a = \"\xff\"", "m.toml:1:6: invalid UTF-8: byte 0xff (save the file as UTF-8)"},
		{"top", "providers = 1", `m.toml:1:1: unknown key "providers" in the file (known here: default, provider, model)`},
		{"no kind", "[provider.p]", `m.toml:1:11: [provider.p] has no kind (write kind = "anthropic", "openai-chat" or "openai-responses")`},
		{"kind", "[provider.p]\n  kind = \"openai\"", `m.toml:2:3: unknown kind "openai" (it is "anthropic", "openai-chat" or "openai-responses")`},
		{"kind type", "[provider.p]\nkind = 1", `m.toml:2:1: kind must be a string (write kind = "openai-chat")`},
		{"name", "[provider.\"P q\"]\nkind = \"anthropic\"", `m.toml:1:11: "P q" is no name of a provider (use lower-case letters, digits, _ and -, beginning with a letter)`},
		{"not a table", "provider.p = 1", `m.toml:1:10: a provider must be a table (write [provider.p] on a line of its own, then its keys)`},
		{"key in the file", head + `key = "` + secret + `"`, `m.toml:3:1: unknown key "key" in [provider.p] (a key does not belong in this file: name the variable that holds it, key_env, or use key_file or key_command)`},
		{"key as a name", head + `key_env = "` + secret + `"`, `m.toml:3:1: key_env is not the name of an environment variable (write the name, as in key_env = "OPENAI_API_KEY", not the key)`},
		{"two keys", head + "key_env = \"A\"\nkey_file = \"b\"", "m.toml:4:1: key_env and key_file exclude each other (keep the one that holds the key)"},
		{"command as text", head + `key_command = "pass show x"`, `m.toml:3:1: key_command must be an array of strings (write key_command = ["pass", "show", "openai"])`},
		{"command empty", head + `key_command = []`, `m.toml:3:1: key_command names no program (write key_command = ["pass", "show", "openai"])`},
		{"command of numbers", head + `key_command = ["a", 1]`, `m.toml:3:1: key_command must be an array of strings (write key_command = ["pass", "show", "openai"])`},
		{"url", head + `base_url = "localhost:8080"`, "m.toml:3:1: base_url is not a URL that starts with http:// or https://"},
		{"url user", head + `base_url = "https://me:` + secret + `@host/v1"`, "m.toml:3:1: base_url holds a user or a password: use key_env, key_file or key_command"},
		{"url query", head + `base_url = "https://host/v1?key=` + secret + `"`, "m.toml:3:1: base_url must end with its path, without ? and #"},
		{"url plain", head + "key_env = \"K\"\nbase_url = \"http://api.example.com/v1\"", "m.toml:4:1: base_url would send the key to api.example.com unencrypted: use https://"},
		{"url v1", "[provider.p]\nkind = \"anthropic\"\nbase_url = \"https://host/v1/\"", "m.toml:3:1: base_url of kind anthropic goes without /v1, which is added"},
		{"model", head + "[[model]]", "m.toml:3:1: [[model]] has no id (write id = \"claude-sonnet-4-5\")\nm.toml:3:1: [[model]] has no provider (write provider = \"anthropic\")"},
		{"one bracket", head + "[model]\nid = \"x\"", "m.toml:3:2: model must be an array of tables (write [[model]] on a line of its own, in two brackets)"},
		{"no such provider", head + "[[model]]\nid = \"x\"\nprovider = \"q\"", `m.toml:5:1: there is no provider "q" (write [provider.q], or one of: p, anthropic, openai, openrouter, ollama)`},
		{"numbers", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\ncontext_window = -1\nmax_tokens = \"many\"", "m.toml:6:1: context_window must be more than 0\nm.toml:7:1: max_tokens must be a number of tokens (write max_tokens = 128000)"},
		{"output", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\ncontext_window = 1000\nmax_tokens = 1001", "m.toml:7:1: max_tokens is more than context_window"},
		{"thinking", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\nthinking = \"high\"", `m.toml:6:1: unknown thinking "high" (it is "off", "budget" or "effort")`},
		{"budget", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\nthinking = \"budget\"", `m.toml:6:1: thinking = "budget" is not known to kind "openai-chat" (write thinking = "effort")`},
		{"input", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\ninput = [\"sound\"]", `m.toml:6:1: input is a list of "text" and "image" (write input = ["text", "image"])`},
		{"input without text", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\ninput = [\"image\"]", `m.toml:6:1: input must hold "text" (write input = ["text", "image"])`},
		{"cost", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\ncost = { input = -1 }", "m.toml:6:1: input = -1 is no price (it is in US dollars for a million tokens)"},
		{"cost key", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\n[model.cost]\nin = 1", `m.toml:7:1: unknown key "in" in cost (known here: input, output, cache_read, cache_write)`},
		{"twice", head + "[[model]]\nid = \"x\"\nprovider = \"p\"\n[[model]]\nid = \"x\"\nprovider = \"p\"", `m.toml:7:1: model "p/x" is there twice`},
		{"default", head + `default = "x"`, `m.toml:3:1: unknown key "default" in [provider.p] (known here: kind, base_url, key_env, key_file, key_command)`},
		{"default unknown", "default = \"q/x\"\n" + head, `m.toml:1:1: there is no model "q/x" and no provider "q"; other models are named PROVIDER/ID, with a provider out of p, anthropic, openai, openrouter, ollama`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := provider.Parse("m.toml", []byte(c.text))
			var list set.Errors
			if !errors.As(err, &list) {
				t.Fatalf("error %v is no set.Errors", err)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats a key: %v", err)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "models.toml")
	c, err := provider.Load(path)
	if err != nil {
		t.Fatalf("a file that does not exist: %v", err)
	}
	if diff := cmp.Diff(&provider.Config{Path: path, Providers: provider.Builtin()}, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := provider.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a folder: %v", err)
	}
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = provider.Load(path); err != nil || len(c.Models) != 3 {
		t.Errorf("%v, %v", c, err)
	}
}

func TestFind(t *testing.T) {
	c, err := provider.Parse("m.toml", []byte(good+"\n[[model]]\nid = \"gpt\"\nprovider = \"local\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"": "anthropic/sonnet", "sonnet": "anthropic/sonnet", "anthropic/sonnet": "anthropic/sonnet",
		"vendor/qwen3:8b": "local/vendor/qwen3:8b", "local/vendor/qwen3:8b": "local/vendor/qwen3:8b", "work/gpt": "work/gpt",
		"ollama/llama3": "ollama/llama3", "openrouter/x/y": "openrouter/x/y",
	} {
		if m, err := c.Find(ref); err != nil || m.Ref() != want {
			t.Errorf("Find(%q) = %q, %v; want %q", ref, m.Ref(), err, want)
		}
	}
	for ref, want := range map[string]string{
		"gpt":  `model "gpt" is not the name of one model: it is one of work/gpt, local/gpt`,
		"opus": `there is no model "opus"; the file has anthropic/sonnet, local/vendor/qwen3:8b, work/gpt, local/gpt; other models are named PROVIDER/ID, with a provider out of local, anthropic, work, openai, openrouter, ollama`,
		"x/y":  `there is no model "x/y" and no provider "x"; the file has anthropic/sonnet, local/vendor/qwen3:8b, work/gpt, local/gpt; other models are named PROVIDER/ID, with a provider out of local, anthropic, work, openai, openrouter, ollama`,
	} {
		_, err := c.Find(ref)
		if err == nil || err.Error() != want {
			t.Errorf("Find(%q): %v\nwant %s", ref, err, want)
		}
	}
}

func TestNoModel(t *testing.T) {
	c := provider.Config{Path: "/home/u/.config/weir/models.toml", Providers: provider.Builtin()}
	_, err := c.Find("")
	var none *provider.NoModelError
	if !errors.As(err, &none) {
		t.Fatalf("error %v", err)
	}
	// What the text tells people to type must be what weir takes.
	for _, ref := range []string{"anthropic/claude-sonnet-4-5", "ollama/qwen3"} {
		if !strings.Contains(err.Error(), ref) {
			t.Errorf("the text does not name %s:\n%v", ref, err)
		}
		if _, err := c.Find(ref); err != nil {
			t.Errorf("Find(%q): %v", ref, err)
		}
	}
	_, example, ok := strings.Cut(err.Error(), c.Path+":\n")
	if !ok {
		t.Fatalf("the text does not name the file:\n%v", err)
	}
	parsed, parseErr := provider.Parse(c.Path, []byte(example))
	if parseErr != nil {
		t.Fatalf("the example is refused: %v", parseErr)
	}
	if m, err := parsed.Find(""); err != nil || m.Ref() != "anthropic/claude-sonnet-4-5" {
		t.Errorf("the example's default is %q, %v", m.Ref(), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("[provider.p]\nkind = anthropic")
	f.Add("[[model]]\nid = 1\n[model.cost]\ninput = nan")
	f.Add("provider = { a = { kind = \"anthropic\" } }\nmodel = [{}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := provider.Parse("m.toml", []byte(text))
		if (c == nil) == (err == nil) {
			t.Fatalf("%v, %v", c, err)
		}
		var list set.Errors
		if err == nil {
			for _, m := range c.Models {
				if _, err := c.Find(m.Ref()); err != nil {
					t.Errorf("a model of the file is not found: %v", err)
				}
			}
			return
		}
		if !errors.As(err, &list) || len(list) == 0 {
			t.Fatalf("error %v", err)
		}
		for _, e := range list {
			if e.Line < 1 || e.Line > strings.Count(text, "\n")+1 || e.Column < 1 {
				t.Errorf("%v is not in the text", e)
			}
		}
	})
}

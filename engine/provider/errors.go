package provider

import (
	"fmt"
	"slices"
	"strings"
)

// NoModelError says that no model is configured. Its text shows the three shortest ways to get going.
type NoModelError struct {
	// Path is the file that would configure one; "" when there is no place for it.
	Path string
}

// Error implements error. It has several lines.
func (e *NoModelError) Error() string {
	path := e.Path
	if path == "" {
		path = FileName
	}
	return `no model is configured. The three shortest ways to get going:

  1. with a key in the environment:
       export ANTHROPIC_API_KEY=…
       weir run --model anthropic/claude-sonnet-4-5 "What is in this folder?"
     (OPENAI_API_KEY with --model openai/…, OPENROUTER_API_KEY with --model openrouter/…)

  2. with a local model, without a key:
       ollama pull qwen3
       weir run --model ollama/qwen3 "What is in this folder?"

  3. with a default, in ` + path + `:
       default = "anthropic/claude-sonnet-4-5"`
}

// UnknownModelError says that a name is that of no model.
type UnknownModelError struct {
	Ref string
	// Candidates are the full names that the name may mean.
	Candidates []string
	// Ambiguous says that the name means several of them; else they are just what there is.
	Ambiguous bool
	// Providers are those that a name may begin with.
	Providers []string
}

// Error implements error.
func (e *UnknownModelError) Error() string {
	if e.Ambiguous {
		return fmt.Sprintf("model %q is not the name of one model: it is one of %s", e.Ref, strings.Join(e.Candidates, ", "))
	}
	text := fmt.Sprintf("there is no model %q", e.Ref)
	if name, _, ok := strings.Cut(e.Ref, "/"); ok && !slices.Contains(e.Providers, name) {
		text += fmt.Sprintf(" and no provider %q", name)
	}
	if len(e.Candidates) > 0 {
		text += "; the file has " + strings.Join(e.Candidates, ", ")
	}
	return text + "; other models are named PROVIDER/ID, with a provider out of " + strings.Join(e.Providers, ", ")
}

// mostListed is how many models an error lists.
const mostListed = 12

func (c *Config) unknown(ref string, ambiguous []Model) *UnknownModelError {
	e := &UnknownModelError{Ref: ref, Ambiguous: len(ambiguous) > 0}
	list := ambiguous
	if len(list) == 0 {
		list = c.Models
	}
	for i := range list[:min(len(list), mostListed)] {
		e.Candidates = append(e.Candidates, list[i].Ref())
	}
	for i := range c.Providers {
		e.Providers = append(e.Providers, c.Providers[i].Name)
	}
	return e
}

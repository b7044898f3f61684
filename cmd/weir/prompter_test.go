package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"weir/engine"
)

func TestPrompter(t *testing.T) {
	questions := []engine.Question{
		{Extension: "guard", Title: "push?\x1b[2J", Message: "to main", Tool: "bash", Input: []byte(`{"command":"git push"}`)},
		{Extension: "other", Title: "sure?", Tool: "bash", Input: []byte(`{}`)},
	}
	for _, c := range []struct {
		typed string
		want  bool
	}{{"y\nyes\n", true}, {"Y\nn\n", false}, {"\n", false}, {"", false}, {"maybe\n", false}} {
		var out bytes.Buffer
		p := &prompter{lines: newLineReader(strings.NewReader(c.typed)), out: &out}
		got, err := p.ask(t.Context(), questions)
		if err != nil || got != c.want {
			t.Errorf("typed %q: %v, %v; want %v", c.typed, got, err, c.want)
		}
		if s := out.String(); !strings.Contains(s, `guard asks: push?\x1b[2J`) || !strings.Contains(s, "git push") {
			t.Errorf("the question does not show what is asked: %q", s)
		}
	}
}

// TestPrompterGivesUp: a run that ends does not wait for an answer.
func TestPrompterGivesUp(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // it never fails
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &prompter{lines: newLineReader(r), out: io.Discard}
	if ok, err := p.ask(ctx, []engine.Question{{Title: "sure?"}}); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", ok, err)
	}
}

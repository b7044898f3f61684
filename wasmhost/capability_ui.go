package wasmhost

import (
	"context"
	"fmt"
)

// Limits of what a guest may put before a person, so that it fits a screen.
const (
	maxUIText    = 8 << 10
	maxUIOptions = 100
)

// UI is how guests reach a person. from is the extension's name. The texts are a guest's: whoever shows them must make
// control characters harmless. Every method returns early when ctx ends; an error is given to the guest as a text. Safe
// for concurrent use: several guests may ask at once.
type UI interface {
	// Confirm asks yes or no.
	Confirm(ctx context.Context, from, title, message string) (bool, error)
	// Select asks for one of options; ok is false when the person chose none.
	Select(ctx context.Context, from, title string, options []string) (answer string, ok bool, err error)
	// Input asks for a line; ok is false when the person gave none.
	Input(ctx context.Context, from, title, placeholder string) (answer string, ok bool, err error)
	// Notify shows a message; level is info, warning or error. It does not wait for the person.
	Notify(ctx context.Context, from, level, message string) error
	// Status shows a text of the extension until the next one; "" removes it. It does not wait for the person.
	Status(ctx context.Context, from, text string) error
}

// AskUI is the capability ui for the extension named from. The operations, with an answer each:
//
//	{"op":"confirm","title":"Delete?","message":"3 files"}         {"answer":true}
//	{"op":"select","title":"Branch","options":["main","next"]}     {"answer":"next"}     null: none was chosen
//	{"op":"input","title":"Why?","placeholder":"a sentence"}       {"answer":"because"}  null: none was given
//	{"op":"notify","message":"3 files deleted","level":"warning"}  {}                    level: info (default), warning, error
//	{"op":"status","text":"watching"}                              {}
//
// message and placeholder may be left out. A text has 8 KiB at most, a choice 1 to 100 options. The time that the person
// takes for the first three does not count against the guest's timeout. With a nil ui there is no person: confirm is
// false, select and input are null, the others do nothing.
func AskUI(from string, ui UI) Capability {
	if ui == nil {
		ui = nobody{}
	}
	u := &uiCapability{from: from, ui: ui}
	return Capability{Handle: u.handle}
}

type uiCapability struct {
	from string
	ui   UI
}

func (u *uiCapability) handle(ctx context.Context, raw []byte) ([]byte, error) {
	r, err := parseRequest(raw)
	if err != nil {
		return nil, err
	}
	switch r.op {
	case "confirm":
		title, message := r.words("title"), r.optionalWords("message")
		if err := r.done(); err != nil {
			return nil, err
		}
		var yes bool
		err := WaitForPerson(ctx, func(ctx context.Context) (err error) {
			yes, err = u.ui.Confirm(ctx, u.from, title, message)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("confirm: %w", err)
		}
		return respond(struct {
			Answer bool `json:"answer"`
		}{yes})
	case "select":
		title, options := r.words("title"), r.texts("options")
		if r.err == nil && (len(options) == 0 || len(options) > maxUIOptions) {
			r.fail("a choice has 1 to %d options, this one has %d", maxUIOptions, len(options))
		}
		for _, o := range options {
			r.short("options", o)
		}
		return u.ask(ctx, r, func(ctx context.Context) (string, bool, error) {
			return u.ui.Select(ctx, u.from, title, options)
		})
	case "input":
		title, placeholder := r.words("title"), r.optionalWords("placeholder")
		return u.ask(ctx, r, func(ctx context.Context) (string, bool, error) {
			return u.ui.Input(ctx, u.from, title, placeholder)
		})
	case "notify":
		message, level := r.words("message"), r.optional("level")
		switch level {
		case "":
			level = "info"
		case "info", "warning", "error":
		default:
			r.fail("unknown level %q; there are info, warning, error", level)
		}
		if err := r.done(); err != nil {
			return nil, err
		}
		return respondEmpty("notify", u.ui.Notify(ctx, u.from, level, message))
	case "status":
		text := r.words("text")
		if err := r.done(); err != nil {
			return nil, err
		}
		return respondEmpty("status", u.ui.Status(ctx, u.from, text))
	}
	return nil, r.unknown("confirm", "select", "input", "notify", "status")
}

// ask puts a question whose answer is a text or nothing.
func (u *uiCapability) ask(ctx context.Context, r *request, question func(context.Context) (string, bool, error)) ([]byte, error) {
	if err := r.done(); err != nil {
		return nil, err
	}
	var answer struct {
		Answer *string `json:"answer"`
	}
	err := WaitForPerson(ctx, func(ctx context.Context) error {
		text, ok, err := question(ctx)
		if ok {
			answer.Answer = &text
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.op, err)
	}
	return respond(answer)
}

func (r *request) words(key string) string {
	s := r.text(key)
	r.short(key, s)
	return s
}

func (r *request) optionalWords(key string) string {
	s := r.optional(key)
	r.short(key, s)
	return s
}

func (r *request) short(key, s string) {
	if len(s) > maxUIText {
		r.fail("key %q: %d bytes, more than the limit of %d", key, len(s), maxUIText)
	}
}

// nobody is the UI where there is no person.
type nobody struct{}

func (nobody) Confirm(context.Context, string, string, string) (bool, error) { return false, nil }
func (nobody) Select(context.Context, string, string, []string) (string, bool, error) {
	return "", false, nil
}

func (nobody) Input(context.Context, string, string, string) (string, bool, error) {
	return "", false, nil
}
func (nobody) Notify(context.Context, string, string, string) error { return nil }
func (nobody) Status(context.Context, string, string) error         { return nil }

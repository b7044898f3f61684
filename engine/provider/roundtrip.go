package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"weir/engine/provider/internal/secret"
	"weir/engine/wire"
)

// DefaultIdle is how long a server may send nothing. A local model may think about a long prompt for minutes before its
// first word.
const DefaultIdle = 10 * time.Minute

// Hooks see and change what goes over the wire, whatever the provider, in the order of the fields. Each may be nil. They
// are called from the goroutine of the request, with its context; requests at the same time call them at the same time. An
// error ends the request with a message that holds the error's text, before anything is sent.
//
// engine.Ask and engine.Observe fit: the three are the events before_provider_headers, before_provider_request and
// after_provider_response.
type Hooks struct {
	// BeforeHeaders gets the headers, sorted, with names in lower case, but those that may hold a key. What it returns is
	// applied to the request: a value sets a header, nil deletes it. Keys can be set and deleted so, too.
	BeforeHeaders func(ctx context.Context, headers []wire.HeaderEdit) ([]wire.HeaderEdit, error)
	// BeforeRequest gets the payload, which it must not change, and returns the one to send; nil keeps it.
	BeforeRequest func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error)
	// AfterResponse hears of the status and the headers before the body is read, again without keys.
	AfterResponse func(ctx context.Context, status int, headers map[string]string)
}

// Transport is the way of all providers to the network. It is safe for concurrent use once it is used.
type Transport struct {
	// Next carries the requests; nil means http.DefaultTransport. A recorder or a player of package replay stands here, so
	// that it has to do with what is sent in the end.
	Next http.RoundTripper
	// Hooks act on each request.
	Hooks Hooks
	// Idle is how long the server may send nothing before the request ends with an [IdleError]; 0 means DefaultIdle.
	// Time that is spent on what it sent does not count.
	Idle time.Duration
}

// IdleError says that a server was silent for too long.
type IdleError struct {
	Host  string
	After time.Duration
}

// Error implements error.
func (e *IdleError) Error() string {
	return fmt.Sprintf("timed out: %s sent nothing for %s", e.Host, e.After)
}

// Timeout says that a new attempt may go well, as net.Error does.
func (e *IdleError) Timeout() bool { return true }

// Temporary is there for net.Error.
func (e *IdleError) Temporary() bool { return true }

// HookError says that a hook stopped a request, or gave what cannot be sent.
type HookError struct {
	// Event is the hook's event, such as before_provider_request.
	Event string
	Err   error
}

// Error implements error.
func (e *HookError) Error() string { return e.Event + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *HookError) Unwrap() error { return e.Err }

// Final says that another attempt would not go better.
func (e *HookError) Final() {}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	out, err := t.request(ctx, req)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	idle := t.Idle
	if idle <= 0 {
		idle = DefaultIdle
	}
	silent := &IdleError{Host: req.URL.Hostname(), After: idle}
	timer := time.AfterFunc(idle, func() { cancel(silent) })
	next := t.Next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(out)
	timer.Stop()
	if err != nil {
		err = idleCause(ctx, err)
		cancel(nil)
		return nil, err
	}
	if hook := t.Hooks.AfterResponse; hook != nil {
		headers := map[string]string{}
		for name, values := range res.Header {
			if !secret.Header(name) {
				headers[strings.ToLower(name)] = strings.Join(values, ", ")
			}
		}
		hook(req.Context(), res.StatusCode, headers)
	}
	res.Request = req // not the one with the hooks' changes: its context ends with the body
	res.Body = &watched{
		body: res.Body, cause: func(err error) error { return idleCause(ctx, err) }, cancel: cancel, timer: timer, idle: idle,
	}
	return res, nil
}

// idleCause is err, or why the context that we made was cancelled.
func idleCause(ctx context.Context, err error) error {
	var silent *IdleError
	if errors.As(context.Cause(ctx), &silent) {
		return silent
	}
	return err
}

// request is a copy of req as the hooks want it.
func (t *Transport) request(ctx context.Context, req *http.Request) (*http.Request, error) {
	out := req.Clone(ctx)
	if hook := t.Hooks.BeforeHeaders; hook != nil {
		edits, err := hook(req.Context(), headers(out.Header))
		if err == nil {
			err = edit(out.Header, edits)
		}
		if err != nil {
			closeBody(req)
			return nil, &HookError{Event: "before_provider_headers", Err: err}
		}
	}
	hook := t.Hooks.BeforeRequest
	if hook == nil || req.Body == nil || req.Body == http.NoBody {
		return out, nil
	}
	payload, err := io.ReadAll(req.Body)
	closeBody(req)
	if err != nil {
		return nil, err
	}
	replaced, err := hook(req.Context(), payload)
	if err == nil && replaced != nil && !json.Valid(replaced) {
		err = errors.New("the payload is not valid JSON")
	}
	if err != nil {
		return nil, &HookError{Event: "before_provider_request", Err: err}
	}
	if replaced != nil {
		payload = replaced
	}
	out.Body = io.NopCloser(bytes.NewReader(payload))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil }
	out.ContentLength = int64(len(payload))
	out.Header.Del("Content-Length") // the one of ContentLength is sent
	return out, nil
}

// closeBody closes the body of a request that goes no further, as a RoundTripper must.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // it was read, or is given up
	}
}

// headers are those that a hook may see.
func headers(all http.Header) []wire.HeaderEdit {
	out := make([]wire.HeaderEdit, 0, len(all))
	for name, values := range all {
		if !secret.Header(name) {
			value := strings.Join(values, ", ")
			out = append(out, wire.HeaderEdit{Name: strings.ToLower(name), Value: &value})
		}
	}
	slices.SortFunc(out, func(a, b wire.HeaderEdit) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// edit applies what a hook returned. Headers that the transport writes itself are refused rather than ignored.
func edit(to http.Header, edits []wire.HeaderEdit) error {
	for _, e := range edits {
		switch strings.ToLower(e.Name) {
		case "host", "content-length", "transfer-encoding", "connection", "trailer", "upgrade":
			return fmt.Errorf("header %q cannot be changed: the connection needs it as it is", e.Name)
		}
		if e.Value == nil {
			to.Del(e.Name)
			if strings.EqualFold(e.Name, "user-agent") {
				to[http.CanonicalHeaderKey(e.Name)] = nil // else Go adds its own
			}
			continue
		}
		to.Set(e.Name, *e.Value)
	}
	return nil
}

// watched is a response's body that ends when the server is silent for too long.
type watched struct {
	body   io.ReadCloser
	cause  func(error) error // says that the silence is the cause of an error, if it is
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(w.idle)
	n, err := w.body.Read(p)
	w.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = w.cause(err)
	}
	return n, err
}

// Close implements [io.Closer]. What was not read is given up, and the connection with it.
func (w *watched) Close() error {
	w.timer.Stop()
	err := w.body.Close()
	w.cancel(nil)
	return err
}

package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"weir/agentcore"
	"weir/engine/provider/internal/reply"
	"weir/engine/provider/internal/secret"
)

// The names of the two wires in messages and session files.
const (
	ChatAPI      = "openai-completions"
	ResponsesAPI = "openai-responses"
)

// DefaultBaseURL is where OpenAI's own API is.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config is what a provider needs. The zero value talks to OpenAI without a key, which it refuses.
type Config struct {
	// BaseURL is where the API is, with its version, such as http://localhost:11434/v1; "" means [DefaultBaseURL].
	BaseURL string
	// Key gives the key before each request; nil, or "", sends none, which suits a local server. The request's own key
	// comes first. An error ends the request with the error's text, which must not hold the key.
	Key func(context.Context) (string, error)
	// Hints are for error texts.
	Hints reply.Hints
	// Effort sends the thinking level of the request as the effort of reasoning.
	Effort bool
	// Prices fill in the cost of a response.
	Prices reply.Prices
	// Transport carries the requests; nil means http.DefaultTransport. Redirects are not followed.
	Transport http.RoundTripper
	// Now is the clock of timestamps; nil means time.Now.
	Now func() time.Time
}

// client is what the two providers share.
type client struct {
	cfg  Config
	http *http.Client
}

func newClient(cfg Config) client {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return client{cfg: cfg, http: &http.Client{
		Transport:     cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// own says whether the server is OpenAI's own.
func (c *client) own() bool {
	u, err := url.Parse(c.cfg.BaseURL)
	return err == nil && u.Hostname() == "api.openai.com"
}

// reader takes the events of one response.
type reader[E any] interface {
	// take reads one event. over says that it was the last one.
	take(e *E) (over bool)
	// end finishes the message after the last event; without, the stream ended too early.
	end(over bool) (*agentcore.AssistantMessage, error)
}

// stream performs one request. send makes it with the options; begin makes what reads its events.
func stream[E any](
	ctx context.Context, c *client, req *agentcore.Request, emit func(agentcore.AssistantEvent) error,
	send func([]option.RequestOption) error, begin func(*reply.Reply) reader[E],
) (*agentcore.AssistantMessage, error) {
	r := reply.New(req, c.cfg.Prices, c.cfg.Now().UnixMilli(), emit)
	if ctx.Err() != nil {
		return r.Abort()
	}
	key := req.APIKey
	if key == "" && c.cfg.Key != nil {
		var err error
		if key, err = c.cfg.Key(ctx); err != nil {
			if ctx.Err() != nil {
				return r.Abort()
			}
			return r.Fail(err.Error())
		}
	}
	var res *http.Response
	opts := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(c.cfg.BaseURL, "/") + "/"), option.WithHTTPClient(c.http), option.WithMaxRetries(0),
		option.WithResponseInto(&res), option.WithHeader("Accept", "text/event-stream"),
	}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	err := send(opts)
	if res != nil {
		// The error of closing a body that was read, or is given up, tells nothing.
		defer func() { _ = res.Body.Close() }()
	}
	if ctx.Err() != nil {
		return r.Abort()
	}
	if failure := c.cfg.Hints.Refusal(res, err); failure != "" {
		return r.Fail(secret.Strip(failure, key))
	}
	return read(ctx, r, ssestream.NewStream[E](ssestream.NewDecoder(res), nil), begin(r), func(err error) string {
		return secret.Strip(c.broken(err), key)
	})
}

func read[E any](
	ctx context.Context, r *reply.Reply, events *ssestream.Stream[E], s reader[E], broken func(error) string,
) (*agentcore.AssistantMessage, error) {
	over := false
	for !over && events.Next() {
		e := events.Current()
		over = s.take(&e)
		if err := r.Err(); err != nil {
			if errors.Is(err, reply.ErrTooLarge) {
				return r.Fail(err.Error())
			}
			return nil, err
		}
		if ctx.Err() != nil {
			return r.Abort()
		}
	}
	switch {
	case over:
		return s.end(true)
	case ctx.Err() != nil:
		return r.Abort()
	case events.Err() != nil:
		return r.Fail(broken(events.Err()))
	default:
		return s.end(false)
	}
}

// broken says what went wrong in a stream.
func (c *client) broken(err error) string {
	var (
		event   *ssestream.StreamError
		syntax  *json.SyntaxError
		typeErr *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &event):
		return reply.Event(event.Event.Data)
	case errors.As(err, &syntax), errors.As(err, &typeErr):
		return reply.Malformed(err)
	default:
		return c.cfg.Hints.Network(err)
	}
}

// loose is a string in JSON; other JSON is kept as it is written, and null is "". Servers differ on what is a string.
type loose string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *loose) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(l))
	}
	*l = ""
	if string(raw) != "null" {
		*l = loose(raw)
	}
	return nil
}

package anthropic

import (
	"context"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"weir/agentcore"
	"weir/engine/provider/internal/reply"
	"weir/engine/provider/internal/secret"
)

// API is the name of this wire in messages and session files.
const API = "anthropic-messages"

// DefaultBaseURL is where Anthropic's own API is.
const DefaultBaseURL = "https://api.anthropic.com"

// Thinking is how a model is asked to reason. The zero value means that it is not asked.
type Thinking uint8

const (
	// ThinkingOff asks for no reasoning, whatever the level of the request.
	ThinkingOff Thinking = iota
	// ThinkingBudget gives a number of tokens: models up to Claude 4.5.
	ThinkingBudget
	// ThinkingEffort lets the model decide, guided by an effort: models from Claude 4.6 on.
	ThinkingEffort
)

// Config is what a provider needs. The zero value talks to Anthropic without a key, which it refuses.
type Config struct {
	// BaseURL is where the API is, without /v1; "" means [DefaultBaseURL].
	BaseURL string
	// Key gives the key before each request; nil, or "", sends none. The request's own key comes first. An error ends the
	// request with the error's text, which must not hold the key.
	Key func(context.Context) (string, error)
	// Hints are for error texts.
	Hints reply.Hints
	// Thinking is the model's.
	Thinking Thinking
	// NoCache leaves the prompt-cache breakpoints out.
	NoCache bool
	// Prices fill in the cost of a response.
	Prices reply.Prices
	// Transport carries the requests; nil means http.DefaultTransport. Redirects are not followed.
	Transport http.RoundTripper
	// Now is the clock of timestamps; nil means time.Now.
	Now func() time.Time
}

// Provider implements [agentcore.Provider]. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	client *http.Client
}

// New returns a provider. It makes no request.
func New(cfg Config) *Provider {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Provider{cfg: cfg, client: &http.Client{
		Transport: cfg.Transport,
		// A redirect would carry the x-api-key header to a host that nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Stream implements [agentcore.Provider].
func (p *Provider) Stream(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
	r := reply.New(req, p.cfg.Prices, p.cfg.Now().UnixMilli(), emit)
	if ctx.Err() != nil {
		return r.Abort()
	}
	key := req.APIKey
	if key == "" && p.cfg.Key != nil {
		var err error
		if key, err = p.cfg.Key(ctx); err != nil {
			if ctx.Err() != nil {
				return r.Abort()
			}
			return r.Fail(err.Error())
		}
	}
	params, err := p.params(req)
	if err != nil {
		return r.Fail(err.Error())
	}
	res, failure := p.send(ctx, params, key)
	if res != nil {
		// The error of closing a body that was read, or is given up, tells nothing.
		defer func() { _ = res.Body.Close() }()
	}
	switch {
	case ctx.Err() != nil:
		return r.Abort()
	case failure != "":
		return r.Fail(secret.Strip(failure, key))
	}
	s := stream{reply: r, key: key, hints: p.cfg.Hints}
	return s.run(ctx, ssestream.NewStream[event](ssestream.NewDecoder(res), nil))
}

// send makes the request. It returns a response whose stream can be read, or why there is none.
func (p *Provider) send(ctx context.Context, params sdk.MessageNewParams, key string) (*http.Response, string) {
	var res *http.Response
	opts := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(p.cfg.BaseURL, "/") + "/"), option.WithHTTPClient(p.client), option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(), option.WithResponseInto(&res), option.WithHeader("Accept", "text/event-stream"),
	}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	// A service, unlike a client, reads neither the environment nor profiles.
	service := sdk.NewMessageService(opts...)
	err := service.NewStreaming(ctx, params).Err()
	return res, p.cfg.Hints.Refusal(res, err)
}

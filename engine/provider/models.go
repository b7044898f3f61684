package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"weir/agentcore"
	"weir/engine/provider/anthropic"
	"weir/engine/provider/internal/reply"
	"weir/engine/provider/internal/secret"
	"weir/engine/provider/openai"
)

// Options are what a program, rather than a file, says. The zero value is good.
type Options struct {
	// Hooks act on every request.
	Hooks Hooks
	// Network carries the requests; nil is the network itself, with the proxy of the environment. A player of package
	// replay goes here.
	Network http.RoundTripper
	// Wrap, when it is not nil, gets what carries the requests and returns what does instead: a recorder of package replay
	// whose Next is set to it.
	Wrap func(http.RoundTripper) http.RoundTripper
	// Offline says that Network needs no keys, as a player: none are looked for.
	Offline bool
	// Idle is how long a server may send nothing; 0 means DefaultIdle.
	Idle time.Duration
	// Now is the clock of messages; nil means time.Now.
	Now func() time.Time
}

// Models are the models of a configuration, ready to be used. It implements agentcore.Provider: each request goes to the
// provider of the request's model. It is safe for concurrent use.
type Models struct {
	config    Config
	options   Options
	transport *Transport
	network   *http.Transport   // ours, nil when Options.Network was given
	direct    http.RoundTripper // what carries requests that are not recorded
	keys      map[string]*keys
}

// Open makes the models usable. Nothing is sent, and no key is looked for. The caller must Close the result, and must not
// change c any more.
func (c *Config) Open(o Options) *Models {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Models{config: *c, options: o, keys: map[string]*keys{}}
	m.transport = &Transport{Next: o.Network, Hooks: o.Hooks, Idle: o.Idle}
	if o.Network == nil {
		m.network = http.DefaultTransport.(*http.Transport).Clone() // what the standard library documents it to be
		// A compressed stream would be read in blocks, and events would come late.
		m.network.DisableCompression = true
		m.network.OnProxyConnectResponse = refusedByProxy
		m.transport.Next = m.network
	}
	m.direct = m.transport.Next
	if o.Wrap != nil {
		m.transport.Next = o.Wrap(m.transport.Next)
	}
	for i := range c.Providers {
		p := &c.Providers[i]
		m.keys[p.Name] = &keys{provider: p.Name, source: p.Key, now: o.Now}
	}
	return m
}

// ProxyError says that a proxy would not open a connection.
type ProxyError struct {
	Proxy  string // its host
	Status int
}

// Error implements error.
func (e *ProxyError) Error() string {
	text := fmt.Sprintf("%d %s: the proxy %s would not connect; it comes from HTTPS_PROXY or HTTP_PROXY in the environment", e.Status, http.StatusText(e.Status), e.Proxy)
	if e.Status == http.StatusProxyAuthRequired {
		text += ", which can hold a name and a password: http://NAME:PASSWORD@HOST:PORT"
	}
	return text
}

// Final says that the text is used as it is. Its status tells whether another attempt may go well.
func (e *ProxyError) Final() {}

func refusedByProxy(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &ProxyError{Proxy: proxy.Hostname(), Status: res.StatusCode}
}

// Close closes connections that wait for the next request.
func (m *Models) Close() {
	if m.network != nil {
		m.network.CloseIdleConnections()
	}
}

// List are the models of the file, in its order. The slice belongs to the caller.
func (m *Models) List() []Model { return slices.Clone(m.config.Models) }

// Find gives the model with a name: PROVIDER/ID, or an ID that is in the file. "" is the default. A model of a known
// provider need not be in the file: it then has what nearly every model has, text only and no reasoning. The errors are a
// *[NoModelError] and an *[UnknownModelError].
func (m *Models) Find(ref string) (Model, error) { return m.config.Find(ref) }

// Find is [Models.Find].
func (c *Config) Find(ref string) (Model, error) {
	if ref == "" {
		ref = c.Default
	}
	if ref == "" {
		if len(c.Models) > 0 {
			return c.Models[0], nil
		}
		return Model{}, &NoModelError{Path: c.Path}
	}
	var byID []Model
	for i := range c.Models {
		switch {
		case c.Models[i].Ref() == ref:
			return c.Models[i], nil
		case c.Models[i].ID == ref:
			byID = append(byID, c.Models[i])
		}
	}
	if len(byID) == 1 {
		return byID[0], nil
	}
	name, id, ok := strings.Cut(ref, "/")
	if p := c.provider(name); len(byID) == 0 && ok && p != nil && id != "" {
		return p.undescribed(id), nil
	}
	return Model{}, c.unknown(ref, byID)
}

// undescribed is a model that the file says nothing about.
func (p *Provider) undescribed(id string) Model {
	m := Model{Model: agentcore.Model{
		ID: id, API: p.Kind.API(), Provider: p.Name, BaseURL: p.BaseURL, Input: []string{"text"}, ContextWindow: defaultWindow,
	}}
	if p.Kind == KindAnthropic {
		m.MaxTokens = defaultOutput
	}
	return m
}

// Authorize says why a model cannot be used for lack of a key; nil if it can. It has the form of session.Config.Authorize.
func (m *Models) Authorize(ctx context.Context, model agentcore.Model) error {
	k := m.keys[model.Provider]
	if k == nil {
		return m.config.unknown(model.Provider+"/"+model.ID, nil)
	}
	if m.options.Offline {
		return nil
	}
	_, err := k.key(ctx)
	return err
}

// Stream implements agentcore.Provider.
func (m *Models) Stream(ctx context.Context, req *agentcore.Request, emit func(agentcore.AssistantEvent) error) (*agentcore.AssistantMessage, error) {
	p, err := m.Provider(req.Model)
	if err != nil {
		return reply.New(req, Prices{}, m.options.Now().UnixMilli(), emit).Fail(err.Error())
	}
	return p.Stream(ctx, req, emit)
}

// Provider is the provider of one model. The error is an *[UnknownModelError].
func (m *Models) Provider(model agentcore.Model) (agentcore.Provider, error) {
	p := m.config.provider(model.Provider)
	if p == nil {
		return nil, m.config.unknown(model.Provider+"/"+model.ID, nil)
	}
	found, err := m.config.Find(model.Provider + "/" + model.ID)
	if err != nil {
		return nil, err
	}
	key := m.keys[p.Name].key
	if m.options.Offline {
		key = nil
	}
	hints := m.hints(p)
	switch p.Kind {
	case KindAnthropic:
		return anthropic.New(anthropic.Config{
			BaseURL: p.BaseURL, Key: key, Hints: hints, Thinking: anthropic.Thinking(found.Thinking), Prices: found.Prices,
			Transport: m.transport, Now: m.options.Now,
		}), nil
	case KindOpenAIChat, KindOpenAIResponses:
		cfg := openai.Config{
			BaseURL: p.BaseURL, Key: key, Hints: hints, Effort: found.Thinking == ThinkingEffort, Prices: found.Prices,
			Transport: m.transport, Now: m.options.Now,
		}
		if p.Kind == KindOpenAIChat {
			return openai.NewChat(cfg), nil
		}
		return openai.NewResponses(cfg), nil
	default:
		return nil, fmt.Errorf("[provider.%s] has no kind", p.Name)
	}
}

func (m *Models) hints(p *Provider) reply.Hints {
	h := reply.Hints{Where: "[provider." + p.Name + "]"}
	if p.Key.set() {
		h.KeyFrom = p.Key.String()
	}
	return h
}

// checkTime is how long a server may take to list its models.
const checkTime = 10 * time.Second

// Check asks a model's server whether it is there, takes the key and has the model. nil means yes, as far as the server
// tells: many have no list. It costs no tokens, and hooks do not see it.
func (m *Models) Check(ctx context.Context, model Model) error {
	p := m.config.provider(model.Provider)
	if p == nil {
		return m.config.unknown(model.Ref(), nil)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	key := ""
	if !m.options.Offline {
		var err error
		if key, err = m.keys[p.Name].key(ctx); err != nil {
			return err
		}
	}
	base := strings.TrimSuffix(p.BaseURL, "/")
	switch {
	case base == "" && p.Kind == KindAnthropic:
		base = anthropic.DefaultBaseURL
	case base == "":
		base = openai.DefaultBaseURL
	}
	path := "/models"
	if p.Kind == KindAnthropic {
		path = "/v1/models?limit=1000"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return err
	}
	if p.Kind == KindAnthropic {
		req.Header.Set("anthropic-version", "2023-06-01")
		req.Header.Set("x-api-key", key)
	} else if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return m.ask(req, m.hints(p), key, model.ID)
}

func (m *Models) ask(req *http.Request, hints reply.Hints, key, id string) error {
	client := &http.Client{
		Transport:     &Transport{Next: m.direct, Idle: checkTime},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	fail := func(text string) error { return errors.New(secret.Strip(text, key)) }
	res, err := client.Do(req)
	if err != nil {
		return fail(hints.Network(err))
	}
	// It is read as far as it is of use.
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 8<<20))
	switch {
	case err != nil:
		return fail(hints.Network(err))
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusMethodNotAllowed:
		return nil // a server without a list
	case res.StatusCode != http.StatusOK:
		return fail(hints.HTTP(res.StatusCode, res.Header, body))
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil || len(list.Data) == 0 {
		return nil // a list in another form tells nothing
	}
	for _, have := range list.Data {
		if have.ID == id || have.ID == id+":latest" {
			return nil
		}
	}
	return fmt.Errorf("the server%s does not list model %q", " of "+hints.Where, id)
}

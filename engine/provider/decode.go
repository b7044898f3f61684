package provider

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"weir/engine/set"
)

// Parse reads the text of a configuration file. path is for errors, and relative key files start at its folder. The error
// is a set.Errors with everything that is wrong; what makes the text no TOML comes alone.
func Parse(path string, text []byte) (*Config, error) {
	doc, err := set.ParseDocument(path, text)
	if err != nil {
		return nil, withoutText(err)
	}
	d := &decoder{config: &Config{Path: path}, doc: doc}
	d.document(doc.Values)
	if len(d.errs) > 0 {
		d.errs.Sort()
		return nil, d.errs
	}
	return d.config, nil
}

// withoutText takes out of a syntax error what may quote the text: it may hold a key that does not belong there.
func withoutText(err error) error {
	var one *set.Error
	var syntax toml.ParseError
	if !errors.As(err, &one) || !errors.As(err, &syntax) {
		return err
	}
	at := set.Position{File: one.File, Line: one.Line, Column: one.Column}
	return set.Errors{at.Error("", "not valid TOML", `strings need quotes, as in kind = "anthropic"`)}
}

type decoder struct {
	config *Config
	doc    *set.Document
	errs   set.Errors
}

// fail notes an error where something stands, or at what is nearest around it.
func (d *decoder) fail(at set.Path, message, hint string) {
	d.errs = append(d.errs, d.doc.At(at...).Error(at.String(), message, hint))
}

// named says whether s is a name: 1 to 64 of the characters, not beginning with a digit or -.
func named(s, characters string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, characters) == "" && !strings.ContainsAny(s[:1], "0123456789-")
}

const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"

func (d *decoder) document(doc map[string]any) {
	d.keys(nil, doc, "the file", "default", "provider", "model")
	d.config.Default, _ = value[string](d, nil, doc, "default", "a string", `default = "anthropic/claude-sonnet-4-5"`)
	providers, _ := value[map[string]any](d, nil, doc, "provider", "a table of tables", "[provider.NAME] on a line of its own")
	for _, name := range d.byLine("provider", slices.Sorted(maps.Keys(providers))) {
		at := set.Path{"provider", name}
		table, ok := providers[name].(map[string]any)
		if !ok {
			d.fail(at, "a provider must be a table", "write [provider."+name+"] on a line of its own, then its keys")
			continue
		}
		d.provider(at, name, table)
	}
	for _, p := range Builtin() {
		if d.config.provider(p.Name) == nil {
			d.config.Providers = append(d.config.Providers, p)
		}
	}
	models, _ := value[[]map[string]any](d, nil, doc, "model", "an array of tables", "[[model]] on a line of its own, in two brackets")
	for i, table := range models {
		d.model(set.Path{"model", i}, table)
	}
	d.checkDefault()
}

// byLine sorts the keys of a table by where they stand.
func (d *decoder) byLine(table string, keys []string) []string {
	slices.SortStableFunc(keys, func(a, b string) int { return d.doc.At(table, a).Line - d.doc.At(table, b).Line })
	return keys
}

func (d *decoder) checkDefault() {
	if d.config.Default == "" || len(d.errs) > 0 {
		return // what it names may be what is wrong
	}
	if _, err := d.config.Find(d.config.Default); err != nil {
		d.fail(set.Path{"default"}, err.Error(), "")
	}
}

// value reads a key of a table, or the zero value.
func value[T any](d *decoder, at set.Path, table map[string]any, key, want, example string) (T, bool) {
	var zero T
	raw, there := table[key]
	if !there {
		return zero, false
	}
	v, ok := raw.(T)
	if !ok {
		d.fail(at.In(key), fmt.Sprintf("%s must be %s", key, want), "write "+example)
	}
	return v, ok
}

// keys refuses unknown keys. It never repeats a value: it may be a key to a service.
func (d *decoder) keys(at set.Path, table map[string]any, where string, known ...string) {
	for _, k := range slices.Sorted(maps.Keys(table)) {
		if slices.Contains(known, k) {
			continue
		}
		hint := "known here: " + strings.Join(known, ", ")
		if slices.Contains([]string{"key", "api_key", "apikey", "token", "secret"}, strings.ToLower(k)) {
			hint = "a key does not belong in this file: name the variable that holds it, key_env, or use key_file or key_command"
		}
		d.fail(at.In(k), fmt.Sprintf("unknown key %q in %s", k, where), hint)
	}
}

func (d *decoder) provider(at set.Path, name string, table map[string]any) {
	where := "[" + at.String() + "]"
	d.keys(at, table, where, "kind", "base_url", "key_env", "key_file", "key_command")
	p := Provider{Name: name}
	if !named(name, lower+digits+"_-") {
		d.fail(at, fmt.Sprintf("%q is no name of a provider", name), "use lower-case letters, digits, _ and -, beginning with a letter")
	}
	kind, ok := value[string](d, at, table, "kind", "a string", `kind = "openai-chat"`)
	switch n := slices.Index(kinds(), kind); {
	case !ok && table["kind"] == nil:
		d.fail(at, where+" has no kind", `write kind = "anthropic", "openai-chat" or "openai-responses"`)
	case ok && n <= 0:
		d.fail(at.In("kind"), fmt.Sprintf("unknown kind %q", kind), `it is "anthropic", "openai-chat" or "openai-responses"`)
	case ok:
		p.Kind = Kind(n)
	}
	p.Key = d.key(at, table)
	if base, ok := value[string](d, at, table, "base_url", "a string", `base_url = "http://localhost:8080/v1"`); ok {
		p.BaseURL = base
		if problem := checkBaseURL(p.Kind, base, p.Key); problem != "" {
			d.fail(at.In("base_url"), problem, "")
		}
	}
	d.config.Providers = append(d.config.Providers, p)
}

func (d *decoder) key(at set.Path, table map[string]any) KeySource {
	var s KeySource
	var said []string
	for _, k := range []string{"key_env", "key_file", "key_command"} {
		if table[k] != nil {
			said = append(said, k)
		}
	}
	if len(said) > 1 {
		d.fail(at.In(said[1]), strings.Join(said, " and ")+" exclude each other", "keep the one that holds the key")
	}
	if env, ok := value[string](d, at, table, "key_env", "a string", `key_env = "OPENAI_API_KEY"`); ok {
		s.Env = env
		if !named(env, lower+upper+digits+"_") {
			// It may be the key itself, so it is not repeated.
			d.fail(at.In("key_env"), "key_env is not the name of an environment variable", `write the name, as in key_env = "OPENAI_API_KEY", not the key`)
		}
	}
	if file, ok := value[string](d, at, table, "key_file", "a string", `key_file = "~/.keys/openai"`); ok {
		s.File = file
		if file == "" {
			d.fail(at.In("key_file"), "key_file is empty", "write the path of the file that holds the key")
		} else if s.File = expand(file); !filepath.IsAbs(s.File) {
			s.File = filepath.Join(filepath.Dir(d.config.Path), s.File)
		}
	}
	if list, ok := value[[]any](d, at, table, "key_command", "an array of strings", `key_command = ["pass", "show", "openai"]`); ok {
		for _, item := range list {
			word, ok := item.(string)
			if !ok {
				d.fail(at.In("key_command"), "key_command must be an array of strings", `write key_command = ["pass", "show", "openai"]`)
				break
			}
			s.Command = append(s.Command, word)
		}
		if len(list) == 0 || len(s.Command) > 0 && s.Command[0] == "" {
			d.fail(at.In("key_command"), "key_command names no program", `write key_command = ["pass", "show", "openai"]`)
		}
	}
	return s
}

// checkBaseURL says what is wrong with where a provider is.
func checkBaseURL(kind Kind, base string, key KeySource) string {
	if base == "" {
		return ""
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return `base_url is not a URL that starts with http:// or https://`
	case u.User != nil:
		return "base_url holds a user or a password: use key_env, key_file or key_command"
	case u.RawQuery != "" || u.Fragment != "":
		return "base_url must end with its path, without ? and #"
	case kind == KindAnthropic && strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1"):
		return "base_url of kind anthropic goes without /v1, which is added"
	case u.Scheme == "http" && key.set() && !local(u.Hostname()):
		return "base_url would send the key to " + u.Hostname() + " unencrypted: use https://"
	}
	return ""
}

// local says whether a host is this machine or in its own network, where servers often speak plain HTTP.
func local(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast()
	}
	if host == "" || net.ParseIP(host) != nil {
		return false
	}
	for _, end := range []string{".local", ".lan", ".internal", ".localhost", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return !strings.Contains(host, ".")
}

func (d *decoder) model(at set.Path, table map[string]any) {
	d.keys(at, table, "[[model]]", "id", "name", "provider", "context_window", "max_tokens", "thinking", "input", "cost")
	var m Model
	for _, f := range []struct {
		key     string
		to      *string
		need    bool
		example string
	}{
		{"id", &m.ID, true, `id = "claude-sonnet-4-5"`},
		{"provider", &m.Provider, true, `provider = "anthropic"`},
		{"name", &m.Name, false, `name = "Sonnet"`},
	} {
		*f.to, _ = value[string](d, at, table, f.key, "a string", f.example)
		if f.need && *f.to == "" && (table[f.key] == nil || table[f.key] == "") {
			d.fail(at, "[[model]] has no "+f.key, "write "+f.example)
		}
	}
	m.ContextWindow = d.tokens(at, table, "context_window")
	if m.ContextWindow == 0 {
		m.ContextWindow = defaultWindow
	}
	if m.MaxTokens = d.tokens(at, table, "max_tokens"); m.MaxTokens > m.ContextWindow {
		d.fail(at.In("max_tokens"), "max_tokens is more than context_window", "")
	}
	d.thinking(at, table, &m)
	d.input(at, table, &m)
	d.cost(at, table, &m)
	p := d.config.provider(m.Provider)
	switch {
	case p == nil && m.Provider != "":
		d.fail(at.In("provider"), fmt.Sprintf("there is no provider %q", m.Provider), "write [provider."+m.Provider+`], or one of: `+d.config.names())
	case p != nil:
		m.API, m.BaseURL = p.Kind.API(), p.BaseURL
		if p.Kind == KindAnthropic && m.MaxTokens == 0 {
			m.MaxTokens = min(defaultOutput, m.ContextWindow)
		}
		if m.Thinking == ThinkingBudget && p.Kind != KindAnthropic {
			d.fail(at.In("thinking"), fmt.Sprintf("thinking = \"budget\" is not known to kind %q", p.Kind), `write thinking = "effort"`)
		}
	}
	for i := range d.config.Models {
		if m.ID != "" && d.config.Models[i].Ref() == m.Ref() {
			d.fail(at.In("id"), fmt.Sprintf("model %q is there twice", m.Ref()), "")
		}
	}
	d.config.Models = append(d.config.Models, m)
}

// tokens is a number of tokens, 0 when absent.
func (d *decoder) tokens(at set.Path, table map[string]any, key string) int64 {
	n, ok := value[int64](d, at, table, key, "a number of tokens", key+" = 128000")
	if ok && n <= 0 {
		d.fail(at.In(key), key+" must be more than 0", "")
		return 0
	}
	return n
}

func (d *decoder) thinking(at set.Path, table map[string]any, m *Model) {
	word, ok := value[string](d, at, table, "thinking", "a string", `thinking = "effort"`)
	if !ok {
		return
	}
	n := slices.Index(thinkings(), word)
	if n < 0 {
		d.fail(at.In("thinking"), fmt.Sprintf("unknown thinking %q", word), `it is "off", "budget" or "effort"`)
		return
	}
	m.Thinking, m.Reasoning = Thinking(n), n > 0
}

func (d *decoder) input(at set.Path, table map[string]any, m *Model) {
	m.Input = []string{"text"}
	list, ok := value[[]any](d, at, table, "input", "an array of strings", `input = ["text", "image"]`)
	if !ok {
		return
	}
	m.Input = nil
	for _, item := range list {
		if item != "text" && item != "image" {
			d.fail(at.In("input"), `input is a list of "text" and "image"`, `write input = ["text", "image"]`)
			return
		}
		m.Input = append(m.Input, item.(string))
	}
	if !slices.Contains(m.Input, "text") {
		d.fail(at.In("input"), `input must hold "text"`, `write input = ["text", "image"]`)
	}
}

func (d *decoder) cost(at set.Path, table map[string]any, m *Model) {
	cost, ok := value[map[string]any](d, at, table, "cost", "a table", "cost = { input = 3, output = 15 }")
	if !ok {
		return
	}
	d.keys(at.In("cost"), cost, "cost", "input", "output", "cache_read", "cache_write")
	for key, to := range map[string]*float64{
		"input": &m.Prices.Input, "output": &m.Prices.Output, "cache_read": &m.Prices.CacheRead, "cache_write": &m.Prices.CacheWrite,
	} {
		switch v := cost[key].(type) {
		case nil:
		case int64:
			*to = float64(v)
		case float64:
			*to = v
		default:
			d.fail(at.In("cost"), "the costs are numbers: US dollars for a million tokens", "write cost = { input = 3, output = 15 }")
		}
		if *to < 0 || *to > 1e6 || *to != *to {
			d.fail(at.In("cost"), key+" = "+strconv.FormatFloat(*to, 'g', -1, 64)+" is no price", "it is in US dollars for a million tokens")
		}
	}
}

func (c *Config) names() string {
	names := make([]string, len(c.Providers))
	for i := range c.Providers {
		names[i] = c.Providers[i].Name
	}
	return strings.Join(names, ", ")
}

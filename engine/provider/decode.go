package provider

import (
	"cmp"
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
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"weir/engine/set"
)

// Parse reads the text of a configuration file. path is for errors, and relative key files start at its folder. The error
// is a set.Errors with everything that is wrong; a syntax error comes alone.
func Parse(path string, text []byte) (*Config, error) {
	d := &decoder{config: &Config{Path: path}, places: locate(path, string(text))}
	var doc map[string]any
	switch {
	case len(text) > maxFile:
		d.fail("", "the file is over 1 MiB", "is it a "+FileName+"?")
	case !utf8.Valid(text):
		d.fail("", "the file is not UTF-8", "save it as UTF-8")
	case strings.Count(string(text), "[") > maxBrackets:
		d.fail("", "too many brackets", "is it a "+FileName+"?")
	default:
		if _, err := toml.Decode(string(text), &doc); err != nil {
			d.syntax(path, err)
		} else {
			d.document(doc)
		}
	}
	if len(d.errs) > 0 {
		slices.SortStableFunc(d.errs, func(a, b *set.Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, d.errs
	}
	return d.config, nil
}

// maxBrackets keeps nesting, which the TOML library takes without a limit, in bounds.
const maxBrackets = 10_000

type decoder struct {
	config *Config
	places places
	errs   set.Errors
}

// fail notes an error at the key, or at what is nearest around it.
func (d *decoder) fail(key, message, hint string) {
	d.errs = append(d.errs, d.places.of(key).Error(withoutIndex(key), message, hint))
}

func (d *decoder) syntax(path string, err error) {
	var syntax toml.ParseError
	if !errors.As(err, &syntax) {
		d.fail("", err.Error(), "")
		return
	}
	// The library gives line 0 for some errors at the end of the text.
	at := set.Position{File: path, Line: max(syntax.Position.Line, 1), Column: 1}
	// The library's message may quote the text, and the text may hold a key that does not belong there.
	d.errs = append(d.errs, at.Error("", "not valid TOML", `strings need quotes, as in kind = "anthropic"`))
}

// withoutIndex is a key as a set.Error has it: model.id for model[2].id.
func withoutIndex(key string) string {
	before, rest, ok := strings.Cut(key, "[")
	if !ok {
		return key
	}
	_, after, _ := strings.Cut(rest, "]")
	return before + after
}

// named says whether s is a name: 1 to 64 of the characters, not beginning with a digit or -.
func named(s, characters string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, characters) == "" && !strings.ContainsAny(s[:1], "0123456789-")
}

const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"

func (d *decoder) document(doc map[string]any) {
	d.keys("", doc, "the file", "default", "provider", "model")
	d.config.Default, _ = value[string](d, doc, "default", "default", "a string", `default = "anthropic/claude-sonnet-4-5"`)
	providers, _ := value[map[string]any](d, doc, "provider", "provider", "a table of tables", "[provider.NAME] on a line of its own")
	for _, name := range d.places.order("provider", slices.Sorted(maps.Keys(providers))) {
		key := "provider." + name
		table, ok := providers[name].(map[string]any)
		if !ok {
			d.fail(key, "a provider must be a table", "write [provider."+name+"] on a line of its own, then its keys")
			continue
		}
		d.provider(key, name, table)
	}
	for _, p := range Builtin() {
		if d.config.provider(p.Name) == nil {
			d.config.Providers = append(d.config.Providers, p)
		}
	}
	models, _ := value[[]map[string]any](d, doc, "model", "model", "an array of tables", "[[model]] on a line of its own, in two brackets")
	for i, table := range models {
		d.model(fmt.Sprintf("model[%d]", i), table)
	}
	d.checkDefault()
}

func (d *decoder) checkDefault() {
	if d.config.Default == "" || len(d.errs) > 0 {
		return // what it names may be what is wrong
	}
	if _, err := d.config.Find(d.config.Default); err != nil {
		d.fail("default", err.Error(), "")
	}
}

// value reads a key of a table, or the zero value.
func value[T any](d *decoder, table map[string]any, key, at, want, example string) (T, bool) {
	var zero T
	raw, there := table[key]
	if !there {
		return zero, false
	}
	v, ok := raw.(T)
	if !ok {
		d.fail(at, fmt.Sprintf("%s must be %s", key, want), "write "+example)
	}
	return v, ok
}

// keys refuses unknown keys. It never repeats a value: it may be a key to a service.
func (d *decoder) keys(at string, table map[string]any, where string, known ...string) {
	for _, k := range slices.Sorted(maps.Keys(table)) {
		if slices.Contains(known, k) {
			continue
		}
		hint := "known here: " + strings.Join(known, ", ")
		if slices.Contains([]string{"key", "api_key", "apikey", "token", "secret"}, strings.ToLower(k)) {
			hint = "a key does not belong in this file: name the variable that holds it, key_env, or use key_file or key_command"
		}
		d.fail(strings.TrimPrefix(at+"."+k, "."), fmt.Sprintf("unknown key %q in %s", k, where), hint)
	}
}

func (d *decoder) provider(at, name string, table map[string]any) {
	where := "[" + at + "]"
	d.keys(at, table, where, "kind", "base_url", "key_env", "key_file", "key_command")
	p := Provider{Name: name}
	if !named(name, lower+digits+"_-") {
		d.fail(at, fmt.Sprintf("%q is no name of a provider", name), "use lower-case letters, digits, _ and -, beginning with a letter")
	}
	kind, ok := value[string](d, table, "kind", at+".kind", "a string", `kind = "openai-chat"`)
	switch n := slices.Index(kinds(), kind); {
	case !ok && table["kind"] == nil:
		d.fail(at, where+" has no kind", `write kind = "anthropic", "openai-chat" or "openai-responses"`)
	case ok && n <= 0:
		d.fail(at+".kind", fmt.Sprintf("unknown kind %q", kind), `it is "anthropic", "openai-chat" or "openai-responses"`)
	case ok:
		p.Kind = Kind(n)
	}
	p.Key = d.key(at, table)
	if base, ok := value[string](d, table, "base_url", at+".base_url", "a string", `base_url = "http://localhost:8080/v1"`); ok {
		p.BaseURL = base
		if problem := checkBaseURL(p.Kind, base, p.Key); problem != "" {
			d.fail(at+".base_url", problem, "")
		}
	}
	d.config.Providers = append(d.config.Providers, p)
}

func (d *decoder) key(at string, table map[string]any) KeySource {
	var s KeySource
	var said []string
	for _, k := range []string{"key_env", "key_file", "key_command"} {
		if table[k] != nil {
			said = append(said, k)
		}
	}
	if len(said) > 1 {
		d.fail(at+"."+said[1], strings.Join(said, " and ")+" exclude each other", "keep the one that holds the key")
	}
	if env, ok := value[string](d, table, "key_env", at+".key_env", "a string", `key_env = "OPENAI_API_KEY"`); ok {
		s.Env = env
		if !named(env, lower+upper+digits+"_") {
			// It may be the key itself, so it is not repeated.
			d.fail(at+".key_env", "key_env is not the name of an environment variable", `write the name, as in key_env = "OPENAI_API_KEY", not the key`)
		}
	}
	if file, ok := value[string](d, table, "key_file", at+".key_file", "a string", `key_file = "~/.keys/openai"`); ok {
		s.File = file
		if file == "" {
			d.fail(at+".key_file", "key_file is empty", "write the path of the file that holds the key")
		} else if s.File = expand(file); !filepath.IsAbs(s.File) {
			s.File = filepath.Join(filepath.Dir(d.config.Path), s.File)
		}
	}
	if list, ok := value[[]any](d, table, "key_command", at+".key_command", "an array of strings", `key_command = ["pass", "show", "openai"]`); ok {
		for _, item := range list {
			word, ok := item.(string)
			if !ok {
				d.fail(at+".key_command", "key_command must be an array of strings", `write key_command = ["pass", "show", "openai"]`)
				break
			}
			s.Command = append(s.Command, word)
		}
		if len(list) == 0 || len(s.Command) > 0 && s.Command[0] == "" {
			d.fail(at+".key_command", "key_command names no program", `write key_command = ["pass", "show", "openai"]`)
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

func (d *decoder) model(at string, table map[string]any) {
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
		*f.to, _ = value[string](d, table, f.key, at+"."+f.key, "a string", f.example)
		if f.need && *f.to == "" && (table[f.key] == nil || table[f.key] == "") {
			d.fail(at, "[[model]] has no "+f.key, "write "+f.example)
		}
	}
	m.ContextWindow = d.tokens(at, table, "context_window")
	if m.ContextWindow == 0 {
		m.ContextWindow = defaultWindow
	}
	if m.MaxTokens = d.tokens(at, table, "max_tokens"); m.MaxTokens > m.ContextWindow {
		d.fail(at+".max_tokens", "max_tokens is more than context_window", "")
	}
	d.thinking(at, table, &m)
	d.input(at, table, &m)
	d.cost(at, table, &m)
	p := d.config.provider(m.Provider)
	switch {
	case p == nil && m.Provider != "":
		d.fail(at+".provider", fmt.Sprintf("there is no provider %q", m.Provider), "write [provider."+m.Provider+`], or one of: `+d.config.names())
	case p != nil:
		m.API, m.BaseURL = p.Kind.API(), p.BaseURL
		if p.Kind == KindAnthropic && m.MaxTokens == 0 {
			m.MaxTokens = min(defaultOutput, m.ContextWindow)
		}
		if m.Thinking == ThinkingBudget && p.Kind != KindAnthropic {
			d.fail(at+".thinking", fmt.Sprintf("thinking = \"budget\" is not known to kind %q", p.Kind), `write thinking = "effort"`)
		}
	}
	for i := range d.config.Models {
		if m.ID != "" && d.config.Models[i].Ref() == m.Ref() {
			d.fail(at+".id", fmt.Sprintf("model %q is there twice", m.Ref()), "")
		}
	}
	d.config.Models = append(d.config.Models, m)
}

// tokens is a number of tokens, 0 when absent.
func (d *decoder) tokens(at string, table map[string]any, key string) int64 {
	n, ok := value[int64](d, table, key, at+"."+key, "a number of tokens", key+" = 128000")
	if ok && n <= 0 {
		d.fail(at+"."+key, key+" must be more than 0", "")
		return 0
	}
	return n
}

func (d *decoder) thinking(at string, table map[string]any, m *Model) {
	word, ok := value[string](d, table, "thinking", at+".thinking", "a string", `thinking = "effort"`)
	if !ok {
		return
	}
	n := slices.Index(thinkings(), word)
	if n < 0 {
		d.fail(at+".thinking", fmt.Sprintf("unknown thinking %q", word), `it is "off", "budget" or "effort"`)
		return
	}
	m.Thinking, m.Reasoning = Thinking(n), n > 0
}

func (d *decoder) input(at string, table map[string]any, m *Model) {
	m.Input = []string{"text"}
	list, ok := value[[]any](d, table, "input", at+".input", "an array of strings", `input = ["text", "image"]`)
	if !ok {
		return
	}
	m.Input = nil
	for _, item := range list {
		if item != "text" && item != "image" {
			d.fail(at+".input", `input is a list of "text" and "image"`, `write input = ["text", "image"]`)
			return
		}
		m.Input = append(m.Input, item.(string))
	}
	if !slices.Contains(m.Input, "text") {
		d.fail(at+".input", `input must hold "text"`, `write input = ["text", "image"]`)
	}
}

func (d *decoder) cost(at string, table map[string]any, m *Model) {
	cost, ok := value[map[string]any](d, table, "cost", at+".cost", "a table", "cost = { input = 3, output = 15 }")
	if !ok {
		return
	}
	d.keys(at+".cost", cost, "cost", "input", "output", "cache_read", "cache_write")
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
			d.fail(at+".cost", "the costs are numbers: US dollars for a million tokens", "write cost = { input = 3, output = 15 }")
		}
		if *to < 0 || *to > 1e6 || *to != *to {
			d.fail(at+".cost", key+" = "+strconv.FormatFloat(*to, 'g', -1, 64)+" is no price", "it is in US dollars for a million tokens")
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

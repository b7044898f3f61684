package set

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Grant is what an extension may do beyond deciding: each capability it is
// given (abi.md section 10). Zero grants nothing.
type Grant struct {
	// KV is storage kept with the session.
	KV bool `json:"kv,omitzero"`
	// UI is asking and telling the person.
	UI bool `json:"ui,omitzero"`
	// Clock and Random are real time and randomness.
	Clock  bool `json:"clock,omitzero"`
	Random bool `json:"random,omitzero"`
	// HTTP is requests to what the entries name and to nothing else.
	HTTP []HTTPGrant `json:"http,omitempty"`
	// Read is folders to read below, as clean paths; relative ones in a file
	// start at the file's folder, so that they can be opened as they are.
	Read []string `json:"read,omitempty"`
	// Session is a subset of read, append, send and control, in that order.
	Session []string `json:"session,omitempty"`
	// Journal is the file that the extension may append records to, as a clean path like those of Read; "" grants none. See
	// engine/journal.
	Journal string `json:"journal,omitempty"`
}

// HTTPGrant allows requests to one origin.
type HTTPGrant struct {
	// Methods are upper-case, at least one.
	Methods []string `json:"methods"`
	// Scheme is https or http.
	Scheme string `json:"scheme"`
	// Host is a lower-case name or an IP address without brackets, never a
	// pattern.
	Host string `json:"host"`
	// Port is always set: 443 or 80 when the grant does not say.
	Port int `json:"port"`
	// Path starts with / and is clean. It covers itself and what is below it:
	// /v1 covers /v1 and /v1/x, not /v10; / covers everything.
	Path string `json:"path"`
}

// String is the grant as a set file has it, with what goes without saying left
// out: GET,POST https://api.example.com/v1.
func (g HTTPGrant) String() string {
	host := g.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if g.Port != defaultPort(g.Scheme) {
		host += ":" + strconv.Itoa(g.Port)
	}
	return fmt.Sprintf("%s %s://%s%s", strings.Join(g.Methods, ","), g.Scheme, host, strings.TrimSuffix(g.Path, "/"))
}

// Names are the keys of what is granted, in the order of [Grant]'s fields.
func (g *Grant) Names() []string {
	var names []string
	for _, k := range []struct {
		name string
		on   bool
	}{{"kv", g.KV}, {"ui", g.UI}, {"clock", g.Clock}, {"random", g.Random}, {"http", len(g.HTTP) > 0}, {"read", len(g.Read) > 0}, {"session", len(g.Session) > 0}, {"journal", g.Journal != ""}} {
		if k.on {
			names = append(names, k.name)
		}
	}
	return names
}

// MergeGrants is the union: what any of the grants opens. Entries keep the
// order in which they first occur; of several journals the first counts.
func MergeGrants(grants ...Grant) Grant {
	var all Grant
	for _, g := range grants {
		all.KV = all.KV || g.KV
		all.UI = all.UI || g.UI
		all.Clock = all.Clock || g.Clock
		all.Random = all.Random || g.Random
		for _, h := range g.HTTP {
			if !slices.ContainsFunc(all.HTTP, func(o HTTPGrant) bool { return o.String() == h.String() }) {
				all.HTTP = append(all.HTTP, h)
			}
		}
		for _, folder := range g.Read {
			if !slices.Contains(all.Read, folder) {
				all.Read = append(all.Read, folder)
			}
		}
		all.Session = sessionRights(append(all.Session, g.Session...))
		if all.Journal == "" {
			all.Journal = g.Journal
		}
	}
	return all
}

// ParseGrant reads one grant as a flag gives it: kv, ui, clock, random,
// "http=GET https://api.example.com", read=./docs, session=read,append,
// journal=audit.jsonl. A
// relative folder stays relative to where the program runs. The result has one
// field set; join several with [MergeGrants]. The error is an *Error without a
// position.
func ParseGrant(flag string) (Grant, error) {
	key, value, valued := strings.Cut(flag, "=")
	var g Grant
	var problem *Error
	if on := g.flag(key); on != nil {
		if valued && value != "true" {
			return Grant{}, Position{}.Error(key, fmt.Sprintf("grant %s is given or not, it takes no value such as %s", key, quote(value)), "write --grant "+key)
		}
		*on = true
		return g, nil
	}
	switch key {
	case "http":
		var h HTTPGrant
		h, problem = parseHTTP(value)
		g.HTTP = []HTTPGrant{h}
	case "read":
		var folder string
		folder, problem = resolve("", value)
		g.Read = []string{folder}
	case "journal":
		g.Journal, problem = resolve("", value)
	case "session":
		for _, right := range strings.Split(value, ",") {
			if problem = checkSession(right); problem != nil {
				break
			}
			g.Session = append(g.Session, right)
		}
		g.Session = sessionRights(g.Session)
	default:
		return Grant{}, Position{}.Error(key, "unknown grant "+quote(key), suggest(key, grantKeys()))
	}
	if problem != nil {
		problem.Key = key
		problem.Message = "grant " + key + ": " + problem.Message
		return Grant{}, problem
	}
	return g, nil
}

func grantKeys() []string {
	return []string{"kv", "ui", "clock", "random", "http", "read", "session", "journal"}
}

// flag returns the field of a grant that is on or off, nil for another key.
func (g *Grant) flag(key string) *bool {
	switch key {
	case "kv":
		return &g.KV
	case "ui":
		return &g.UI
	case "clock":
		return &g.Clock
	case "random":
		return &g.Random
	}
	return nil
}

func sessions() []string { return []string{"read", "append", "send", "control"} }

func checkSession(right string) *Error {
	if slices.Contains(sessions(), right) {
		return nil
	}
	return Position{}.Error("", "unknown session right "+quote(right), suggest(right, sessions()))
}

// sessionRights puts rights in order and drops repeated ones.
func sessionRights(rights []string) []string {
	var ordered []string
	for _, right := range sessions() {
		if slices.Contains(rights, right) {
			ordered = append(ordered, right)
		}
	}
	return ordered
}

// httpMethods leaves out CONNECT, which is a tunnel to anywhere, and TRACE,
// which sends back the headers that the host added.
func httpMethods() []string {
	return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
}

const httpExample = `write http = ["GET https://api.example.com"]`

func defaultPort(scheme string) int {
	if scheme == "http" {
		return 80
	}
	return 443
}

// parseHTTP reads METHOD[,METHOD] URL. What cannot be told from the text for
// certain (patterns, escapes, numeric hosts in odd notations) is refused.
func parseHTTP(text string) (HTTPGrant, *Error) {
	refuse := func(format string, args ...any) (HTTPGrant, *Error) {
		return HTTPGrant{}, Position{}.Error("", quote(text)+" "+fmt.Sprintf(format, args...), httpExample)
	}
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return refuse("is not a method and a URL")
	}
	var g HTTPGrant
	for _, m := range strings.Split(fields[0], ",") {
		if !slices.Contains(httpMethods(), m) {
			return refuse("has the method %s; allowed are %s", quote(m), or(httpMethods()))
		}
		if !slices.Contains(g.Methods, m) {
			g.Methods = append(g.Methods, m)
		}
	}
	u, err := url.Parse(fields[1])
	if err != nil {
		return refuse("has a URL that does not parse")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("has a URL that starts neither with https:// nor with http://")
	case u.User != nil:
		return refuse("has a user name in its URL")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(fields[1], "#"):
		return refuse("has a query or fragment in its URL; a grant covers a path with any query")
	case strings.Contains(u.Host, "*"):
		return refuse("has a pattern for a host; name each host")
	}
	g.Scheme = u.Scheme
	g.Host = strings.ToLower(u.Hostname())
	if addr, err := netip.ParseAddr(g.Host); err == nil && addr.Zone() == "" {
		g.Host = addr.String()
	} else if !hostname(g.Host) {
		return refuse("has the host %s, which is neither a name nor an IP address", quote(u.Host))
	}
	g.Port = defaultPort(g.Scheme)
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		g.Port, err = strconv.Atoi(port)
		if err != nil || g.Port < 1 || g.Port > 65535 {
			return refuse("has the port %s; ports are 1 to 65535", quote(port))
		}
	}
	g.Path = path.Clean("/" + u.Path)
	if strings.ContainsAny(u.EscapedPath(), "%*\\") || u.Path != "" && u.Path != "/" && strings.TrimSuffix(u.Path, "/") != g.Path {
		return refuse("has a path with escapes, patterns, .. or empty parts")
	}
	return g, nil
}

// hostname reports whether s is a plain DNS name. One that ends in a number is
// none: resolvers read 2130706433 and 0x7f.1 as addresses.
func hostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
	}
	c := labels[len(labels)-1][0]
	return c < '0' || c > '9'
}

// resolve makes a path in a file clean and relative to the file's folder. The
// separator in files is /, on every system.
func resolve(dir, name string) (string, *Error) {
	switch {
	case name == "":
		return "", Position{}.Error("", "the path is empty", "")
	case strings.ContainsRune(name, 0):
		return "", Position{}.Error("", fmt.Sprintf("the path %s holds a NUL", quote(name)), "")
	case name[0] == '~':
		return "", Position{}.Error("", fmt.Sprintf("the path %s is not expanded: only a shell knows ~", quote(name)), "write the whole path, or one relative to the set file")
	case strings.Contains(name, "://"):
		return "", Position{}.Error("", fmt.Sprintf("%s is a URL, not a path: nothing is downloaded", quote(name)), "download it and pin it with sha256")
	}
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return filepath.Clean(name), nil
}

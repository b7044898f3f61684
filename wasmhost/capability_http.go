package wasmhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Limits of the capability http (ABI section 10).
const (
	httpTimeout   = 10 * time.Second // or the rest of the guest's own, if that is less
	maxHTTPBody   = 1 << 20          // of a request and of a response
	maxHTTPHeader = 64 << 10         // of a response, all headers together
	maxRedirects  = 5
)

// HTTPRule allows requests to one origin.
type HTTPRule struct {
	Methods []string // upper case
	Scheme  string   // http or https
	// Host is a lower-case name or an IP address without brackets. Only an address named here may be a private one: a name
	// that resolves to such an address is refused.
	Host string
	Port int
	// Path covers itself and what is below it: /v1 covers /v1 and /v1/x, not /v10; / covers all.
	Path string
}

// HTTP is the capability http: requests to what a rule allows, and to nothing else. One operation:
//
//	{"op":"request","method":"POST","url":"https://api.example.com/v1/check","headers":{"content-type":"text/plain"},"body":"aGk="}
//	{"status":200,"headers":{"content-type":"text/plain"},"body":"b2s="}
//
// Bodies are base64, 1 MiB at most; method is GET when it is left out, headers and body may be. A response of any status
// is an answer; its header names are in lower case and several values of one are joined by ", ". What is not allowed, and
// what fails, is an error for the guest to read:
//
//	{"op":"request","url":"https://other.example/"}
//	request: GET https://other.example/ is not granted
//
// A redirect is followed when it stays on scheme, host and port and a rule allows it; another one is an error. No proxy, no
// cookies, no connection is kept. The address that is dialled is the one that was checked, so a name that changes its
// address in between gains nothing. It takes 10 seconds at most, and never longer than the guest has.
func HTTP(rules []HTTPRule) Capability {
	p := &httpPolicy{rules: slices.Clone(rules)}
	transport := &http.Transport{
		DialContext:            p.dial,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHTTPHeader,
	}
	p.client = &http.Client{Transport: transport, CheckRedirect: p.redirect}
	return Capability{Handle: p.handle}
}

type httpPolicy struct {
	rules  []HTTPRule
	client *http.Client
}

// httpRequest is a request of the capability as Extism's http_request makes it.
type httpRequest struct {
	Op      string            `json:"op"`
	URL     string            `json:"url"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    []byte            `json:"body,omitempty"`
}

// httpResponse is the answer.
type httpResponse struct {
	Status  int32             `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"`
}

func (p *httpPolicy) handle(ctx context.Context, raw []byte) ([]byte, error) {
	r, err := parseRequest(raw)
	if err != nil {
		return nil, err
	}
	if r.op != "request" {
		return nil, r.unknown("request")
	}
	method, address, headers, body := r.optional("method"), r.text("url"), r.named("headers"), r.bytes("body")
	if len(body) > maxHTTPBody {
		r.fail("a body of %d bytes, more than the limit of %d", len(body), maxHTTPBody)
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	if method == "" {
		method = http.MethodGet
	}
	answer, err := p.request(ctx, method, address, headers, body)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return respond(answer)
}

func (p *httpPolicy) request(ctx context.Context, method, address string, headers map[string]string, body []byte) (httpResponse, error) {
	u, err := url.Parse(address)
	if err != nil {
		return httpResponse{}, errors.New("the URL does not parse")
	}
	if err := p.allowed(method, u); err != nil {
		return httpResponse{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return httpResponse{}, err
	}
	req.Header.Set("User-Agent", "weir")
	seen := map[string]bool{}
	for name, value := range headers {
		canonical := http.CanonicalHeaderKey(name)
		if reserved(canonical) {
			return httpResponse{}, fmt.Errorf("the header %q is not the guest's to set", name)
		}
		if seen[canonical] {
			return httpResponse{}, fmt.Errorf("the header %q is given twice", name)
		}
		seen[canonical] = true
		req.Header.Set(name, value)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return httpResponse{}, plain(err)
	}
	defer func() { _ = resp.Body.Close() }() // the answer was read or is refused
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxHTTPBody+1))
	if err != nil {
		return httpResponse{}, plain(err)
	}
	if len(content) > maxHTTPBody {
		return httpResponse{}, fmt.Errorf("the response is larger than the limit of %d bytes", maxHTTPBody)
	}
	answer := httpResponse{Status: int32(resp.StatusCode), Headers: map[string]string{}, Body: content}
	for name, values := range resp.Header {
		answer.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	return answer, nil
}

// reserved says which headers decide where a request goes or how it is framed.
func reserved(name string) bool {
	switch name {
	case "Host", "Connection", "Content-Length", "Expect", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return strings.HasPrefix(name, "Proxy-")
}

// plain leaves out what http.Client puts before the cause: the guest knows its URL.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// allowed is the one place where it is decided whether a request may be made.
func (p *httpPolicy) allowed(method string, u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the URL starts neither with https:// nor with http://")
	case u.User != nil:
		return errors.New("the URL has a user name; use the header Authorization")
	case u.Opaque != "" || u.Host == "":
		return errors.New("the URL has no host")
	}
	escaped := strings.ToLower(u.EscapedPath())
	segments := strings.Split(u.Path, "/")
	if strings.Contains(escaped, "%2f") || strings.ContainsAny(u.Path, "\\\x00") || slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return errors.New("the URL has a path with ., .., \\ or an escaped slash")
	}
	host, port, err := origin(u)
	if err != nil {
		return err
	}
	for _, r := range p.rules {
		if slices.Contains(r.Methods, method) && r.Scheme == u.Scheme && r.Host == host && r.Port == port && covers(r.Path, u.Path) {
			return nil
		}
	}
	return fmt.Errorf("%s %s://%s%s is not granted", method, u.Scheme, u.Host, u.EscapedPath())
}

// origin is the host and port of a URL in the form that rules have.
func origin(u *url.URL) (host string, port int, err error) {
	host = strings.ToLower(u.Hostname())
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String()
	}
	switch u.Port() {
	case "":
		port = 443
		if u.Scheme == "http" {
			port = 80
		}
	default:
		if port, err = strconv.Atoi(u.Port()); err != nil || port < 1 || port > 65535 {
			return "", 0, fmt.Errorf("the URL has the port %q", u.Port())
		}
	}
	return host, port, nil
}

func covers(rule, path string) bool {
	rule = strings.TrimSuffix(rule, "/")
	if path == "" {
		path = "/"
	}
	return rule == "" || path == rule || strings.HasPrefix(path, rule+"/")
}

func (p *httpPolicy) redirect(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case req.URL.Scheme != first.Scheme || !strings.EqualFold(req.URL.Host, first.Host):
		return fmt.Errorf("it redirects to another host: %s://%s", req.URL.Scheme, req.URL.Host)
	}
	return p.allowed(req.Method, req.URL)
}

// dial connects. For a host that is a name, each address is checked when it is dialled; an address that the URL names was
// granted as such.
func (p *httpPolicy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	if _, err := netip.ParseAddr(host); err != nil {
		d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if !public(to.Addr()) {
				return fmt.Errorf("%s has the address %s, which is not a public one", host, to.Addr())
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// public says whether an address is on the Internet and nobody's inside: not private, local, reserved, nor one through
// which such an address can be reached. Source: the IANA special-purpose address registries, and the metadata services
// of clouds that lie elsewhere.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.Zone() != "" {
		return false
	}
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"168.63.129.16/32",                                                  // Azure's wire server
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/23", "2002::/16", // IPv4 inside IPv6
		"100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		if netip.MustParsePrefix(p).Contains(a) {
			return false
		}
	}
	return true
}

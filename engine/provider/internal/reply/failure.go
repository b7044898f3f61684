package reply

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"weir/engine/provider/internal/secret"
)

// maxText is how many characters of a server's words an error message repeats.
const maxText = 600

// maxErrorBody is how many bytes of an error response are read.
const maxErrorBody = 64 << 10

// Final marks an error that another attempt cannot mend: its text is used as it is, without the words that make the
// session layer retry what the network did.
type Final interface {
	error
	// Final does nothing.
	Final()
}

// FinalError is a [Final] error with a text.
type FinalError string

// Error implements error.
func (e FinalError) Error() string { return string(e) }

// Final implements [Final].
func (e FinalError) Final() {}

// Hints say where what may be wrong was configured. They name no line, file or port: the session layer would take some
// numbers for a status.
type Hints struct {
	// Where is the part of the configuration, such as [provider.local]; "" when there is none.
	Where string
	// KeyFrom is where the key comes from, such as the environment variable OPENAI_API_KEY; "" when there is none.
	KeyFrom string
}

func (h Hints) of() string {
	if h.Where == "" {
		return ""
	}
	return " of " + h.Where
}

// hint says what to look at when a server refused a key or did not know a model.
func (h Hints) hint(status int) string {
	switch {
	case status == http.StatusNotFound && h.Where != "":
		return "; check the model's id and base_url" + h.of()
	case status != http.StatusUnauthorized && status != http.StatusForbidden:
		return ""
	case h.KeyFrom != "":
		return fmt.Sprintf("; the key%s comes from %s", h.of(), h.KeyFrom)
	case h.Where != "":
		return fmt.Sprintf("; %s has no key: give it key_env, key_file or key_command", h.Where)
	default:
		return ""
	}
}

// HTTP is the error text for a response whose status is not a success: the status, the server's own name for the error,
// and its message. The session layer reads the text (engine/session.Retryable and Overflow): the status and the names are
// what its tables go by. The id of the request is left out, since its digits could look like a status.
func (h Hints) HTTP(status int, header http.Header, body []byte) string {
	if status >= 300 && status < 400 {
		return fmt.Sprintf("%d %s: the server redirects to %s; weir does not follow, so that no key goes to a place that was not configured: set base_url%s to where the API is",
			status, http.StatusText(status), place(header.Get("Location")), h.of())
	}
	name, message := errorBody(body)
	if name == "" && message == "" && len(bytes.TrimSpace(body)) == 0 {
		return fmt.Sprintf("%d status code (no body)", status) + h.hint(status) + retryAfter(header)
	}
	if name == "" {
		name = strings.TrimSpace(http.StatusText(status))
	}
	if message == "" {
		message = Plain(string(body))
	}
	if strings.Contains(message, "exceed context limit") {
		// Anthropic's words when prompt and max_tokens together do not fit; the session layer knows these:
		message = "prompt is too long: " + message
	}
	if hint := h.hint(status); hint != "" {
		message = strings.TrimSuffix(message, ".") + hint
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s: %s", status, name, message)) + retryAfter(header)
}

func retryAfter(header http.Header) string {
	after := header.Get("Retry-After")
	if after == "" || len(after) > 40 {
		return ""
	}
	if strings.Trim(after, "0123456789.") == "" {
		after += "s"
	}
	return " (retry after " + Plain(after) + ")"
}

// place is a URL without what may be secret in it.
func place(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || raw == "" {
		return "an unknown place"
	}
	return Plain((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
}

// Event is the error text for an error that came as an event of a stream.
func Event(body []byte) string {
	name, message := errorBody(body)
	if name == "api_error" {
		name = "500 api_error" // what Anthropic gives the status 500 when the stream has not begun
	}
	switch {
	case name != "" && message != "":
		return name + ": " + message
	case name+message != "":
		return name + message
	default:
		return "provider returned error: " + Plain(string(body))
	}
}

// errorBody finds the name and the message of an error in the shapes that servers use: {"error": {"type", "code",
// "message"}}, {"error": "…"}, {"type"/"code", "message"} and {"detail": …}.
func errorBody(body []byte) (name, message string) {
	type fields struct {
		Type, Code, Message, Detail json.RawMessage
		Metadata                    struct {
			Raw json.RawMessage `json:"raw"`
		} `json:"metadata"`
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
		fields
	}
	if json.Unmarshal(body, &outer) != nil {
		return "", ""
	}
	f := outer.fields
	if inner := bytes.TrimSpace(outer.Error); len(inner) > 0 && string(inner) != "null" {
		f = fields{}
		if inner[0] != '{' || json.Unmarshal(inner, &f) != nil {
			f = fields{Message: inner}
		}
	}
	// A code that is a number repeats the status; a code that is a word says more than the type.
	name = word(f.Code)
	if name == "" || strings.Trim(name, "0123456789") == "" {
		name = word(f.Type)
	}
	if name == "error" {
		name = ""
	}
	message = text(f.Message)
	if message == "" {
		message = text(f.Detail)
	}
	if raw := word(f.Metadata.Raw); raw != "" {
		message += ": " + raw // a gateway's "provider returned error" alone says nothing
	}
	return Plain(name), Plain(message)
}

// word is a JSON string or number.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if n := bytes.TrimSpace(raw); len(n) > 0 && n[0] >= '0' && n[0] <= '9' {
		return string(n)
	}
	return ""
}

// text is a JSON string, or other JSON as it is.
func text(raw json.RawMessage) string {
	if s := word(raw); s != "" || len(raw) == 0 || string(raw) == "null" || string(raw) == `""` {
		return s
	}
	return string(raw)
}

// Plain makes a server's words one line that fits a terminal and holds no key.
func Plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > maxText {
		s = string([]rune(s)[:maxText]) + "…"
	}
	return secret.StripLike(s)
}

// Network is the error text for a request that got no response, or a response that broke off. What a new attempt may mend
// says so in the words that the session layer's table knows.
func (h Hints) Network(err error) string {
	var final Final
	if errors.As(err, &final) {
		return Plain(final.Error())
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // the rest is the URL, which the caller knows
	}
	text := err.Error()
	switch {
	case proxyFailed(err):
		return "connection error: the proxy did not carry the request: " + Plain(strings.TrimPrefix(text, "proxyconnect tcp: ")) +
			"; it comes from HTTPS_PROXY or HTTP_PROXY in the environment (NO_PROXY names the hosts that need none)"
	case badCertificate(err):
		return "TLS: the server's certificate was refused: " + Plain(text) +
			"; check base_url" + h.of() + ", or add the authority to the system's (SSL_CERT_FILE)"
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "tls: first record does not look like"):
		return "TLS: the server does not speak it: should base_url" + h.of() + " start with http:// ?"
	case strings.HasSuffix(text, "no such host"):
		return fmt.Sprintf("network error: host %s was not found (ENOTFOUND); check base_url%s and the connection", unknownHost(err), h.of())
	case strings.Contains(text, "token too long"):
		return "the server sent an event of more than 32 MiB"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "connection lost: the server closed it in the middle of the response"
	case timedOut(err) && strings.HasPrefix(text, "timed out"):
		return Plain(text)
	case timedOut(err):
		return "timed out: " + Plain(text)
	default:
		text = "connection error: " + Plain(text)
		if h.Where != "" {
			text += "; is the server at base_url" + h.of() + " up?"
		}
		return text
	}
}

// proxyFailed goes by the text as well, as badCertificate does.
func proxyFailed(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "proxyconnect" || strings.HasPrefix(err.Error(), "proxyconnect ")
}

// badCertificate goes by the text as well as by the types: the errors of a recording have only their text.
func badCertificate(err error) bool {
	var (
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
	)
	return errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &verify) ||
		strings.Contains(err.Error(), "x509: ")
}

func unknownHost(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return Plain(dns.Name)
	}
	_, host, _ := strings.Cut(err.Error(), "lookup ")
	host, _, _ = strings.Cut(host, ":")
	host, _, _ = strings.Cut(host, " ")
	return Plain(host)
}

func timedOut(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout() ||
		strings.HasSuffix(err.Error(), "timeout")
}

// Malformed is the error text for an event that cannot be read. Another attempt may get a whole one.
func Malformed(err error) string {
	return "the server sent an event that is not valid JSON (" + Plain(err.Error()) + "), so the stream ended before a terminal response event"
}

// NotAStream is the error text for a success that is not an event stream.
func (h Hints) NotAStream(contentType string, body []byte) string {
	if _, message := errorBody(body); message != "" {
		return Event(body)
	}
	return fmt.Sprintf("the server answered with %s where an event stream belongs; is base_url%s that of the API? It begins: %s",
		Plain(contentType), h.of(), cut(Plain(string(body)), 120))
}

func cut(s string, most int) string {
	if utf8.RuneCountInString(s) > most {
		return string([]rune(s)[:most]) + "…"
	}
	return s
}

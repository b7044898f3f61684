package replay

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"weir/engine/provider/internal/secret"
)

// formatName and formatVersion are the head of a file.
const (
	formatName    = "weir provider recording"
	formatVersion = 1
)

// line is one line of a file: a head or one part of an exchange.
type line struct {
	Format  string `json:"format,omitempty"`
	Version int    `json:"version,omitempty"`

	Exchange int       `json:"exchange,omitempty"` // from 1, in the order of the requests
	Request  *request  `json:"request,omitempty"`
	Response *response `json:"response,omitempty"`
	// Chunk is a piece of the body as it came; Base64 instead where it is not UTF-8.
	Chunk  *string `json:"chunk,omitempty"`
	Base64 *string `json:"base64,omitempty"`
	// MS is when a response or a piece of it came, in milliseconds since the request.
	MS  int64 `json:"ms,omitempty"`
	End *end  `json:"end,omitempty"`
}

type request struct {
	Method  string              `json:"method"`
	URL     string              `json:"url"` // without a query's values, a user and a password
	Headers map[string][]string `json:"headers"`
	// Body is the payload if it is JSON, else Text is.
	Body json.RawMessage `json:"body,omitempty"`
	Text string          `json:"text,omitempty"`
}

type response struct {
	Status  int                 `json:"status"`
	Headers map[string][]string `json:"headers"`
}

// end closes an exchange.
type end struct {
	// Error is what the network said; "" for a body that ended as it should.
	Error string `json:"error,omitempty"`
	// Closed says that the program closed the body before its end.
	Closed bool `json:"closed,omitempty"`
}

// keysOf are the values that must not be recorded: what the secret headers of a request hold.
func keysOf(h http.Header) []string {
	var keys []string
	for name, values := range h {
		if !secret.Header(name) {
			continue
		}
		for _, v := range values {
			keys = append(keys, v)
			if _, token, ok := strings.Cut(v, " "); ok {
				keys = append(keys, token) // "Bearer …"
			}
		}
	}
	return keys
}

func strip(text string, keys []string) string {
	for _, k := range keys {
		text = secret.Strip(text, k)
	}
	return text
}

// recordedHeaders are the headers but those that may hold a key.
func recordedHeaders(h http.Header, keys []string) map[string][]string {
	out := map[string][]string{}
	for name, values := range h {
		if secret.Header(name) {
			continue
		}
		for _, v := range values {
			out[name] = append(out[name], strip(v, keys))
		}
	}
	return out
}

// recordedURL keeps scheme, host, path and the names in the query.
func recordedURL(u *url.URL) string {
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	query := u.Query()
	for name := range query {
		if secret.Header(name) {
			query[name] = []string{secret.Mark}
		}
	}
	out.RawQuery = query.Encode()
	return out.String()
}

func newRequest(req *http.Request, body []byte, keys []string) *request {
	out := &request{Method: req.Method, URL: recordedURL(req.URL), Headers: recordedHeaders(req.Header, keys)}
	text := strip(string(body), keys)
	if json.Valid([]byte(text)) {
		out.Body = json.RawMessage(text)
	} else {
		out.Text = text
	}
	return out
}

// setChunk puts a piece of a body into l.
func (l *line) setChunk(piece []byte, keys []string) {
	if utf8.Valid(piece) {
		text := strip(string(piece), keys)
		l.Chunk = &text
		return
	}
	// A key is ASCII, so it can be taken out of bytes that are not text, too.
	text := base64.StdEncoding.EncodeToString([]byte(strip(string(piece), keys)))
	l.Base64 = &text
}

// chunk is the piece that l holds; ok is false when it holds none.
func (l *line) chunk() (piece []byte, ok bool, err error) {
	switch {
	case l.Chunk != nil:
		return []byte(*l.Chunk), true, nil
	case l.Base64 != nil:
		piece, err = base64.StdEncoding.DecodeString(*l.Base64)
		if err != nil {
			return nil, false, fmt.Errorf("base64: %w", err)
		}
		return piece, true, nil
	default:
		return nil, false, nil
	}
}

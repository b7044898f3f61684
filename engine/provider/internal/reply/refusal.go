package reply

import (
	"io"
	"net/http"
	"strings"
)

// Refusal says why a response, or the error instead of one, is not an event stream that can be read; "" when it is one.
// It reads the body of what is none; the caller closes it in any case.
func (h Hints) Refusal(res *http.Response, err error) string {
	if res == nil {
		if err == nil {
			return "the SDK gave no response"
		}
		return h.Network(err)
	}
	contentType := res.Header.Get("Content-Type")
	ok := res.StatusCode >= 200 && res.StatusCode < 300
	if ok && (contentType == "" || strings.HasPrefix(contentType, "text/event-stream")) {
		return ""
	}
	body, readErr := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if readErr != nil && len(body) == 0 {
		// Not the same as no body, which means an overflow to the session layer.
		body = []byte("the rest of the answer was lost")
	}
	if ok {
		return h.NotAStream(contentType, body)
	}
	return h.HTTP(res.StatusCode, res.Header, body)
}

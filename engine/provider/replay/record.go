package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// Recorder is an [http.RoundTripper] that writes what it carries. It is safe for concurrent use; its fields must not be
// changed once it is used.
type Recorder struct {
	// Next carries the requests; nil means http.DefaultTransport.
	Next http.RoundTripper
	// Now is the clock of the pieces' times; nil means time.Now.
	Now func() time.Time

	mu        sync.Mutex
	out       io.Writer
	closer    io.Closer
	exchanges int
	err       error // of the first write that failed
}

// Create makes a recorder that writes to a new file that only its owner may read. A file that exists is an error: a
// recording is not overwritten. The caller must Close it.
func Create(path string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	r := NewRecorder(f)
	r.closer = f
	return r, nil
}

// NewRecorder makes a recorder that writes to w.
func NewRecorder(w io.Writer) *Recorder {
	r := &Recorder{out: w}
	r.write(&line{Format: formatName, Version: formatVersion})
	return r
}

// Close ends the recording. The error is the first of writing or closing: the recording is then not whole.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closer != nil {
		r.err = errors.Join(r.err, r.closer.Close())
		r.closer = nil
	}
	return r.err
}

// write appends a line. A recording that cannot be written does not stop the run; Close tells.
func (r *Recorder) write(l *line) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.err == nil {
		_, err = r.out.Write(b.Bytes())
	}
	if r.err == nil {
		r.err = err
	}
}

// RoundTrip implements [http.RoundTripper].
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	now := r.Now
	if now == nil {
		now = time.Now
	}
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		// The transport must close the body; what it held was read.
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	x := &exchange{recorder: r, keys: keysOf(req.Header), began: now(), now: now, cancelled: func() bool { return req.Context().Err() != nil }}
	r.mu.Lock()
	r.exchanges++
	x.number = r.exchanges
	r.mu.Unlock()
	x.write(&line{Request: newRequest(req, body, x.keys)})
	sent := req.Clone(req.Context())
	if req.Body != nil {
		sent.Body = io.NopCloser(bytes.NewReader(body))
	}
	next := r.Next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(sent)
	if err != nil {
		x.end(&end{Error: strip(err.Error(), x.keys), Closed: x.cancelled()})
		return nil, err
	}
	x.write(&line{Response: &response{Status: res.StatusCode, Headers: recordedHeaders(res.Header, x.keys)}, MS: x.ms()})
	res.Body = &recorded{body: res.Body, exchange: x}
	return res, nil
}

// exchange is one request and its response while they are recorded.
type exchange struct {
	recorder *Recorder
	number   int
	keys     []string
	began    time.Time
	now      func() time.Time
	// cancelled says that the program gave the request up.
	cancelled func() bool
	once      sync.Once
}

func (x *exchange) ms() int64 { return x.now().Sub(x.began).Milliseconds() }

func (x *exchange) write(l *line) {
	l.Exchange = x.number
	x.recorder.write(l)
}

// end closes the exchange; only the first call counts.
func (x *exchange) end(e *end) {
	x.once.Do(func() { x.write(&line{End: e, MS: x.ms()}) })
}

// recorded is a body that is recorded as it is read.
type recorded struct {
	body     io.ReadCloser
	exchange *exchange
}

// Read implements [io.Reader].
func (b *recorded) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		l := &line{MS: b.exchange.ms()}
		l.setChunk(p[:n], b.exchange.keys)
		b.exchange.write(l)
	}
	switch {
	case errors.Is(err, io.EOF):
		b.exchange.end(&end{})
	case err != nil && b.exchange.cancelled():
		b.exchange.end(&end{Closed: true})
	case err != nil:
		b.exchange.end(&end{Error: strip(err.Error(), b.exchange.keys)})
	}
	return n, err
}

// Close implements [io.Closer].
func (b *recorded) Close() error {
	b.exchange.end(&end{Closed: true})
	return b.body.Close()
}

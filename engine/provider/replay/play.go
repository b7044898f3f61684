package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"sync"
	"time"
)

// Error says what is wrong with a recording.
type Error struct {
	File string
	Line int // from 1; 0 when the error is about the whole file
	Err  error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// MismatchError says that a request is not the recorded one.
type MismatchError struct {
	File     string
	Exchange int
	// Differences are what differs, at most [mostDifferences].
	Differences []string
}

// Error implements error. It does not name the file: the session layer would take some names, or numbers in them, for an
// error that passes.
func (e *MismatchError) Error() string {
	text := fmt.Sprintf("replay: request %d is not the recorded one", e.Exchange)
	for _, d := range e.Differences {
		text += "; " + d
	}
	return text
}

// Final says that another attempt would not go better.
func (e *MismatchError) Final() {}

// OverError says that there is no recorded response left.
type OverError struct {
	File     string
	Recorded int
}

// Error implements error.
func (e *OverError) Error() string {
	return fmt.Sprintf("replay: the recording has %d requests, and this is one more", e.Recorded)
}

// Final says that another attempt would not go better.
func (e *OverError) Final() {}

// NetworkError is an error that the network had when the recording was made.
type NetworkError struct{ Text string }

// Error implements error.
func (e *NetworkError) Error() string { return e.Text }

// Player is an [http.RoundTripper] that answers with what was recorded. It is safe for concurrent use; requests take the
// exchanges in the order in which they come.
type Player struct {
	// Pace waits between the pieces as long as it took when they were recorded. It must not be changed once the player is
	// used.
	Pace bool

	file      string
	exchanges []*played
	mu        sync.Mutex
	next      int
	strayed   *MismatchError // the first; nothing is played after
}

// played is a recorded exchange.
type played struct {
	request  *request
	response *response
	at       time.Duration // of the response
	pieces   []piece
	end      *end // nil when the recording stops before
}

type piece struct {
	data []byte
	at   time.Duration
}

// maxLine is the longest line of a recording, in bytes: a request may hold images.
const maxLine = 256 << 20

// Open reads a recording. The error is an *[Error].
func Open(path string) (*Player, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{File: path, Err: err}
	}
	p, err := Read(path, f)
	// What was read was read.
	_ = f.Close()
	return p, err
}

// Read reads a recording; name is for errors. A last line that was not written to its end is left out.
func Read(name string, r io.Reader) (*Player, error) {
	p := &Player{file: name}
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := readLine(in)
		if len(bytes.TrimSpace(text)) > 0 {
			if lineErr := p.line(text, n); lineErr != nil {
				if errors.Is(err, io.EOF) && n > 1 && !json.Valid(text) {
					break // torn: the program was stopped while it wrote
				}
				return nil, &Error{File: name, Line: n, Err: lineErr}
			}
		} else if n == 1 {
			return nil, &Error{File: name, Err: errors.New("empty; is it a recording?")}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &Error{File: name, Line: n, Err: err}
		}
	}
	return p, nil
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxLine {
			return nil, fmt.Errorf("a line of more than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

func (p *Player) line(text []byte, n int) error {
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return err
	}
	if n == 1 {
		if l.Format != formatName || l.Version != formatVersion {
			return fmt.Errorf("not a %s of version %d", formatName, formatVersion)
		}
		return nil
	}
	if l.Request != nil {
		if l.Exchange != len(p.exchanges)+1 {
			return fmt.Errorf("request of exchange %d, expected %d", l.Exchange, len(p.exchanges)+1)
		}
		p.exchanges = append(p.exchanges, &played{request: l.Request})
		return nil
	}
	if l.Exchange < 1 || l.Exchange > len(p.exchanges) {
		return fmt.Errorf("exchange %d has no request", l.Exchange)
	}
	return p.exchanges[l.Exchange-1].add(&l)
}

func (x *played) add(l *line) error {
	at := time.Duration(l.MS) * time.Millisecond
	data, isPiece, err := l.chunk()
	switch {
	case err != nil:
		return err
	case x.end != nil:
		return fmt.Errorf("exchange %d goes on after its end", l.Exchange)
	case l.End != nil:
		x.end = l.End
	case l.Response != nil:
		if x.response != nil || l.Response.Status < 100 || l.Response.Status > 999 {
			return fmt.Errorf("exchange %d: a response that cannot be", l.Exchange)
		}
		x.response, x.at = l.Response, at
	case isPiece:
		if x.response == nil {
			return fmt.Errorf("exchange %d: a body without a response", l.Exchange)
		}
		x.pieces = append(x.pieces, piece{data, at})
	default:
		return errors.New("neither request, response, chunk nor end")
	}
	return nil
}

// Left is how many exchanges no request has taken yet.
func (p *Player) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.exchanges) - p.next
}

// RoundTrip implements [http.RoundTripper]. The errors are a *[MismatchError], an *[OverError], and a *[NetworkError] where
// the network failed when the recording was made. After a mismatch nothing more is played: every request gets the same error.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
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
	x, err := p.take(newRequest(req, body, keysOf(req.Header)))
	if err != nil {
		return nil, err
	}
	b := &replayed{ctx: req.Context().Done(), cause: func() error { return context.Cause(req.Context()) }, exchange: x, pace: p.Pace}
	if x.response == nil {
		if err := b.wait(0); err != nil {
			return nil, err
		}
		return nil, b.ending()
	}
	if err := b.wait(x.at); err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, values := range x.response.Headers {
		for _, v := range values {
			header.Add(textproto.CanonicalMIMEHeaderKey(name), v)
		}
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", x.response.Status, http.StatusText(x.response.Status)), StatusCode: x.response.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, ContentLength: -1, Request: req, Body: b,
	}, nil
}

// take gives the exchange for a request.
func (p *Player) take(now *request) (*played, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.strayed != nil:
		return nil, p.strayed
	case p.next == len(p.exchanges):
		return nil, &OverError{File: p.file, Recorded: len(p.exchanges)}
	}
	x := p.exchanges[p.next]
	p.next++
	if diff := differences(x.request, now); len(diff) > 0 {
		p.strayed = &MismatchError{File: p.file, Exchange: p.next, Differences: diff}
		return nil, p.strayed
	}
	return x, nil
}

// replayed is a body that gives the recorded pieces one by one.
type replayed struct {
	ctx      <-chan struct{} // closed when the request is cancelled
	cause    func() error
	exchange *played
	pace     bool
	passed   time.Duration
	next     int
	rest     []byte

	mu     sync.Mutex
	closed bool
}

// wait lets the time pass until at, if the player keeps the pace, and looks whether the request was cancelled.
func (b *replayed) wait(at time.Duration) error {
	if d := at - b.passed; b.pace && d > 0 {
		b.passed = at
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-b.ctx:
		}
	}
	select {
	case <-b.ctx:
		return b.cause()
	default:
		return nil
	}
}

// ending is the error that the body ends with.
func (b *replayed) ending() error {
	e := b.exchange.end
	switch {
	case e == nil, e.Closed:
		return io.ErrUnexpectedEOF // the recording goes no further
	case e.Error == io.ErrUnexpectedEOF.Error():
		return io.ErrUnexpectedEOF
	case e.Error != "":
		return &NetworkError{e.Error}
	default:
		return io.EOF
	}
}

// Read implements [io.Reader].
func (b *replayed) Read(p []byte) (int, error) {
	b.mu.Lock()
	closed := b.closed
	b.mu.Unlock()
	switch {
	case closed:
		return 0, http.ErrBodyReadAfterClose
	case len(p) == 0:
		return 0, nil
	case len(b.rest) == 0 && b.next == len(b.exchange.pieces):
		if err := b.wait(0); err != nil {
			return 0, err
		}
		return 0, b.ending()
	case len(b.rest) == 0:
		piece := b.exchange.pieces[b.next]
		if err := b.wait(piece.at); err != nil {
			return 0, err
		}
		b.next++
		b.rest = piece.data
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (b *replayed) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

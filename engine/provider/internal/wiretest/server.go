package wiretest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Request is what the server got.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// Server answers every request with a response in the form of a fixture.
type Server struct {
	*httptest.Server
	// Transport is for the provider's client; its connections are closed with the server.
	Transport *http.Transport

	mu       sync.Mutex
	requests []Request
	gone     chan struct{} // gets one for each request whose client went away in @hang
}

// Serve starts a server that gives the responses in turn, and the last one again and again. It is closed with the test.
func Serve(t testing.TB, responses ...string) *Server {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) }) // runs last
	s := &Server{Transport: &http.Transport{DisableCompression: true}, gone: make(chan struct{}, 16)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		s.mu.Lock()
		n := min(len(s.requests), len(responses)-1)
		s.requests = append(s.requests, Request{req.Method, req.URL.RequestURI(), req.Header.Clone(), body})
		s.mu.Unlock()
		if err := s.play(w, req, responses[n]); err != nil {
			t.Errorf("response %d: %v", n+1, err)
		}
	}))
	t.Cleanup(func() {
		s.Transport.CloseIdleConnections()
		s.Close()
	})
	return s
}

// Burst is a server that sends its response's body in one go.
func Burst(t testing.TB, response string) *Server {
	t.Helper()
	head, body, _ := strings.Cut(response, "\n\n")
	s := &Server{Transport: &http.Transport{DisableCompression: true}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body) // what is asked does not matter
		for line := range strings.Lines(head) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
				w.Header().Set(name, value)
			}
		}
		_, _ = io.WriteString(w, body) // the client may be gone, which is its right
	}))
	t.Cleanup(func() {
		s.Transport.CloseIdleConnections()
		s.Close()
	})
	return s
}

// discard is a log for what a server says about clients that fail on purpose.
func discard() *log.Logger { return log.New(io.Discard, "", 0) }

// Requests are those so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Gone waits until a client has closed the connection of a response that hangs.
func (s *Server) Gone(t testing.TB) {
	t.Helper()
	select {
	case <-s.gone:
	case <-time.After(5 * time.Second):
		t.Error("the connection was not closed")
	}
}

func (s *Server) play(w http.ResponseWriter, req *http.Request, response string) error {
	in := bufio.NewReader(strings.NewReader(response))
	status, err := in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("no status line: %w", err)
	}
	fields := strings.Fields(status)
	if len(fields) < 2 {
		return fmt.Errorf("status line %q", status)
	}
	code, err := strconv.Atoi(fields[1])
	if err != nil {
		return err
	}
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	w.WriteHeader(code)
	flush := func() {
		w.(http.Flusher).Flush() // httptest's writer is one
	}
	flush()
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(body) {
		command, arg, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		var err error
		switch command {
		case "@pause":
			flush()
			var d time.Duration
			if d, err = time.ParseDuration(arg); err == nil {
				time.Sleep(d)
			}
		case "@raw":
			var raw string
			if raw, err = strconv.Unquote(arg); err == nil {
				_, _ = io.WriteString(w, raw) // the client may be gone, which is its right
			}
		case "@cut":
			flush()
			panic(http.ErrAbortHandler)
		case "@hang":
			flush()
			<-req.Context().Done()
			s.gone <- struct{}{}
		default:
			_, _ = w.Write(line) // as above
			flush()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

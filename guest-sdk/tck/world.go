package tck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"weir/wasmhost"
)

// slow is the time that one call may take.
const slow = time.Minute

// world is what the guest of a chapter can reach.
type world struct {
	capabilities map[string]wasmhost.Capability
	log          *recorder
	url          string
	server       *http.Server
	served       chan error
	folder       string
}

func newWorld(ctx context.Context) (w *world, err error) {
	w = &world{log: &recorder{}, served: make(chan error, 1)}
	listen, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.url = "http://" + listen.Addr().String()
	w.server = &http.Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: slow}
	go func() { w.served <- w.server.Serve(listen) }()
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close(ctx))
		}
	}()
	if w.folder, err = makeFolder(); err != nil {
		return nil, err
	}
	file, err := wasmhost.File([]string{w.folder})
	if err != nil {
		return nil, err
	}
	port := listen.Addr().(*net.TCPAddr).Port
	var seq atomic.Uint64
	w.capabilities = map[string]wasmhost.Capability{
		"kv":      wasmhost.KV(wasmhost.NewMemoryStore()),
		"http":    wasmhost.HTTP([]wasmhost.HTTPRule{{Methods: []string{"GET", "POST"}, Scheme: "http", Host: "127.0.0.1", Port: port, Path: "/open"}}),
		"file":    file,
		"ui":      wasmhost.AskUI(nameTable, person{}),
		"session": {Handle: echoSession},
		"journal": wasmhost.Journal(func(_ context.Context, record json.RawMessage) (wasmhost.JournalEntry, error) {
			if strings.Contains(string(record), "refuse") {
				return wasmhost.JournalEntry{}, errors.New("the disk is full")
			}
			return wasmhost.JournalEntry{Seq: seq.Add(1), Hash: "h" + strconv.Itoa(len(record))}, nil
		}),
	}
	return w, nil
}

func (w *world) close(ctx context.Context) error {
	err := w.server.Shutdown(ctx)
	if served := <-w.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if w.folder != "" {
		err = errors.Join(err, os.RemoveAll(w.folder))
	}
	return err
}

func makeFolder() (string, error) {
	dir, err := os.MkdirTemp("", "weir-tck-")
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{"guide.md": "# Guide\n\"é\" 😀\n", "sub/a.txt": "a", "binary": "\xff\x00"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// echo answers with the method and the body, with the status that the path asks for.
func echo(out http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return // the guest reads of it
	}
	status := http.StatusOK
	if in.URL.Path == "/open/missing" {
		status = http.StatusNotFound
	}
	out.Header().Set("X-Tck", "seen "+in.Header.Get("X-Tck"))
	out.WriteHeader(status)
	_, _ = fmt.Fprintf(out, "%s %s", in.Method, body) // who does not read is told nothing
}

// echoSession answers a request of the capability session by the request itself. It knows nothing of sessions: what is checked is that
// a request arrives and that its response is read.
func echoSession(_ context.Context, request []byte) ([]byte, error) {
	var r struct{ Op string }
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	if r.Op == "refuse" {
		return nil, errors.New("refuse: not granted")
	}
	return []byte(`{"request":` + string(request) + `}`), nil
}

// person answers the questions of the capability ui.
type person struct{}

func (person) Confirm(_ context.Context, _, title, message string) (bool, error) {
	if title == "leave" {
		return false, errors.New("the person has left")
	}
	return title == "yes?" && message == "say yes", nil
}

func (person) Select(_ context.Context, _, title string, options []string) (string, bool, error) {
	if title == "nothing" {
		return "", false, nil
	}
	return options[len(options)-1], true, nil
}

func (person) Input(_ context.Context, _, title, placeholder string) (string, bool, error) {
	return title + "/" + placeholder, title != "nothing", nil
}

func (person) Notify(_ context.Context, _, level, message string) error {
	if level+": "+message != "warning: look" {
		return fmt.Errorf("it was notified of %s: %s", level, message)
	}
	return nil
}

func (person) Status(_ context.Context, _, text string) error {
	if text != "watching" {
		return fmt.Errorf("the status is %q", text)
	}
	return nil
}

// recorder keeps the lines that a guest logs.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) logger() *slog.Logger { return slog.New(r) }

// take gives the lines and forgets them.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

// Enabled implements slog.Handler.
func (*recorder) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (r *recorder) Handle(_ context.Context, rec slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, strings.ToLower(rec.Level.String())+": "+rec.Message)
	return nil
}

// WithAttrs implements slog.Handler.
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler { return r }

// WithGroup implements slog.Handler.
func (r *recorder) WithGroup(string) slog.Handler { return r }

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weir/engine"
	"weir/engine/decide"
	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/extensions"
)

// The world that the labels assume.
const (
	home      = "/home/dev"
	workspace = "/home/dev/project"
)

// open loads the extension alone, with its default settings.
func (s *stand) open(ctx context.Context, cwd, home string) (*decide.Decider, error) {
	x, err := set.Modules([]string{set.BundledPrefix + s.name}, set.Limits{}, set.Grant{})
	if err != nil {
		return nil, err
	}
	own := []string{"/etc/weir", filepath.Join(home, ".config", "weir"), filepath.Join(cwd, "weir.toml")}
	return decide.Open(ctx, engine.Config{
		Host: s.host, Set: x, Bundled: extensions.Bundled, SessionID: "quality", CWD: cwd,
		Facts: facts.Config{Home: home, Own: own},
	})
}

// judgeCalls decides tool calls as they are.
func judgeCalls(ctx context.Context, s *stand, rows []row) (verdicts []verdict, err error) {
	d, err := s.open(ctx, workspace, home)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	for i := range rows {
		got, err := decideRow(ctx, d, rows[i].raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rows[i].ID, err)
		}
		verdicts = append(verdicts, verdict{decision: callWord(got), note: got.Reason})
	}
	return verdicts, nil
}

// callWord is a decision about a call in the words of the labels: one that is rewritten is let through.
func callWord(d *decide.Decision) string {
	if d.Decision == decide.Rewrite {
		return "allow"
	}
	return string(d.Decision)
}

func decideRow(ctx context.Context, d *decide.Decider, raw []byte) (*decide.Decision, error) {
	ev, err := decide.Parse(raw)
	if err != nil {
		return nil, err
	}
	return d.Decide(ctx, ev)
}

// judgePaths decides calls of file tools, each with its own workspace on the disk: a folder that stands in for /home/dev.
func judgePaths(ctx context.Context, s *stand, rows []row) (verdicts []verdict, err error) {
	for i := range rows {
		v, err := judgePath(ctx, s, &rows[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rows[i].ID, err)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

func judgePath(ctx context.Context, s *stand, r *row) (v verdict, err error) {
	root, err := os.MkdirTemp("", "weir-quality-")
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return v, err
	}
	w := world{root: root}
	if err := w.build(r); err != nil {
		return v, err
	}
	d, err := s.open(ctx, w.at(workspace), w.at(home))
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	input, err := w.input(r.Input)
	if err != nil {
		return v, err
	}
	got, err := d.Decide(ctx, &decide.Event{Kind: wire.EventToolCall, ToolCall: wire.ToolCallEvent{ToolName: r.Tool, Input: input}})
	if err != nil {
		return v, err
	}
	return verdict{decision: callWord(got), note: got.Reason}, nil
}

// judgeSecrets decides tool results.
func judgeSecrets(ctx context.Context, s *stand, rows []row) (verdicts []verdict, err error) {
	d, err := s.open(ctx, workspace, home)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	for i := range rows {
		r := &rows[i]
		got, err := decideRow(ctx, d, r.raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		after := r.Result
		if got.Content != nil {
			var blocks []struct{ Text string }
			if err := json.Unmarshal(got.Content, &blocks); err != nil {
				return nil, fmt.Errorf("%s: %w", r.ID, err)
			}
			after = ""
			for _, b := range blocks {
				after += b.Text
			}
		}
		verdicts = append(verdicts, judgeText(r, after))
	}
	return verdicts, nil
}

// judgeText compares what became of a result with what had to go and what had to stay.
func judgeText(r *row, after string) verdict {
	v := verdict{decision: "redact"}
	if after == r.Result {
		v.decision = "keep"
	}
	for _, secret := range r.Secrets {
		if strings.Contains(after, secret) {
			v.decision, v.note = "keep", "a secret is left"
		}
	}
	for _, keep := range r.Keep {
		if !strings.Contains(after, keep) {
			v.broken, v.note = true, fmt.Sprintf("lost %.60q", keep)
		}
	}
	return v
}

// editor is an extension that answers every context with one edit.
type editor struct{ edit json.RawMessage }

func (e *editor) Name() string { return "editor" }
func (e *editor) Hook(event wire.Event) *wire.Hook {
	if event == wire.EventContext {
		return &wire.Hook{Event: event}
	}
	return nil
}

func (e *editor) Handle(_ context.Context, ev *engine.Event) (any, engine.Usage, error) {
	result, err := wire.ParseContext(e.edit)
	if err != nil {
		return nil, engine.Usage{}, err
	}
	return result, engine.Usage{}, ev.Check(result)
}

func (e *editor) Close(context.Context) error { return nil }

// judgeContexts puts each edit to the engine: is it applied, or a fault of the extension that made it?
func judgeContexts(ctx context.Context, _ *stand, rows []row) (verdicts []verdict, err error) {
	for i := range rows {
		r := &rows[i]
		d, err := decide.Open(ctx, engine.Config{Native: []engine.Extension{&editor{r.Edit}}})
		if err != nil {
			return nil, err
		}
		got, err := decideRow(ctx, d, r.raw)
		if err = errors.Join(err, d.Close(ctx)); err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		v := verdict{decision: "apply"}
		if len(got.Faults) > 0 {
			v = verdict{decision: "fault", note: got.Faults[0].Message}
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// world is a folder that stands in for /.
type world struct{ root string }

// at is where a path of the labels' world lies; only what is below /home is moved.
func (w *world) at(path string) string {
	if path == "/home" || strings.HasPrefix(path, "/home/") {
		return w.root + path
	}
	return path
}

// build makes what the row's setup names; without one, the file that is named.
func (w *world) build(r *row) error {
	errs := []error{os.MkdirAll(w.at(workspace), 0o755)}
	for _, dir := range r.Setup.Dirs {
		errs = append(errs, w.dir(w.at(dir)))
	}
	names := make([]string, 0, len(r.Setup.Files))
	for name := range r.Setup.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if path := w.at(name); w.within(path) {
			errs = append(errs, w.dir(filepath.Dir(path)), os.WriteFile(path, []byte(r.Setup.Files[name]), 0o600))
		}
	}
	for _, l := range r.Setup.Symlinks {
		if path := w.at(l[0]); w.within(path) {
			errs = append(errs, w.dir(filepath.Dir(path)), os.Symlink(w.at(l[1]), path))
		}
	}
	for _, l := range r.Setup.Hardlinks {
		to := w.at(l[1])
		if !w.within(to) { // a file of the system: another stands in for it
			to = filepath.Join(w.root, "elsewhere")
		}
		if _, err := os.Lstat(to); err != nil {
			errs = append(errs, w.dir(filepath.Dir(to)), os.WriteFile(to, []byte("x"), 0o600))
		}
		errs = append(errs, w.dir(filepath.Dir(w.at(l[0]))), os.Link(to, w.at(l[0])))
	}
	for _, name := range r.Setup.Fifos {
		errs = append(errs, w.dir(filepath.Dir(w.at(name))), fifo(w.at(name)))
	}
	return errors.Join(errs...)
}

func (w *world) within(path string) bool { return strings.HasPrefix(path, w.root+"/") }

func (w *world) dir(path string) error {
	if !w.within(path) {
		return nil // the machine's own
	}
	return os.MkdirAll(path, 0o755)
}

// input moves the paths in the arguments.
func (w *world) input(raw json.RawMessage) (json.RawMessage, error) {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	for key, v := range fields {
		if s, ok := v.(string); ok && key != "content" {
			fields[key] = w.at(s)
		}
	}
	return json.Marshal(fields)
}

package engine

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weir/agentcore"
	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
	"weir/wasmhost"
)

// Config configures an [Engine]. The zero value is an engine without extensions.
type Config struct {
	// Host runs the set's modules. Needed when the set names any. The engine does not close it.
	Host *wasmhost.Host
	// Set names the extensions; nil names none. See set.Open.
	Set *set.Set
	// Bundled gives the bytes of a module named bundled:NAME; nil knows none.
	Bundled func(name string) ([]byte, bool)
	// Native are extensions in Go. They come after the set's and enforce.
	Native []Extension
	// Reloads says that [Engine.Reload] will be called: [Engine.Hooks] then gives every hook, since the next set may have a use for
	// one that this set has none for.
	Reloads bool
	// ToolNames are those of the program's own tools. A set whose extensions bring one of that name is not loaded.
	ToolNames []string
	// Trusting says that the extensions are code of this program and to be taken at their word: rewritten arguments are not
	// validated again, partial results of tools are not withheld until the whole was seen, and what the model reads of a
	// block or a fault are the extension's own words. Where the ABI is stricter than the reference (sections 6 and 8), this
	// is the reference's way.
	Trusting bool
	// Ask puts questions to a person and returns whether all are agreed to; nil, or [ErrNoPerson], means there is nobody,
	// and what asks is blocked. The time in it is not counted against any extension.
	Ask func(ctx context.Context, questions []Question) (bool, error)
	// UI serves extensions with the grant ui; nil means that there is nobody: a question is answered with no.
	UI wasmhost.UI
	// Session gives extensions with the grant session their hold of it, at each request, from any goroutine: see
	// session.Session.ForGuests. nil, or a nil answer, means that there is no session; they are told so.
	Session func() wasmhost.Session
	// Store gives what keeps the values of an extension with the grant kv; it is called once for each name, when a set loads.
	// nil keeps them in memory, for as long as the engine lives.
	Store func(extension string) wasmhost.Store
	// Record gets every answer, one at a time, from the goroutine that asked; nil drops them. It must not call the engine.
	Record func(Record)
	// Trace gets, like Record, every answer together with the event that was asked about and the result as the extension
	// gave it (nil for a fault). It must keep neither, nor change what they point to. nil: nobody looks.
	Trace func(rec Record, ev *Event, result any)
	// Prompt gets what each model call did to the prefix of the prompt, and which extension changed it: see [Engine.Sent]. nil:
	// nobody looks.
	Prompt func(PromptChange)
	// SessionID, CWD and Mode are told to the guests. Mode "" is "embedded".
	SessionID string
	CWD       string
	Mode      wire.Mode
	// Facts is what facts are told against, for extensions that ask for them. Workspace "" is CWD, Home "" the user's home
	// folder; to Own the engine adds the set's files and modules and the workspace's .weir folder.
	Facts facts.Config
	// Logger gets what guests log, with the attribute "extension"; nil drops it.
	Logger *slog.Logger
	// Clock is read for timestamps of events; nil is time.Now.
	Clock func() time.Time
}

// Engine is an extension set that is loaded. Safe for concurrent use.
type Engine struct {
	cfg    Config
	logger *slog.Logger
	lineup atomic.Pointer[lineup] // of new events

	loading sync.Mutex // held while a set is loaded, and while the engine is closed
	closed  bool
	stores  map[string]wasmhost.Store // of extensions with the grant kv, by name; they outlive a reload

	recording sync.Mutex // held while Config.Record runs
	prompt    promptMeter

	mu    sync.Mutex
	at    wire.Moment // of the run: model, thinking level, turn and call
	calls int         // tool calls of the turn so far
	// updates holds, by tool call, the partial result that was sent last.
	updates map[string]*agentcore.ToolResult
	// replaced are lineups that were reloaded and still have events under way.
	replaced map[*lineup]bool
}

// Open loads the extensions. It fails as a whole: every extension that does not load is named in the error, which is made
// of *set.Error and *wasmhost.Fault; nothing is left open then.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	e := &Engine{
		cfg: cfg, logger: cfg.Logger, updates: map[string]*agentcore.ToolResult{}, replaced: map[*lineup]bool{},
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	l, _, err := e.assemble(ctx, cfg.Set, nil, &lineup{})
	if err != nil {
		return nil, err
	}
	e.lineup.Store(l)
	return e, nil
}

// FactsConfig is what the facts of this engine are told against, completed with what the engine knows.
func (e *Engine) FactsConfig() facts.Config {
	l := e.lineup.Load()
	return factsConfig(&e.cfg, l.set, l.own)
}

// Set is the set that runs; nil is none. It must not be changed.
func (e *Engine) Set() *set.Set { return e.lineup.Load().set }

// factsConfig completes what the caller said about the place that facts are told against. more is of weir's own too.
func factsConfig(cfg *Config, s *set.Set, more []string) facts.Config {
	c := cfg.Facts
	if c.Workspace == "" {
		c.Workspace = cfg.CWD
	}
	if c.Home == "" {
		if home, err := os.UserHomeDir(); err == nil { // without one, ~ stays unknown
			c.Home = home
		}
	}
	own := append(slices.Clone(c.Own), more...)
	if c.Workspace != "" {
		own = append(own, filepath.Join(c.Workspace, ".weir"))
	}
	if s != nil {
		for i := range s.Extensions {
			x := &s.Extensions[i]
			files := []string{x.Pos.File}
			if _, bundled := x.Bundled(); !bundled {
				files = append(files, x.Module)
			}
			files = append(files, x.Grant.Journal)
			for _, f := range files {
				if abs, err := filepath.Abs(f); f != "" && err == nil { // without a working folder there is nothing to compare with
					own = append(own, abs)
				}
			}
		}
	}
	c.Own = own
	return c
}

// ExtensionInfo is what an engine says of one of its extensions.
type ExtensionInfo struct {
	Name  string
	Hooks []string
}

// Extensions lists the extensions in order: those of the set, then the native ones.
func (e *Engine) Extensions() []ExtensionInfo {
	members := e.lineup.Load().members
	list := make([]ExtensionInfo, len(members))
	for i, m := range members {
		list[i].Name = m.ext.Name()
		for ev := wire.Event(1); int(ev) <= wire.EventCount; ev++ {
			if m.ext.Hook(ev) != nil {
				list[i].Hooks = append(list[i].Hooks, ev.String())
			}
		}
	}
	return list
}

// Handles says whether any extension hooks the event.
func (e *Engine) Handles(event wire.Event) bool { return len(e.lineup.Load().handlers[event]) > 0 }

// Close ends the extensions, after the calls under way.
func (e *Engine) Close(ctx context.Context) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	e.closed = true
	members := e.lineup.Load().members
	e.mu.Lock()
	for l := range e.replaced {
		members = append(slices.Clip(members), l.members...)
	}
	e.mu.Unlock()
	var errs []error
	for _, m := range members {
		errs = append(errs, m.ext.Close(ctx)) // of one that is there twice, the second time does nothing
	}
	return errors.Join(errs...)
}

// SetModel tells the extensions which model the run uses from now on.
func (e *Engine) SetModel(model agentcore.Model, level agentcore.ThinkingLevel) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at.Provider, e.at.Model, e.at.ThinkingLevel = model.Provider, model.ID, level
}

// moment is a copy of where the run is.
func (e *Engine) moment() wire.Moment {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

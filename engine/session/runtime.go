package session

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"weir/agentcore"
	"weir/engine/wire"
)

// ErrForkEntry is returned by [Runtime.Fork] for an entry that cannot be forked at.
const ErrForkEntry agentcore.Error = "Invalid entry ID for forking"

// RuntimeConfig says how sessions are made.
type RuntimeConfig struct {
	// Make makes the session on a store. It must hand store and start on to Config.Store and Config.Start. The present session is
	// still there then: when Make fails, it stays.
	Make func(ctx context.Context, store *Store, start wire.SessionStartEvent) (*Session, error)
	// Attach is called with each session, the first included, before its extensions hear of it; nil does nothing. It
	// subscribes, and calls Session.Begin.
	Attach func(ctx context.Context, s *Session) error
	// Store is for new stores: clock and ids. Its Dir, CWD and Parent do not count.
	Store StoreConfig
}

// Runtime holds one session after the other: new ones, forks, stored ones. Safe for concurrent use; replacing is serialised.
type Runtime struct {
	cfg       RuntimeConfig
	replacing sync.Mutex
	work      sync.WaitGroup // replacements in the background

	mu      sync.Mutex
	session *Session
	closed  bool
}

// NewRuntime makes the first session on a store.
func NewRuntime(ctx context.Context, store *Store, cfg RuntimeConfig) (*Runtime, error) {
	r := &Runtime{cfg: cfg}
	return r, r.install(ctx, store, wire.SessionStartEvent{Reason: "startup"})
}

// Session is the present session.
func (r *Runtime) Session() *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session
}

func (r *Runtime) install(ctx context.Context, store *Store, start wire.SessionStartEvent) error {
	s, err := r.make(ctx, store, start)
	if err != nil {
		return err
	}
	return r.put(ctx, s)
}

func (r *Runtime) make(ctx context.Context, store *Store, start wire.SessionStartEvent) (*Session, error) {
	s, err := r.cfg.Make(ctx, store, start)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

// put makes s the present session.
func (r *Runtime) put(ctx context.Context, s *Session) error {
	s.mu.Lock()
	s.runtime = r
	s.mu.Unlock()
	r.mu.Lock()
	r.session = s
	r.mu.Unlock()
	if r.cfg.Attach != nil {
		return r.cfg.Attach(ctx, s)
	}
	return nil
}

// NewSession puts a new session in the place of the present one. cancelled says that an extension was against it.
func (r *Runtime) NewSession(ctx context.Context) (cancelled bool, err error) {
	return r.newSession(ctx, nil)
}

// present is the session to replace, once nobody else replaces it; wanted is the one that it must be, nil for any. release must be
// called in any case.
func (r *Runtime) present(wanted *Session) (s *Session, release func(), err error) {
	r.replacing.Lock()
	if s = r.Session(); wanted != nil && s != wanted {
		err = ErrStale
	}
	return s, r.replacing.Unlock, err
}

// later does something in the background, unless the runtime is closed.
func (r *Runtime) later(f func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.work.Go(f)
	return nil
}

func (r *Runtime) newSession(ctx context.Context, of *Session) (cancelled bool, err error) {
	old, release, err := r.present(of)
	defer release()
	if err != nil {
		return false, err
	}
	if cancelled, err := refused(ctx, old, wire.SessionBeforeSwitchEvent{Reason: "new"}); cancelled || err != nil {
		return cancelled, err
	}
	cfg := r.cfg.Store
	cfg.CWD = old.CWD()
	if path := old.store.Path(); path != "" {
		cfg.Dir = filepath.Dir(path)
	}
	store, err := NewStore(cfg)
	if err != nil {
		return false, err
	}
	return false, r.replace(ctx, old, store, "new")
}

// Switch puts a stored session in the place of the present one. The errors are those of [OpenStore]; the present session then
// stays.
func (r *Runtime) Switch(ctx context.Context, path string) (cancelled bool, err error) {
	r.replacing.Lock()
	defer r.replacing.Unlock()
	old := r.Session()
	if cancelled, err := refused(ctx, old, wire.SessionBeforeSwitchEvent{Reason: "resume", TargetSessionFile: path}); cancelled || err != nil {
		return cancelled, err
	}
	store, err := OpenStore(path, r.cfg.Store)
	if err != nil {
		return false, err
	}
	return false, r.replace(ctx, old, store, "resume")
}

// Forked is what came of a fork.
type Forked struct {
	Cancelled bool
	// Text is that of the user's message before which the fork was made.
	Text string
}

// Fork puts a copy of the present session up to an entry in its place: before the entry, which must be a message of the
// user; with at, the entry included. A clone is a fork at the leaf. The error is [ErrForkEntry] for an entry that does
// not do.
func (r *Runtime) Fork(ctx context.Context, entryID string, at bool) (Forked, error) {
	return r.fork(ctx, nil, entryID, at)
}

func (r *Runtime) fork(ctx context.Context, of *Session, entryID string, at bool) (Forked, error) {
	old, release, err := r.present(of)
	defer release()
	if err != nil {
		return Forked{}, err
	}
	position := "before"
	if at {
		position = "at"
	}
	if cancelled, err := refused(ctx, old, wire.SessionBeforeForkEvent{EntryID: entryID, Position: position}); cancelled || err != nil {
		return Forked{Cancelled: cancelled}, err
	}
	entry := old.store.Entry(entryID)
	if entry == nil {
		return Forked{}, ErrForkEntry
	}
	var forked Forked
	upTo := entry.ID
	if !at {
		m, err := entry.Message()
		if err != nil || m == nil || m.User() == nil {
			return Forked{}, ErrForkEntry
		}
		upTo, forked.Text = entry.ParentID, contentText(m.User().Content)
	}
	cfg := r.cfg.Store
	cfg.CWD = old.CWD()
	if path := old.store.Path(); path != "" {
		cfg.Dir = filepath.Dir(path)
	}
	store, err := old.store.Fork(upTo, cfg)
	if err != nil {
		return Forked{}, err
	}
	return forked, r.replace(ctx, old, store, "fork")
}

// refused asks the extensions whether a session may be replaced.
func refused(ctx context.Context, s *Session, p wire.Payload) (bool, error) {
	out, err := ask[wire.SessionBeforeOutcome](ctx, s.cfg.Extensions, p)
	return out != nil && out.Result.Cancel, err
}

// replace begins another session and ends the present one, which stays when the other cannot be made.
func (r *Runtime) replace(ctx context.Context, old *Session, store *Store, reason string) error {
	next, err := r.make(ctx, store, wire.SessionStartEvent{Reason: reason, PreviousSessionFile: old.store.Path()})
	if err != nil {
		return err
	}
	if err := r.shut(ctx, old, wire.SessionShutdownEvent{Reason: reason, TargetSessionFile: store.Path()}); err != nil {
		return errors.Join(err, next.Close(context.WithoutCancel(ctx)))
	}
	return r.put(ctx, next)
}

// shut ends a session: what is under way is settled first, so that it is kept, then the extensions are told.
func (r *Runtime) shut(ctx context.Context, s *Session, p wire.SessionShutdownEvent) error {
	if err := s.Abort(ctx); err != nil {
		return err
	}
	s.observe(ctx, p)
	return s.Close(ctx)
}

// Close ends the present session. Extensions hear of it first. What extensions have asked for in the background is done before, or
// not at all.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.work.Wait()
	r.replacing.Lock()
	defer r.replacing.Unlock()
	return r.shut(ctx, r.Session(), wire.SessionShutdownEvent{Reason: "quit"})
}

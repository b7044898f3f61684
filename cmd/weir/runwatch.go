package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"weir/engine"
	"weir/engine/script"
	"weir/engine/set"
	"weir/engine/workbench"
	"weir/extensions"
	"weir/internal/filewatch"
)

// liveSet is what a conversation with --watch reloads its extensions from.
type liveSet struct {
	file    string // of --set; "" is the user's
	modules []string
	// project is the set of the project if it counts: as it was when it was found to be trusted, with its modules pinned. What
	// changes in the project's folder is for the next start to judge.
	project *set.Set
	// imports remembers the files of policies in TypeScript and JavaScript, for when one does not load.
	imports map[string][]string
	files   atomic.Pointer[[]string] // those noted last
}

// read reads the sets anew.
func (l *liveSet) read() (*set.Set, error) { return openLayers(l.file, l.modules, l.project) }

// note remembers the files on which sets depend: absolute, each once. Nil sets are none.
func (l *liveSet) note(sets ...*set.Set) []string {
	var files []string
	for _, s := range sets {
		if s == nil {
			continue
		}
		for _, f := range l.filesOf(s) {
			if abs, err := filepath.Abs(f); err == nil && !slices.Contains(files, abs) { // without a working folder nothing is found anyway
				files = append(files, abs)
			}
		}
	}
	l.files.Store(&files)
	return files
}

// noted are the files that were noted last. They must not be changed.
func (l *liveSet) noted() []string { return *l.files.Load() }

// filesOf are those on which the set depends: the set files, whether they are there or not, the modules, and what policies import.
func (l *liveSet) filesOf(s *set.Set) []string {
	d := discovery(l.file, nil)
	files := []string{filepath.Join(d.ManagedDir, set.FileName)}
	switch {
	case l.file != "":
		files = append(files, l.file)
	case d.UserDir != "":
		files = append(files, filepath.Join(d.UserDir, set.FileName))
	}
	for i := range s.Extensions {
		x := &s.Extensions[i]
		if _, bundled := x.Bundled(); bundled || x.Source == set.LayerProject {
			continue
		}
		files = append(files, x.Module)
		if script.Is(x.Module) {
			if policy, err := script.Load(x.Module); err == nil { // what is wrong with it, the reload says
				l.imports[x.Module] = nil
				for _, f := range policy.Files() {
					l.imports[x.Module] = append(l.imports[x.Module], filepath.Join(filepath.Dir(x.Module), filepath.FromSlash(f)))
				}
			}
			files = append(files, l.imports[x.Module]...)
		}
	}
	return files
}

// test runs the test files of an extension that changed, if it has any.
func (l *liveSet) test(ctx context.Context, x *set.Extension) (err error) {
	if _, bundled := x.Bundled(); bundled {
		return nil
	}
	files, err := testFilesOf(x.Module)
	if err != nil || len(files) == 0 {
		return err
	}
	// A host of its own: what the tests load is gone with it.
	host, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close(context.WithoutCancel(ctx))) }()
	runner := workbench.Runner{Host: host, Bundled: extensions.Bundled}
	for _, path := range files {
		rep, err := runFile(ctx, &runner, path)
		if err != nil {
			return err
		}
		for i := range rep.Cases {
			if c := &rep.Cases[i]; !c.Passed {
				return fmt.Errorf("%s: the case %q failed: %s", c.Position, c.Name, strings.Join(c.Failures, "; "))
			}
		}
	}
	return nil
}

// setWatch reloads the extensions of a conversation while it goes on.
type setWatch struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// watchSet begins to reload on change, until the conversation is closed.
func (c *conversation) watchSet(ctx context.Context) error {
	live := c.run.live
	watcher, err := filewatch.New()
	if err != nil {
		return failed(err)
	}
	if err := watcher.Track(live.noted()); err != nil {
		return failed(errors.Join(err, watcher.Close()))
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it ends with the conversation, which outlives a cancelled run
	w := &setWatch{cancel: cancel, done: make(chan struct{})}
	c.watch = w
	logger := c.run.sinks[0].logger().With("extension", "weir")
	go func() {
		defer close(w.done)
		defer watcher.Close() //nolint:errcheck // nothing is lost
		for {
			if _, err := watcher.Next(ctx); err != nil {
				if ctx.Err() == nil {
					logger.Error(fmt.Sprintf("changes are no longer noticed: %v", err))
				}
				return
			}
			c.reload(ctx, logger)
			if err := watcher.Track(live.noted()); err != nil {
				logger.Error(fmt.Sprintf("changes are no longer noticed: %v", err))
				return
			}
		}
	}()
	return nil
}

// stop waits for a reload that is under way.
func (w *setWatch) stop() {
	if w != nil {
		w.cancel()
		<-w.done
	}
}

// reload reads the set anew, has the engine run it, and gives the session what it brings. What is wrong is logged; what was loaded
// stays then.
func (c *conversation) reload(ctx context.Context, logger *slog.Logger) {
	c.reloading.Lock()
	defer c.reloading.Unlock()
	live := c.run.live
	s, err := live.read()
	if err != nil {
		logger.Error(fmt.Sprintf("the reload was refused, and what was loaded stays: %v", err))
		return
	}
	files := live.note(s, c.engine().Set()) // before anything is loaded, so that the agent cannot change it any more
	done, err := c.engine().Reload(ctx, engine.Reload{Set: s, Own: files, Test: live.test})
	if err != nil {
		return // the engine has said why
	}
	live.note(s)
	var what []string
	say := func(verb string, names []string) {
		if len(names) > 0 {
			what = append(what, verb+" "+strings.Join(names, ", "))
		}
	}
	say("added", done.Added)
	say("changed", done.Changed)
	say("removed", done.Removed)
	if done.Tools {
		say("the model's tools from its next turn on:", c.takeTools(&done, logger))
	}
	if done.Any() {
		if found, err := c.session().Discover(ctx, "reload"); err != nil {
			logger.Error(fmt.Sprintf("the skills and prompt templates stay as they were: %v", err))
		} else {
			c.now.Load().takeResources(c.run, found)
		}
	}
	if done.Commands {
		c.session().SetCommands(c.commands(c.engine()))
		what = append(what, "commands changed")
	}
	if len(what) > 0 {
		logger.Info("reloaded: " + strings.Join(what, "; "))
	}
}

// takeTools gives the session the tools that the extensions bring now, and says which the model is offered.
func (c *conversation) takeTools(done *engine.Reloaded, logger *slog.Logger) []string {
	if err := c.session().ReplaceTools(done.ToolsGone, c.engine().Tools()); err != nil {
		logger.Error(fmt.Sprintf("the model keeps the tools that it had: %v", err))
	}
	return c.session().ActiveTools()
}

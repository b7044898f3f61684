package backtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/engine"
	"weir/engine/facts"
	"weir/engine/transcript"
)

// File is a transcript.
type File struct {
	Path   string
	Format transcript.Format
}

// Config is what [Run] works with.
type Config struct {
	// Files are sorted by path; no path is there twice.
	Files []File
	// Engine opens the set. Of it SessionID, CWD, Clock, Ask, Record, Trace, Store, UI, Session and Logger are replaced, and the set is
	// stripped of what has effects.
	Engine engine.Config
	// Other opens what the set is compared with; nil compares with nothing.
	Other *engine.Config
	// Since leaves out what is older; events of no known time are taken. Zero leaves out nothing.
	Since time.Time
	// Workers is how many files are worked on at a time; 0 is as many as there are processors.
	Workers int
	// MaxLine is that of transcript.Options.
	MaxLine int
	// Progress is told how many bytes were read, of twice the files' sizes in all; it may be called concurrently. nil: nobody looks.
	Progress func(n int)
}

// Run reads the files and puts what is in them to the set. The error is one of the set that does not load, of a folder for what is thrown
// away, or of ctx. A file that cannot be read is a problem in the report.
func Run(ctx context.Context, cfg Config) (_ *Report, err error) {
	scratch, err := os.MkdirTemp("", "weir-backtest-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	r := &run{cfg: cfg, scratch: scratch, secrets: facts.New(facts.Config{}), prepare: preparers()}
	report := &Report{}
	if report.Extensions, err = r.extensions(ctx, &cfg.Engine); err != nil {
		return nil, err
	}
	if cfg.Other != nil {
		if _, err := r.extensions(ctx, cfg.Other); err != nil {
			return nil, fmt.Errorf("what is compared with: %w", err)
		}
	}
	r.sizes = make([]int64, len(cfg.Files))
	indexes := make([]*fileIndex, len(cfg.Files))
	if err := r.each(ctx, func(ctx context.Context, i int) (err error) {
		indexes[i], err = r.index(ctx, i)
		return err
	}); err != nil {
		return nil, err
	}
	r.owners = map[transcript.Key]*owner{}
	for i, x := range indexes {
		r.claim(int32(i), x.entries)
		report.addFile(&cfg.Files[i], x)
		x.entries = nil
	}
	tallies := make([]*tally, len(cfg.Files))
	if err := r.each(ctx, func(ctx context.Context, i int) (err error) {
		tallies[i], err = r.session(ctx, i)
		return err
	}); err != nil {
		return nil, err
	}
	all := newTally()
	for i, t := range tallies {
		if t.err != nil && indexes[i].err == nil {
			report.unreadable(cfg.Files[i].Path, t.err)
		}
		all.merge(t)
		tallies[i] = nil
	}
	report.finish(all, cfg.Other != nil)
	return report, nil
}

// run is a backtest under way.
type run struct {
	cfg     Config
	scratch string
	secrets *facts.Computer
	prepare map[string]preparer
	// sizes are what the files held when they were indexed: what is appended later is not looked at.
	sizes  []int64
	owners map[transcript.Key]*owner
}

// owner says which file a call is counted in, and how the call ended.
type owner struct {
	call, result int32 // index of the file, -1 for none
	outcome      transcript.Outcome
}

// entry is a call or a result of a file that is indexed.
type entry struct {
	key     transcript.Key
	kind    transcript.Kind
	outcome transcript.Outcome
}

// fileIndex is what the first reading of a file gave.
type fileIndex struct {
	entries []entry
	report  transcript.Report
	early   int // events before Config.Since
	err     error
}

// each does the work for every file, the largest first, and returns the first error.
func (r *run) each(ctx context.Context, work func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	order := make([]int, len(r.cfg.Files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.sizes[b], r.sizes[a]) })
	jobs := make(chan int)
	workers := r.cfg.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wait sync.WaitGroup
	for range min(workers, len(order)) {
		wait.Go(func() {
			for i := range jobs {
				if err := work(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for _, i := range order {
		select {
		case jobs <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(jobs)
	wait.Wait()
	return context.Cause(ctx)
}

// read goes through a file as far as it reached when it was indexed; the error of a file that cannot be read is in the index.
func (r *run) read(ctx context.Context, i int, visit func(*transcript.Event) error) (rep *transcript.Report, err error) {
	f := &r.cfg.Files[i]
	in, err := os.Open(f.Path)
	if err != nil {
		return &transcript.Report{}, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if r.owners == nil {
		info, err := in.Stat()
		switch {
		case err != nil:
			return &transcript.Report{}, err
		case !info.Mode().IsRegular():
			return &transcript.Report{}, errors.New("it is not a regular file")
		}
		r.sizes[i] = info.Size()
	}
	return transcript.Read(ctx, &counted{io.LimitReader(in, r.sizes[i]), r.cfg.Progress}, transcript.Options{Format: f.Format, MaxLine: r.cfg.MaxLine}, visit)
}

// counted reports what is read.
type counted struct {
	io.Reader
	progress func(int)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.progress != nil {
		c.progress(n)
	}
	return n, err
}

// index reads a file for the first time.
func (r *run) index(ctx context.Context, i int) (*fileIndex, error) {
	x := &fileIndex{}
	rep, err := r.read(ctx, i, func(ev *transcript.Event) error {
		if r.early(ev) {
			x.early++
			return nil
		}
		x.entries = append(x.entries, entry{ev.Key, ev.Kind, ev.Outcome})
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	x.report, x.err = *rep, err
	return x, nil
}

func (r *run) early(ev *transcript.Event) bool {
	return !ev.Time.IsZero() && ev.Time.Before(r.cfg.Since)
}

// claim makes a file the owner of what no file before it has.
func (r *run) claim(file int32, entries []entry) {
	for _, e := range entries {
		o := r.owners[e.key]
		if o == nil {
			o = &owner{call: -1, result: -1}
			r.owners[e.key] = o
		}
		switch {
		case e.kind == transcript.Call && o.call < 0:
			o.call = file
		case e.kind == transcript.Result && o.result < 0:
			o.result, o.outcome = file, e.outcome
		}
	}
}

// session reads a file for the second time, and has the set judge what is counted in it.
func (r *run) session(ctx context.Context, i int) (_ *tally, err error) {
	t := newTally()
	f := &r.cfg.Files[i]
	name := strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path))
	one, err := newJudge(r, &r.cfg.Engine, f.Format, i, name, "set")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, one.close(ctx)) }()
	var other *judge
	if r.cfg.Other != nil {
		if other, err = newJudge(r, r.cfg.Other, f.Format, i, name, "other"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, other.close(ctx)) }()
	}
	var failed error // of the set, not of the file
	_, t.err = r.read(ctx, i, func(ev *transcript.Event) error {
		o := r.owners[ev.Key]
		switch {
		case r.early(ev):
			return nil
		case o == nil || ev.Kind == transcript.Call && o.call != int32(i) || ev.Kind == transcript.Result && o.result != int32(i):
			t.copies++
			return nil
		}
		place := place{file: f.Path, event: ev, outcome: o.outcome, secrets: r.secrets}
		var v, w *verdict
		if v, failed = one.judge(ctx, ev); failed != nil {
			return failed
		}
		t.add(&place, f.Format, v)
		if other != nil {
			if w, failed = other.judge(ctx, ev); failed != nil {
				return failed
			}
		}
		t.compare(&place, v, w)
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return t, failed
}

package backtest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"weir/engine"
	"weir/engine/decide"
	"weir/engine/facts"
	"weir/engine/transcript"
	"weir/engine/wire"
)

const (
	// maxSamples is how many samples a reason has.
	maxSamples = 3
	// maxRows bounds how many different reasons are kept; what comes later is counted as furtherReasons.
	maxRows        = 2000
	furtherReasons = "(further reasons)"
)

// tally is what was counted of one file, or of all.
type tally struct {
	events         Counted
	formats        map[transcript.Format]*FormatCount
	from, to       time.Time
	calls, results Verdicts
	newBlocks      int
	copies         int
	err            error // of a file that could not be read to its end
	extensions     map[string]*extensionTally
	rows           map[rowKey]*row
}

type extensionTally struct{ calls, results Answers }

// rowKey is an extension's reason or, with no extension, a difference.
type rowKey struct {
	extension, event, outcome, reason string
	set, other                        sideKey
}

type sideKey struct {
	decision decide.Verdict
	by       string // names parted by \n
	reason   string
}

func (s sideKey) side() Side {
	by := []string{}
	if s.by != "" {
		by = strings.Split(s.by, "\n")
	}
	return Side{Decision: s.decision, By: by, Reason: s.reason}
}

type row struct {
	key     rowKey
	counts  Counts
	samples []Sample
}

func newTally() *tally {
	return &tally{formats: map[transcript.Format]*FormatCount{}, extensions: map[string]*extensionTally{}, rows: map[rowKey]*row{}}
}

// place is where an event comes from.
type place struct {
	file    string
	event   *transcript.Event
	outcome transcript.Outcome
	secrets *facts.Computer
}

func (p *place) kind() string {
	if p.event.Kind == transcript.Call {
		return wire.EventToolCall.String()
	}
	return wire.EventToolResult.String()
}

// add counts an event and what was decided about it.
func (t *tally) add(p *place, f transcript.Format, v *verdict) {
	format := t.formats[f]
	if format == nil {
		format = &FormatCount{Format: f}
		t.formats[f] = format
	}
	if p.event.Kind == transcript.Call {
		format.Calls++
		t.events.Calls.add(p.outcome)
		t.calls.of(v.decision).add(p.outcome)
	} else {
		format.Results++
		t.events.Results.add(p.outcome)
		t.results.of(v.decision).add(p.outcome)
	}
	t.span(p.event.Time, p.event.Time)
	for _, a := range v.answers {
		x := t.extension(a.extension)
		answers := &x.calls
		if p.event.Kind == transcript.Result {
			answers = &x.results
		}
		answers.of(a.outcome).add(p.outcome)
		if a.outcome != engine.OutcomeNone {
			t.row(rowKey{extension: a.extension, event: p.kind(), outcome: a.outcome.String(), reason: p.masked(a.reason)}).add(p)
		}
	}
}

// of is the count of an outcome.
func (a *Answers) of(o engine.Outcome) *Counts {
	switch o {
	case engine.OutcomeBlock:
		return &a.Blocked
	case engine.OutcomeAsk:
		return &a.Asked
	case engine.OutcomeRewrite:
		return &a.Rewritten
	case engine.OutcomeFault:
		return &a.Faulted
	default:
		return &a.Unchanged
	}
}

// compare counts a new block, and a difference to w, which is nil when nothing is compared.
func (t *tally) compare(p *place, v, w *verdict) {
	ran := p.outcome == transcript.OK || p.outcome == transcript.NoResult
	if p.event.Kind == transcript.Call && v.decision == decide.Block && ran && (w == nil || w.decision != decide.Block) {
		t.newBlocks++
	}
	if w == nil || v.decision == w.decision && v.reason == w.reason && v.changed == w.changed {
		return
	}
	t.row(rowKey{event: p.kind(), set: p.side(v), other: p.side(w)}).add(p)
}

func (p *place) side(v *verdict) sideKey {
	return sideKey{v.decision, strings.Join(v.by, "\n"), p.masked(v.reason)}
}

func (t *tally) extension(name string) *extensionTally {
	x := t.extensions[name]
	if x == nil {
		x = &extensionTally{}
		t.extensions[name] = x
	}
	return x
}

func (t *tally) row(key rowKey) *row {
	x := t.rows[key]
	if x == nil && len(t.rows) >= maxRows {
		key.reason, key.set.reason, key.other.reason = furtherReasons, furtherReasons, furtherReasons
		x = t.rows[key]
	}
	if x == nil {
		x = &row{key: key, samples: []Sample{}}
		t.rows[key] = x
	}
	return x
}

func (r *row) add(p *place) {
	r.counts.add(p.outcome)
	if len(r.samples) < maxSamples {
		r.samples = append(r.samples, p.sample())
	}
}

func (t *tally) span(from, to time.Time) {
	if !from.IsZero() && (t.from.IsZero() || from.Before(t.from)) {
		t.from = from.UTC()
	}
	if to.After(t.to) {
		t.to = to.UTC()
	}
}

// merge adds what a later file gave.
func (t *tally) merge(u *tally) {
	t.events.Calls.merge(u.events.Calls)
	t.events.Results.merge(u.events.Results)
	for f, c := range u.formats {
		if t.formats[f] == nil {
			t.formats[f] = &FormatCount{Format: f}
		}
		t.formats[f].Calls += c.Calls
		t.formats[f].Results += c.Results
	}
	t.span(u.from, u.to)
	t.calls.merge(&u.calls)
	t.results.merge(&u.results)
	t.newBlocks += u.newBlocks
	t.copies += u.copies
	for name, x := range u.extensions {
		into := t.extension(name)
		for _, pair := range [...][2]*Answers{{&into.calls, &x.calls}, {&into.results, &x.results}} {
			for _, o := range [...]engine.Outcome{engine.OutcomeNone, engine.OutcomeBlock, engine.OutcomeAsk, engine.OutcomeRewrite, engine.OutcomeFault} {
				pair[0].of(o).merge(*pair[1].of(o))
			}
		}
	}
	for _, x := range u.sorted() { // in an order that does not change, since there is room for a bounded number
		into := t.row(x.key)
		into.counts.merge(x.counts)
		into.samples = append(into.samples, x.samples[:min(len(x.samples), maxSamples-len(into.samples))]...)
	}
}

// sorted are the rows, the most frequent first.
func (t *tally) sorted() []*row {
	rows := make([]*row, 0, len(t.rows))
	for _, r := range t.rows {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(
			cmp.Compare(b.counts.Total, a.counts.Total), cmp.Compare(a.key.extension, b.key.extension), cmp.Compare(a.key.event, b.key.event),
			cmp.Compare(a.key.outcome, b.key.outcome), cmp.Compare(a.key.reason, b.key.reason), a.key.set.compare(b.key.set), a.key.other.compare(b.key.other),
		)
	})
	return rows
}

func (s sideKey) compare(o sideKey) int {
	return cmp.Or(cmp.Compare(s.decision, o.decision), cmp.Compare(s.by, o.by), cmp.Compare(s.reason, o.reason))
}

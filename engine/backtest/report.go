package backtest

import (
	"cmp"
	"slices"
	"time"

	"weir/engine/decide"
	"weir/engine/transcript"
	"weir/engine/wire"
)

// Report is what a backtest found. It holds nothing of the transcripts but the samples, in which what looks like a
// credential is masked; their texts are foreign and must be made harmless before they reach a terminal.
type Report struct {
	Files   []FormatCount `json:"files"` // by format
	Events  Counted       `json:"events"`
	LeftOut LeftOut       `json:"leftOut"`
	// From and To are the times of the first and the last event; absent when none has a time.
	From *time.Time `json:"from,omitempty"`
	To   *time.Time `json:"to,omitempty"`
	// ToolCalls and ToolResults are what the set as a whole decided.
	ToolCalls   Verdicts `json:"toolCalls"`
	ToolResults Verdicts `json:"toolResults"`
	// NewBlocks are calls that the set blocks and that neither failed nor were denied at the time; where sets are compared, only those
	// that the other set does not block.
	NewBlocks int `json:"newBlocks"`
	// Extensions are in the order of the set. One named "weir" at the end stands for what could not be put to the set.
	Extensions []Extension `json:"extensions"`
	// Differences are present, and Compared true, where sets are compared; the most frequent first.
	Compared    bool         `json:"compared,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
	// Problems are what could not be read, the first 20 of each file.
	Problems []Problem `json:"problems,omitempty"`
	// Unread are files that could not be read to their ends.
	Unread int `json:"unread"`
}

// FormatCount is how much of a format there was.
type FormatCount struct {
	Format  transcript.Format `json:"format"`
	Files   int               `json:"files"`
	Calls   int               `json:"calls"`   // that are counted here
	Results int               `json:"results"` // the same
}

// Counted is how many events were put to the set.
type Counted struct {
	Calls   Counts `json:"calls"`
	Results Counts `json:"results"`
}

// Counts are events, by how the call ended at the time.
type Counts struct {
	Total    int `json:"total"`
	OK       int `json:"ok"`
	Failed   int `json:"failed"`
	Denied   int `json:"denied"`
	NoResult int `json:"noResult"`
}

func (c *Counts) add(o transcript.Outcome) {
	c.Total++
	switch o {
	case transcript.OK:
		c.OK++
	case transcript.Failed:
		c.Failed++
	case transcript.Denied:
		c.Denied++
	default:
		c.NoResult++
	}
}

func (c *Counts) merge(d Counts) {
	c.Total, c.OK, c.Failed, c.Denied, c.NoResult = c.Total+d.Total, c.OK+d.OK, c.Failed+d.Failed, c.Denied+d.Denied, c.NoResult+d.NoResult
}

// LeftOut is what was not put to the set.
type LeftOut struct {
	// Copies are events that another file, or the same one, holds already; Early are those before the time that was asked for.
	Copies int `json:"copies"`
	Early  int `json:"early"`
	// Orphans are results without their call; Remote are calls that a provider ran.
	Orphans int `json:"orphans"`
	Remote  int `json:"remote"`
	// Lines: see transcript.Report.
	Unreadable int `json:"unreadableLines"`
	Oversize   int `json:"oversizeLines"`
	Torn       int `json:"tornLines"`
	Unknown    int `json:"unknownLines"`
	// Mended lines were put to the set, with U+FFFD for what is no UTF-8.
	Mended int `json:"mendedLines"`
}

// Verdicts are what became of events.
type Verdicts struct {
	Allow   Counts `json:"allow"`
	Ask     Counts `json:"ask"`
	Block   Counts `json:"block"` // results: withheld
	Rewrite Counts `json:"rewrite"`
}

func (v *Verdicts) of(d decide.Verdict) *Counts {
	switch d {
	case decide.Ask:
		return &v.Ask
	case decide.Block:
		return &v.Block
	case decide.Rewrite:
		return &v.Rewrite
	default:
		return &v.Allow
	}
}

func (v *Verdicts) merge(w *Verdicts) {
	v.Allow.merge(w.Allow)
	v.Ask.merge(w.Ask)
	v.Block.merge(w.Block)
	v.Rewrite.merge(w.Rewrite)
}

// Extension is what one extension answered.
type Extension struct {
	Name    string `json:"name"`
	Monitor bool   `json:"monitor,omitempty"` // what it answers changes nothing
	// ToolCalls and ToolResults are nil for events that it does not hook.
	ToolCalls   *Answers `json:"toolCalls,omitempty"`
	ToolResults *Answers `json:"toolResults,omitempty"`
	// Reasons are the most frequent first.
	Reasons []Reason `json:"reasons"`
}

func (e *Extension) hooks(names []string) {
	e.Reasons = []Reason{}
	if slices.Contains(names, wire.EventToolCall.String()) {
		e.ToolCalls = &Answers{}
	}
	if slices.Contains(names, wire.EventToolResult.String()) {
		e.ToolResults = &Answers{}
	}
}

// Answers are an extension's answers to one kind of event. For an event that reaches it several times (rechecks, the files of a patch)
// the gravest counts.
type Answers struct {
	Blocked   Counts `json:"blocked"`
	Asked     Counts `json:"asked"`
	Rewritten Counts `json:"rewritten"`
	Faulted   Counts `json:"faulted"`
	Unchanged Counts `json:"unchanged"`
	// NotAsked are events of a tool that it does not want to hear of, or that an extension before it had blocked.
	NotAsked int `json:"notAsked"`
}

// Reason is why an extension did not leave something as it was.
type Reason struct {
	Event   string   `json:"event"`
	Outcome string   `json:"outcome"` // block, ask, rewrite, fault
	Reason  string   `json:"reason"`
	Counts  Counts   `json:"counts"`
	Samples []Sample `json:"samples"`
}

// Sample is an event that something was decided about; the first few are kept.
type Sample struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Time    string `json:"time,omitempty"`
	Tool    string `json:"tool"`
	Input   string `json:"input"`
	Outcome string `json:"outcome"` // at the time
}

// Side is what one of two sets decided.
type Side struct {
	Decision decide.Verdict `json:"decision"`
	By       []string       `json:"by"`
	Reason   string         `json:"reason,omitempty"`
}

// Difference is what two sets decided differently.
type Difference struct {
	Event   string   `json:"event"`
	Set     Side     `json:"set"`
	Other   Side     `json:"other"`
	Counts  Counts   `json:"counts"`
	Samples []Sample `json:"samples"`
}

// Problem is what could not be read.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"` // 0: the file as a whole
	Detail string `json:"detail"`
}

// addFile takes over what the first reading of a file met.
func (r *Report) addFile(f *File, x *fileIndex) {
	r.format(f.Format).Files++
	l, rep := &r.LeftOut, &x.report
	l.Early, l.Orphans, l.Remote = l.Early+x.early, l.Orphans+rep.Orphans, l.Remote+rep.Remote
	l.Unreadable, l.Oversize, l.Torn = l.Unreadable+rep.Unreadable, l.Oversize+rep.Oversize, l.Torn+rep.Torn
	l.Unknown, l.Mended, l.Copies = l.Unknown+rep.Unknown, l.Mended+rep.Mended, l.Copies+rep.Repeated
	for _, p := range rep.Problems {
		r.Problems = append(r.Problems, Problem{f.Path, p.Line, p.Detail})
	}
	if x.err != nil {
		r.unreadable(f.Path, x.err)
	}
}

func (r *Report) unreadable(path string, err error) {
	r.Unread++
	r.Problems = append(r.Problems, Problem{File: path, Detail: err.Error()})
}

func (r *Report) format(f transcript.Format) *FormatCount {
	i, found := slices.BinarySearchFunc(r.Files, f, func(c FormatCount, f transcript.Format) int { return cmp.Compare(c.Format, f) })
	if !found {
		r.Files = slices.Insert(r.Files, i, FormatCount{Format: f})
	}
	return &r.Files[i]
}

// finish takes over what was counted.
func (r *Report) finish(t *tally, compared bool) {
	r.Events, r.ToolCalls, r.ToolResults = t.events, t.calls, t.results
	r.LeftOut.Copies += t.copies
	r.NewBlocks, r.Compared = t.newBlocks, compared
	for f, c := range t.formats {
		count := r.format(f)
		count.Calls, count.Results = c.Calls, c.Results
	}
	if !t.from.IsZero() {
		r.From, r.To = &t.from, &t.to
	}
	if t.extensions[self] != nil && !slices.ContainsFunc(r.Extensions, func(e Extension) bool { return e.Name == self }) {
		own := Extension{Name: self}
		own.hooks([]string{wire.EventToolCall.String(), wire.EventToolResult.String()})
		r.Extensions = append(r.Extensions, own)
	}
	for i := range r.Extensions {
		e := &r.Extensions[i]
		x := t.extensions[e.Name]
		if x == nil {
			x = &extensionTally{}
		}
		for _, kind := range []struct {
			into  *Answers
			from  *Answers
			total int
		}{{e.ToolCalls, &x.calls, t.events.Calls.Total}, {e.ToolResults, &x.results, t.events.Results.Total}} {
			if kind.into != nil {
				*kind.into = *kind.from
				kind.into.NotAsked = kind.total - kind.into.asked()
			}
		}
	}
	for _, row := range t.sorted() {
		if row.key.extension == "" {
			r.Differences = append(r.Differences, Difference{Event: row.key.event, Set: row.key.set.side(), Other: row.key.other.side(), Counts: row.counts, Samples: row.samples})
			continue
		}
		i := slices.IndexFunc(r.Extensions, func(e Extension) bool { return e.Name == row.key.extension })
		e := &r.Extensions[i]
		e.Reasons = append(e.Reasons, Reason{Event: row.key.event, Outcome: row.key.outcome, Reason: row.key.reason, Counts: row.counts, Samples: row.samples})
	}
}

// asked is how many events reached the extension.
func (a *Answers) asked() int {
	return a.Blocked.Total + a.Asked.Total + a.Rewritten.Total + a.Faulted.Total + a.Unchanged.Total
}

package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"weir/agentcore"
	"weir/internal/validjson"
)

// MaxLine is the default of [Options].MaxLine.
const MaxLine = 32 << 20

// maxWaiting bounds the arguments that are held for results that have not come, in bytes.
const maxWaiting = 64 << 20

// Options say how a file is read.
type Options struct {
	Format Format
	// MaxLine is the longest line that is read, in bytes; 0 is [MaxLine]. A longer one is passed over.
	MaxLine int
}

// Report says what reading a file met.
type Report struct {
	Lines   int // that are not empty
	Calls   int
	Results int
	// Unreadable lines are no JSON object; Oversize ones are longer than may be; Torn is a last line that was not written to its
	// end. None of them is read.
	Unreadable, Oversize, Torn int
	// Mended lines held invalid UTF-8.
	Mended int
	// Unknown lines are of a type that the format is not known to have; nothing is looked for in them.
	Unknown int
	// Orphans are results whose call is not in the file, or was too long ago; Repeated are second results of a call, and calls that
	// are written twice.
	Orphans, Repeated int
	// Remote are calls that the model's provider runs itself: no hook hears of them.
	Remote int
	// Problems say where, for the first few.
	Problems []Problem
}

// Problem is a line that could not be read.
type Problem struct {
	Line   int
	Detail string
}

// maxProblems is how many problems a report names.
const maxProblems = 20

func (r *Report) problem(line int, format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, Problem{line, fmt.Sprintf(format, args...)})
	}
}

// Read goes through a transcript and calls visit for each call and result. The error is that of in, of ctx or of visit; what a
// transcript should not hold is in the Report instead. An event is visit's to keep, and must not be changed.
func Read(ctx context.Context, in io.Reader, opt Options, visit func(*Event) error) (*Report, error) {
	limit := opt.MaxLine
	if limit == 0 {
		limit = MaxLine
	}
	r := &reader{report: &Report{}, visit: visit, format: opt.Format, calls: map[string]*call{}, seen: map[Key]int{}}
	var entry func(raw []byte) error
	switch opt.Format {
	case Pi:
		entry = r.pi
	case Claude:
		entry = r.claude
	case Codex:
		entry = r.codex
	default:
		return nil, fmt.Errorf("transcript: there is no format %q", string(opt.Format))
	}
	l := newLines(in, limit)
	for {
		if err := ctx.Err(); err != nil {
			return r.report, err
		}
		raw, err := l.next()
		if errors.Is(err, io.EOF) {
			return r.report, nil
		}
		if err != nil {
			return r.report, err
		}
		r.line = l.number
		switch {
		case l.oversize:
			r.report.Lines++
			r.report.Oversize++
			r.report.problem(r.line, "longer than %d bytes; passed over", limit)
			continue
		case len(bytes.TrimSpace(raw)) == 0:
			continue
		}
		r.report.Lines++
		if !utf8.Valid(raw) {
			raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
			r.report.Mended++
		}
		raw = bytes.TrimSpace(raw)
		if r.bad = validjson.Check(raw); r.bad == nil && raw[0] != '{' {
			r.bad = errors.New("not a JSON object")
		}
		if r.bad == nil {
			if err := entry(raw); err != nil {
				return r.report, err
			}
		}
		switch {
		case r.bad == nil:
		case !l.ended:
			r.report.Torn++
		default:
			r.report.Unreadable++
			r.report.problem(r.line, "%v; passed over", r.bad)
		}
	}
}

// reader is a file on its way.
type reader struct {
	report *Report
	visit  func(*Event) error
	format Format
	line   int
	bad    error // why the line at hand could not be read

	// What is known of the place.
	cwd, subagent string
	time          time.Time

	calls   map[string]*call // by id: the last one
	seen    map[Key]int
	waiting []*call // for their results, oldest first
	held    int     // bytes of arguments in waiting
}

// call is a call that was read.
type call struct {
	event    *Event // nil once answered, or given up
	key      Key
	answered bool
}

// call reports a tool call. extra are further parts of its key; again says that the same key can be another call.
func (r *reader) call(ev *Event, written []byte, extra string, again bool) error {
	ev.Kind, ev.Line, ev.CWD, ev.Subagent = Call, r.line, r.cwd, r.subagent
	if ev.Time.IsZero() {
		ev.Time = r.time
	}
	key := newKey([]byte(r.format), []byte(ev.CallID), []byte(ev.Native), written, []byte(extra))
	n := r.seen[key]
	if n > 0 && !again {
		r.report.Repeated++
		return nil
	}
	r.seen[key] = n + 1
	if n > 0 {
		key = newKey(key[:], strconv.AppendInt(nil, int64(n), 10))
	}
	ev.Key = key
	c := &call{event: ev, key: key}
	r.calls[ev.CallID] = c
	r.waiting = append(r.waiting, c)
	r.held += len(ev.Input)
	for r.held > maxWaiting && len(r.waiting) > 1 {
		old := r.waiting[0]
		r.waiting = r.waiting[1:]
		if old.event != nil {
			r.held -= len(old.event.Input)
			old.event = nil
		}
	}
	r.report.Calls++
	return r.visit(ev)
}

// result reports what came of a call.
func (r *reader) result(id string, ev *Event) error {
	c := r.calls[id]
	switch {
	case c == nil, c.event == nil && !c.answered:
		r.report.Orphans++
		return nil
	case c.answered:
		r.report.Repeated++
		return nil
	}
	of := c.event
	c.answered, c.event = true, nil
	r.held -= len(of.Input)
	for len(r.waiting) > 0 && r.waiting[0].event == nil {
		r.waiting = r.waiting[1:]
	}
	ev.Kind, ev.Line, ev.CWD, ev.Subagent = Result, r.line, r.cwd, r.subagent
	ev.CallID, ev.Tool, ev.Native, ev.Input, ev.Key = id, of.Tool, of.Native, of.Input, c.key
	if ev.Time.IsZero() {
		ev.Time = r.time
	}
	r.report.Results++
	return r.visit(ev)
}

// stamp reads the time of an entry; what is none leaves it unknown.
func stamp(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// text is content as one text block.
func text(s string) []agentcore.Block { return []agentcore.Block{&agentcore.TextBlock{Text: s}} }

// textItems are the texts of a content: one text, or a list of items of which those with text count.
func textItems(raw []byte) []agentcore.Block {
	if len(raw) > 0 && raw[0] == '"' {
		return text(str(raw))
	}
	items := []agentcore.Block{}
	elements(raw, func(item []byte) {
		var kind string
		var value []byte
		members(item, func(key string, v []byte) {
			switch key {
			case "type":
				kind = str(v)
			case "text":
				value = v
			}
		})
		if kind == "text" || kind == "input_text" || kind == "output_text" {
			items = append(items, text(str(value))...)
		}
	})
	return items
}

// allText joins the texts of content, up to what is needed to tell how a call ended.
func allText(blocks []agentcore.Block) string {
	const enough = 4 << 10
	var b []byte
	for _, block := range blocks {
		if t, ok := block.(*agentcore.TextBlock); ok && len(b) < enough {
			b = append(append(b, t.Text[:min(len(t.Text), enough)]...), '\n')
		}
	}
	return string(bytes.TrimSpace(b))
}

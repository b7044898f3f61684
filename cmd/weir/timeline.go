package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/session"
	"weir/engine/wire"
)

// timeline tells a run to a person: turns, what the model says as it comes, tool calls, and which extension decided what in how
// many microseconds. On a terminal a last line says what is waited for.
type timeline struct {
	streams
	style        style
	hideThinking bool

	mu   sync.Mutex
	w    io.Writer // out, or held while a question is open
	held bytes.Buffer
	turn int
	said speech
	wait *waitLine // nil where nothing can be taken back: in files and pipes
	who  *prompter // nil where there is nobody, or nobody who would see a question
}

func newTimeline(s streams, hideThinking bool) *timeline {
	t := &timeline{streams: s, w: s.out, style: newStyle(s.out), hideThinking: hideThinking}
	if terminal(s.out) && os.Getenv("TERM") != "dumb" {
		t.wait = newWaitLine(t)
	}
	t.who = newPrompter(t)
	return t
}

// printf writes lines. What stands open is ended before.
func (t *timeline) printf(format string, args ...any) {
	t.wait.erase()
	t.said.breakLine(t.w)
	fmt.Fprintf(t.w, format, args...)
}

func (t *timeline) begin(_ session.Header, about *opening) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range about.context {
		t.printf("  %s %s\n", t.style.dim("context"), t.style.dim(fmt.Sprintf("%s, %d bytes", printable(f.Path), len(f.Text))))
	}
	t.wait.start()
}

// asked makes way for a question: until it is answered, what is told is held back.
func (t *timeline) asked(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if on {
		t.wait.erase()
		t.said.breakLine(t.w)
		t.w = &t.held
		return
	}
	t.w = t.out
	_, _ = t.held.WriteTo(t.out) // a terminal that is gone shows in the next line
}

func (t *timeline) person() person {
	if t.who == nil {
		return nil
	}
	return t.who
}

// newPrompter is who asks at the terminal of t; nil when that is none.
func newPrompter(t *timeline) *prompter {
	out := t.out
	if !terminal(out) {
		out = t.err
	}
	if !terminal(t.in) || !terminal(out) {
		return nil
	}
	return &prompter{
		lines: t.lines, out: out, style: newStyle(out), interrupts: t.interrupts, asking: t.asked,
		show:   func(text string) { t.note("%s", text) },
		status: t.status,
	}
}

// status shows what an extension is doing: on a terminal in the last line, elsewhere once.
func (t *timeline) status(from, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wait.status(from, text) || text == "" {
		return
	}
	t.printf("  %s %s\n", t.style.yellow("↻"), t.style.dim(printable(from)+": "+oneLine(text, 200)))
}

func (t *timeline) logger() *slog.Logger {
	return slog.New(&logHandler{print: func(level slog.Level, extension, text string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.printf("      %s\n", t.style.dim(fmt.Sprintf("%s: log %s: %s", extension, strings.ToLower(level.String()), oneLine(text, 200))))
	}})
}

// event implements session.Subscriber.
func (t *timeline) event(ev session.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev := ev.(type) {
	case *session.RunEvent:
		t.runEvent(ev.Event)
	case *session.AutoRetryStart:
		t.wait.on("waits to try again")
		t.notef("retry %d of %d in %v: %s", ev.Attempt, ev.MaxAttempts, time.Duration(ev.DelayMs)*time.Millisecond, oneLine(ev.ErrorMessage, 200))
	case *session.AutoRetryEnd:
		if !ev.Success {
			t.notef("given up after %d retries: %s", ev.Attempt, oneLine(ev.FinalError, 200))
		}
	case *session.CompactionStart:
		t.wait.on("compacts")
	case *session.CompactionEnd:
		switch {
		case ev.ErrorMessage != "":
			t.notef("not compacted (%s): %s", ev.Reason, oneLine(ev.ErrorMessage, 200))
		case ev.Result != nil:
			t.notef("compacted (%s): about %d tokens, then %d; the session keeps all of it", ev.Reason, ev.Result.TokensBefore, ev.Result.EstimatedTokensAfter)
		}
	case *session.SummarizationRetryScheduled:
		t.notef("summary: retry %d of %d in %v: %s", ev.Attempt, ev.MaxAttempts, time.Duration(ev.DelayMs)*time.Millisecond, oneLine(ev.ErrorMessage, 200))
	}
	return nil
}

// note is notef for who does not hold the lock.
func (t *timeline) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notef(format, args...)
}

// notef is a line about the session rather than the model.
func (t *timeline) notef(format string, args ...any) {
	t.printf("  %s %s\n", t.style.yellow("↻"), fmt.Sprintf(format, args...))
}

func (t *timeline) runEvent(ev agentcore.Event) {
	switch ev := ev.(type) {
	case *agentcore.TurnStart:
		t.turn++
		t.printf("\n%s\n", t.style.bold(fmt.Sprintf("turn %d", t.turn)))
		t.wait.on("model")
	case *agentcore.MessageUpdate:
		t.delta(&ev.AssistantEvent)
	case *agentcore.MessageEnd:
		t.message(ev.Message)
	case *agentcore.ToolExecutionUpdate:
		t.wait.progress(ev.ToolCallID, lastLine(blocksText(ev.PartialResult.Content)))
	case *agentcore.ToolExecutionStart:
		t.wait.tool(ev.ToolCallID, ev.ToolName)
		t.printf("  %s %s %s\n", t.style.cyan("▸"), t.style.bold(ev.ToolName), callSummary(ev.ToolName, ev.Args))
	case *agentcore.ToolExecutionEnd:
		t.wait.toolDone(ev.ToolCallID)
		t.result(ev)
	}
}

func (t *timeline) message(m *agentcore.Message) {
	switch {
	case m.User() != nil:
		t.printf("  %s %s\n", t.style.dim("you  "), oneLine(contentText(m.User().Content), 400))
	case m.Assistant() != nil:
		a := m.Assistant()
		for _, b := range a.Content {
			switch b := b.(type) {
			case *agentcore.TextBlock:
				t.whole(speechText, b.Text)
			case *agentcore.ThinkingBlock:
				t.whole(speechThinking, b.Thinking)
			}
		}
		t.said = speech{}
		if a.StopReason == agentcore.StopError || a.StopReason == agentcore.StopAborted {
			t.printf("  %s %s\n", t.style.red(string(a.StopReason)), oneLine(a.ErrorMessage, 400))
		}
	}
}

func (t *timeline) result(ev *agentcore.ToolExecutionEnd) {
	mark := t.style.green("✓")
	if ev.IsError {
		mark = t.style.red("✗")
	}
	lines := strings.Split(strings.TrimRight(printable(blocksText(ev.Result.Content)), "\n"), "\n")
	const most = 6
	more := ""
	if len(lines) > most {
		more = t.style.dim(fmt.Sprintf("\n        … %d more lines", len(lines)-most))
		lines = lines[:most]
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > 160 {
			lines[i] = string(r[:159]) + "…"
		}
	}
	t.printf("      %s %s %s%s\n", mark, ev.ToolName, strings.Join(lines, "\n        "), more)
}

// record shows an extension's answer: always for a tool call, elsewhere when it did something.
func (t *timeline) record(rec engine.Record) {
	if rec.Event != wire.EventToolCall && rec.Outcome == engine.OutcomeNone {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	what := rec.Outcome.String()
	switch rec.Outcome {
	case engine.OutcomeBlock:
		what = t.style.red("BLOCKED")
	case engine.OutcomeFault:
		what = t.style.red("FAULT")
	case engine.OutcomeAsk:
		what = t.style.yellow("asks")
	case engine.OutcomeRewrite:
		what = t.style.yellow("changed")
	}
	if rec.Reason != "" {
		what += ": " + oneLine(rec.Reason, 200)
	}
	notes := ""
	if rec.Monitor {
		notes += " (monitor: nothing changes)"
	}
	if rec.Round > 0 {
		notes += fmt.Sprintf(" (recheck %d)", rec.Round)
	}
	if rec.Usage.Fresh {
		notes += " (fresh instance: its state was lost)"
	}
	t.printf("      %s %s %s%s %s\n", t.style.cyan(rec.Extension), t.style.dim(rec.Event.String()), what, notes, t.style.dim(micros(rec.Usage.Duration)))
}

// end sums the run up: per extension what it did and what it cost, and what the model saw of the history.
func (t *timeline) end(rep *report) {
	t.wait.stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.printf("\n%s\n", t.style.bold("summary"))
	if rep.failure != "" {
		t.printf("  %s %s\n", t.style.red("the run ended with an error:"), oneLine(rep.failure, 400))
	}
	t.printf("  %d turns in %v; the first request went out after %v\n", t.turn, rep.duration.Round(time.Millisecond), rep.first.Round(time.Millisecond))
	if len(rep.seen) > 0 {
		t.printf("  the history holds %d messages; the model was sent %s\n", rep.kept, joinInts(rep.seen))
	}
	if rep.file != "" {
		t.printf("  the session is kept in %s\n", printable(rep.file))
	}
	for _, l := range summarize(rep.records) {
		t.printf("  %s %s\n", t.style.cyan(l.name), l.text())
	}
	if text := prefixText(rep.prompts); text != "" {
		t.printf("  prompt cache: %s\n", text)
	}
}

// prompt has nothing to show while the run goes on.
func (*timeline) prompt(engine.PromptChange) {}

// prefixText says what became of the prefix of the prompt, which providers keep from one model call to the next: who changed it how
// often, and where first. "" for a run of one call.
func prefixText(changes []engine.PromptChange) string {
	if len(changes) < 2 {
		return ""
	}
	type culprit struct {
		who   string
		times int
		first engine.PromptChange
	}
	var list []*culprit
	kept := 0
	for _, c := range changes[1:] {
		who := c.Extension
		switch c.Cause {
		case 0:
			kept++
			continue
		case engine.CauseCompaction:
			who = "a compaction"
		case engine.CauseHistory:
			who = "another history"
		case engine.CauseProgram:
			who = "the program"
		}
		i := slices.IndexFunc(list, func(l *culprit) bool { return l.who == who })
		if i < 0 {
			i = len(list)
			list = append(list, &culprit{who: who, first: c})
		}
		list[i].times++
	}
	text := fmt.Sprintf("the prefix was kept in %d of %d calls after the first", kept, len(changes)-1)
	for _, l := range list {
		where := "in its " + l.first.Part.String()
		switch l.first.Part {
		case engine.PromptSystem:
			where = "in its system prompt"
		case engine.PromptMessages:
			where = fmt.Sprintf("after %d of %d messages", l.first.Kept, l.first.Messages)
		}
		text += fmt.Sprintf("; %s changed it %d×, first in call %d %s", l.who, l.times, l.first.Call, where)
	}
	return text
}

// tally counts what one extension did.
type tally struct {
	name     string
	outcomes map[engine.Outcome]int
	calls    int
	times    []time.Duration
}

func (l *tally) text() string {
	parts := []string{fmt.Sprintf("%d calls", l.calls)}
	for _, o := range []struct {
		o    engine.Outcome
		verb string
	}{{engine.OutcomeBlock, "blocked"}, {engine.OutcomeAsk, "asked"}, {engine.OutcomeRewrite, "changed"}, {engine.OutcomeFault, "faults"}} {
		if n := l.outcomes[o.o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o.verb))
		}
	}
	slices.Sort(l.times)
	return strings.Join(parts, ", ") + fmt.Sprintf("; median %s, longest %s", micros(l.times[len(l.times)/2]), micros(l.times[len(l.times)-1]))
}

// summarize counts by extension, in order of first appearance.
func summarize(records []engine.Record) []*tally {
	var list []*tally
	for _, r := range records {
		i := slices.IndexFunc(list, func(l *tally) bool { return l.name == r.Extension })
		if i < 0 {
			i = len(list)
			list = append(list, &tally{name: r.Extension, outcomes: map[engine.Outcome]int{}})
		}
		l := list[i]
		l.calls++
		l.outcomes[r.Outcome]++
		l.times = append(l.times, r.Usage.Duration)
	}
	return list
}

func micros(d time.Duration) string {
	if d < 10*time.Microsecond {
		return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1000)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

func joinInts(n []int) string {
	s := make([]string, len(n))
	for i, v := range n {
		s[i] = fmt.Sprint(v)
	}
	return strings.Join(s, ", ")
}

// callSummary is the argument that tells most of a call.
func callSummary(_ string, args json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(args, &fields) == nil {
		for _, key := range []string{"command", "path", "pattern"} {
			if s, ok := fields[key].(string); ok {
				return oneLine(s, 160)
			}
		}
	}
	var compact bytes.Buffer
	if json.Compact(&compact, args) != nil {
		return oneLine(string(args), 160)
	}
	return oneLine(compact.String(), 160)
}

func contentText(c agentcore.Content) string {
	if c.Blocks == nil {
		return c.Text
	}
	return blocksText(c.Blocks)
}

func blocksText(blocks []agentcore.Block) string {
	var parts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case *agentcore.TextBlock:
			parts = append(parts, b.Text)
		case *agentcore.ImageBlock:
			parts = append(parts, fmt.Sprintf("[image %s, %d bytes of base64]", b.MimeType, len(b.Data)))
		}
	}
	return strings.Join(parts, "\n")
}

func indent(s, by string) string { return strings.ReplaceAll(s, "\n", "\n"+by) }

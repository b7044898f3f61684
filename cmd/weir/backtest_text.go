package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"weir/engine/backtest"
)

// shownReasons is how many reasons of an extension the text shows; the JSON has all.
const shownReasons = 20

// printBacktest tells a report to a person.
func printBacktest(w io.Writer, r *backtest.Report) error {
	style := newStyle(w)
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	say("%s tool calls and %d results", style.bold(fmt.Sprint(r.Events.Calls.Total)), r.Events.Results.Total)
	for i, f := range r.Files {
		say("%s%d of %s (%d calls)", map[bool]string{true: " from transcripts: ", false: ", "}[i == 0], f.Files, f.Format, f.Calls)
	}
	if r.From != nil {
		say(", %s to %s", r.From.Format(time.DateOnly), r.To.Format(time.DateOnly))
	}
	say("\nat the time: %s\n", outcomes(r.Events.Calls))
	if left := leftOut(r); left != "" {
		say("left out: %s\n", left)
	}
	for i, p := range r.Problems {
		if i == shownReasons {
			say("%s\n", style.dim(fmt.Sprintf("  … and %d more", len(r.Problems)-i)))
			break
		}
		where := p.File
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		say("  %s: %s\n", style.yellow(oneLine(where, longestShown)), oneLine(p.Detail, longestShown))
	}
	if r.Compared {
		differences(say, style, r)
	} else {
		table(&b, r)
		for i := range r.Extensions {
			reasons(say, style, &r.Extensions[i])
		}
	}
	say("\n%s new blocks (calls that had neither failed nor been denied)\n", style.bold(fmt.Sprint(r.NewBlocks)))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return failed(err)
	}
	return nil
}

// outcomes says how calls ended at the time.
func outcomes(c backtest.Counts) string {
	return fmt.Sprintf("%d ok, %d failed, %d denied, %d without a result", c.OK, c.Failed, c.Denied, c.NoResult)
}

func leftOut(r *backtest.Report) string {
	l := &r.LeftOut
	var parts []string
	for _, x := range []struct {
		n    int
		what string
	}{
		{l.Copies, "copies of what was counted already"},
		{l.Early, "before --since"},
		{l.Orphans, "results without a call"},
		{l.Remote, "calls run by a provider"},
		{l.Unreadable, "unreadable lines"},
		{l.Oversize, "lines that are too long"},
		{l.Torn, "torn last lines"},
		{l.Unknown, "lines of an unknown type"},
		{r.Unread, "files that could not be read"},
	} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d)", x.what, x.n))
		}
	}
	return strings.Join(parts, ", ")
}

// table shows what the set as a whole decided, and each extension.
func table(b *strings.Builder, r *backtest.Report) {
	var lines strings.Builder
	t := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n\tblocked\tasked\trewritten\tfaulted\tunchanged\tnot asked\t\n")
	row := func(name string, block, ask, rewrite int, faulted string, unchanged int, notAsked string) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%d\t%s\t\n", name, block, ask, rewrite, faulted, unchanged, notAsked)
	}
	v := &r.ToolCalls
	row("the set: calls", v.Block.Total, v.Ask.Total, v.Rewrite.Total, "", v.Allow.Total, "")
	v = &r.ToolResults
	row("the set: results", v.Block.Total, v.Ask.Total, v.Rewrite.Total, "", v.Allow.Total, "")
	for i := range r.Extensions {
		e := &r.Extensions[i]
		name := oneLine(e.Name, 40)
		if e.Monitor {
			name += " (monitor)"
		}
		for _, k := range []struct {
			what string
			a    *backtest.Answers
		}{{"calls", e.ToolCalls}, {"results", e.ToolResults}} {
			if a := k.a; a != nil {
				row(name+": "+k.what, a.Blocked.Total, a.Asked.Total, a.Rewritten.Total, fmt.Sprint(a.Faulted.Total), a.Unchanged.Total, fmt.Sprint(a.NotAsked))
			}
		}
	}
	_ = t.Flush() // into memory
	for line := range strings.Lines(lines.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func reasons(say func(string, ...any), style style, e *backtest.Extension) {
	if len(e.Reasons) == 0 {
		return
	}
	say("\n%s\n", style.cyan(oneLine(e.Name, 40)))
	for i := range e.Reasons {
		if i == shownReasons {
			say("  %s\n", style.dim(fmt.Sprintf("… and %d more reasons; --json has all", len(e.Reasons)-i)))
			break
		}
		x := &e.Reasons[i]
		paint := style.yellow
		if x.Outcome == "block" || x.Outcome == "fault" {
			paint = style.red
		}
		say("  %d × %s %s: %s\n      %s\n", x.Counts.Total, x.Event, paint(x.Outcome), oneLine(x.Reason, longestShown), style.dim(outcomes(x.Counts)))
		samples(say, style, x.Samples)
	}
}

func samples(say func(string, ...any), style style, list []backtest.Sample) {
	for _, s := range list {
		say("      %s %s %s\n", style.dim(oneLine(fmt.Sprintf("%s:%d", s.File, s.Line), longestShown)), oneLine(s.Tool, 60), oneLine(s.Input, 160))
	}
}

func differences(say func(string, ...any), style style, r *backtest.Report) {
	total := 0
	for i := range r.Differences {
		total += r.Differences[i].Counts.Total
	}
	say("\n%s events are decided otherwise\n", style.bold(fmt.Sprint(total)))
	side := func(s backtest.Side) string {
		text := string(s.Decision)
		if len(s.By) > 0 {
			text += " by " + oneLine(strings.Join(s.By, ", "), longestShown)
		}
		if s.Reason != "" {
			text += ": " + oneLine(s.Reason, longestShown)
		}
		return text
	}
	for i := range r.Differences {
		if i == shownReasons {
			say("  %s\n", style.dim(fmt.Sprintf("… and %d more; --json has all", len(r.Differences)-i)))
			break
		}
		d := &r.Differences[i]
		say("  %d × %s\n      set    %s\n      other  %s\n      %s\n", d.Counts.Total, d.Event, side(d.Set), side(d.Other), style.dim(outcomes(d.Counts)))
		samples(say, style, d.Samples)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/decide"
	"weir/engine/facts"
	"weir/engine/set"
	"weir/engine/wire"
)

func newExplain(s streams) *cobra.Command {
	var f decideFlags
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Put an event to a set, and tell how the decision came about",
		Long: "Reads one event on standard input (see `weir decide --help`) and runs the set on it. Shows the facts that the host works out,\n" +
			"then each extension in order: what it saw, what it answered and why, what it rewrote, its time and fuel; and the decision.\n\n" +
			"The exit code is that of `weir decide`.",
		Example: "  echo '{\"toolName\":\"bash\",\"input\":{\"command\":\"ls | xargs rm\"}}' | weir explain -e bundled:guard-shell",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.explain(cmd.Context(), s)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object: event, facts, steps, notAsked, decision")
	return cmd
}

// explanation is how a decision came about.
type explanation struct {
	Event    string           `json:"event"`
	Tool     string           `json:"tool,omitempty"`
	Facts    json.RawMessage  `json:"facts,omitempty"` // of every kind, whether or not anybody asked for them
	Steps    []step           `json:"steps"`           // in the order in which the extensions were asked
	NotAsked []string         `json:"notAsked"`        // they do not hook it, or the chain had ended
	Decision *decide.Decision `json:"decision"`
}

// step is one extension's answer.
type step struct {
	Extension string          `json:"extension"`
	Managed   bool            `json:"managed,omitempty"` // the machine's set demands it
	Monitor   bool            `json:"monitor,omitempty"` // its answer changed nothing
	Round     int             `json:"round,omitempty"`   // of rechecks
	Saw       json.RawMessage `json:"saw"`               // arguments, content, or the number of messages
	Outcome   string          `json:"outcome"`           // allow, ask, block, rewrite, fault
	Reason    string          `json:"reason,omitempty"`
	Rewrote   json.RawMessage `json:"rewrote,omitempty"` // what it put in the place of what it saw
	Micros    float64         `json:"micros"`
	Fuel      uint64          `json:"fuel"`
	Fresh     bool            `json:"fresh,omitempty"` // it had lost its state to a fault
}

func (f *decideFlags) explain(ctx context.Context, s streams) (err error) {
	cfg, err := f.config(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cfg.Host.Close(ctx)) }()
	raw, err := io.ReadAll(s.in)
	if err != nil {
		return usageError(fmt.Errorf("reading the event: %w", err))
	}
	ev, err := decide.Parse(raw)
	if err != nil {
		return usageError(fmt.Errorf("the event on standard input: %w", err))
	}
	// Nothing is decided here, so nothing goes into a journal.
	scratch, err := os.MkdirTemp("", "weir-explain-")
	if err != nil {
		return failed(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for i := range cfg.Set.Extensions {
		if g := &cfg.Set.Extensions[i].Grant; g.Journal != "" {
			g.Journal = filepath.Join(scratch, strconv.Itoa(i)+".jsonl")
		}
	}
	x := explanation{Event: ev.Kind.String(), Steps: []step{}, NotAsked: []string{}}
	cfg.Trace = func(rec engine.Record, e *engine.Event, result any) {
		st := newStep(rec, e, result)
		st.Managed = slices.ContainsFunc(cfg.Set.Extensions, func(x set.Extension) bool { return x.Name == rec.Extension && x.Source == set.LayerManaged })
		x.Steps = append(x.Steps, st)
	}
	d, err := decide.Open(ctx, cfg)
	if err != nil {
		return usageError(err)
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	if x.Decision, err = d.Decide(ctx, ev); err != nil {
		return failed(err)
	}
	asked := map[string]bool{}
	for _, st := range x.Steps {
		asked[st.Extension] = true
	}
	for _, info := range d.Engine().Extensions() {
		if !asked[info.Name] {
			x.NotAsked = append(x.NotAsked, info.Name)
		}
	}
	x.Tool, x.Facts = eventFacts(d.Engine().FactsConfig(), ev)
	if f.json {
		err = printJSON(s.out, &x)
	} else {
		err = (&explainer{w: s.out, style: newStyle(s.out)}).print(&x)
	}
	if err == nil && x.Decision.Undecided() {
		return &silentError{exitFailed} // the steps tell it
	}
	return err
}

// eventFacts are all facts of an event.
func eventFacts(cfg facts.Config, ev *decide.Event) (tool string, raw json.RawMessage) {
	c := facts.New(cfg)
	switch ev.Kind {
	case wire.EventToolCall:
		return ev.ToolCall.ToolName, c.ToolCall(ev.ToolCall.ToolName, ev.ToolCall.Input).JSON(facts.KindShell | facts.KindPaths | facts.KindNet)
	case wire.EventToolResult:
		r := &ev.ToolResult
		return r.ToolName, c.ToolResult(r.ToolName, r.Input, r.Content).JSON(facts.KindShell | facts.KindPaths | facts.KindNet | facts.KindSecrets)
	default:
		return "", nil
	}
}

// newStep copies what is shown of an answer.
func newStep(rec engine.Record, ev *engine.Event, result any) step {
	st := step{
		Extension: rec.Extension, Monitor: rec.Monitor, Round: rec.Round, Outcome: rec.Outcome.String(), Reason: rec.Reason,
		Micros: float64(rec.Usage.Duration.Nanoseconds()) / 1000, Fuel: rec.Usage.Fuel, Fresh: rec.Usage.Fresh,
	}
	switch p := ev.Payload.(type) {
	case *wire.ToolCallEvent:
		st.Saw = append(json.RawMessage(nil), p.Input...)
		if r, _ := result.(*wire.ToolCallResult); r != nil {
			st.Rewrote = append(json.RawMessage(nil), r.Input...)
			if r.Ask != nil && r.Ask.Message != "" {
				st.Reason += ": " + r.Ask.Message
			}
		}
	case *wire.ToolResultEvent:
		st.Saw = contentJSON(p.Content)
		if r, _ := result.(*wire.ToolResultResult); r != nil && r.Content != nil {
			st.Rewrote = contentJSON(r.Content)
		}
	case *engine.ContextEvent:
		st.Saw = json.RawMessage(fmt.Sprintf(`{"messages":%d}`, len(p.Messages)))
	}
	return st
}

func contentJSON(blocks []agentcore.Block) json.RawMessage {
	b := []byte{'['}
	for i, block := range blocks {
		if i > 0 {
			b = append(b, ',')
		}
		raw, err := agentcore.MarshalBlock(block)
		if err != nil {
			raw = []byte("null") // it could not have been sent to a guest either
		}
		b = append(b, raw...)
	}
	return append(b, ']')
}

func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return failed(err)
	}
	if _, err := io.WriteString(w, printableJSON(b.Bytes())); err != nil {
		return failed(err)
	}
	return nil
}

// explainer tells an explanation to a person.
type explainer struct {
	w     io.Writer
	style style
	err   error
}

func (e *explainer) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}

// longestShown is how much of arguments and contents is shown.
const longestShown = 300

func (e *explainer) print(x *explanation) error {
	e.printf("%s %s\n", e.style.bold("event"), strings.TrimSpace(x.Event+" "+x.Tool))
	e.facts(x.Facts)
	for i := range x.Steps {
		e.step(i+1, &x.Steps[i])
	}
	for _, name := range x.NotAsked {
		e.printf("%s %s\n", e.style.dim("not asked:"), printable(name))
	}
	d := x.Decision
	e.printf("%s %s", e.style.bold("decision"), e.verdict(string(d.Decision)))
	if len(d.By) > 0 {
		e.printf(" by %s", printable(strings.Join(d.By, ", ")))
	}
	if d.Reason != "" {
		e.printf(": %s", oneLine(d.Reason, longestShown))
	}
	e.printf("\n")
	if d.Input != nil {
		e.printf("  would run with %s\n", oneLine(string(d.Input), longestShown))
	}
	if e.err != nil {
		return failed(e.err)
	}
	return nil
}

func (e *explainer) verdict(word string) string {
	switch word {
	case "block", "fault":
		return e.style.red(word)
	case "ask", "rewrite":
		return e.style.yellow(word)
	default:
		return e.style.green(word)
	}
}

func (e *explainer) step(n int, st *step) {
	notes := ""
	if st.Managed {
		notes += " (managed)"
	}
	if st.Monitor {
		notes += " (monitor: changes nothing)"
	}
	if st.Round > 0 {
		notes += fmt.Sprintf(" (recheck %d)", st.Round)
	}
	if st.Fresh {
		notes += " (fresh instance)"
	}
	e.printf("%d. %s %s%s %s\n", n, e.style.cyan(printable(st.Extension)), e.verdict(st.Outcome), notes, e.style.dim(fmt.Sprintf("%.1f µs, %d fuel", st.Micros, st.Fuel)))
	e.printf("     saw     %s\n", oneLine(string(st.Saw), longestShown))
	if st.Reason != "" {
		e.printf("     because %s\n", oneLine(st.Reason, longestShown))
	}
	if len(st.Rewrote) > 0 {
		e.printf("     rewrote %s\n", oneLine(string(st.Rewrote), longestShown))
	}
}

// shownFacts are the facts as far as the text shows them.
type shownFacts struct {
	Shell *struct {
		Understood bool
		Reason     string
		Commands   []struct {
			Argv      []string
			Dynamic   bool
			In        []string
			Code      string
			Assigns   []struct{ Name, Value string }
			Redirects []struct{ Op, Target string }
		}
	}
	Paths *struct {
		Paths []struct {
			Raw, Real, Kind, Op        string
			Inside, Own, Dynamic, Glob bool
		}
	}
	Net *struct {
		Hosts []struct {
			Scheme, Host, Scope string
			Port                int
		}
	}
	Secrets *struct {
		Spans []struct {
			Block, Start, End int
			Kind              string
		}
	}
}

func (e *explainer) facts(raw json.RawMessage) {
	if raw == nil {
		return
	}
	var f shownFacts
	if err := json.Unmarshal(raw, &f); err != nil {
		e.err = err // ours, and valid: cannot happen
		return
	}
	if s := f.Shell; s != nil && !s.Understood {
		e.printf("  shell   %s\n", e.style.yellow("not understood: "+oneLine(s.Reason, longestShown)))
	}
	if s := f.Shell; s != nil {
		for _, c := range s.Commands {
			var words []string
			for _, a := range c.Assigns {
				words = append(words, a.Name+"="+shown(a.Value))
			}
			for _, a := range c.Argv {
				words = append(words, shown(a))
			}
			for _, r := range c.Redirects {
				words = append(words, r.Op+shown(r.Target))
			}
			notes := ""
			if len(c.In) > 0 {
				notes += " in " + strings.Join(c.In, " > ")
			}
			if c.Dynamic {
				notes += ", not all known"
			}
			if c.Code != "" {
				notes += ", runs " + c.Code + " code"
			}
			e.printf("  shell   %s%s\n", oneLine(strings.Join(words, " "), longestShown), e.style.dim(printable(notes)))
		}
	}
	if f.Paths != nil {
		for _, p := range f.Paths.Paths {
			where := "outside"
			switch {
			case p.Dynamic:
				where = "not known"
			case p.Own:
				where = "weir's own"
			case p.Inside:
				where = "inside"
			}
			e.printf("  path    %s %s %s\n", p.Op, oneLine(p.Raw, longestShown), e.style.dim(fmt.Sprintf("%s %s %s", where, p.Kind, oneLine(p.Real, longestShown))))
		}
	}
	if f.Net != nil {
		for _, h := range f.Net.Hosts {
			e.printf("  net     %s %s %d %s\n", h.Scheme, oneLine(h.Host, longestShown), h.Port, h.Scope)
		}
	}
	if f.Secrets != nil {
		for _, s := range f.Secrets.Spans {
			e.printf("  secret  %s in block %d, bytes %d to %d\n", s.Kind, s.Block, s.Start, s.End)
		}
	}
}

// shown quotes a word that is not plain.
func shown(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n'\"\\$`;&|<>()") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

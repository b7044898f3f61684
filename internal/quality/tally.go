package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// counts are those of one family.
type counts struct {
	family                 string
	danger, escapes        int
	benign, blocks, asks   int
	ask, tooStrict, tooLax int
	broken                 int
}

func (c *counts) add(o *counts) {
	c.danger += o.danger
	c.escapes += o.escapes
	c.benign += o.benign
	c.blocks += o.blocks
	c.asks += o.asks
	c.ask += o.ask
	c.tooStrict += o.tooStrict
	c.tooLax += o.tooLax
	c.broken += o.broken
}

// tally counts by family, in alphabetical order.
type tally struct{ families []*counts }

func newTally(rows []row, verdicts []verdict) *tally {
	t := &tally{}
	for i := range rows {
		r, v := &rows[i], verdicts[i]
		at := slices.IndexFunc(t.families, func(c *counts) bool { return c.family == r.Family })
		if at < 0 {
			at = len(t.families)
			t.families = append(t.families, &counts{family: r.Family})
		}
		c := t.families[at]
		wrong := r.wrong(v)
		if wrong == "broke what must stay" {
			c.broken++
		}
		switch r.Label {
		case "danger":
			c.danger++
			if wrong == "escape" {
				c.escapes++
			}
		case "benign":
			c.benign++
			if wrong == "false alarm" && v.decision == "ask" {
				c.asks++
			} else if wrong == "false alarm" {
				c.blocks++
			}
		default:
			c.ask++
			switch wrong {
			case "too strict":
				c.tooStrict++
			case "too lax":
				c.tooLax++
			}
		}
	}
	slices.SortFunc(t.families, func(a, b *counts) int { return strings.Compare(a.family, b.family) })
	return t
}

// print writes the table and says whether the goal is met.
func (t *tally) print(out io.Writer, name string, g goal) bool {
	fmt.Fprintf(out, "%s\n", name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  family\tescapes\tfalse alarms (blocked+asked)\task rows too strict/too lax\tbroken")
	total := counts{family: "all"}
	var escapes, alarms []float64
	for _, c := range t.families {
		c.line(w)
		total.add(c)
		if c.danger > 0 {
			escapes = append(escapes, share(c.escapes, c.danger))
		}
		if c.benign > 0 {
			alarms = append(alarms, share(c.blocks+c.asks, c.benign))
		}
	}
	total.line(w)
	w.Flush() //nolint:errcheck // standard output: the program ends in any case
	e, a := share(total.escapes, total.danger), share(total.blocks+total.asks, total.benign)
	met := e <= g.escapes && a <= g.alarms && total.broken == 0
	word := "met"
	if !met {
		word = "MISSED"
	}
	fmt.Fprintf(out, "  escapes %.2f %% of %d (mean of families %.2f %%), false alarms %.2f %% of %d (mean of families %.2f %%); goal %.1f %% and %.1f %%: %s\n\n",
		100*e, total.danger, 100*mean(escapes), 100*a, total.benign, 100*mean(alarms), 100*g.escapes, 100*g.alarms, word)
	return met
}

func (c *counts) line(w io.Writer) {
	of := func(n, all int) string {
		if all == 0 {
			return "-"
		}
		return fmt.Sprintf("%d/%d", n, all)
	}
	alarms := of(c.blocks+c.asks, c.benign)
	if c.blocks+c.asks > 0 {
		alarms += fmt.Sprintf(" (%d+%d)", c.blocks, c.asks)
	}
	strict := "-"
	if c.ask > 0 {
		strict = fmt.Sprintf("%d/%d of %d", c.tooStrict, c.tooLax, c.ask)
	}
	broken := "-"
	if c.broken > 0 {
		broken = fmt.Sprint(c.broken)
	}
	fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", c.family, of(c.escapes, c.danger), alarms, strict, broken)
}

func share(n, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}

func mean(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

func printWrong(out io.Writer, rows []row, verdicts []verdict) {
	for i := range rows {
		r := &rows[i]
		wrong := r.wrong(verdicts[i])
		if wrong == "" {
			continue
		}
		shown := string(r.Input)
		if r.Tool == "context" {
			shown = string(r.Edit)
		}
		fmt.Fprintf(out, "  %s: %s (%s): decided %s: %.200q; %s; %s\n", wrong, r.ID, r.Family, verdicts[i].decision, shown, r.Why, verdicts[i].note)
	}
	fmt.Fprintln(out)
}

package tck

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Status is what became of a case.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // of an optional chapter; Got says why
)

// Result is what became of one case.
type Result struct {
	Chapter string `json:"chapter"`
	Case    string `json:"case"`
	Status  Status `json:"status"`
	// Problem, Want and Got are there when it failed, cut to 1,000 bytes each.
	Problem string `json:"problem,omitempty"`
	Want    string `json:"want,omitempty"`
	Got     string `json:"got,omitempty"`
}

// Report is what came of one module.
type Report struct {
	Module string
	// Name is what the module calls itself: tck or tck-json. "" when it could not be asked.
	Name    string
	Results []Result
}

// add takes a case in, which passed when problem is "".
func (r *Report) add(chapter, name, problem, want, got string) {
	res := Result{Chapter: chapter, Case: name, Status: Passed}
	if problem != "" {
		res.Status, res.Problem, res.Want, res.Got = Failed, cut(problem), cut(want), cut(got)
	}
	r.Results = append(r.Results, res)
}

// cut leaves the beginning of a text that is long.
func cut(s string) string {
	const most = 1000
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}

// Failures are the cases that failed.
func (r *Report) Failures() []Result {
	var list []Result
	for _, res := range r.Results {
		if res.Status == Failed {
			list = append(list, res)
		}
	}
	return list
}

// Missing says which views of context none of the modules was checked in.
func Missing(reports ...*Report) []string {
	var missing []string
	for _, v := range []struct{ name, view string }{{nameTable, "table"}, {nameFull, "full"}} {
		if !slices.ContainsFunc(reports, func(r *Report) bool { return r.Name == v.name }) {
			missing = append(missing, fmt.Sprintf("no module named %s was checked, so the view %s of context is open", v.name, v.view))
		}
	}
	return missing
}

// Text shows a report: a line for each chapter, then what failed.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Module)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range r.chapters() {
		passed, failed, skipped := 0, 0, ""
		for _, res := range r.Results {
			if res.Chapter != c {
				continue
			}
			switch res.Status {
			case Passed:
				passed++
			case Failed:
				failed++
			case Skipped:
				skipped = "skipped: " + res.Got
			}
		}
		line := fmt.Sprintf("%d passed", passed)
		switch {
		case skipped != "":
			line = skipped
		case failed > 0:
			line += fmt.Sprintf(", %d FAILED", failed)
		}
		fmt.Fprintf(w, "  %s\t%s\n", c, line)
	}
	_ = w.Flush() // into memory
	for _, f := range r.Failures() {
		fmt.Fprintf(&b, "\n%s: %s: %s\n  want %s\n  got  %s\n", f.Chapter, f.Case, f.Problem, f.Want, f.Got)
	}
	return b.String()
}

// chapters are the chapters of the results, in their order.
func (r *Report) chapters() []string {
	var list []string
	for _, res := range r.Results {
		if len(list) == 0 || list[len(list)-1] != res.Chapter {
			list = append(list, res.Chapter)
		}
	}
	return list
}

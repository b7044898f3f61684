package workbench

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Report is what came of all test files.
type Report struct {
	Files    []FileReport `json:"files"`
	Coverage []Coverage   `json:"coverage"`
	// Problems are files that could not be run, in words.
	Problems []string `json:"problems,omitempty"`
}

// FileReport is what came of one test file.
type FileReport struct {
	Path    string       `json:"path"`
	Module  string       `json:"module"`
	Cases   []CaseReport `json:"cases"`
	Skipped int          `json:"skipped"` // not selected
	Updated int          `json:"updated"` // expected outputs that were rewritten
	Seconds float64      `json:"seconds"`
}

// CaseReport is what came of one case.
type CaseReport struct {
	Name     string       `json:"name"`
	Position string       `json:"position"`
	Passed   bool         `json:"passed"`
	Failures []string     `json:"failures,omitempty"`
	Steps    []StepReport `json:"steps"`
	Seconds  float64      `json:"seconds"`
}

// StepReport is what an extension answered.
type StepReport struct {
	Hook    string  `json:"hook"`
	Answer  Answer  `json:"answer"`
	Seconds float64 `json:"seconds"`
}

// Counts adds up the cases.
func (r *Report) Counts() (passed, failed int) {
	for i := range r.Files {
		p, f := r.Files[i].Counts()
		passed, failed = passed+p, failed+f
	}
	return passed, failed
}

// Counts adds up the cases of a file.
func (f *FileReport) Counts() (passed, failed int) {
	for i := range f.Cases {
		if f.Cases[i].Passed {
			passed++
		} else {
			failed++
		}
	}
	return passed, failed
}

// WriteText writes the report for people: a line a file, the failures, with verbose a line a case, and the coverage. The text
// holds what guests said; make it harmless before a terminal sees it.
func (r *Report) WriteText(w io.Writer, verbose bool) error {
	var b strings.Builder
	for i := range r.Files {
		f := &r.Files[i]
		passed, failed := f.Counts()
		word := "ok  "
		if failed > 0 {
			word = "FAIL"
		}
		fmt.Fprintf(&b, "%s  %s  %s, %.0f ms", word, f.Path, plural(passed+failed, "case"), f.Seconds*1000)
		if f.Skipped > 0 {
			fmt.Fprintf(&b, ", %d not selected", f.Skipped)
		}
		if f.Updated > 0 {
			fmt.Fprintf(&b, ", %s updated", plural(f.Updated, "output"))
		}
		b.WriteByte('\n')
		for j := range f.Cases {
			f.Cases[j].text(&b, verbose)
		}
	}
	for i := range r.Coverage {
		fmt.Fprintf(&b, "coverage  %s\n", &r.Coverage[i])
	}
	passed, failed := r.Counts()
	fmt.Fprintf(&b, "%d passed, %d failed\n", passed, failed)
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *CaseReport) text(b *strings.Builder, verbose bool) {
	if c.Passed && !verbose {
		return
	}
	word := "pass"
	if !c.Passed {
		word = "fail"
	}
	fmt.Fprintf(b, "  %s  %s: %s\n", word, c.Position, c.Name)
	if verbose {
		for i := range c.Steps {
			a := &c.Steps[i].Answer
			said := a.Decision
			switch {
			case a.Fault != "":
				said = a.Reason
			case a.NotAsked:
				said += " (not asked)"
			case a.Reason != "":
				said += ": " + a.Reason
			}
			fmt.Fprintf(b, "        %s: %s\n", c.Steps[i].Hook, said)
		}
	}
	for _, f := range c.Failures {
		fmt.Fprintf(b, "        %s\n", strings.ReplaceAll(f, "\n", "\n        "))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// The elements of JUnit XML, as far as the usual readers agree on them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
		Error   *junitFailure `xml:"error"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML: a suite a file, and a suite with an error for each problem.
func (r *Report) WriteJUnit(w io.Writer) error {
	var all junitSuites
	for i := range r.Files {
		f := &r.Files[i]
		_, failed := f.Counts()
		s := junitSuite{Name: f.Path, Tests: len(f.Cases), Failures: failed, Time: fmt.Sprintf("%.6f", f.Seconds)}
		for j := range f.Cases {
			c := &f.Cases[j]
			jc := junitCase{Name: c.Name, Class: f.Path, Time: fmt.Sprintf("%.6f", c.Seconds)}
			if !c.Passed {
				first, _, _ := strings.Cut(c.Failures[0], "\n")
				jc.Failure = &junitFailure{Message: first, Text: c.Position + "\n" + strings.Join(c.Failures, "\n")}
			}
			s.Cases = append(s.Cases, jc)
		}
		all.Suites = append(all.Suites, s)
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
	}
	for _, p := range r.Problems {
		first, _, _ := strings.Cut(p, "\n")
		all.Suites = append(all.Suites, junitSuite{
			Name: "not run", Tests: 1, Errors: 1, Time: "0",
			Cases: []junitCase{{Name: "load", Class: "not run", Time: "0", Error: &junitFailure{Message: first, Text: p}}},
		})
		all.Tests, all.Errors = all.Tests+1, all.Errors+1
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

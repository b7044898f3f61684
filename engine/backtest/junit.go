package backtest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of JUnit XML, as far as the usual readers agree on them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML: a suite "backtest" whose case "gate" fails with what [Report.Gate] says (nil: it
// passes), and a suite for each extension with a case for each reason, with samples. Their texts pass through clean.
func (r *Report) WriteJUnit(w io.Writer, gate error, clean func(string) string) error {
	first := junitCase{Name: "gate", Class: "backtest", Out: fmt.Sprintf("%d calls, %d results, %d new blocks", r.Events.Calls.Total, r.Events.Results.Total, r.NewBlocks)}
	all := junitSuites{Tests: 1}
	suite := junitSuite{Name: "backtest", Tests: 1}
	if gate != nil {
		first.Failure = &junitFailure{Message: clean(gate.Error())}
		suite.Failures, all.Failures = 1, 1
	}
	suite.Cases = []junitCase{first}
	all.Suites = append(all.Suites, suite)
	add := func(suite *junitSuite, name string, counts Counts, samples []Sample) {
		var b strings.Builder
		fmt.Fprintf(&b, "%d: %d ok, %d failed, %d denied, %d without result", counts.Total, counts.OK, counts.Failed, counts.Denied, counts.NoResult)
		for _, s := range samples {
			fmt.Fprintf(&b, "\n%s:%d %s %s", s.File, s.Line, s.Tool, s.Input)
		}
		suite.Cases = append(suite.Cases, junitCase{Name: clean(name), Class: suite.Name, Out: clean(b.String())})
		suite.Tests++
		all.Tests++
	}
	for i := range r.Extensions {
		e := &r.Extensions[i]
		suite := junitSuite{Name: clean(e.Name)}
		for _, x := range e.Reasons {
			add(&suite, strings.TrimSuffix(x.Event+" "+x.Outcome+": "+x.Reason, ": "), x.Counts, x.Samples)
		}
		all.Suites = append(all.Suites, suite)
	}
	if r.Compared {
		suite := junitSuite{Name: "differences"}
		for _, d := range r.Differences {
			add(&suite, fmt.Sprintf("%s %s, not %s: %s", d.Event, d.Set.Decision, d.Other.Decision, d.Set.Reason), d.Counts, d.Samples)
		}
		all.Suites = append(all.Suites, suite)
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

// Gate says whether a report passes: at most limit new blocks, out of calls that were all read. The error says why not.
func (r *Report) Gate(limit int) error {
	switch {
	case r.Events.Calls.Total == 0:
		return fmt.Errorf("no tool call was found, so nothing is shown about new blocks")
	case r.Unread > 0:
		return fmt.Errorf("%d of the files could not be read to the end, so the number of new blocks is not known", r.Unread)
	case r.NewBlocks > limit:
		return fmt.Errorf("%d new blocks, and at most %d are allowed", r.NewBlocks, limit)
	}
	return nil
}

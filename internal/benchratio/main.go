// Command benchratio reads the output of go test -bench and prints, for every benchmark that has a sub-benchmark named
// weir, how the others compare with it: the ratio of the medians. Benchmarks without one are listed with their median.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: benchratio FILE (- is standard input)")
		os.Exit(2)
	}
	if err := report(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func report(file string) error {
	in := os.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	text, err := ratios(in)
	if err != nil {
		return err
	}
	_, err = fmt.Print(text)
	return err
}

// baseline is the name of the sub-benchmark that the others are compared with.
const baseline = "weir"

// line is one result: the name without the suffix of processors, the count, then value and unit pairs.
var line = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// metric is what one benchmark measured in one unit.
type metric struct {
	name, unit string
	values     []float64
}

// ratios compares the lines of in.
func ratios(in io.Reader) (string, error) {
	var all []*metric
	scan := bufio.NewScanner(in)
	for scan.Scan() {
		m := line.FindStringSubmatch(scan.Text())
		if m == nil {
			continue
		}
		fields := strings.Fields(m[2])
		for i := 0; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			unit := fields[i+1]
			if err != nil || unit == "B/op" || unit == "allocs/op" || unit == "MB/s" {
				continue
			}
			at := slices.IndexFunc(all, func(x *metric) bool { return x.name == m[1] && x.unit == unit })
			if at < 0 {
				at = len(all)
				all = append(all, &metric{name: m[1], unit: unit})
			}
			all[at].values = append(all[at].values, v)
		}
	}
	if err := scan.Err(); err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", fmt.Errorf("no benchmark results in the input")
	}
	var b strings.Builder
	for _, x := range all {
		group, sub := split(x.name)
		fmt.Fprintf(&b, "%-64s %12s %-8s", x.name, number(median(x.values)), x.unit)
		base := slices.IndexFunc(all, func(y *metric) bool { g, s := split(y.name); return g == group && s == baseline && y.unit == x.unit })
		if base >= 0 && sub != baseline {
			fmt.Fprintf(&b, " %8.2fx of weir", median(x.values)/median(all[base].values))
		}
		fmt.Fprintf(&b, "  (n=%d)\n", len(x.values))
	}
	return b.String(), nil
}

// split separates a benchmark's name from its last part.
func split(name string) (group, sub string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return name, ""
}

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

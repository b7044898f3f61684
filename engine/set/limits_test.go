package set

import (
	"errors"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLimit(t *testing.T) {
	for _, c := range []struct {
		key, value string
		want       Limits
		err        string // a regexp; empty for none
	}{
		{"timeout", "200ms", Limits{Timeout: 200 * time.Millisecond}, ""},
		{"tool-timeout", "1m30s", Limits{ToolTimeout: 90 * time.Second}, ""},
		{"load_timeout", "1.5s", Limits{LoadTimeout: 1500 * time.Millisecond}, ""},
		{"fuel", "1000", Limits{Fuel: 1000}, ""},
		{"memory", "64MiB", Limits{Memory: 64 << 20}, ""},
		{"memory", "65536", Limits{Memory: 65536}, ""},
		{"memory", "4GiB", Limits{Memory: 4 << 30}, ""},
		{"depth", "8KiB", Limits{Depth: 8192}, ""},
		{"log-bytes", "10B", Limits{LogBytes: 10}, ""},
		{"module", "1MiB", Limits{Module: 1 << 20}, ""},
		{"quarantine", "1", Limits{Quarantine: 1}, ""},

		{"timeout", "0", Limits{}, `^timeout is 0, but every limit is positive: there is no unlimited \(write timeout = "500ms"\)$`},
		{"timeout", "0ms", Limits{}, `there is no unlimited`},
		{"timeout", "-1", Limits{}, `there is no unlimited`},
		{"timeout", "-5ms", Limits{}, `there is no unlimited`},
		{"timeout", "Unlimited", Limits{}, `there is no unlimited`},
		{"timeout", " none ", Limits{}, `there is no unlimited`},
		{"timeout", "500", Limits{}, `must be a duration`},
		{"timeout", "", Limits{}, `not a duration`},
		{"timeout", "5 s", Limits{}, `not a duration`},
		{"timeout", "24h1ns", Limits{}, `more than the most there may be, 24h0m0s`},
		{"timeout", "9999999999h", Limits{}, `not a duration`},
		{"fuel", "1e9", Limits{}, `fuel must be a positive integer, found the string "1e9"`},
		{"fuel", "99999999999999999999", Limits{}, `must be a positive integer`},
		{"fuel", "1000000000000001", Limits{}, `more than the most`},
		{"memory", "4GiB1", Limits{}, `not a size`},
		{"memory", "64MB", Limits{}, `its units are B, KiB, MiB and GiB`},
		{"memory", "+5", Limits{Memory: 5}, ``},
		{"memory", "4294967297", Limits{}, `more than the most there may be, 4GiB`},
		{"memory", "9223372036854775807GiB", Limits{}, `too large`},
		{"memory", "-9223372036854775808GiB", Limits{}, `too large`},
		{"memory", "MiB", Limits{}, `not a size`},
		{"timeuot", "1s", Limits{}, `^unknown limit "timeuot" \(did you mean "timeout"\?\)$`},
		{"log", "1", Limits{}, `unknown limit "log"`},
	} {
		got, err := ParseLimit(c.key, c.value)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %q: %s", c.key, c.value, diff)
		}
		checkMatch(t, c.key+" "+c.value, err, c.err)
	}
}

// checkMatch compares an error with a regexp, the empty one meaning none.
func checkMatch(t *testing.T, what string, err error, pattern string) {
	t.Helper()
	switch {
	case pattern == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case pattern != "" && err == nil:
		t.Errorf("%s: no error, want %s", what, pattern)
	case pattern != "" && !regexp.MustCompile(pattern).MatchString(err.Error()):
		t.Errorf("%s: got %v, want %s", what, err, pattern)
	}
}

// TestLimitKeys compares with the table of abi.md section 14, whose log is two
// keys here.
func TestLimitKeys(t *testing.T) {
	want := []string{
		"timeout", "tool_timeout", "load_timeout", "fuel", "memory", "depth", "table",
		"output", "error_text", "log_lines", "log_bytes", "host_calls", "module", "quarantine",
	}
	var got []string
	for _, r := range limitRules() {
		got = append(got, r.key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLimitRules: each rule reads and writes one field, and the rules together
// all of them; no sum of two limits overflows.
func TestLimitRules(t *testing.T) {
	var all Limits
	for i, r := range limitRules() {
		r.put(&all, int64(i+1))
	}
	for i, r := range limitRules() {
		if got := r.get(&all); got != int64(i+1) {
			t.Errorf("%s is %d, want %d", r.key, got, i+1)
		}
		if r.max <= 0 || r.max > math.MaxInt64/2 {
			t.Errorf("%s may be %d", r.key, r.max)
		}
	}
	zero := Limits{}
	if diff := cmp.Diff(all, Merge(all, zero)); diff != "" {
		t.Errorf("a field has no rule: %s", diff)
	}
	want := Limits{
		Timeout: 1, ToolTimeout: 2, LoadTimeout: 3, Fuel: 4, Memory: 5, Depth: 6, Table: 7,
		Output: 8, ErrorText: 9, LogLines: 10, LogBytes: 11, HostCalls: 12, Module: 13, Quarantine: 14,
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}

func TestMerge(t *testing.T) {
	got := Merge(Limits{Timeout: 1, Fuel: 2}, Limits{Timeout: 3, Memory: 4})
	if diff := cmp.Diff(Limits{Timeout: 3, Fuel: 2, Memory: 4}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLimitsValidate(t *testing.T) {
	if err := (Limits{}).Validate(); err != nil {
		t.Errorf("zero limits: %v", err)
	}
	err := Limits{Timeout: -time.Second, Memory: 8 << 30, Fuel: math.MaxUint64, Table: 5}.Validate()
	var errs Errors
	if !errors.As(err, &errs) || len(errs) != 3 {
		t.Errorf("got %v", err)
	}
	checkMatch(t, "Validate", err, `^timeout is -1s, but every limit is positive: .*\nfuel is -1, .*\nmemory is 8GiB, more than the most there may be, 4GiB$`)
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 1: "1B", 1024: "1KiB", 1025: "1025B", 64 << 20: "64MiB", 3 << 30: "3GiB"} {
		if got := formatSize(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

package set

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Limits bounds what an extension may use. In every field zero means "not
// set", so that the host's default applies (abi.md section 14); there is no
// way to say "unlimited". Each field names its key in a set file.
type Limits struct {
	// Timeout (timeout) is the wall clock of one hook call.
	Timeout time.Duration `json:"timeout,omitzero"`
	// ToolTimeout (tool_timeout) is that of tool_execute and command_execute.
	ToolTimeout time.Duration `json:"toolTimeout,omitzero"`
	// LoadTimeout (load_timeout) is that of instantiation and describe.
	LoadTimeout time.Duration `json:"loadTimeout,omitzero"`
	// Fuel (fuel) is units a call, one being about one instruction.
	Fuel uint64 `json:"fuel,omitzero"`
	// Memory (memory) is bytes of linear memory and kernel.
	Memory int64 `json:"memory,omitzero"`
	// Depth (depth) is bytes of native stack.
	Depth int64 `json:"depth,omitzero"`
	// Table (table) is elements of a table.
	Table int `json:"table,omitzero"`
	// Output (output) is bytes of a result.
	Output int64 `json:"output,omitzero"`
	// ErrorText (error_text) is bytes of an error's text.
	ErrorText int64 `json:"errorText,omitzero"`
	// LogLines (log_lines) and LogBytes (log_bytes) are what a call may log.
	// They are the two halves of the limit that abi.md calls log.
	LogLines int   `json:"logLines,omitzero"`
	LogBytes int64 `json:"logBytes,omitzero"`
	// HostCalls (host_calls) is calls of host functions in a call.
	HostCalls int `json:"hostCalls,omitzero"`
	// Module (module) is bytes of the module's file. Only [defaults] can say
	// it: in [[extension]] the key module is the file itself.
	Module int64 `json:"module,omitzero"`
	// Quarantine (quarantine) is faults in a row.
	Quarantine int `json:"quarantine,omitzero"`
}

// Merge returns own, with what it does not set taken from defaults.
func Merge(defaults, own Limits) Limits {
	for _, r := range limitRules() {
		if r.get(&own) == 0 {
			r.put(&own, r.get(&defaults))
		}
	}
	return own
}

// Validate refuses limits that are negative or above what a set file may say,
// for limits that did not come from one. Zero is allowed. The error is Errors.
func (l Limits) Validate() error {
	var errs Errors
	for _, r := range limitRules() {
		if n := r.get(&l); n != 0 {
			if err := r.check(n, r.format(n)); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if errs != nil {
		return errs
	}
	return nil
}

// ParseLimit reads one limit as a flag gives it, such as ParseLimit("timeout",
// "200ms") for --timeout 200ms. The key is that of a set file, with - or _;
// sizes and counts may be plain numbers. The result has one field set. The
// error is an *Error without a position.
func ParseLimit(key, value string) (Limits, error) {
	var known []string
	for _, r := range limitRules() {
		known = append(known, r.key)
		if r.key != strings.ReplaceAll(key, "-", "_") {
			continue
		}
		var v any = value
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			v = n
		}
		n, err := r.parse(v)
		if err != nil {
			return Limits{}, err
		}
		var l Limits
		r.put(&l, n)
		return l, nil
	}
	return Limits{}, Position{}.Error(key, "unknown limit "+quote(key), suggest(key, known))
}

// limitRule is what there is to know of one limit. Every limit fits an int64.
type limitRule struct {
	key     string
	want    want // wantDuration, wantSize or wantCount
	max     int64
	example string // a valid value, as it stands in a file
	get     func(*Limits) int64
	put     func(*Limits, int64)
}

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// limitRules is every limit, in the order of abi.md section 14. The maxima are
// far above sensible use; they keep sums and products of limits from
// overflowing: wasm32 addresses 4 GiB, a day is longer than any call.
func limitRules() []limitRule {
	day := int64(24 * time.Hour)
	return []limitRule{
		limit("timeout", wantDuration, day, `"500ms"`, func(l *Limits) *time.Duration { return &l.Timeout }),
		limit("tool_timeout", wantDuration, day, `"60s"`, func(l *Limits) *time.Duration { return &l.ToolTimeout }),
		limit("load_timeout", wantDuration, day, `"5s"`, func(l *Limits) *time.Duration { return &l.LoadTimeout }),
		limit("fuel", wantCount, 1e15, `1_000_000_000`, func(l *Limits) *uint64 { return &l.Fuel }),
		limit("memory", wantSize, 4*gib, `"64MiB"`, func(l *Limits) *int64 { return &l.Memory }),
		limit("depth", wantSize, 256*mib, `"8MiB"`, func(l *Limits) *int64 { return &l.Depth }),
		limit("table", wantCount, 1e7, `100_000`, func(l *Limits) *int { return &l.Table }),
		limit("output", wantSize, gib, `"8MiB"`, func(l *Limits) *int64 { return &l.Output }),
		limit("error_text", wantSize, mib, `"4KiB"`, func(l *Limits) *int64 { return &l.ErrorText }),
		limit("log_lines", wantCount, 1e6, `256`, func(l *Limits) *int { return &l.LogLines }),
		limit("log_bytes", wantSize, gib, `"64KiB"`, func(l *Limits) *int64 { return &l.LogBytes }),
		limit("host_calls", wantCount, 1e9, `100_000`, func(l *Limits) *int { return &l.HostCalls }),
		limit("module", wantSize, gib, `"32MiB"`, func(l *Limits) *int64 { return &l.Module }),
		limit("quarantine", wantCount, 1e6, `3`, func(l *Limits) *int { return &l.Quarantine }),
	}
}

func limit[T ~int | ~int64 | ~uint64](key string, w want, most int64, example string, field func(*Limits) *T) limitRule {
	return limitRule{
		key: key, want: w, max: most, example: example,
		get: func(l *Limits) int64 { return int64(*field(l)) },
		put: func(l *Limits, n int64) { *field(l) = T(n) },
	}
}

// line is the rule's valid example line.
func (r limitRule) line() string { return r.key + " = " + r.example }

// parse reads the value as the TOML library gives it.
func (r limitRule) parse(v any) (int64, *Error) {
	if endless(v) {
		return 0, r.noUnlimited(found(v))
	}
	switch v := v.(type) {
	case int64:
		if v <= 0 || r.want != wantDuration {
			return v, r.check(v, strconv.FormatInt(v, 10))
		}
	case string:
		var n int64
		var problem string
		switch r.want {
		case wantDuration:
			n, problem = parseDuration(v)
		case wantSize:
			n, problem = parseSize(v)
		default:
			return 0, r.mistyped(v)
		}
		if problem != "" {
			return 0, r.fail(fmt.Sprintf("%s: %s is %s", r.key, quote(v), problem), "write "+r.line())
		}
		return n, r.check(n, quote(v))
	}
	return 0, r.mistyped(v)
}

// check refuses what is out of range. text is how n was written.
func (r limitRule) check(n int64, text string) *Error {
	switch {
	case n <= 0:
		return r.noUnlimited(text)
	case n > r.max:
		return r.fail(fmt.Sprintf("%s is %s, more than the most there may be, %s", r.key, text, r.format(r.max)), "")
	}
	return nil
}

func (r limitRule) noUnlimited(text string) *Error {
	return r.fail(fmt.Sprintf("%s is %s, but every limit is positive: there is no unlimited", r.key, text), "write "+r.line())
}

func (r limitRule) mistyped(v any) *Error {
	return r.fail(fmt.Sprintf("%s must be %s, found %s", r.key, r.want, found(v)), "write "+r.line())
}

func (r limitRule) fail(message, hint string) *Error {
	return Position{}.Error(r.key, message, hint)
}

// format writes n as a file would.
func (r limitRule) format(n int64) string {
	switch r.want {
	case wantDuration:
		return time.Duration(n).String()
	case wantSize:
		return formatSize(n)
	}
	return strconv.FormatInt(n, 10)
}

// endless reports whether the value is one of the ways to ask for no limit.
func endless(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.IsInf(v, 0)
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "unlimited", "infinite", "infinity", "inf", "∞", "none", "never", "off", "no", "max":
			return true
		}
	}
	return false
}

// parseDuration returns what is wrong with s, if anything.
func parseDuration(s string) (n int64, problem string) {
	if number(s) {
		return 0, "a number without a unit"
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, "not a duration"
	}
	return int64(d), ""
}

// sizeUnits are the units of a size, the plain number last.
func sizeUnits() []struct {
	name  string
	bytes int64
} {
	return []struct {
		name  string
		bytes int64
	}{{"GiB", gib}, {"MiB", mib}, {"KiB", kib}, {"B", 1}, {"", 1}}
}

// parseSize returns what is wrong with s, if anything.
func parseSize(s string) (n int64, problem string) {
	for _, u := range sizeUnits() {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok || !number(digits) {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > math.MaxInt64/u.bytes || n < math.MinInt64/u.bytes {
			return 0, "too large"
		}
		return n * u.bytes, ""
	}
	return 0, "not a size; its units are B, KiB, MiB and GiB, of 1024"
}

func formatSize(n int64) string {
	for _, u := range sizeUnits() {
		if n%u.bytes == 0 && n != 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, cmp.Or(u.name, "B"))
		}
	}
	return strconv.FormatInt(n, 10)
}

// number reports whether s is a whole number, a sign allowed.
func number(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

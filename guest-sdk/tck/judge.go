package tck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/engine/wire"
)

// parserOf is the strict reader of a hook's output.
func parserOf(hook string) (func([]byte) (any, error), error) {
	switch hook {
	case wire.EventToolCall.String():
		return func(b []byte) (any, error) { return wire.ParseToolCall(b) }, nil
	case wire.EventToolResult.String():
		return func(b []byte) (any, error) { return wire.ParseToolResult(b) }, nil
	case wire.EventContext.String():
		return func(b []byte) (any, error) { return wire.ParseContext(b) }, nil
	case wire.EventInput.String():
		return func(b []byte) (any, error) { return wire.ParseInput(b) }, nil
	case wire.EventBeforeProviderHeaders.String():
		return func(b []byte) (any, error) { return wire.ParseBeforeProviderHeaders(b) }, nil
	case wire.EventAgentStart.String(), wire.EventTurnEnd.String(), wire.ExportDecision:
		return func(b []byte) (any, error) { return nil, wire.ParseObserver(b) }, nil
	case wire.ExportToolExecute:
		return func(b []byte) (any, error) { return wire.ParseToolExecute(b) }, nil
	case wire.ExportCommandExecute:
		return func(b []byte) (any, error) { return wire.ParseCommandExecute(b) }, nil
	}
	return nil, fmt.Errorf("the tck guest has no hook %q", hook)
}

// judge says what is wrong with an outcome, or "".
func (t *testCase) judge(o *outcome) (problem string, err error) {
	for i, e := range append([]expectation{t.expectation}, t.Any...) {
		p, err := t.meets(&e, o)
		if err != nil {
			return "", err
		}
		if p == "" {
			return "", nil
		}
		if i == 0 {
			problem = p
		}
	}
	return problem, nil
}

func (t *testCase) meets(e *expectation, o *outcome) (string, error) {
	problem, err := t.main(e, o)
	if err != nil || problem != "" {
		return problem, err
	}
	if e.Log != nil && !slices.Equal(e.Log, o.log) {
		return fmt.Sprintf("logged %q, not %q", o.log, e.Log), nil
	}
	if e.Updates != nil && !slices.EqualFunc(e.Updates, o.updates, sameJSON) {
		return fmt.Sprintf("reported %q, not %q", o.updates, e.Updates), nil
	}
	if e.Reads != nil && o.table && !slices.Equal(*e.Reads, o.reads) {
		return fmt.Sprintf("read the bodies of messages %v, not %v", o.reads, *e.Reads), nil
	}
	return "", nil
}

// main compares the outcome itself.
func (t *testCase) main(e *expectation, o *outcome) (string, error) {
	if len(e.Fault) > 0 {
		switch {
		case o.fault == nil:
			return "no fault", nil
		case !slices.Contains(e.Fault, o.fault.Kind.String()):
			return fmt.Sprintf("a fault of kind %s", o.fault.Kind), nil
		case !strings.Contains(o.fault.Err.Error(), e.Text):
			return fmt.Sprintf("the fault does not say %q", e.Text), nil
		}
		return "", nil
	}
	if o.faulted() {
		return "a fault", nil
	}
	switch {
	case e.None:
		if !noOpinion(t.Hook, o.output) {
			return "an opinion", nil
		}
		return "", nil
	case e.Output != nil:
		return differs(*e.Output, string(o.output)), nil
	case e.After != nil:
		want, err := t.filled(*e.After)
		if p := differs(want, string(o.messages)); p != "" {
			return fmt.Sprintf("the messages are then %s", o.messages), err
		}
		return "", err
	}
	return t.reason(e, o)
}

// reason compares a block's reason.
func (t *testCase) reason(e *expectation, o *outcome) (string, error) {
	r, ok := o.result.(wire.ToolCallResult)
	if !ok || !r.Block || r.Terminate {
		return "no block", nil
	}
	switch {
	case e.Answer != nil:
		want, err := t.filled(*e.Answer)
		if r.Reason != want {
			return fmt.Sprintf("answers %s", short(r.Reason)), err
		}
		return "", err
	case e.Like != nil:
		if !regexp.MustCompile(*e.Like).MatchString(r.Reason) {
			return fmt.Sprintf("answers %s", short(r.Reason)), nil
		}
		return "", nil
	case e.JSON != nil:
		return differs(*e.JSON, r.Reason), nil
	}
	want, err := strconv.ParseFloat(*e.Double, 64)
	if err != nil {
		return "", err
	}
	bits, unread := strconv.ParseUint(r.Reason, 16, 64)
	read := unread == nil && len(r.Reason) == 16
	if got := math.Float64frombits(bits); !read || !near(got, want) {
		return fmt.Sprintf("answers %s, which is %v", short(r.Reason), got), nil
	}
	return "", nil
}

// near allows for readers of numbers that do not round right in the last digit; the sign of a zero counts.
func near(a, b float64) bool {
	return math.Signbit(a) == math.Signbit(b) && (a == b || math.Abs(a-b) <= 1e-14*math.Max(math.Abs(a), math.Abs(b)))
}

func noOpinion(hook string, out []byte) bool {
	if sameJSON("{}", string(out)) {
		return true
	}
	switch hook {
	case wire.EventToolCall.String():
		return sameJSON(`{"block":false}`, string(out))
	case wire.EventInput.String():
		return sameJSON(`{"action":"continue"}`, string(out))
	case wire.EventAgentStart.String(), wire.EventTurnEnd.String(), wire.ExportDecision:
		return len(out) == 0
	}
	return false
}

func differs(want, got string) string {
	if sameJSON(want, got) {
		return ""
	}
	return "it is " + short(got)
}

// sameJSON compares values; a number that a double cannot hold equals the double that is nearest to it.
func sameJSON(a, b string) bool {
	var v, w any
	return decodeAll(a, &v) && decodeAll(b, &w) && reflect.DeepEqual(v, w)
}

func decodeAll(text string, v *any) bool {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	return d.Decode(v) == nil && !d.More()
}

// short cuts what is long.
func short(s string) string {
	const most = 200
	if len(s) > most {
		return fmt.Sprintf("%q… (%d bytes)", s[:most], len(s))
	}
	return strconv.Quote(s)
}

// wants says in words what a case expects.
func (t *testCase) wants() string {
	var list []string
	for _, e := range append([]expectation{t.expectation}, t.Any...) {
		list = append(list, e.String())
	}
	return strings.Join(list, ", or ")
}

// String shows an expectation in a line.
func (e *expectation) String() string {
	var s string
	switch {
	case e.None:
		s = "no opinion"
	case e.Answer != nil:
		s = "a block with the reason " + short(*e.Answer)
	case e.Like != nil:
		s = "a block with a reason that matches " + *e.Like
	case e.JSON != nil:
		s = "a block with the reason " + *e.JSON
	case e.Double != nil:
		s = "a block with the bits of " + *e.Double
	case e.Output != nil:
		s = *e.Output
	case e.After != nil:
		s = "then the messages " + *e.After
	default:
		s = "a fault of kind " + strings.Join(e.Fault, " or ")
		if e.Text != "" {
			s += fmt.Sprintf(" that says %q", e.Text)
		}
	}
	if e.Log != nil {
		s += fmt.Sprintf(", logging %q", e.Log)
	}
	if e.Updates != nil {
		s += fmt.Sprintf(", reporting %q", e.Updates)
	}
	if e.Reads != nil {
		s += fmt.Sprintf(", reading the bodies %v", *e.Reads)
	}
	return s
}

package tck

import (
	"bytes"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"weir/engine/wire"
)

//go:embed cases/*.toml
var caseFiles embed.FS

//go:embed describe.json
var wantDescribe []byte

// chapter is one file of cases.
type chapter struct {
	Chapter string
	About   string
	// Import names the import without which the chapter is optional.
	Import string
	// Facts says that the chapter is optional: it is for a module that asks for facts.
	Facts bool
	// JSON says that the chapter is for tck-json too; the chapter is then run once for each view.
	JSON  bool
	Cases []*testCase `toml:"case"`
}

// testCase is one input and what must come of it.
type testCase struct {
	Name string
	Hook string // "" is tool_call
	// One of them is the input. Args are the arguments of a call: of tool_call and tool_result its input, of tool_execute its
	// args. Event is the payload of an event, to which type and context are added. Raw is everything.
	Args, Event, Raw string
	// Messages are what a context event has.
	Messages string
	// Payload is added to the event of Args: further members, such as `"isError":true`.
	Payload string
	// View restricts a case of context to a view.
	View string
	// Size is how long the input is made by blanks behind it; 0 leaves it.
	Size int
	// Fill replaces marks in the input and in expected answers.
	Fill []fill
	expectation
	// Any are other outcomes that are as good.
	Any []expectation
}

// fill stands for bytes that a file of text cannot hold, or not well.
type fill struct {
	Mark, Text, Hex string
	Times           int // 0 is once
}

// expectation is an outcome. What is not named is not looked at, but for the outcome itself: exactly one of None, Answer, Like, JSON,
// Double, Output, After and Fault stands.
type expectation struct {
	None    bool     // no opinion
	Answer  *string  // a block with this reason
	Like    *string  // a block with a reason that matches this regular expression
	JSON    *string  // a block with a reason that is JSON equal to this
	Double  *string  // a block with the bits of this double, nearly
	Output  *string  // JSON equal to this
	After   *string  // what the messages are after the edits
	Fault   []string // one of these kinds
	Text    string   // in the fault's text
	Log     []string // the lines logged, as "level: text"
	Updates []string // the partial results reported
	Reads   *[]int   // the messages whose bodies were read; in the table view only
}

// chapters reads all cases.
func chapters() ([]*chapter, error) {
	files, err := caseFiles.ReadDir("cases")
	if err != nil {
		return nil, err
	}
	var list []*chapter
	for _, f := range files {
		text, err := caseFiles.ReadFile("cases/" + f.Name())
		if err != nil {
			return nil, err
		}
		c, err := parseChapter(string(text))
		if err != nil {
			return nil, fmt.Errorf("cases/%s: %w", f.Name(), err)
		}
		list = append(list, c)
	}
	return list, nil
}

func parseChapter(text string) (*chapter, error) {
	c := &chapter{}
	md, err := toml.Decode(text, c)
	if err != nil {
		return nil, err
	}
	if unknown := md.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("unknown key %s", unknown[0])
	}
	if c.Chapter == "" || c.About == "" || len(c.Cases) == 0 {
		return nil, errors.New("a chapter has a name, says what it is about, and has cases")
	}
	names := map[string]bool{}
	for _, t := range c.Cases {
		if t.Hook == "" {
			t.Hook = wire.EventToolCall.String()
		}
		if err := t.validate(); err != nil {
			return nil, fmt.Errorf("case %q: %w", t.Name, err)
		}
		if t.Name == "" || names[t.Name] {
			return nil, fmt.Errorf("case %q: the name is missing or stands twice", t.Name)
		}
		names[t.Name] = true
	}
	return c, nil
}

func (t *testCase) validate() error {
	inputs := 0
	for _, in := range []string{t.Args, t.Event, t.Raw, t.Messages} {
		if in != "" {
			inputs++
		}
	}
	if inputs != 1 {
		return errors.New("exactly one of args, event, raw and messages is the input")
	}
	if t.Messages != "" && t.Hook != wire.EventContext.String() {
		return errors.New("messages are for context")
	}
	if _, err := parserOf(t.Hook); err != nil {
		return err
	}
	for _, e := range append([]expectation{t.expectation}, t.Any...) {
		if err := e.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (e *expectation) validate() error {
	outcomes := 0
	for _, stands := range []bool{e.None, e.Answer != nil, e.Like != nil, e.JSON != nil, e.Double != nil, e.Output != nil, e.After != nil, len(e.Fault) > 0} {
		if stands {
			outcomes++
		}
	}
	if outcomes != 1 {
		return errors.New("exactly one outcome is expected")
	}
	if e.Like != nil {
		if _, err := regexp.Compile(*e.Like); err != nil {
			return err
		}
	}
	for _, kind := range e.Fault {
		if !slices.Contains([]string{"error", "trap", "fuel", "memory", "depth", "output", "deadline", "host", "exit"}, kind) {
			return fmt.Errorf("there is no fault of kind %q", kind)
		}
	}
	return nil
}

// filled is text with the marks replaced.
func (t *testCase) filled(text string) (string, error) {
	for _, f := range t.Fill {
		with := f.Text
		if f.Hex != "" {
			b, err := hex.DecodeString(f.Hex)
			if err != nil {
				return "", err
			}
			with = string(b)
		}
		if f.Mark == "" {
			return "", errors.New("a fill needs a mark")
		}
		text = strings.ReplaceAll(text, f.Mark, strings.Repeat(with, max(f.Times, 1)))
	}
	return text, nil
}

// place is what every event says of where it happened; `where` of the specification asks for parts of it.
const place = `"context":{"sessionId":"tck-session","extension":"tck","cwd":"/tck","mode":"text","hasUI":true,"model":{"provider":"p","id":"m"},"thinkingLevel":"off","turnIndex":3,"callIndex":7}`

// input is the bytes of an input that is no context event.
func (t *testCase) input(url string) ([]byte, error) {
	var text string
	switch {
	case t.Raw != "":
		text = t.Raw
	case t.Args != "":
		text = t.call()
	default:
		text = within(t.Hook, t.Event)
	}
	text, err := t.filled(text)
	if err != nil {
		return nil, err
	}
	b := bytes.ReplaceAll([]byte(text), []byte("{{url}}"), []byte(url))
	if t.Size > 0 {
		if len(b) > t.Size {
			return nil, fmt.Errorf("the input has %d bytes already, not %d", len(b), t.Size)
		}
		b = append(b, bytes.Repeat([]byte(" "), t.Size-len(b))...)
	}
	return b, nil
}

// call is the event of a call with the arguments Args.
func (t *testCase) call() string {
	more := ""
	if t.Payload != "" {
		more = "," + t.Payload
	}
	switch t.Hook {
	case wire.EventToolResult.String():
		if t.Payload == "" {
			more = `,"content":[{"type":"text","text":"a secret and a secret"},{"type":"image","data":"c2VjcmV0","mimeType":"image/png"}],"isError":false`
		}
		return `{"type":"tool_result","toolName":"tck_run","toolCallId":"call_1","input":` + t.Args + more + `,` + place + `}`
	case wire.ExportToolExecute:
		return `{"toolCallId":"call_1","toolName":"tck_upper","args":` + t.Args + `,` + place + `}`
	case wire.ExportCommandExecute:
		return `{"name":"tck","args":` + t.Args + `,` + place + `}`
	}
	return `{"type":"tool_call","toolName":"tck_run","toolCallId":"call_1","input":` + t.Args + more + `,` + place + `}`
}

// within adds type and context to a payload.
func within(hook, payload string) string {
	head := `{"type":"` + hook + `",` + place
	rest := strings.TrimPrefix(strings.TrimSpace(payload), "{")
	if strings.TrimSpace(rest) == "}" {
		return head + "}"
	}
	return head + "," + rest
}

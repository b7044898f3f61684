package weir

import (
	"unsafe"

	"weir/guest-sdk/go/internal/hostfn"
	"weir/guest-sdk/go/internal/scan"
)

// The exports that are not events.
const (
	describeExport = "weir_describe"
	toolExport     = "tool_execute"
	commandExport  = "command_execute"
	decisionExport = "decision"

	toolCallEvent   = "tool_call"
	toolResultEvent = "tool_result"
	contextEvent    = "context"
)

// firstRead is the size of the buffer that the input of the first call meets:
// an ordinary tool_call fits, and needs one host call.
const firstRead = 4096

// call is the call in progress. Its buffers and the views of its events are
// used again by the next one.
type call struct {
	in, out, body []byte
	event         Event
	toolCall      ToolCall
	toolResult    ToolResult
	context       Context
	table         Table
	lastName      string
}

// Invoke runs one entry point as the host does: weir_describe, an event,
// tool_execute, command_execute or decision. It returns 0, or 1 after giving the host an
// error text. It is there for weirtest and for the wasm exports; extensions do
// not call it.
func Invoke(export string) int32 {
	switch export {
	case describeExport:
		return run(describe)
	case toolExport:
		return run(executeTool)
	case commandExport:
		return run(executeCommand)
	case decisionExport:
		return run(observeDecision)
	}
	return invokeHook(export)
}

func invokeHook(event string) int32 {
	for _, h := range ext.hooks {
		if h.event == event {
			return run(h.run)
		}
	}
	return fail(&answerError{event, errNoHandler})
}

// run turns every way in which f can end into an answer or a fault.
func run(f func(*call) error) (rc int32) {
	// A handler that ends its goroutine leaves here without a panic.
	rc = 1
	defer func() {
		if p := recover(); p != nil {
			rc = fail(panicked{p})
		}
	}()
	c := &current
	c.out = c.out[:0]
	if err := f(c); err != nil {
		return fail(err)
	}
	hostfn.Output(c.out)
	return 0
}

func fail(err error) int32 {
	hostfn.Error([]byte(scan.Readable(err.Error())))
	return 1
}

func describe(c *call) (err error) {
	c.out, err = ext.description(c.out)
	return err
}

// readInput reads the input of the call into c.in and returns it as text, which
// is good until the next call.
func (c *call) readInput() string {
	c.in = readAll(c.in, hostfn.Input)
	return unsafe.String(unsafe.SliceData(c.in), len(c.in))
}

// readAll reads the whole of what read offers into b, or into a larger buffer.
// One host call is enough where b has room to spare.
func readAll(b []byte, read func(buf []byte, offset int) int) []byte {
	if cap(b) == 0 {
		b = make([]byte, firstRead)
	}
	b = b[:cap(b)]
	n := read(b, 0)
	if n < len(b) {
		return b[:n]
	}
	total := read(nil, 0)
	if total <= n {
		return b[:n]
	}
	whole := make([]byte, total+1)
	copy(whole, b)
	return whole[:n+read(whole[n:], n)]
}

// panicked is the error of a handler that panicked.
type panicked struct{ value any }

func (p panicked) Error() string {
	switch v := p.value.(type) {
	case error:
		return "panic: " + v.Error()
	case string:
		return "panic: " + v
	case interface{ String() string }:
		return "panic: " + v.String()
	}
	return "panic with a value that has no text"
}

func (p panicked) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

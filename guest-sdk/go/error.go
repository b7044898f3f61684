package weir

import "errors"

var (
	errNotObject = errors.New("not an object")
	errNoHandler = errors.New("no handler is registered for this")
)

// answerError says which part of a handler's answer cannot be sent.
type answerError struct {
	what string
	err  error
}

func (e *answerError) Error() string { return e.what + ": " + e.err.Error() }
func (e *answerError) Unwrap() error { return e.err }

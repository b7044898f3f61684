package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// exitTerminated is the exit code of a conversation that SIGTERM ended: 128 and the signal's number, as a shell gives it.
const exitTerminated = 143

// signalError is the cause of a context that a signal ended.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return fmt.Sprintf("ended by a signal: %v", e.signal) }

// terminated gives the outcome of a conversation the exit code that SIGTERM has, if that ended it.
func terminated(ctx context.Context, err error) error {
	var cause *signalError
	if !errors.As(context.Cause(ctx), &cause) || cause.signal != syscall.SIGTERM {
		return err
	}
	var quiet *silentError
	if err == nil || errors.As(err, &quiet) {
		return &silentError{exitTerminated}
	}
	return &codeError{exitTerminated, err}
}

// interrupts hands Ctrl-C to who wants it: a question, which takes it for a no, or a turn. What nobody wants ends the command.
// Safe for concurrent use; the zero value is ready.
type interrupts struct {
	mu    sync.Mutex
	takes []*taker
}

type taker struct{ take func() }

// take has the next interrupts call f, until release is called. The last who asked is the first who gets.
func (i *interrupts) take(f func()) (release func()) {
	if i == nil {
		return func() {}
	}
	t := &taker{f}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.takes = append(i.takes, t)
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		for at, have := range i.takes {
			if have == t {
				i.takes = append(i.takes[:at:at], i.takes[at+1:]...)
				return
			}
		}
	}
}

// offer gives an interrupt away; false when nobody wants it.
func (i *interrupts) offer() bool {
	i.mu.Lock()
	var t *taker
	if n := len(i.takes); n > 0 {
		t = i.takes[n-1]
	}
	i.mu.Unlock()
	if t == nil {
		return false
	}
	t.take()
	return true
}

// watchSignals ends the context with a *signalError at SIGTERM, and at an interrupt that nobody takes. After that signals do
// what they do to any program: the next one kills it. stop ends the watch and waits for it.
func watchSignals(ctx context.Context, i *interrupts) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	got := make(chan os.Signal, 4)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer signal.Stop(got)
		for {
			select {
			case sig := <-got:
				if sig == os.Interrupt && i.offer() {
					continue
				}
				cancel(&signalError{sig})
				return
			case <-over:
				return
			}
		}
	}()
	return ctx, func() {
		close(over)
		<-done
		cancel(nil)
	}
}

package tools

import (
	"context"
	"sync"
)

// fileLocks lets one call at a time change a file. The zero value is ready.
type fileLocks struct {
	mu   sync.Mutex
	held map[string]*fileLock
}

type fileLock struct {
	turn  chan struct{} // holds a token while nobody works on the file
	users int
}

// lock waits for its turn on the file at path, a real path, or until ctx is cancelled. The returned function ends it.
func (l *fileLocks) lock(ctx context.Context, path string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*fileLock{}
	}
	file := l.held[path]
	if file == nil {
		file = &fileLock{turn: make(chan struct{}, 1)}
		file.turn <- struct{}{}
		l.held[path] = file
	}
	file.users++
	l.mu.Unlock()

	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if file.users--; file.users == 0 {
			delete(l.held, path)
		}
	}
	select {
	case <-file.turn:
		return func() { file.turn <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

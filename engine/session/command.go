package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"weir/agentcore"
)

// Command is what "/name args" runs.
type Command struct {
	Name        string
	Description string
	// Run does it. An error is reported to Config.OnError; the prompt counts as taken.
	Run func(ctx context.Context, args string) error
}

// NamedCommand is a command and the name by which it is called.
type NamedCommand struct {
	Called string
	Command
}

// Commands are the commands by the names they are called by. Of several with one name, each has its number: "x:1", "x:2".
func (s *Session) Commands() []NamedCommand {
	s.mu.Lock()
	commands := s.slash // replaced as a whole
	s.mu.Unlock()
	count := map[string]int{}
	for _, c := range commands {
		count[c.Name]++
	}
	named := make([]NamedCommand, len(commands))
	seen := map[string]int{}
	for i, c := range commands {
		named[i] = NamedCommand{c.Name, c}
		if count[c.Name] > 1 {
			seen[c.Name]++
			named[i].Called = fmt.Sprintf("%s:%d", c.Name, seen[c.Name])
		}
	}
	return named
}

// SetCommands puts these commands in the place of those that there are. One that runs goes on.
func (s *Session) SetCommands(commands []Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slash = slices.Clone(commands)
}

// command finds the command that a text calls, or nil.
func (s *Session) command(text string) (c *NamedCommand, args string) {
	called, ok := strings.CutPrefix(text, "/")
	if !ok {
		return nil, ""
	}
	called, args, _ = strings.Cut(called, " ")
	for _, named := range s.Commands() {
		if named.Called == called {
			return &named, args
		}
	}
	return nil, ""
}

// runCommand runs the command that a text calls; it is false when it calls none. A failure has no caller.
func (s *Session) runCommand(ctx context.Context, text string) bool {
	c, args := s.command(text)
	if c == nil {
		return false
	}
	if err := callCommand(ctx, c, args); err != nil {
		s.failed(&BackgroundError{Extension: "command:" + c.Called, Hook: "command", Err: err})
	}
	return true
}

func callCommand(ctx context.Context, c *NamedCommand, args string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &agentcore.PanicError{What: "command", Value: v, Stack: debug.Stack()}
		}
	}()
	return c.Run(ctx, args)
}

// QueueCommandError says that a command was to be queued.
type QueueCommandError struct{ Command string }

// Error implements error. The text is part of the contract (NOTES section 4).
func (e *QueueCommandError) Error() string {
	return fmt.Sprintf(`Extension command "/%s" cannot be queued. Use prompt() or execute the command when not streaming.`, e.Command)
}

func (s *Session) refuseCommand(text string) error {
	if c, _ := s.command(text); c != nil {
		return &QueueCommandError{c.Called}
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"weir/agentcore"
	"weir/engine/resources"
	"weir/engine/session"
)

// chatCommand is what "/name arguments" does.
type chatCommand struct {
	name, args, about string
	do                func(ctx context.Context, args string) error
}

func (c *chat) commandList() []chatCommand {
	return []chatCommand{
		{"help", "", "lists the commands", func(context.Context, string) error { c.help(); return nil }},
		{"model", "[PROVIDER/ID]", "uses another model, or says which there are", c.setModel},
		{"thinking", "[LEVEL]", "says how much the model thinks: " + strings.Join(levelNames(), ", "), func(_ context.Context, level string) error {
			if level != "" {
				if err := knownLevel(level); err != nil {
					return err
				}
				if err := c.session().SetThinkingLevel(agentcore.ThinkingLevel(level)); err != nil {
					return err
				}
			}
			c.sink.note("thinking: %s", c.session().ThinkingLevel())
			return nil
		}},
		{"compact", "[WISHES]", "summarises what is old, to make room", func(ctx context.Context, wishes string) error {
			c.start(func() error {
				_, err := c.session().Compact(ctx, wishes)
				return err
			}, c.session().AbortCompaction)
			return nil
		}},
		{"after", "TEXT", "says something that the agent hears when it is done", func(ctx context.Context, text string) error {
			if text == "" {
				return fmt.Errorf("/after TEXT: what is the agent to hear?")
			}
			c.say(ctx, text, session.BehaviorFollowUp)
			return nil
		}},
		{"name", "[NAME]", "names the session", func(_ context.Context, name string) error {
			if name != "" {
				if err := c.session().SetName(name); err != nil {
					return err
				}
			}
			c.sink.note("the session's name: %s", printable(c.session().Name()))
			return nil
		}},
		{"session", "", "says where the session is kept, and how things stand", func(context.Context, string) error {
			file := c.session().Store().Path()
			if file == "" {
				file = "nowhere"
			}
			c.sink.note("session %s, kept in %s, %d messages", c.session().Store().Header().ID, printable(file), len(c.session().Messages()))
			c.sink.note("%s", c.status())
			return nil
		}},
		{"tree", "[N [summary [WISHES]]]", "shows the session's tree, or goes to a place in it", c.tree},
		{"fork", "[N]", "lists what you said, or goes on with a copy of what stands before it", c.fork},
		{"new", "", "begins a new session; the present one is kept", c.newSession},
		{"resume", "[N or ID]", "lists the sessions about the folder, or goes on with one", c.resume},
		{"quit", "", "leaves, as Ctrl-D does; the session is kept", nil},
	}
}

// called finds the name of a command in a line.
func called(text string) (name, args string, ok bool) {
	m := regexp.MustCompile(`^/([A-Za-z0-9_:-]+)(?:\s+((?s).*))?$`).FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(m[2]), true
}

// command does what a line that begins with / wants; false leaves. A line that names no command, such as a path, is said.
func (c *chat) command(ctx context.Context, text string) bool {
	name, args, ok := called(text)
	if !ok {
		c.say(ctx, text, session.BehaviorSteer)
		return true
	}
	list := c.commandList()
	if i := slices.IndexFunc(list, func(x chatCommand) bool { return x.name == name }); i >= 0 {
		if list[i].do == nil {
			return false
		}
		if err := list[i].do(ctx, args); err != nil {
			c.sink.note("%s", printable(err.Error()))
		}
		return true
	}
	if slices.ContainsFunc(c.session().Commands(), func(x session.NamedCommand) bool { return x.Called == name }) {
		c.start(func() error { return c.session().Prompt(ctx, text, session.PromptOptions{}) }, func() {})
		return true
	}
	if slices.ContainsFunc(c.now.Load().texts.Load().Commands(), func(x resources.Command) bool { return x.Name == name }) {
		c.send(ctx, text, session.PromptOptions{Streaming: session.BehaviorSteer})
		return true
	}
	c.sink.note("there is no command /%s; /help lists them, and a space before the / says it to the agent", printable(name))
	return true
}

func (c *chat) help() {
	line := func(name, args, about string) {
		c.sink.show(fmt.Sprintf("  %-24s %s", printable(strings.TrimSpace("/"+name+" "+args)), printable(about)))
	}
	for _, x := range c.commandList() {
		line(x.name, x.args, x.about)
	}
	for _, x := range c.session().Commands() {
		line(x.Called, "", x.Description)
	}
	for _, x := range c.now.Load().texts.Load().Commands() {
		line(x.Name, x.Arguments, x.Description)
	}
	c.sink.show("  !COMMAND                 runs a command that the model sees; !!COMMAND one that it does not\n" +
		"  a \\ at the end of a line goes on in the next one; Ctrl-C ends the turn, a second one the conversation")
}

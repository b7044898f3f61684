package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"weir/agentcore"
	"weir/engine/session"
	"weir/engine/wire"
)

// chatFlags are the flags of `chat`.
type chatFlags struct {
	agentFlags
	hideThinking, noHistory bool
}

func newChat(s streams) *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk with an agent at the terminal",
		Long: "Talks with an agent, line by line: what `weir run` does once, as often as you like. A line that ends in \\ goes on in\n" +
			"the next. /help lists the commands, those of the extensions too; !COMMAND runs a command that the model sees,\n" +
			"!!COMMAND one that it does not. What you type while the agent works is queued: the agent hears it before its next\n" +
			"turn. Ctrl-C ends the turn, a second one the conversation. See docs/chat.md.",
		Example: "  weir chat --model anthropic/claude-sonnet-4-5\n  weir chat --continue",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return terminated(cmd.Context(), f.run(cmd.Context(), s, args))
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.hideThinking, "hide-thinking", false, "do not show what the model thinks")
	cmd.Flags().BoolVar(&f.noHistory, "no-history", false, "neither use nor keep the lines that were typed in other conversations")
	return cmd
}

func (f *chatFlags) run(ctx context.Context, s streams, args []string) error {
	tty, in := s.in.(*os.File)
	out, isFile := s.out.(*os.File)
	if !in || !isFile || !terminal(tty) || !terminal(out) {
		return usageError(errors.New("weir chat talks with a person at a terminal; from a script use `weir run PROMPT`, from a program `weir run --rpc`"))
	}
	if len(args) == 1 {
		if f.session.resume != resumeList {
			return usageError(fmt.Errorf("weir chat takes no prompt (%q): type it when it asks", args[0]))
		}
		f.session.resume = args[0]
	}
	c := &chat{sink: &chatSink{timeline: newTimeline(streams{in: s.in, out: s.out, err: s.err, lines: s.lines}, f.hideThinking)}, ctrlC: s.interrupts}
	c.sink.wait = nil // the line that is typed stands there
	p, err := f.prepare(ctx, s, c.sink, wire.ModeChat)
	if err != nil {
		return err
	}
	ctx, c.leave = context.WithCancel(ctx)
	defer c.leave()
	if c.edit, err = startEditor(tty, out, s.lines.in, c.interrupt); err != nil {
		return errors.Join(failed(err), p.discard(ctx))
	}
	defer c.edit.stop()
	if path, err := historyPath(); err == nil && !f.noHistory { // without a folder there is none
		c.edit.history.keepIn(&historyFile{path: path}, func(line string) bool { return c.edit.keys.expand(line) == line })
	}
	c.sink.onTerminal(c.edit, s.interrupts)
	p.replaceable = true
	if c.conversation, err = p.open(ctx); err != nil {
		return errors.Join(err, p.finish(false))
	}
	c.unsent = func(text string) { c.sink.note("not sent: %s", printable(text)) }
	if err = c.begin(ctx); err == nil {
		c.talk(ctx)
	}
	c.edit.stop()
	c.sink.offTerminal(out)
	if err := c.edit.history.broken(); err != nil {
		c.sink.note("what was typed is not kept for the next time: %s", printable(err.Error()))
	}
	if err = errors.Join(err, c.close(ctx)); err != nil {
		err = failed(err)
	}
	return errors.Join(err, p.finish(err == nil))
}

// chat is a conversation at the terminal.
type chat struct {
	*conversation
	edit  *lineEditor
	sink  *chatSink
	ctrlC *interrupts
	leave context.CancelFunc

	armed atomic.Bool    // Ctrl-C was the last that was typed: the next one ends the conversation
	busy  atomic.Int64   // how much is under way
	work  sync.WaitGroup // as above, to be waited for
	lines []string       // of a text that goes on
	taken chan struct{}  // closed when it is clear what becomes of the text that was said last; nil before the first
	lists chatLists
}

// What stands before the line that is typed. It is never empty.
const (
	promptIdle = "> "
	promptMore = "… " // the text goes on
	promptBusy = "» " // the agent works
)

// interrupt is Ctrl-C: a no to a question, the end of what is under way, and the second time that of the conversation.
func (c *chat) interrupt() {
	switch {
	case c.ctrlC.offer():
	case c.armed.Swap(true):
		c.leave()
	case c.busy.Load() > 0:
		c.sink.note("%s", "aborted; Ctrl-C again to leave")
	default:
		c.sink.note("%s", "Ctrl-C again to leave")
	}
}

// talk takes lines until the person leaves. What is under way then is aborted.
func (c *chat) talk(ctx context.Context) {
	c.idle()
	for {
		select {
		case line, more := <-c.edit.lines:
			c.armed.Store(false)
			if more && c.line(ctx, line) {
				continue
			}
		case <-ctx.Done():
		}
		break
	}
	c.leave()
	c.session().AbortBash()
	_ = c.session().Abort(context.WithoutCancel(ctx)) // fails with the context only
	c.work.Wait()
	steering, followUp := c.session().Queues()
	for _, text := range append(steering, followUp...) {
		c.unsent(text)
	}
}

// line does what a line wants; false leaves.
func (c *chat) line(ctx context.Context, line string) bool {
	if more, ok := strings.CutSuffix(line, `\`); ok {
		c.lines = append(c.lines, more)
		c.edit.setPrompt(promptMore)
		return true
	}
	text := strings.Join(append(c.lines, line), "\n")
	multi := len(c.lines) > 0
	c.lines = nil
	if multi {
		c.prompts()
	}
	switch {
	case strings.TrimSpace(text) == "":
	case strings.HasPrefix(text, "/"):
		return c.command(ctx, text)
	case strings.HasPrefix(text, "!"):
		c.bash(ctx, text)
	default:
		c.say(ctx, strings.TrimSpace(text), session.BehaviorSteer)
	}
	return true
}

// say says something to the agent as it stands; while it works the text is queued.
func (c *chat) say(ctx context.Context, text string, queue session.Behavior) {
	c.send(ctx, text, session.PromptOptions{Streaming: queue, Literal: true})
}

// send sends a prompt. Texts keep their order.
func (c *chat) send(ctx context.Context, text string, opts session.PromptOptions) {
	before, taken := c.taken, make(chan struct{})
	c.taken = taken
	c.start(func() error {
		if before != nil {
			<-before
		}
		streaming := c.session().State().Streaming
		opts.Preflight = func(bool) { close(taken) }
		err := c.session().Prompt(ctx, text, opts)
		if err == nil && streaming {
			when := "before its next turn"
			if opts.Streaming == session.BehaviorFollowUp {
				when = "when it is done"
			}
			c.sink.note("queued: the agent hears it %s", when)
		}
		return err
	}, func() { _ = c.session().Abort(context.WithoutCancel(ctx)) }) // fails with the context only
}

// bash runs a command of the person.
func (c *chat) bash(ctx context.Context, text string) {
	command, hidden := strings.CutPrefix(text[1:], "!")
	if command = strings.TrimSpace(command); command == "" {
		c.sink.note("%s", "!COMMAND runs a command that the model sees, !!COMMAND one that it does not")
		return
	}
	c.start(func() error {
		r, err := c.session().UserBash(ctx, command, session.BashOptions{ExcludeFromContext: hidden})
		if err != nil {
			return err
		}
		c.sink.show(printable(strings.TrimRight(r.Output, "\n")))
		switch {
		case r.Cancelled:
			c.sink.note("%s", "the command was aborted")
		case r.ExitCode != nil && *r.ExitCode != 0:
			c.sink.note("exit code %d", *r.ExitCode)
		}
		if r.Truncated {
			c.sink.note("the whole output is in %s", printable(r.FullOutputPath))
		}
		return nil
	}, c.session().AbortBash)
}

// start does something while lines can be typed. Ctrl-C calls abort, once.
func (c *chat) start(do func() error, abort func()) {
	c.busy.Add(1)
	c.prompts()
	c.work.Go(func() {
		release := c.ctrlC.take(func() {
			if c.armed.Swap(true) {
				c.leave()
				return
			}
			c.sink.note("%s", "aborting; Ctrl-C again to leave")
			go abort() // it waits; talk waits for what it ends
		})
		err := do()
		release()
		if err != nil {
			c.sink.note("%s", printable(err.Error()))
		}
		if c.busy.Add(-1) == 0 {
			c.idle()
		}
	})
}

// idle shows how things stand, before the next line.
func (c *chat) idle() {
	c.sink.show(c.sink.style.dim(c.status()))
	c.prompts()
}

// prompts shows whether the agent works.
func (c *chat) prompts() {
	if c.busy.Load() > 0 {
		c.edit.setPrompt(promptBusy)
		return
	}
	c.edit.setPrompt(promptIdle)
}

// status is one line: model, context, cost, extensions.
func (c *chat) status() string {
	m := c.session().Model()
	parts := []string{m.Provider + "/" + m.ID}
	if level := c.session().ThinkingLevel(); level != "" && level != "off" {
		parts = append(parts, "thinks "+string(level))
	}
	switch u := c.session().ContextUsage(); {
	case u == nil:
	case u.Percent == nil:
		parts = append(parts, fmt.Sprintf("context ? of %s", thousands(u.ContextWindow)))
	default:
		parts = append(parts, fmt.Sprintf("context %.0f%% of %s", *u.Percent, thousands(u.ContextWindow)))
	}
	tokens, cost := c.spent()
	spent := thousands(tokens) + " tokens"
	if cost > 0 { // many models have no price that is known
		spent += fmt.Sprintf(", $%.4f", cost)
	}
	parts = append(parts, spent)
	var names []string
	for _, x := range c.engine().Extensions() {
		names = append(names, x.Name)
	}
	if len(names) == 0 {
		names = []string{"no extensions"}
	}
	parts = append(parts, strings.Join(names, ", "))
	return printable(strings.Join(parts, " · "))
}

// spent is what the responses of the whole session cost, of those too that a compaction took from the model.
func (c *chat) spent() (tokens int64, cost float64) {
	for _, e := range c.session().Store().Branch("") {
		if m, err := e.Message(); err == nil && m != nil && e.Type == session.EntryMessage && m.Assistant() != nil {
			tokens += m.Assistant().Usage.TotalTokens
			cost += m.Assistant().Usage.Cost.Total
		}
	}
	return tokens, cost
}

func thousands(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}

// setModel changes the model, or lists those that are known.
func (c *chat) setModel(ctx context.Context, ref string) error {
	now := c.session().Model()
	if ref == "" {
		known := []agentcore.Model{}
		for _, m := range c.run.models {
			known = append(known, m.Model)
		}
		c.sink.note("%s; /model PROVIDER/ID uses another", printable(now.Provider+"/"+now.ID))
		for _, m := range known {
			c.sink.show("  " + printable(m.Provider+"/"+m.ID))
		}
		return nil
	}
	m, err := c.run.find(ref)
	if err != nil {
		return err
	}
	return c.session().SetModel(ctx, m)
}

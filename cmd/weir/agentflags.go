package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/agentcore"
	"weir/engine/contextfiles"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/wire"
)

// agentFlags are the flags that every command that talks to an agent has, whatever the mode.
type agentFlags struct {
	model    modelFlags
	session  sessionFlags
	prompts  promptFlags
	trust    trustFlags
	set, cwd string
	modules  []string
	thinking string
	watch    bool
}

func (f *agentFlags) register(cmd *cobra.Command) {
	f.model.register(cmd)
	f.session.register(cmd)
	f.prompts.register(cmd)
	f.trust.register(cmd)
	cmd.Flags().StringVar(&f.set, "set", "", "extension set, instead of the user's and the project's (never of the managed one)")
	cmd.Flags().StringArrayVarP(&f.modules, "extension", "e", nil, "an extension to load after the set: a .wasm, .ts or .js file, or bundled:NAME; repeatable")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "reload the extensions when the set, a module or a policy's source changes; who can write those files decides")
	cmd.Flags().StringVar(&f.cwd, "cwd", ".", "working folder of the agent")
	cmd.Flags().StringVar(&f.thinking, "thinking", "", "how much the model thinks: "+strings.Join(levelNames(), ", "))
}

func levelNames() []string {
	var names []string
	for _, l := range session.ThinkingLevels(agentcore.Model{Reasoning: true}) {
		names = append(names, string(l))
	}
	return names
}

// prepared is a conversation that can be opened.
type prepared struct {
	agentRun
	// finish is called after the conversation, with whether it went well; its error is what is wrong with a recording or a
	// replay.
	finish func(ok bool) error
}

// discard closes what was opened for a conversation that does not take place.
func (p *prepared) discard(ctx context.Context) error {
	var errs []error
	if p.store != nil {
		errs = append(errs, p.store.Close())
	}
	if p.host != nil {
		errs = append(errs, p.host.Close(context.WithoutCancel(ctx)))
	}
	if p.finish != nil {
		errs = append(errs, p.finish(false))
	}
	return errors.Join(errs...)
}

// prepare finds set, model and session, asking out's person whether the project is trusted where that is to be asked. out is
// where the conversation is told, in the mode mode. What is wrong with the flags is a usage error, and nothing is left open
// then; else the caller opens the result, which closes it with the conversation, or discards it.
func (f *agentFlags) prepare(ctx context.Context, s streams, out sink, mode wire.Mode) (_ *prepared, err error) {
	p := &prepared{agentRun: agentRun{start: "startup", mode: mode, sinks: []sink{out}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.discard(ctx))
		}
	}()
	if f.thinking != "" && !slices.Contains(levelNames(), f.thinking) {
		return nil, usageError(fmt.Errorf("--thinking %q: it is one of %s", f.thinking, strings.Join(levelNames(), ", ")))
	}
	if p.cwd, err = filepath.Abs(f.cwd); err != nil {
		return nil, usageError(err)
	}
	if err := checkFolder(p.cwd); err != nil {
		return nil, err
	}
	if p.host, err = newHost(ctx); err != nil {
		return nil, err
	}
	trial := projectTrial{streams: s, flags: f.trust, host: p.host, cwd: p.cwd, mode: mode, person: out.person(), logger: out.logger()}
	if p.set, err = trial.open(ctx, f.set, f.modules); err != nil {
		return nil, err
	}
	if f.watch {
		p.live = &liveSet{file: f.set, modules: f.modules, imports: map[string][]string{}}
		if slices.ContainsFunc(p.set.Extensions, func(x set.Extension) bool { return x.Source == set.LayerProject }) {
			p.live.project = trial.set
		}
	}
	if p.system, p.about, err = f.prompts.system(s, p.cwd); err != nil {
		return nil, err
	}
	if p.store, err = f.session.reopen(ctx, s, p.cwd); err != nil {
		return nil, err
	}
	stored := ""
	if p.store != nil {
		p.start = "resume"
		if c := p.store.Context(); c.ModelID != "" {
			stored = c.Provider + "/" + c.ModelID
		}
	}
	model, err := f.model.open(ctx, stored)
	if err != nil {
		return nil, err
	}
	p.model, p.models, p.find, p.connect, p.env, p.finish = model.model, model.models, model.find, model.connect, model.env, model.finish
	if p.thinking = agentcore.ThinkingLevel(f.thinking); f.thinking != "" && !slices.Contains(session.ThinkingLevels(p.model), p.thinking) {
		fmt.Fprintf(s.err, "--thinking %s: %s is not known to think (thinking in models.toml says that it does); it is asked without\n",
			f.thinking, printable(p.model.Provider+"/"+p.model.ID))
	}
	if p.store == nil {
		if p.store, err = f.session.create(p.cwd, f.model.script != ""); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// promptFlags say what the model is told first.
type promptFlags struct {
	base      string
	more      []string
	noContext bool
}

func (f *promptFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.base, "system-prompt", "", "system prompt instead of weir's: a text, or a file that holds it")
	cmd.Flags().StringArrayVar(&f.more, "append-system-prompt", nil, "text, or file, to add to the system prompt; repeatable")
	cmd.Flags().BoolVar(&f.noContext, "no-context-files", false, "do not look for AGENTS.md and CLAUDE.md")
}

// systemPrompt is what the model is told first; the session adds the working folder.
const systemPrompt = "You are a coding agent. You work with the tools you are given, in the folder you are in, and you say what you did."

// system is the system prompt, and what of it the person is to know of.
func (f *promptFlags) system(s streams, cwd string) (prompt string, about opening, err error) {
	parts := []string{systemPrompt}
	if f.base != "" {
		if parts[0], err = textOrFile("--system-prompt", f.base); err != nil {
			return "", about, err
		}
	}
	for _, m := range f.more {
		text, err := textOrFile("--append-system-prompt", m)
		if err != nil {
			return "", about, err
		}
		parts = append(parts, text)
	}
	if !f.noContext {
		user, err := configFolder()
		if err != nil {
			user = "" // without one there is no file of the user's
		}
		var problems []error
		about.context, problems = contextfiles.Load(user, cwd)
		for _, p := range problems {
			fmt.Fprintln(s.err, printable(p.Error()))
		}
		if text := contextfiles.Prompt(about.context); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n"), about, nil
}

// maxPromptFile is how many bytes a file of a system prompt may have: every request carries it.
const maxPromptFile = 1 << 20

// textOrFile is the text of the file that is named so, or, when there is none, the text itself (reference: docs/usage.md, 0.85.0).
func textOrFile(flag, value string) (string, error) {
	info, err := os.Stat(value)
	if err != nil || info.IsDir() {
		return value, nil //nolint:nilerr // it is no file, so it is the text
	}
	if info.Size() > maxPromptFile {
		return "", usageError(fmt.Errorf("%s: %s has %d bytes, more than %d KiB", flag, value, info.Size(), maxPromptFile>>10))
	}
	text, err := os.ReadFile(value)
	if err != nil {
		return "", usageError(fmt.Errorf("%s: %w", flag, err))
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), nil
}

// configFolder is weir's folder of the user's configuration.
func configFolder() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "weir"), nil
}

// openSet finds the sets that apply, but that of a project, and adds the modules of the command line.
func openSet(file string, modules []string) (*set.Set, error) { return openLayers(file, modules, nil) }

// openLayers is openSet with the project's set, nil when that does not count.
func openLayers(file string, modules []string, project *set.Set) (*set.Set, error) {
	var cli *set.Set
	if len(modules) > 0 {
		var err error
		if cli, err = set.Modules(modules, set.Limits{}, set.Grant{}); err != nil {
			return nil, usageError(err)
		}
	}
	s, err := set.Open(discovery(file, project), cli)
	if err != nil {
		return nil, usageError(err)
	}
	return s, nil
}

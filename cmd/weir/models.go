package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/agentcore"
	"weir/engine/provider"
	"weir/engine/provider/replay"
	"weir/engine/provider/scripted"
	"weir/engine/session"
)

// modelFlags say where responses come from.
type modelFlags struct {
	script, model, baseURL, record, replay string
}

func (f *modelFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.script, "script", "", "file with the model's responses, instead of a model")
	cmd.Flags().StringVar(&f.model, "model", "", "model, as PROVIDER/ID; without it the default of models.toml")
	cmd.Flags().StringVar(&f.baseURL, "base-url", "", "where the model's provider is; with a model of no known provider, a server that speaks OpenAI's chat protocol and wants no key")
	cmd.Flags().StringVar(&f.record, "record", "", "new file to record the conversation with the provider in, without keys")
	cmd.Flags().StringVar(&f.replay, "replay", "", "recorded file that answers in the provider's place")
	cmd.MarkFlagsMutuallyExclusive("script", "model")
	cmd.MarkFlagsMutuallyExclusive("script", "base-url")
	cmd.MarkFlagsMutuallyExclusive("script", "record")
	cmd.MarkFlagsMutuallyExclusive("script", "replay")
	cmd.MarkFlagsMutuallyExclusive("record", "replay")
}

// modelChoice is a model and the way to it.
type modelChoice struct {
	model  agentcore.Model
	models []session.ScopedModel // those of the user's file
	// find gives the model of a name; the error says which there are.
	find    func(ref string) (agentcore.Model, error)
	connect func(provider.Hooks) connection
	// env is the environment of commands; nil is the process's.
	env []string
	// finish is called after the run, with whether it went well; its error is what is wrong with a recording or a replay.
	finish func(ok bool) error
}

// open finds the model. stored is the model of the session that goes on, as PROVIDER/ID; "" is none.
func (f *modelFlags) open(ctx context.Context, stored string) (*modelChoice, error) {
	if f.script != "" {
		return f.openScript()
	}
	config, err := loadModels()
	if err != nil {
		return nil, err
	}
	ref := f.model
	if ref == "" {
		ref = stored
	}
	if f.baseURL != "" {
		if ref, err = rebase(config, ref, f.baseURL); err != nil {
			return nil, usageError(err)
		}
	}
	model, err := config.Find(ref)
	if err != nil {
		if ref == stored && stored != "" {
			err = fmt.Errorf("the session's model: %w (name another with --model)", err)
		}
		return nil, usageError(err)
	}
	choice := &modelChoice{model: model.Model, env: keylessEnv(config), finish: func(bool) error { return nil }}
	choice.find = func(ref string) (agentcore.Model, error) {
		m, err := config.Find(ref)
		return m.Model, err
	}
	for _, m := range config.Models {
		choice.models = append(choice.models, session.ScopedModel{Model: m.Model})
	}
	options := provider.Options{}
	if f.replay != "" {
		player, err := replay.Open(f.replay)
		if err != nil {
			return nil, usageError(fmt.Errorf("--replay: %w", err))
		}
		options.Network, options.Offline = player, true
		choice.finish = func(ok bool) error {
			if n := player.Left(); ok && n > 0 {
				return failed(fmt.Errorf("--replay: %d requests of %s were not made", n, f.replay))
			}
			return nil
		}
	}
	if err := authorize(ctx, config, options, model.Model); err != nil {
		return nil, err
	}
	if f.record != "" {
		recorder, err := replay.Create(f.record)
		if errors.Is(err, os.ErrExist) {
			err = fmt.Errorf("%s is already there; remove it, or name another file", f.record)
		}
		if err != nil {
			return nil, usageError(fmt.Errorf("--record: %w", err))
		}
		options.Wrap = func(next http.RoundTripper) http.RoundTripper {
			recorder.Next = next
			return recorder
		}
		choice.finish = func(bool) error {
			if err := recorder.Close(); err != nil {
				return failed(fmt.Errorf("--record: the recording is not whole: %w", err))
			}
			return nil
		}
	}
	choice.connect = func(hooks provider.Hooks) connection {
		options.Hooks = hooks
		models := config.Open(options)
		return connection{Provider: models, authorize: models.Authorize, close: models.Close}
	}
	return choice, nil
}

func (f *modelFlags) openScript() (*modelChoice, error) {
	text, err := os.ReadFile(f.script)
	if err != nil {
		return nil, usageError(fmt.Errorf("--script: %w", err))
	}
	script, err := scripted.Parse(f.script, string(text))
	if err != nil {
		return nil, usageError(err)
	}
	model := script.Provider() // one for all sessions of the conversation: each goes on in the script where the last one ended
	return &modelChoice{
		model: script.Model(),
		find: func(ref string) (agentcore.Model, error) {
			m := script.Model()
			if own := m.Provider + "/" + m.ID; ref != own {
				return agentcore.Model{}, fmt.Errorf("there is no model %q: with --script there is only %s", ref, own)
			}
			return m, nil
		},
		connect: func(provider.Hooks) connection { return connection{Provider: model} },
		finish:  func(bool) error { return nil },
	}, nil
}

// loadModels reads the user's models.toml. Without a home folder there is no such file, and the providers are those that
// need none.
func loadModels() (*provider.Config, error) {
	config := &provider.Config{Providers: provider.Builtin()}
	if path, err := provider.DefaultPath(); err == nil {
		if config, err = provider.Load(path); err != nil {
			return nil, usageError(err)
		}
	}
	return config, nil
}

// authorize says before anything runs that the model has no key.
func authorize(ctx context.Context, config *provider.Config, options provider.Options, model agentcore.Model) error {
	if options.Offline {
		return nil
	}
	models := config.Open(options)
	defer models.Close()
	if err := models.Authorize(ctx, model); err != nil {
		return usageError(err)
	}
	return nil
}

// anonymous is the provider of --base-url when the model names none.
const anonymous = "base-url"

// rebase moves the provider of ref to another address, and returns the model's full name. The provider's key goes there
// too: whoever names both wants that. A model of no known provider gets one without a key.
func rebase(config *provider.Config, ref, url string) (string, error) {
	if ref == "" {
		model, err := config.Find("")
		if err != nil {
			return "", fmt.Errorf("--base-url goes with --model: which model of that server? (%w)", err)
		}
		ref = model.Ref()
	}
	if model, err := config.Find(ref); err == nil {
		ref = model.Ref()
	}
	name, id, _ := strings.Cut(ref, "/")
	for _, p := range config.Providers {
		if p.Name == name && id != "" {
			p.BaseURL = url
			if err := config.Add(p); err != nil {
				return "", fmt.Errorf("--base-url: %w", err)
			}
			return ref, nil
		}
	}
	if err := config.Add(provider.Provider{Name: anonymous, Kind: provider.KindOpenAIChat, BaseURL: url}); err != nil {
		return "", fmt.Errorf("--base-url: %w", err)
	}
	return anonymous + "/" + ref, nil
}

// keylessEnv is the environment without the keys of providers: what a command prints becomes part of the conversation.
func keylessEnv(config *provider.Config) []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(config.Providers, func(p provider.Provider) bool { return p.Key.Env != "" && p.Key.Env == name })
	})
}

func newModels(s streams) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "models [MODEL...]",
		Short: "List the models and providers that are configured",
		Long: "Lists the models of models.toml, the default marked with *, and the providers that a model can be named of\n" +
			"(PROVIDER/ID), each with where its key comes from. --check asks the servers of the models whether they are there,\n" +
			"take the key and have the model; it costs no tokens. With MODELs, only these.",
		Example: "  weir models\n  weir models --check ollama/qwen3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return listModels(cmd.Context(), s, args, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "ask the servers")
	return cmd
}

func listModels(ctx context.Context, s streams, refs []string, check bool) error {
	config, err := loadModels()
	if err != nil {
		return err
	}
	list := slices.Clone(config.Models)
	standard, noDefault := config.Find("")
	var none *provider.NoModelError
	if noDefault != nil && !errors.As(noDefault, &none) {
		return usageError(noDefault)
	}
	if noDefault == nil && !slices.ContainsFunc(list, func(m provider.Model) bool { return m.Ref() == standard.Ref() }) {
		list = append(list, standard)
	}
	if len(refs) > 0 {
		list = nil
		for _, ref := range refs {
			model, err := config.Find(ref)
			if err != nil {
				return usageError(err)
			}
			list = append(list, model)
		}
	}
	if check && len(list) == 0 {
		return usageError(noDefault)
	}
	models := config.Open(provider.Options{})
	defer models.Close()
	bad := 0
	for i := range list {
		m := &list[i]
		mark := " "
		if noDefault == nil && m.Ref() == standard.Ref() {
			mark = "*"
		}
		line := fmt.Sprintf("%s %-40s %d tokens of context", mark, m.Ref(), m.ContextWindow)
		if check {
			line += ": ok"
			if err := models.Check(ctx, *m); err != nil {
				line = fmt.Sprintf("%s %-40s %s", mark, m.Ref(), oneLine(err.Error(), 400))
				bad++
			}
		}
		fmt.Fprintln(s.out, printable(line))
	}
	if len(refs) == 0 && !check {
		printProviders(ctx, s, config, models)
	}
	if bad > 0 {
		return &silentError{exitFailed} // the lines have told it
	}
	return nil
}

// printProviders says of each provider where it is and whether its key is there. Commands that print keys are not run: they
// may ask a person.
func printProviders(ctx context.Context, s streams, config *provider.Config, models *provider.Models) {
	if len(config.Models) > 0 || config.Default != "" {
		fmt.Fprintln(s.out)
	}
	fmt.Fprintln(s.out, "providers (a model is named PROVIDER/ID):")
	for i := range config.Providers {
		p := &config.Providers[i]
		key := "no key needed"
		switch {
		case len(p.Key.Command) > 0:
			key = "key from " + p.Key.String()
		case p.Key.Env != "" || p.Key.File != "":
			key = "key from " + p.Key.String()
			if err := models.Authorize(ctx, agentcore.Model{Provider: p.Name}); err != nil {
				key = oneLine(err.Error(), 400)
			}
		}
		where := p.BaseURL
		if where != "" {
			where += ", "
		}
		fmt.Fprintf(s.out, "  %-12s %s, %s%s\n", printable(p.Name), p.Kind, printable(where), printable(key))
	}
	if config.Path != "" {
		fmt.Fprintf(s.out, "models.toml is read from %s\n", printable(config.Path))
	}
}

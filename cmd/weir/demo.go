package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/journal"
	"weir/engine/provider"
	"weir/engine/provider/scripted"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/wire"
)

//go:embed demo/script.toml
var demoScript string

//go:embed demo/weir.toml
var demoSet []byte

func newDemo(s streams) *cobra.Command {
	var keep, output string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch an agent held by five extensions (no key, no network)",
		Long: "Runs a scripted model with real tools in a scratch folder, held by the bundled extensions: guard-shell blocks a\n" +
			"destructive command, guard-paths a file outside the workspace, redact-secrets takes a credential out of a tool's\n" +
			"result, prune-context keeps stale messages from the model while the history stays whole, audit-log writes down what\n" +
			"was decided.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return usageError(fmt.Errorf("--output %q: it is text or json", output))
			}
			return demo(cmd.Context(), s, keep, output)
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "folder to work in, created and kept, instead of one that is removed")
	cmd.Flags().StringVar(&output, "output", "text", "text (a timeline) or json (one event a line)")
	return cmd
}

func demo(ctx context.Context, s streams, keep, output string) (err error) {
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "weir-demo-"); err != nil {
			return failed(err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if err := os.Mkdir(dir, 0o700); err != nil {
		return usageError(fmt.Errorf("--keep: %w", err))
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return failed(err)
	}
	project, secret, err := demoProject(dir)
	if err != nil {
		return failed(err)
	}
	x, err := demoExtensions(dir)
	if err != nil {
		return failed(err)
	}
	script, err := scripted.Parse("demo/script.toml", demoScript)
	if err != nil {
		return failed(err)
	}
	log, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failed(err)
	}
	store, err := demoHistory(project)
	if err != nil {
		return failed(errors.Join(err, log.Close()))
	}
	model := script.Provider()
	r := agentRun{
		set: x, connect: func(provider.Hooks) connection { return connection{Provider: model} }, model: script.Model(),
		system: systemPrompt, cwd: project, mode: wire.Mode(output), store: store, start: "resume",
		sinks: []sink{newSink(s, output, false), &jsonSink{w: log, err: io.Discard}},
		// If a guard failed, the home folder that a command could reach is the demo's.
		env: append(os.Environ(), "HOME="+filepath.Join(dir, "home")),
	}
	rep, err := r.once(ctx, "The disk is nearly full. Make room, and have the service listen on loopback only.")
	err = errors.Join(err, log.Close())
	if err != nil {
		return err
	}
	if rep.failure != "" {
		return failed(fmt.Errorf("the run failed: %s", rep.failure))
	}
	problems := demoProblems(dir, project, secret, rep, model.Requests())
	if output == "text" {
		printDemoEnd(s, dir, keep != "", rep)
	}
	if len(problems) > 0 {
		return failed(fmt.Errorf("the demo did not do what it shows:\n  %s", strings.Join(problems, "\n  ")))
	}
	return nil
}

// demoProject lays out the folder that the agent works in, with a credential that nobody has seen before.
func demoProject(dir string) (project, secret string, err error) {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	random := base32.StdEncoding.EncodeToString(b[:])
	secret = "AKIA" + random[:16]
	project = filepath.Join(dir, "project")
	files := map[string]string{
		"project/README.md":      "# A small service\n",
		"project/main.go":        "package main\n\nfunc main() {}\n",
		"project/service.env":    "LISTEN_ADDRESS=:8080\nAWS_ACCESS_KEY_ID=" + secret + "\nLOG_LEVEL=info\n",
		"project/build/out.o":    strings.Repeat("x", 4096),
		"home/irreplaceable.txt": "Twenty years of photographs would be here.\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", "", err
		}
	}
	return project, secret, nil
}

// demoExtensions writes the demo's set beside the project, and loads it.
func demoExtensions(dir string) (*set.Set, error) {
	path := filepath.Join(dir, set.FileName)
	if err := os.WriteFile(path, demoSet, 0o600); err != nil {
		return nil, err
	}
	return set.Load(path)
}

// demoHistory is a conversation that went before: a question, its answer, and status messages that are stale by now. It is
// kept in memory.
func demoHistory(project string) (*session.Store, error) {
	at := time.Now().Add(-time.Hour)
	clock := func() time.Time { at = at.Add(time.Second); return at }
	store, err := session.NewStore(session.StoreConfig{CWD: project, Now: func() time.Time { return clock() }})
	if err != nil {
		return nil, err
	}
	say := func(body agentcore.Body) {
		raw, failed := agentcore.NewMessage(body).JSON()
		if failed == nil {
			_, failed = store.Append(session.EntryMessage, &session.EntryData{Message: raw})
		}
		err = errors.Join(err, failed)
	}
	say(&agentcore.UserMessage{Content: agentcore.Content{Text: "Is the service up?"}, Timestamp: clock().UnixMilli()})
	hidden := false
	for i := range 4 {
		text := fmt.Sprintf(`"disk %d%% full"`, 91+i*2)
		_, failed := store.Append(session.EntryCustomMessage, &session.EntryData{CustomType: "ephemeral-status", Content: json.RawMessage(text), Display: &hidden})
		err = errors.Join(err, failed)
	}
	say(&agentcore.AssistantMessage{
		Content: []agentcore.Block{&agentcore.TextBlock{Text: "It is up, but the disk is filling."}}, API: "scripted", Provider: "scripted", Model: "scripted",
		StopReason: agentcore.StopStop, Timestamp: clock().UnixMilli(),
	})
	clock = time.Now
	return store, err
}

// demoProblems checks what the demo claims, so that it cannot show what did not happen.
func demoProblems(dir, project, secret string, rep *report, requests []*agentcore.Request) []string {
	var problems []string
	want := map[string]wire.Event{"guard-shell": wire.EventToolCall, "guard-paths": wire.EventToolCall, "redact-secrets": wire.EventToolResult, "prune-context": wire.EventContext}
	for _, name := range []string{"guard-shell", "guard-paths", "redact-secrets", "prune-context"} {
		done := false
		for _, r := range rep.records {
			acted := r.Outcome == engine.OutcomeRewrite || r.Outcome == engine.OutcomeBlock
			done = done || r.Extension == name && r.Event == want[name] && acted
		}
		if !done {
			problems = append(problems, name+" did nothing")
		}
	}
	for i, req := range requests {
		for _, m := range req.Messages {
			if raw, err := m.JSON(); err != nil || strings.Contains(string(raw), secret) {
				problems = append(problems, fmt.Sprintf("request %d shows the credential to the model (%v)", i+1, err))
			}
		}
	}
	stale := 0
	for _, m := range rep.messages {
		if m.Role() == "custom" {
			stale++
		}
	}
	if stale != 4 {
		problems = append(problems, fmt.Sprintf("the history holds %d of the 4 status messages, of which the model was shown one", stale))
	}
	if entries, err := demoJournal(dir); err != nil || entries < 7 { // six calls, and the result that was changed
		problems = append(problems, fmt.Sprintf("the journal holds %d decisions (%v)", entries, err))
	}
	planted := filepath.Join(project, "service.env")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == planted {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), secret) {
			problems = append(problems, path+" holds the credential")
		}
		return err
	})
	if err != nil {
		problems = append(problems, err.Error())
	}
	if _, err := os.Stat(filepath.Join(dir, "home", "irreplaceable.txt")); err != nil {
		problems = append(problems, "the home folder was emptied")
	}
	if _, err := os.Stat(filepath.Join(dir, "home", "note.txt")); err == nil {
		problems = append(problems, "a file was written outside the project")
	}
	return problems
}

// demoJournal checks what audit-log wrote and counts it.
func demoJournal(dir string) (entries uint64, err error) {
	f, err := os.Open(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	rep, err := journal.Verify(f, "")
	return rep.Entries, err
}

func printDemoEnd(s streams, dir string, kept bool, rep *report) {
	fmt.Fprintf(s.out, "\nwhat you saw\n"+
		"  guard-shell     stopped `rm -rf ~/*`; removing the build folder passed\n"+
		"  guard-paths     stopped a file from being written outside the project\n"+
		"  redact-secrets  took the key in service.env out of what the tool returned: neither the model nor events.jsonl has it\n"+
		"  prune-context   kept 3 stale status messages from the model (the newest stays); all %d messages are still in the history\n"+
		"  audit-log       wrote each decision to a journal in which a change shows (`weir audit verify`)\n", len(rep.messages))
	if kept {
		fmt.Fprintf(s.out, "kept: %s (project, weir.toml, events.jsonl, audit.jsonl)\n", dir)
	} else {
		fmt.Fprintln(s.out, "`weir demo --keep DIR` keeps the folder; `weir init` writes a set for your own")
	}
}

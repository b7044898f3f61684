package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/engine"
	"weir/engine/set"
	"weir/engine/trust"
	"weir/engine/wire"
	"weir/extensions"
	"weir/wasmhost"
)

// projectFolder is weir's folder in a project.
const projectFolder = ".weir"

// trustFlags decide about the project for one run.
type trustFlags struct{ approve, ignore bool }

func (f *trustFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.approve, "approve", false, "trust the project's .weir folder for this run, as it is")
	cmd.Flags().BoolVar(&f.ignore, "no-approve", false, "do not use the project's .weir folder in this run")
	cmd.MarkFlagsMutuallyExclusive("approve", "no-approve")
}

// trustStore is the file that remembers what is trusted.
func trustStore() (*trust.Store, error) {
	dir, err := configFolder()
	if err != nil {
		return nil, usageError(fmt.Errorf("there is no place for the trust file: %w; set XDG_CONFIG_HOME or HOME", err))
	}
	return &trust.Store{Path: filepath.Join(dir, trust.FileName)}, nil
}

// projectFile is the project's set file; "" when it has none.
func projectFile(cwd string) (string, error) {
	path := filepath.Join(cwd, projectFolder, set.FileName)
	switch _, err := os.Lstat(path); {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", usageError(fmt.Errorf("the project's set: %w", err))
	}
}

// describeProject says what the project's set amounts to. The modules are compiled, and nothing of them runs.
func describeProject(ctx context.Context, host *wasmhost.Host, cwd string, x *set.Set) (*trust.Project, error) {
	return trust.Describe(cwd, x, func(e *set.Extension) (string, error) {
		return engine.Digest(ctx, engine.Config{Host: host, Bundled: extensions.Bundled}, e)
	})
}

// trustedSet is the set of the project in cwd if it is trusted as it is, for commands that ask nobody; nil otherwise. note says
// in a sentence why a set that is there does not count. A project that was trusted as something else is an error: a policy
// must not vanish because its file changed.
func trustedSet(ctx context.Context, host *wasmhost.Host, cwd string) (x *set.Set, note string, err error) {
	t := projectTrial{host: host, cwd: cwd}
	if err := t.look(); err != nil || t.file == "" {
		return nil, "", err
	}
	if !t.known() {
		return nil, t.note(), nil
	}
	if err := t.describe(ctx); err != nil {
		return nil, "", err
	}
	if t.status.Changed() {
		return nil, "", t.changed()
	}
	return t.set, "", t.project.Pin(t.set)
}

// projectTrial decides whether the project's set counts. In this order decide: the flags of the run; the extensions of higher
// layers and of the command line, with project_trust; what was decided before; the person. (The order is the reference's:
// docs/extensions.md, 0.85.0. Where that has one answer for a folder and all below it, whatever it holds, a decision here is
// about one project as it is.)
type projectTrial struct {
	streams
	flags  trustFlags
	host   *wasmhost.Host
	cwd    string
	mode   wire.Mode
	person person
	logger *slog.Logger // of extensions

	dir     string // canonical
	file    string // "" when the project has no set
	store   *trust.Store
	entry   *trust.Entry
	set     *set.Set
	project *trust.Project
	status  *trust.Status
}

// open opens the sets that apply, the project's among them if it counts.
func (t *projectTrial) open(ctx context.Context, file string, modules []string) (*set.Set, error) {
	base, err := openSet(file, modules)
	if err != nil || file != "" || t.flags.ignore { // a set that is named stands in for the project's
		return base, err
	}
	if err := t.look(); err != nil || t.file == "" {
		return base, err
	}
	trusted, err := t.decide(ctx, base)
	if err != nil || !trusted {
		return base, err
	}
	if err := t.project.Pin(t.set); err != nil {
		return nil, err
	}
	return openLayers(file, modules, t.set)
}

// look finds the project's set and what is remembered of it.
func (t *projectTrial) look() (err error) {
	if t.file, err = projectFile(t.cwd); err != nil || t.file == "" {
		return err
	}
	if t.dir, err = trust.Canonical(t.cwd); err != nil {
		return usageError(err)
	}
	if t.store, err = trustStore(); err != nil {
		return err
	}
	if t.entry, err = t.store.Get(t.dir); err != nil {
		return usageError(err)
	}
	return nil
}

// known says that the project was trusted, as it is or as something else.
func (t *projectTrial) known() bool { return t.entry != nil && t.entry.Decision == trust.Trusted }

// describe loads the set and compares it with what is remembered.
func (t *projectTrial) describe(ctx context.Context) (err error) {
	if t.set, err = set.Load(t.file); err != nil {
		return usageError(err)
	}
	if t.project, err = describeProject(ctx, t.host, t.cwd, t.set); err != nil {
		return usageError(err)
	}
	t.status, err = t.store.Check(t.project)
	return err
}

// note is why a set that nobody trusted does not count.
func (t *projectTrial) note() string {
	if t.entry != nil && t.entry.Decision == trust.Refused {
		return fmt.Sprintf("%s is not used: it was refused on %s (`weir trust --revoke` forgets that)", t.file, t.entry.Time.Local().Format("2006-01-02"))
	}
	return fmt.Sprintf("%s is not used: the project is not trusted; `weir trust` shows what that would mean", t.file)
}

// changed is the error of a project that was trusted as something else.
func (t *projectTrial) changed() error {
	return usageError(fmt.Errorf("%s changed since it was trusted on %s:\n  %s\nlook at it with `weir trust`, or leave it out with --no-approve",
		t.file, t.entry.Time.Local().Format("2006-01-02"), strings.Join(t.status.Changes, "\n  ")))
}

func (t *projectTrial) decide(ctx context.Context, base *set.Set) (bool, error) {
	if t.flags.approve {
		return true, t.describe(ctx)
	}
	answer, by, err := t.askExtensions(ctx, base)
	if err != nil {
		return false, err
	}
	if by != "" {
		return t.decided(ctx, answer, by)
	}
	switch {
	case t.entry != nil && t.entry.Decision == trust.Refused:
		t.tell(t.note())
		return false, nil
	case !t.known() && t.person == nil:
		t.tell(t.note())
		return false, nil
	}
	if err := t.describe(ctx); err != nil {
		if t.known() {
			return false, err
		}
		t.tell(fmt.Sprintf("%s is not used: the project is not trusted, and its set does not load: %v", t.file, err))
		return false, nil
	}
	switch {
	case t.status.Trusted():
		return true, nil
	case t.person == nil:
		return false, t.changed()
	}
	return t.askPerson(ctx)
}

// decided does what an extension decided.
func (t *projectTrial) decided(ctx context.Context, answer wire.ProjectTrustResult, by string) (bool, error) {
	trusted := answer.Trusted == wire.TrustYes
	if !trusted {
		t.tell(fmt.Sprintf("%s is not used: %s does not trust the project", t.file, by))
	}
	if !trusted && !answer.Remember {
		return false, nil
	}
	if err := t.describe(ctx); err != nil {
		return false, err
	}
	if !answer.Remember {
		return trusted, nil
	}
	decision := trust.Refused
	if trusted {
		decision = trust.Trusted
	}
	return trusted, t.store.Put(t.project, decision, by)
}

// askExtensions puts project_trust to the extensions that are not the project's. by is who answered, "" for nobody.
func (t *projectTrial) askExtensions(ctx context.Context, base *set.Set) (answer wire.ProjectTrustResult, by string, err error) {
	if len(base.Extensions) == 0 {
		return answer, "", nil
	}
	cfg := engine.Config{Host: t.host, Set: base, Bundled: extensions.Bundled, SessionID: newID(), CWD: t.cwd, Mode: t.mode, Logger: t.logger}
	if t.person != nil {
		cfg.UI = t.person
	}
	eng, err := engine.Open(ctx, cfg)
	if err != nil {
		return answer, "", usageError(err)
	}
	defer func() { err = errors.Join(err, eng.Close(context.WithoutCancel(ctx))) }()
	if !eng.Handles(wire.EventProjectTrust) {
		return answer, "", nil
	}
	out, err := eng.Ask(ctx, wire.ProjectTrustEvent{CWD: t.cwd})
	if err != nil {
		return answer, "", err
	}
	outcome, ok := out.(*wire.ProjectTrustOutcome)
	if !ok {
		return answer, "", fmt.Errorf("project_trust was answered with %T", out)
	}
	return outcome.Result, outcome.By, nil
}

// The answers to whether a project is trusted.
const (
	answerYes   = "yes, and remember it until something changes"
	answerOnce  = "yes, for this run"
	answerNo    = "no, for this run"
	answerNever = "no, and do not ask again"
)

// askPerson shows what trusting means, and asks.
func (t *projectTrial) askPerson(ctx context.Context) (bool, error) {
	if err := printProject(ctx, t.err, t.host, t.set, t.project, t.status); err != nil {
		return false, err
	}
	answer, _, err := t.person.Select(ctx, "weir", "Is this project trusted?", []string{answerYes, answerOnce, answerNo, answerNever})
	if err != nil {
		return false, err
	}
	switch answer {
	case answerYes:
		return true, t.store.Put(t.project, trust.Trusted, "")
	case answerOnce:
		return true, nil
	case answerNever:
		return false, t.store.Put(t.project, trust.Refused, "")
	}
	return false, nil
}

func (t *projectTrial) tell(text string) {
	if t.err != nil {
		fmt.Fprintln(t.err, printable(text))
	}
}

// openTrusted opens the sets that apply in cwd for commands that ask nobody, the project's among them if it is trusted as it is.
func openTrusted(ctx context.Context, host *wasmhost.Host, file string, modules []string, cwd string) (x *set.Set, note string, err error) {
	var project *set.Set
	if file == "" { // a set that is named stands in for the project's
		if project, note, err = trustedSet(ctx, host, cwd); err != nil {
			return nil, "", err
		}
	}
	x, err = openLayers(file, modules, project)
	return x, note, err
}

package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Level says how a check went.
type Level int

// The levels.
const (
	// OK: it is as it should be.
	OK Level = iota + 1
	// Note: it may be as it should be; a person has to know.
	Note
	// Bad: weir is not in force, or may be got around.
	Bad
)

// Line is what a check says. Its texts may hold anything that a file or a program said.
type Line struct {
	Level Level
	Text  string
	Do    string // what to do about it, for Bad
}

// CheckConfig is what [Check] works with.
type CheckConfig struct {
	Env Env
	// Weir is the path of this program: no other is run.
	Weir string
	// Files lists the files that decide what a command does: the set's and its modules'.
	Files func(Command) ([]string, error)
	// Report gets every line, in order.
	Report func(Line)
}

// Check looks at what is installed for an agent, in the person's configuration and in the working folder's. It runs the
// agent with --version, and the installed command line with events of its own, in the working folder.
func Check(ctx context.Context, agent string, cfg CheckConfig) error {
	c := checker{cfg: cfg}
	var places []*Place
	for _, scope := range []Scope{User, Project} {
		p, err := Find(agent, scope, cfg.Env)
		if err != nil {
			return err
		}
		places = append(places, p)
	}
	l := &places[0].layout
	c.version(ctx, places[0].Agent.Title, l)
	installed := 0
	for _, p := range places {
		if c.place(ctx, p) {
			installed++
		}
	}
	c.switches(places)
	switch {
	case installed == 0:
		c.bad(fmt.Sprintf("weir is not installed for %s: neither %s nor %s runs it", places[0].Agent.Title, places[0].Path, places[1].Path), "weir install "+agent)
	case l.unseen != "":
		c.say(Note, l.unseen)
	}
	return nil
}

type checker struct {
	cfg CheckConfig
}

func (c *checker) say(level Level, text string) { c.cfg.Report(Line{Level: level, Text: text}) }

func (c *checker) bad(text, do string) { c.cfg.Report(Line{Bad, text, do}) }

// version says which version of the agent is here.
func (c *checker) version(ctx context.Context, title string, l *layout) {
	path, err := exec.LookPath(l.binary)
	if err != nil {
		c.say(Note, fmt.Sprintf("%s is not in PATH, so its version was not checked", l.binary))
		return
	}
	const wait = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	version := regexp.MustCompile(`\d+\.\d+(\.\d+)*`).FindString(string(out))
	switch {
	case err != nil || version == "":
		c.say(Note, fmt.Sprintf("%s does not tell its version with --version", path))
	case l.since != "" && older(version, l.since):
		c.say(Note, fmt.Sprintf("%s %s does not know the option that a hook that fails blocks (%s does): when the hook's time is up the call goes on", title, version, l.since))
	case l.checked == "" || older(l.checked, version):
		c.say(Note, fmt.Sprintf("%s %s is not a version that weir's mapping was checked with: what weir does not know is denied where the agent asks", title, version))
	default:
		c.say(OK, fmt.Sprintf("%s %s", title, version))
	}
}

// older compares two versions, number by number.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		var m, n int
		if i < len(x) {
			m, _ = strconv.Atoi(x[i]) // digits; one too long counts as none
		}
		if i < len(y) {
			n, _ = strconv.Atoi(y[i]) // as above
		}
		if m != n {
			return m < n
		}
	}
	return false
}

// place looks at one file. It returns whether weir is installed there; a file that cannot be read counts, as it was told.
func (c *checker) place(ctx context.Context, p *Place) bool {
	reinstall := "weir install " + p.Agent.Name
	if p.Scope == Project {
		reinstall += " --project"
	}
	file, err := p.read()
	if err != nil {
		c.bad(err.Error(), "mend the file")
		return true
	}
	if file.Create {
		return false
	}
	tree, err := p.parse(file.Before)
	if err != nil {
		c.bad(err.Error(), "mend the file; until then nobody can say whether the agent runs weir")
		return true
	}
	found := p.entries(tree)
	if len(found) == 0 {
		return false
	}
	c.entries(p, found, reinstall)
	c.safe(p.Path, file.target)
	var lines []string
	for _, e := range found {
		if !slices.Contains(lines, e.line) {
			lines = append(lines, e.line)
		}
	}
	for _, line := range lines {
		c.command(ctx, p, line, reinstall)
	}
	return true
}

// entries checks that every event runs weir, for every tool, as weir install writes it.
func (c *checker) entries(p *Place, found []entry, reinstall string) {
	var missing []string
	for _, event := range p.layout.events {
		if !slices.ContainsFunc(found, func(e entry) bool { return e.event == event }) {
			missing = append(missing, event)
		}
	}
	fine := len(missing) == 0
	if !fine {
		c.bad(fmt.Sprintf("%s: no hook of weir for %s", p.Path, strings.Join(missing, ", ")), reinstall)
	}
	for _, e := range found {
		for _, what := range p.deviations(e) {
			fine = false
			c.bad(fmt.Sprintf("%s: %s: %s", p.Path, e.event, what), reinstall)
		}
	}
	if fine {
		c.say(OK, fmt.Sprintf("%s runs weir for %s", p.Path, strings.Join(p.layout.events, ", ")))
	}
}

// deviations says how an entry differs from what would be written, but for its command line.
func (p *Place) deviations(e entry) []string {
	var list []string
	holder := e.handler
	if p.layout.nested {
		holder = e.group
	}
	if m, ok := holder["matcher"]; ok && m != "" && m != "*" && m != ".*" {
		list = append(list, fmt.Sprintf("the matcher %q leaves out the other tools", fmt.Sprint(m)))
	}
	wanted, _ := decoded(p.layout.wanted("")).(map[string]any) // fields become a map
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if got := e.handler[key]; key != p.layout.command && !reflect.DeepEqual(got, wanted[key]) {
			list = append(list, fmt.Sprintf("%s is %v, not %v", key, shown(got), shown(wanted[key])))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.handler)) {
		if _, ok := wanted[key]; !ok && key != "args" && key != "matcher" {
			list = append(list, fmt.Sprintf("%s is %v, which may keep the hook from running", key, shown(e.handler[key])))
		}
	}
	return list
}

func shown(v any) string {
	if v == nil {
		return "not there"
	}
	return fmt.Sprintf("%#v", v)
}

// switches looks for settings that keep all hooks from running, in every file that the agent merges.
func (c *checker) switches(places []*Place) {
	files := slices.Clone(places)
	if places[1].Agent.Name == "claude" {
		local := *places[1]
		local.Path = filepath.Join(filepath.Dir(local.Path), "settings.local.json")
		files = append(files, &local)
	}
	for _, p := range files {
		file, err := p.read()
		if err != nil || file.Create {
			continue // told already, or nothing is switched off there
		}
		tree, err := p.parse(file.Before)
		if err != nil {
			continue // as above
		}
		for _, off := range p.layout.off {
			var v any = tree
			for _, key := range off.path {
				m, _ := v.(map[string]any)
				v = m[key]
			}
			list, _ := v.([]any)
			if reflect.DeepEqual(v, off.when) || slices.Contains(list, off.when) {
				c.bad(fmt.Sprintf("%s: %s keeps the hook from running", p.Path, strings.Join(off.path, ".")), "take it out of the file")
			}
		}
	}
}

// command checks an installed command line, and runs it.
func (c *checker) command(ctx context.Context, p *Place, line, reinstall string) {
	inv, _ := parseLine(line, p.Agent.Name) // it is an entry's
	weir, err := exec.LookPath(inv.Weir)
	switch {
	case !inv.whole:
		c.bad(fmt.Sprintf("%s: the command line does more than run weir, or runs it in another way than weir install writes, so it was not tried: %s", p.Path, line), reinstall)
		return
	case err != nil:
		c.bad(fmt.Sprintf("%s: %s is not there, or not to be run", p.Path, inv.Weir), reinstall)
		return
	case !same(weir, c.cfg.Weir):
		c.bad(fmt.Sprintf("%s runs another weir than this one (%s), so it was not tried: %s", p.Path, c.cfg.Weir, weir), reinstall)
		return
	case !filepath.IsAbs(inv.Weir) || !strings.HasPrefix(line, "/bin/sh "):
		c.say(Note, fmt.Sprintf("%s: when weir does not start the call goes on; %s writes a command line that blocks then", p.Path, reinstall))
	}
	c.safe("weir", weir)
	files, err := c.cfg.Files(inv.Command)
	if err != nil {
		c.bad(fmt.Sprintf("the set does not load, so everything is denied: %v", err), "weir check says what is wrong with it")
	}
	for _, f := range files {
		c.safe("the set", f)
	}
	c.canaries(ctx, p, line)
}

func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// safe checks that nobody else can change a file, or put another in its place.
func (c *checker) safe(what, path string) {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		c.bad(fmt.Sprintf("%s: %v", what, err), "put it back, or install again")
		return
	}
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrPermission):
			c.say(Note, fmt.Sprintf("%s: who may change it cannot be seen", at))
		case err != nil:
			c.bad(err.Error(), "put it back, or install again")
			return
		default:
			c.writers(at, what, info)
		}
		if at == filepath.Dir(at) {
			return
		}
	}
}

// writers tells who else can change a file.
func (c *checker) writers(path, what string, info fs.FileInfo) {
	switch level, who := writers(info); level {
	case Bad:
		c.bad(fmt.Sprintf("%s (%s) can be changed by %s", path, what, who), "chmod go-w "+quoteWord(path)+", and see whose it is")
	case Note:
		c.say(Note, fmt.Sprintf("%s (%s) can be changed by %s", path, what, who))
	case OK:
	}
}

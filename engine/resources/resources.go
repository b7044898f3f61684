package resources

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"weir/engine/wire"
)

// Set is the skills and templates that there are, in the order of the extensions.
type Set struct {
	Skills  []Skill
	Prompts []Prompt
}

// Skill is a file for a task.
type Skill struct {
	Name        string
	Description string
	Path        string // absolute
	Extension   string // that named it
	Hidden      bool   // the model is not told of it: disable-model-invocation
	at          place
}

// Prompt is a template of a prompt.
type Prompt struct {
	Name        string
	Description string
	Arguments   string // what it takes, for people; "" is not said
	Path        string // absolute
	Extension   string
	at          place
}

// Load reads what extensions named. granted gives the folders that an extension may read. Of two with one name the first
// counts. Themes are not looked at: weir has no screens to be painted.
func Load(found *wire.ResourcesDiscoverOutcome, granted func(extension string) []string) (*Set, []*Problem) {
	l := &loader{set: &Set{}, seen: map[string]bool{}}
	for _, each := range []struct {
		named []wire.Resource
		take  func(p place, declared bool) error
		deep  bool
	}{{found.Skills, l.skill, true}, {found.Prompts, l.prompt, false}} {
		for _, r := range each.named {
			l.now, l.take = r, each.take
			at, info, err := l.find(r.Path, granted(r.Extension))
			switch {
			case err != nil:
				l.leave(r.Path, err)
			case info.IsDir():
				l.folder(at, each.deep, 0)
			default:
				l.file(at, true)
			}
		}
	}
	return l.set, l.problems
}

type loader struct {
	set      *Set
	problems []*Problem
	seen     map[string]bool // files that were read
	looked   int
	listed   int // bytes of the list of skills
	now      wire.Resource
	take     func(p place, declared bool) error
}

func (l *loader) leave(path string, err error) {
	l.problems = append(l.problems, &Problem{l.now.Extension, path, err.Error()})
}

func (l *loader) find(path string, folders []string) (place, fs.FileInfo, error) {
	if _, bad := unprintable(path); bad || strings.Contains(path, "\n") {
		return place{}, nil, errors.New("the path cannot be printed")
	}
	return find(path, folders)
}

// folder takes what is in a folder: SKILL.md if it has one; else its .md files, and the folders below it that have a SKILL.md.
func (l *loader) folder(at place, deep bool, depth int) {
	entries, err := at.list()
	if err != nil {
		l.leave(at.String(), err)
		return
	}
	if l.looked += len(entries) + 1; l.looked > maxLooked {
		l.leave(at.String(), fmt.Errorf("more than %d files would have to be looked at", maxLooked))
		return
	}
	if deep {
		for _, e := range entries {
			if e.Name() == "SKILL.md" && !e.IsDir() {
				l.file(at.below(e.Name()), true)
				return
			}
		}
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "."), name == "node_modules":
		case e.IsDir():
			if deep && depth < maxDepth {
				l.folder(at.below(name), true, depth+1)
			}
		case depth == 0 && strings.EqualFold(filepath.Ext(name), ".md"):
			l.file(at.below(name), !deep)
		}
	}
}

// file takes a file. One that is not declared to be a skill, and does not look like one, is passed over.
func (l *loader) file(at place, declared bool) {
	if l.seen[at.String()] {
		return
	}
	l.seen[at.String()] = true
	if err := l.take(at, declared); err != nil {
		l.leave(at.String(), err)
	}
}

func (l *loader) skill(at place, declared bool) error {
	if len(l.set.Skills) == MaxSkills {
		return fmt.Errorf("there are %d skills already", MaxSkills)
	}
	text, err := at.read()
	if err != nil {
		return err
	}
	fields, _, err := frontmatter(text)
	if !declared && (err != nil || fields["description"] == "") {
		return nil //nolint:nilerr // some other text that lies there
	}
	if err != nil {
		return err
	}
	s := Skill{
		Name: fields["name"], Description: oneLine(fields["description"]), Path: at.String(), Extension: l.now.Extension,
		Hidden: fields["disable-model-invocation"] == "true", at: at,
	}
	if s.Name == "" {
		s.Name = filepath.Base(filepath.Dir(s.Path))
	}
	if err := checkName(s.Name); err != nil {
		return err
	}
	if n := len([]rune(s.Description)); n == 0 || n > maxDescription {
		return fmt.Errorf("its description has %d characters; it needs one of at most %d", n, maxDescription)
	}
	if _, bad := unprintable(s.Path); bad || strings.Contains(s.Path, "\n") {
		return errors.New("the path cannot be printed")
	}
	for i := range l.set.Skills {
		if first := &l.set.Skills[i]; first.Name == s.Name {
			return fmt.Errorf("there is a skill %s already: %s", s.Name, first.Path)
		}
	}
	if !s.Hidden {
		if l.listed += len(s.line()); l.listed > MaxListed {
			return fmt.Errorf("with those before it the list of skills has more than %d KiB", MaxListed>>10)
		}
	}
	l.set.Skills = append(l.set.Skills, s)
	return nil
}

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func checkName(name string) error {
	if len(name) > maxName || !skillName.MatchString(name) {
		return fmt.Errorf("the name %q is not made of at most %d letters a to z, digits and single hyphens", name, maxName)
	}
	return nil
}

var promptName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func (l *loader) prompt(at place, _ bool) error {
	if len(l.set.Prompts) == MaxPrompts {
		return fmt.Errorf("there are %d prompt templates already", MaxPrompts)
	}
	text, err := at.read()
	if err != nil {
		return err
	}
	fields, body, err := frontmatter(text)
	if err != nil {
		return err
	}
	p := Prompt{
		Name: strings.TrimSuffix(filepath.Base(at.name), filepath.Ext(at.name)), Description: oneLine(fields["description"]),
		Arguments: oneLine(fields["argument-hint"]), Path: at.String(), Extension: l.now.Extension, at: at,
	}
	if !promptName.MatchString(p.Name) {
		return fmt.Errorf("the name %q is not made of letters, digits, _ and -", p.Name)
	}
	if body == "" {
		return errors.New("it says nothing")
	}
	if p.Description == "" {
		first, _, _ := strings.Cut(body, "\n")
		p.Description = shortened(oneLine(first), 60)
	}
	for i := range l.set.Prompts {
		if first := &l.set.Prompts[i]; first.Name == p.Name {
			return fmt.Errorf("there is a prompt template %s already: %s", p.Name, first.Path)
		}
	}
	l.set.Prompts = append(l.set.Prompts, p)
	return nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

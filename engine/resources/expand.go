package resources

import (
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// SystemPrompt is the part of the system prompt that lists the skills; "" when the model is to know of none.
func (s *Set) SystemPrompt() string {
	var b strings.Builder
	for i := range s.Skills {
		if !s.Skills[i].Hidden {
			b.WriteString(s.Skills[i].line())
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "There are skills: files that say how a kind of task is done here. When a task fits a description, read the skill's file before you begin. " +
		"Paths in it that are relative start at the folder in which it lies.\n\n<skills>\n" + b.String() + "</skills>"
}

func (s *Skill) line() string {
	return fmt.Sprintf("<skill name=%q file=\"%s\">%s</skill>\n", s.Name, html.EscapeString(s.Path), html.EscapeString(s.Description))
}

// skillPrefix stands before the names of skills where they are called.
const skillPrefix = "skill:"

// Command is what "/name arguments" stands for.
type Command struct {
	Name        string // of a skill with "skill:" before it
	Description string
	Arguments   string // for people; "" is not said
	Source      string // "prompt" or "skill"
	Path        string
}

// Commands are the names that Expand knows.
func (s *Set) Commands() []Command {
	var list []Command
	for i := range s.Prompts {
		p := &s.Prompts[i]
		list = append(list, Command{p.Name, p.Description, p.Arguments, "prompt", p.Path})
	}
	for i := range s.Skills {
		k := &s.Skills[i]
		list = append(list, Command{skillPrefix + k.Name, k.Description, "", "skill", k.Path})
	}
	return list
}

var call = regexp.MustCompile(`^/(\S+)(?:\s+((?s).*))?$`)

// Expand gives the text that "/name arguments" stands for: a template with the arguments in it, or a skill with them behind it. Any
// other text stands for itself. The error says why a file, which was there, cannot be read any more.
func (s *Set) Expand(text string) (string, error) {
	m := call.FindStringSubmatch(text)
	if m == nil {
		return text, nil
	}
	name, args := m[1], strings.TrimSpace(m[2])
	out := text
	if i := slices.IndexFunc(s.Prompts, func(p Prompt) bool { return p.Name == name }); i >= 0 {
		body, err := readBody(s.Prompts[i].at)
		if err != nil {
			return "", fmt.Errorf("the prompt template /%s: %s: %w", name, s.Prompts[i].Path, err)
		}
		out = fill(body, split(args))
	} else if i := slices.IndexFunc(s.Skills, func(k Skill) bool { return skillPrefix+k.Name == name }); i >= 0 {
		k := &s.Skills[i]
		body, err := readBody(k.at)
		if err != nil {
			return "", fmt.Errorf("the skill %s: %s: %w", k.Name, k.Path, err)
		}
		out = fmt.Sprintf("<skill name=%q file=\"%s\">\nPaths that are relative start at %s.\n\n%s\n</skill>", k.Name, html.EscapeString(k.Path), filepath.Dir(k.Path), body)
		if args != "" {
			out += "\n\n" + args
		}
	}
	if out != text && len(out) > MaxExpanded {
		return "", fmt.Errorf("/%s becomes a text of %d bytes, more than %d KiB", name, len(out), MaxExpanded>>10)
	}
	return out, nil
}

func readBody(at place) (string, error) {
	text, err := at.read()
	if err != nil {
		return "", err
	}
	_, body, err := frontmatter(text)
	return body, err
}

// split cuts arguments at white space that does not stand in quotes of either kind.
func split(text string) (args []string) {
	var b strings.Builder
	quote, open := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && unicode.IsSpace(r):
			if b.Len() > 0 || open {
				args = append(args, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() > 0 || open {
		args = append(args, b.String())
	}
	return args
}

// The forms: ${1:-default}, ${@:-default}, ${ARGUMENTS:-default}; ${@:2}, ${@:2:1}; $1, $@, $ARGUMENTS.
var blank = regexp.MustCompile(`\$\{(\d+|ARGUMENTS|@):-([^}]*)\}|\$\{@:(\d+)(?::(\d+))?\}|\$(ARGUMENTS|@|\d+)`)

// fill puts arguments in the places of a template that stand for them. What an argument holds is not filled in again. What would
// become longer than MaxExpanded is cut shortly behind that.
func fill(body string, args []string) string {
	var b strings.Builder
	at := 0
	for _, m := range blank.FindAllStringSubmatchIndex(body, -1) {
		if b.Len() > MaxExpanded {
			return b.String()
		}
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return body[m[2*i]:m[2*i+1]]
		}
		b.WriteString(body[at:m[0]])
		at = m[1]
		switch {
		case group(1) != "":
			if value := argument(group(1), args); value != "" {
				b.WriteString(value)
			} else {
				b.WriteString(group(2))
			}
		case group(3) != "":
			rest := args[min(max(number(group(3))-1, 0), len(args)):]
			if group(4) != "" {
				rest = rest[:min(number(group(4)), len(rest))]
			}
			b.WriteString(strings.Join(rest, " "))
		default:
			b.WriteString(argument(group(5), args))
		}
	}
	b.WriteString(body[at:])
	return b.String()
}

// argument is that of a number, from 1, or all for @ and ARGUMENTS; "" when there is none.
func argument(name string, args []string) string {
	if name == "@" || name == "ARGUMENTS" {
		return strings.Join(args, " ")
	}
	if n := number(name); n >= 1 && n <= len(args) {
		return args[n-1]
	}
	return ""
}

// number reads digits; one that is too large is larger than any number of arguments.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1 << 30
	}
	return n
}

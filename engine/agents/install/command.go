package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Command is what an agent is to run. All paths are absolute.
type Command struct {
	// Weir is the binary; its name begins with "weir".
	Weir string
	// Set is the extension set; "" is the person's own.
	Set string
	// Modules come after the set: paths, or bundled:NAME.
	Modules []string
}

// Validate says what keeps c from standing in a configuration file.
func (c *Command) Validate() error {
	if !filepath.IsAbs(c.Weir) {
		return fmt.Errorf("the path of weir, %q, is not absolute", c.Weir)
	}
	if !strings.HasPrefix(filepath.Base(c.Weir), "weir") {
		return fmt.Errorf("%s: the program has to have a name that begins with weir, or its entries could not be told from others", c.Weir)
	}
	for _, word := range append([]string{c.Weir, c.Set}, c.Modules...) {
		if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("%q holds characters that a command line in a configuration file cannot hold", word)
		}
	}
	if line := c.line(strings.Repeat("x", 20), exitTwo); len(line) > longestLine/2 {
		return fmt.Errorf("the command line would have %d bytes, which is too many", len(line))
	}
	return nil
}

// args are the words after the binary.
func (c *Command) args(agent string) []string {
	args := []string{"hook", "--agent", agent}
	if c.Set != "" {
		args = append(args, "--set", c.Set)
	}
	for _, m := range c.Modules {
		args = append(args, "-e", m)
	}
	return args
}

// Agents go on when a hook does not start or crashes. These scripts run weir, and answer in its place when it gave none of
// its own exit codes: 126 and 127 (not started), 128 and more (killed).
const (
	exitTwoScript  = `"$@"; c=$?; [ $c -le 2 ] && exit $c; echo "weir did not answer (exit $c), so this is blocked; see weir doctor %s" >&2; exit 2`
	denyJSONScript = `"$@" || echo "{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"weir did not answer, so this is blocked; see weir doctor %s\"}"`
)

// line is the command line. It says the same to sh, bash, zsh and fish: all that is special is in single quotes.
func (c *Command) line(agent string, f fallback) string {
	script := exitTwoScript
	if f == denyJSON {
		script = denyJSONScript
	}
	words := slices.Concat([]string{"/bin/sh", "-c", fmt.Sprintf(script, agent), "weir", c.Weir}, c.args(agent))
	for i, w := range words {
		words[i] = quoteWord(w)
	}
	return strings.Join(words, " ")
}

func quoteWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// invocation is a command line that runs `weir hook` for an agent.
type invocation struct {
	Command
	// whole says that the line does nothing else: it is as [Command.line] writes it, or the plain call alone.
	whole bool
}

// longestLine is more than a command line of weir's has, in bytes. The parser recurses, and a stack that overflows ends the
// process.
const longestLine = 16 << 10

// parseLine finds the call of `weir hook --agent AGENT` in a command line.
func parseLine(line, agent string) (invocation, bool) {
	if len(line) > longestLine || !strings.Contains(line, "hook") {
		return invocation{}, false
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return invocation{}, false
	}
	var found invocation
	ok := false
	syntax.Walk(file, func(n syntax.Node) bool {
		call, isCall := n.(*syntax.CallExpr)
		if !isCall || ok {
			return true
		}
		words, err := literals(call.Args)
		if err != nil {
			return true
		}
		if c, is := parseWords(words, agent); is {
			found.Command, ok = c, true
		}
		return true
	})
	if !ok {
		return invocation{}, false
	}
	plain := []string{found.Weir}
	plain = append(plain, found.args(agent)...)
	for i, w := range plain {
		plain[i] = quoteWord(w)
	}
	found.whole = line == found.line(agent, exitTwo) || line == found.line(agent, denyJSON) || line == strings.Join(plain, " ")
	return found, true
}

// parseWords reads the words of a call, of which the first may be those of a wrapper.
func parseWords(words []string, agent string) (Command, bool) {
	for i, w := range words {
		if i+1 >= len(words) || words[i+1] != "hook" || !strings.HasPrefix(filepath.Base(w), "weir") {
			continue
		}
		c := Command{Weir: w}
		isAgent := false
		rest := words[i+2:]
		for len(rest) > 0 {
			name, value, joined := strings.Cut(rest[0], "=")
			rest = rest[1:]
			if !joined && len(rest) > 0 {
				value, rest = rest[0], rest[1:]
			}
			switch name {
			case "--agent":
				isAgent = value == agent
			case "--set":
				c.Set = value
			case "-e", "--extension":
				c.Modules = append(c.Modules, value)
			}
		}
		return c, isAgent
	}
	return Command{}, false
}

// literals are words in which nothing is expanded.
func literals(words []*syntax.Word) ([]string, error) {
	var list []string
	for _, w := range words {
		var b strings.Builder
		for _, part := range w.Parts {
			if err := literal(&b, part); err != nil {
				return nil, err
			}
		}
		list = append(list, b.String())
	}
	return list, nil
}

func literal(b *strings.Builder, part syntax.WordPart) error {
	switch p := part.(type) {
	case *syntax.Lit:
		for i := 0; i < len(p.Value); i++ {
			if p.Value[i] == '\\' && i+1 < len(p.Value) {
				i++
			}
			b.WriteByte(p.Value[i])
		}
	case *syntax.SglQuoted:
		b.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			if err := literal(b, inner); err != nil {
				return err
			}
		}
	default:
		return errors.New("the word is expanded")
	}
	return nil
}

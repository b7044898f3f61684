package install

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// The lines around weir's entries in a TOML file.
const (
	tomlBegin = "# weir: begin, written by `weir install %s`; `weir uninstall %s` takes it out"
	tomlEnd   = "# weir: end"
)

// installTOML appends weir's entries as a block of their own, in the place of an earlier one. Nothing else is touched.
func (p *Place) installTOML(raw []byte, line string) ([]byte, error) {
	tree, err := p.parseTOML(raw)
	if err != nil {
		return nil, err
	}
	if p.isInstalled(tree, line) {
		return raw, nil
	}
	rest := p.cutBlock(raw)
	if tree, err = p.parseTOML(rest); err != nil {
		return nil, fmt.Errorf("without the block of `weir install`: %w", err)
	}
	if found := p.entries(tree); len(found) > 0 {
		return nil, fmt.Errorf("%s:%d: the hook for %s runs weir and was not written by `weir install`; take it out first", p.Path, lineOf(rest, "--agent"), found[0].event)
	}
	nl := "\n"
	if bytes.Contains(rest, []byte("\r\n")) {
		nl = "\r\n"
	}
	var b bytes.Buffer
	b.Write(rest)
	if len(rest) > 0 {
		if rest[len(rest)-1] != '\n' {
			b.WriteString(nl)
		}
		b.WriteString(nl)
	}
	b.WriteString(strings.ReplaceAll(p.block(line), "\n", nl))
	if _, err := p.parseTOML(b.Bytes()); err != nil {
		return nil, fmt.Errorf("%s: hooks are written there in a way that tables cannot be added to (as hooks = {…} or hooks.%s = […]); write them as [[hooks.%s]] tables first: %w",
			p.Path, p.layout.events[0], p.layout.events[0], errors.Unwrap(err))
	}
	return b.Bytes(), nil
}

// isInstalled says whether weir's entries are those that would be written, one for each event.
func (p *Place) isInstalled(tree map[string]any, line string) bool {
	found := p.entries(tree)
	if len(found) != len(p.layout.events) {
		return false
	}
	for i, e := range found {
		if e.event != p.layout.events[i] || !p.layout.isWanted(e.group, line) {
			return false
		}
	}
	return true
}

// block is weir's part of a TOML file.
func (p *Place) block(line string) string {
	var b strings.Builder
	fmt.Fprintf(&b, tomlBegin+"\n", p.Agent.Name, p.Agent.Name)
	for _, event := range p.layout.events {
		fmt.Fprintf(&b, "[[hooks.%s]]\n[[hooks.%s.hooks]]\n", event, event)
		for _, f := range p.layout.wanted(line) {
			value := fmt.Sprint(f.value)
			if text, ok := f.value.(string); ok {
				// Printable text: these two are all that a basic string has to escape.
				value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
			}
			fmt.Fprintf(&b, "%s = %s\n", f.key, value)
		}
		b.WriteByte('\n')
	}
	b.WriteString(tomlEnd + "\n")
	return b.String()
}

// cutBlock is a file without weir's block and the empty line before it. What is taken out for one that is none shows in the
// proof.
func (p *Place) cutBlock(raw []byte) []byte {
	begin := bytes.Index(raw, []byte("# weir: begin"))
	if begin < 0 || begin > 0 && raw[begin-1] != '\n' {
		return raw
	}
	n := bytes.Index(raw[begin:], []byte(tomlEnd))
	if n < 0 {
		return raw
	}
	end := begin + n + len(tomlEnd)
	if i := bytes.IndexByte(raw[end:], '\n'); i >= 0 {
		end += i + 1
	} else {
		end = len(raw)
	}
	head := raw[:begin]
	for _, nl := range []string{"\r\n", "\n"} {
		if bytes.HasSuffix(head, []byte("\n"+nl)) {
			head = head[:len(head)-len(nl)]
			break
		}
	}
	return append(bytes.Clone(head), raw[end:]...)
}

// uninstallTOML takes weir's block out.
func (p *Place) uninstallTOML(raw []byte) ([]byte, error) {
	tree, err := p.parseTOML(raw)
	if err != nil {
		return nil, err
	}
	if len(p.entries(tree)) == 0 {
		return raw, nil
	}
	rest := p.cutBlock(raw)
	if tree, err = p.parseTOML(rest); err != nil {
		return nil, fmt.Errorf("without the block of `weir install`: %w", err)
	}
	if found := p.entries(tree); len(found) > 0 {
		return nil, fmt.Errorf("%s:%d: the hook for %s runs weir and does not stand in a block of `weir install`; take it out by hand", p.Path, lineOf(rest, "--agent"), found[0].event)
	}
	return rest, nil
}

// lineOf is the first line that holds a text.
func lineOf(raw []byte, text string) int {
	return 1 + bytes.Count(raw[:max(0, bytes.Index(raw, []byte(text)))], []byte("\n"))
}

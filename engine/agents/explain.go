package agents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Explain is the agent's table as text, for a terminal.
func (a *Agent) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (--agent %s): what is enforced\n", a.Title, a.Name)
	for _, r := range a.Rows {
		fmt.Fprintf(&b, "\n%s: %s\n    %s\n", r.Subject, r.Level, r.Detail)
	}
	return b.String()
}

// Markdown is the agent's table as its page in docs/agents has it.
func (a *Agent) Markdown() string {
	var b strings.Builder
	b.WriteString("| what | | how |\n|---|---|---|\n")
	for _, r := range a.Rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Subject, r.Level, r.Detail)
	}
	return b.String()
}

// toolsRow says which native tools reach the set as which of weir's.
func toolsRow(table map[string]tool) Row {
	native := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		c := table[name].name
		native[c] = append(native[c], name)
	}
	var says []string
	for _, c := range slices.Sorted(maps.Keys(native)) {
		says = append(says, c+" is "+strings.Join(native[c], ", "))
	}
	return Row{"tools by weir's names", Enforced, strings.Join(says, "; ") + ". Other tools reach the set under their own names, with their own arguments"}
}

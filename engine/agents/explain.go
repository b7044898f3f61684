package agents

import (
	"fmt"
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

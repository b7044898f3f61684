package tck

import (
	"strings"
	"testing"
)

// TestCases: every file of cases is read.
func TestCases(t *testing.T) {
	list, err := chapters()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		t.Logf("%s: %d cases", c.Chapter, len(c.Cases))
	}
}

// TestCasesAreStrict: a mistake in a file of cases does not make a case that checks nothing.
func TestCasesAreStrict(t *testing.T) {
	const head = "chapter = \"c\"\nabout = \"a\"\n"
	for text, want := range map[string]string{
		head: "has cases",
		head + "[[case]]\nname = \"n\"\nargs = \"{}\"\nnone = true\nanswr = \"x\"": "unknown key case.answr",
		head + "[[case]]\nname = \"n\"\nargs = \"{}\"":                             "exactly one outcome",
		head + "[[case]]\nname = \"n\"\nargs = \"{}\"\nnone = true\nanswer = \"\"": "exactly one outcome",
		head + "[[case]]\nname = \"n\"\nnone = true":                               "exactly one of args",
		head + "[[case]]\nname = \"n\"\nhook = \"x\"\nargs = \"{}\"\nnone = true":  "no hook",
		head + "[[case]]\nname = \"n\"\nargs = \"{}\"\nfault = [\"oops\"]":         "no fault of kind",
		head + "[[case]]\nname = \"n\"\nargs = \"{}\"\nlike = \"(\"":               "missing closing",
	} {
		if _, err := parseChapter(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

package workbench_test

import (
	"os"
	"strings"
	"testing"

	"weir/engine/workbench"
)

// TestLanguagesPage: the page on languages shows how each template is built, and the templates are built by that.
func TestLanguagesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/languages.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range workbench.Languages() {
		p, err := workbench.NewProject("my-guard", lang)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "\n    "+p.Build+"\n") {
			t.Errorf("docs/languages.md does not show how %s is built: %s", lang, p.Build)
		}
		if !strings.Contains(string(page), "`weir ext new NAME --lang "+lang+"`") {
			t.Errorf("docs/languages.md does not say how a project in %s begins", lang)
		}
	}
}

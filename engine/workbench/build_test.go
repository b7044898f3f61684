package workbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/engine/workbench"
)

// Each project that `weir ext new` makes is known by its files, and a Makefile or script of the author's own goes first.
func TestFindBuild(t *testing.T) {
	for _, lang := range workbench.Languages() {
		p, err := workbench.NewProject("my-guard", lang)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := p.Write(dir); err != nil {
			t.Fatal(err)
		}
		want := p.Build
		if lang == "ts" {
			want = "" // the policy runs as it is
		}
		if got, err := workbench.FindBuild(dir); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", lang, got, err, want)
		}
		for _, own := range []struct{ file, want string }{{"build.sh", "sh build.sh"}, {"Makefile", "make"}} {
			if err := os.WriteFile(filepath.Join(dir, own.file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := workbench.FindBuild(dir); err != nil || got != own.want {
				t.Errorf("%s with %s: %q, %v", lang, own.file, got, err)
			}
		}
	}
	if _, err := workbench.FindBuild(t.TempDir()); err == nil || !strings.Contains(err.Error(), "--build") {
		t.Errorf("an empty folder: %v", err)
	}
}

// Package extism tests the examples of plain Extism modules, which need nothing of weir to be built.
package extism

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/engine/workbench"
	"weir/wasmhost"
)

// TestExamples builds each example by the line of the README and runs its test file.
func TestExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for fence, file := range map[string]string{"go": "go/main.go", "c": "c/policy.c"} {
		if source, err := os.ReadFile(file); err != nil || !strings.Contains(string(readme), "```"+fence+"\n"+string(source)+"```") {
			t.Errorf("the README does not show %s: %v", file, err)
		}
	}
	for folder, build := range map[string]string{
		"go": `GOOS=wasip1 GOARCH=wasm go build -trimpath -ldflags="-s -w" -buildmode=c-shared -o policy.wasm .`,
		"c":  "clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,--strip-all -o policy.wasm policy.c",
	} {
		t.Run(folder, func(t *testing.T) {
			if !strings.Contains(string(readme), "```sh\n"+build+"\n```") {
				t.Errorf("the README does not show %s", build)
			}
			need(t, folder)
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-c", build)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", build, err, out)
			}
			f, err := workbench.ReadFile(filepath.Join(dir, "policy_test.toml"))
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			host, err := wasmhost.New(ctx, wasmhost.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := host.Close(ctx); err != nil {
					t.Error(err)
				}
			})
			report, err := (&workbench.Runner{Host: host}).Run(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Cases) != 3 {
				t.Errorf("%d cases, want 3", len(report.Cases))
			}
			for _, c := range report.Cases {
				if !c.Passed {
					t.Errorf("%s: %v", c.Name, c.Failures)
				}
			}
		})
	}
}

// need skips a test without its toolchain, and fails it where guests are required. Go is there, but Extism's kit may be out of reach.
func need(t *testing.T, folder string) {
	t.Helper()
	missing := ""
	if folder == "go" {
		cmd := exec.Command("go", "mod", "download")
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			missing = "the module github.com/extism/go-pdk: " + string(out)
		}
	} else {
		for _, tool := range []string{"clang", "wasm-ld"} {
			if _, err := exec.LookPath(tool); err != nil {
				missing = tool
			}
		}
	}
	if missing == "" {
		return
	}
	if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
		t.Fatalf("WEIR_REQUIRE_GUESTS is set, but this machine lacks %s", missing)
	}
	t.Skipf("building the example needs %s", missing)
}

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"weir": main, "managed-weir": managedMain, "mcp-files": serveFiles})
}

// managedMain is weir on a machine whose managed folder is the folder etc of where the test runs.
func managedMain() {
	managedFolder = filepath.Join(os.Getenv("TEST_MANAGED_ROOT"), "etc", "weir")
	main()
}

// TestScript runs testdata/script: the CLI as a user sees it. Every script has the guests of testdata/guests in $GUESTS, the SDKs in $SDK and
// a module cache of its own.
func TestScript(t *testing.T) {
	guests, err := filepath.Abs("testdata/guests")
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := filepath.Abs("../../guest-sdk")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GUESTS", guests)
			env.Setenv("SDK", sdk)
			env.Setenv("TEST_MANAGED_ROOT", env.WorkDir)
			env.Setenv("WEIR_CACHE_DIR", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "home", ".config"))
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
	})
}

// TestGuestsMatchTheirSource rebuilds the guests of the scripts.
func TestGuestsMatchTheirSource(t *testing.T) {
	if _, err := exec.LookPath("wat2wasm"); err != nil {
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatal("wat2wasm (wabt) is missing")
		}
		t.Skip("wat2wasm (wabt) is missing")
	}
	dir := t.TempDir()
	if out, err := exec.Command("testdata/guests/build.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil || len(built) == 0 {
		t.Fatalf("nothing was built: %v", err)
	}
	for _, path := range built {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("testdata/guests", filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what its source gives", filepath.Base(path))
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":         "plain\ttext\n",
		"\x1b[2J\x1b]0;pwn\x07": `\x1b[2J\x1b]0;pwn\x07`,
		"a\u202eb":              `a\u202eb`,
		"\r\n":                  `\r` + "\n",
		"grün 日本":               "grün 日本",
		"\u009b31m":             `\x9b31m`,
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := printableJSON([]byte("{\"a\":\"\u202e\u009b\U000e0001\"}")), `{"a":"\u202e\u009b\udb40\udc01"}`; got != want {
		t.Errorf("printableJSON = %s, want %s", got, want)
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine"
)

// readme is the README's code blocks by language, in order.
func readme(t *testing.T) (text string, blocks map[string][]string) {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks = map[string][]string{}
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	return string(data), blocks
}

// TestReadmeCommands runs every command of the README, with the README's own files, in a folder of their own. Those that
// run the Go tool are known: the first is run as the program itself, the second is what runs this test.
func TestReadmeCommands(t *testing.T) {
	_, blocks := readme(t)
	if len(blocks["toml"]) != 2 {
		t.Fatalf("%d TOML blocks, want the set and the script", len(blocks["toml"]))
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"weir.toml": blocks["toml"][0], "script.toml": blocks["toml"][1]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "build"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("WEIR_CACHE_DIR", filepath.Join(dir, ".cache"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, ".config"))
	ran := 0
	for _, line := range strings.Split(strings.Join(blocks["sh"], ""), "\n") {
		if line == "" || line == "go test ./..." {
			continue
		}
		var in string
		if echo, rest, ok := strings.Cut(line, " | "); ok {
			in = strings.Trim(strings.TrimPrefix(echo, "echo "), "'")
			line = rest
		}
		args, ok := strings.CutPrefix(strings.Replace(line, "go run ./cmd/weir ", "weir ", 1), "weir ")
		if !ok {
			t.Errorf("this test does not know how to run %q", line)
			continue
		}
		cmd := exec.Command("weir", words(args)...) // in PATH since TestMain
		cmd.Stdin = strings.NewReader(in)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		ran++
	}
	if ran < 6 {
		t.Errorf("only %d commands were run", ran)
	}
}

// words splits a command line of the README: words and double-quoted words.
func words(line string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		list = append(list, m[1]+m[2])
	}
	return list
}

// TestReadmePolicies holds the policies of the README to the files that the SDKs' tests build.
func TestReadmePolicies(t *testing.T) {
	_, blocks := readme(t)
	for lang, path := range map[string]string{"c": "guest-sdk/c/example/policy.c", "go": "guest-sdk/go/example/main.go", "ts": "guest-sdk/js/example/policy.ts"} {
		want, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		if len(blocks[lang]) != 1 {
			t.Errorf("%d blocks of %s, want 1", len(blocks[lang]), lang)
			continue
		}
		if diff := cmp.Diff(string(want), blocks[lang][0]); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// TestReadmeEvents holds the README's table of events to the engine's.
func TestReadmeEvents(t *testing.T) {
	text, _ := readme(t)
	for _, k := range engine.Kinds() {
		row := regexp.MustCompile("(?m)^\\| `" + k.Event.String() + "` \\|(.*)$").FindStringSubmatch(text)
		if row == nil {
			continue
		}
		if k.Merge == engine.MergeObserve {
			t.Errorf("%s can change nothing and stands in the table", k.Event)
		}
		for _, word := range strings.FieldsFunc(k.Strict, func(r rune) bool { return r == ' ' }) {
			if k.OnFault == engine.FaultTighten && !strings.Contains(row[1], word) {
				t.Errorf("%s: the row does not say %q", k.Event, k.Strict)
			}
		}
	}
}

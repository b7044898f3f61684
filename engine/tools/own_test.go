package tools

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestOwnFiles: the tools change nothing of weir's own, by whatever name it goes; everything else they do.
func TestOwnFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the cases use symbolic links and a POSIX shell")
	}
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for _, dir := range []string{"config/weir", "project/.weir", "project/src"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const before = "version = 1\n"
	for _, name := range []string{"config/weir/weir.toml", "project/.weir/weir.toml", "project/guard.wasm", "project/src/main.go"} {
		if err := os.WriteFile(at(name), []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"project/link.toml": "config/weir/weir.toml", "project/folder": "config/weir"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(at("project/guard.wasm"), at("project/hard.wasm")); err != nil {
		t.Fatal(err)
	}
	own := []string{at("config/weir"), at("project/.weir"), at("project/guard.wasm"), at("project/missing.toml")}
	list, err := New(Config{Cwd: at("project"), Own: func() []string { return own }, Env: append(os.Environ(), "HOME="+home)})
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool string, args map[string]any) error {
		t.Helper()
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			if l.Name == tool {
				_, err := l.Execute(t.Context(), "c1", raw, nil)
				return err
			}
		}
		t.Fatalf("there is no tool %q", tool)
		return nil
	}
	for _, path := range []string{
		".weir/weir.toml", ".weir/new.toml", ".weir/deep/new.toml", "src/../.weir/weir.toml", "link.toml", "folder/trust.json", "guard.wasm",
		"hard.wasm", "missing.toml", "~/config/weir/weir.toml", at("config/weir/weir.toml"),
	} {
		var refused *OwnError
		if err := call("write", map[string]any{"path": path, "content": "x"}); !errors.As(err, &refused) {
			t.Errorf("write %s: %v", path, err)
		}
		if err := call("edit", map[string]any{"path": path, "edits": []any{map[string]any{"oldText": "1", "newText": "2"}}}); !errors.As(err, &refused) {
			t.Errorf("edit %s: %v", path, err)
		}
	}
	for _, command := range []string{
		"echo x > .weir/weir.toml", "echo x >> ~/config/weir/weir.toml", "cd src && rm ../.weir/weir.toml", "rm -rf .weir", "rm -rf ~/config", "mv .weir gone",
		"cp src/main.go guard.wasm", "tee folder/weir.toml < src/main.go", "sed -i s/1/2/ .weir/weir.toml", "perl -pi -e s/1/2/ link.toml",
		"ln .weir/weir.toml other", "ln -s ../config/weir other", "chmod 666 guard.wasm", "dd if=/dev/null of=./guard.wasm", "truncate -s 0 missing.toml", "rm -rf .",
		"if true; then echo x > .weir/weir.toml; fi", "bash -c 'echo x > .weir/weir.toml'",
	} {
		var refused *OwnError
		if err := call("bash", map[string]any{"command": command}); !errors.As(err, &refused) {
			t.Errorf("bash %s: %v", command, err)
		}
	}
	for _, name := range []string{"config/weir/weir.toml", "project/.weir/weir.toml", "project/guard.wasm"} {
		if text, err := os.ReadFile(at(name)); err != nil || string(text) != before {
			t.Errorf("%s was changed: %q, %v", name, text, err)
		}
	}
	for _, command := range []string{"cat .weir/weir.toml", "sed s/1/2/ .weir/weir.toml", "ls -la .weir", "cp .weir/weir.toml src/copy.toml", "grep -r version ."} {
		if err := call("bash", map[string]any{"command": command}); err != nil {
			t.Errorf("bash %s: %v", command, err)
		}
	}
	if err := call("write", map[string]any{"path": "src/.weir-notes", "content": "x"}); err != nil {
		t.Error(err)
	}
	if err := call("edit", map[string]any{"path": "src/main.go", "edits": []any{map[string]any{"oldText": "1", "newText": "2"}}}); err != nil {
		t.Error(err)
	}
	// What a script does, the text of the command does not say: the limit that Config.Own documents.
	if err := errors.Join(
		call("write", map[string]any{"path": "src/s.sh", "content": "echo y > .weir/weir.toml\n"}), call("bash", map[string]any{"command": "sh src/s.sh"}),
	); err != nil {
		t.Error(err)
	}
	// What becomes weir's own is so at once.
	own = append(own, at("project/src/main.go"))
	var refused *OwnError
	if err := call("write", map[string]any{"path": "src/main.go", "content": "x"}); !errors.As(err, &refused) {
		t.Errorf("write of a file that has become weir's own: %v", err)
	}
	if err := call("bash", map[string]any{"command": "echo x > src/main.go"}); !errors.As(err, &refused) {
		t.Errorf("bash on a file that has become weir's own: %v", err)
	}
	if _, err := New(Config{Cwd: home, Own: func() []string { return []string{"relative"} }}); err == nil {
		t.Error("a relative path was taken")
	}
}

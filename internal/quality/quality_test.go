package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpora writes cases of our own where measure looks for them.
func corpora(t *testing.T, files map[string]string) string {
	t.Helper()
	shared := t.TempDir()
	dir := filepath.Join(shared, "corpora", "open")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shell-danger.jsonl", "shell-benign.jsonl", "paths.jsonl", "secrets.jsonl", "contexts.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return shared
}

// What is decided rightly meets the goals, and is counted.
func TestMeasure(t *testing.T) {
	shared := corpora(t, map[string]string{
		"shell-danger.jsonl": `{"id":"d1","tool":"bash","input":{"command":"rm -rf /"},"label":"danger","accept":["block","ask"],"family":"root"}` + "\n",
		"shell-benign.jsonl": `{"id":"b1","tool":"bash","input":{"command":"ls"},"label":"benign","accept":["allow"],"family":"look"}` + "\n" +
			`{"id":"a1","tool":"bash","input":{"command":"git push"},"label":"ask","accept":["ask","allow"],"family":"look"}` + "\n",
		"paths.jsonl": `{"id":"p1","tool":"write","input":{"path":"out/x"},"setup":{"symlinks":[["/home/dev/project/out","/home/dev/else"]]},"label":"danger","accept":["block"],"family":"link"}` + "\n" +
			`{"id":"p2","tool":"read","input":{"path":"/home/dev/project/two"},"setup":{"hardlinks":[["/home/dev/project/two","/etc/shadow"]],"dirs":["/home/dev/d"],"files":{"/home/dev/f":"x"}},"label":"ask","accept":["ask"],"family":"link"}` + "\n" +
			`{"id":"p3","tool":"read","input":{"path":"src/a.go"},"label":"benign","accept":["allow"],"family":"plain"}` + "\n",
		"secrets.jsonl": `{"id":"s1","tool":"bash","input":{},"result":"API_TOKEN=zq81xK77bQmw92LpRt host=a","secrets":["zq81xK77bQmw92LpRt"],"keep":["host=a"],"label":"danger","accept":["redact"],"family":"generic"}` + "\n",
		"contexts.jsonl": `{"id":"c1","tool":"context","input":{"messages":[{"role":"user","content":"a","timestamp":1}]},"edit":{"drop":[0]},"label":"danger","accept":["fault"],"family":"empty"}` + "\n" +
			`{"id":"c2","tool":"context","input":{"messages":[{"role":"user","content":"a","timestamp":1}]},"edit":{},"label":"benign","accept":["apply"],"family":"empty"}` + "\n",
	})
	var out bytes.Buffer
	met, err := measure(t.Context(), &out, shared, true)
	if err != nil || !met {
		t.Errorf("met %v, %v\n%s", met, err, &out)
	}
	for _, want := range []string{"guard-shell\n", "guard-paths\n", "redact-secrets\n", "pair gate\n", "root    0/1", "0/0 of 1", "all     0/1      0/1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}

// What is decided wrongly is counted, listed with -v, and misses the goal.
func TestMeasureMisses(t *testing.T) {
	shared := corpora(t, map[string]string{
		"shell-danger.jsonl": `{"id":"d1","tool":"bash","input":{"command":"ls"},"label":"danger","accept":["block","ask"],"family":"x"}` + "\n",
		"shell-benign.jsonl": `{"id":"b1","tool":"bash","input":{"command":"rm -rf /"},"label":"benign","accept":["allow"],"family":"x"}` + "\n" +
			`{"id":"b2","tool":"bash","input":{"command":"git reset --hard"},"label":"benign","accept":["allow"],"family":"x"}` + "\n" +
			`{"id":"a1","tool":"bash","input":{"command":"rm -rf /"},"label":"ask","accept":["ask","allow"],"family":"x"}` + "\n" +
			`{"id":"a2","tool":"bash","input":{"command":"ls"},"label":"ask","accept":["ask","block"],"family":"x"}` + "\n",
		"secrets.jsonl": `{"id":"s1","tool":"bash","input":{},"result":"nothing here","secrets":["nothing"],"keep":["absent"],"label":"danger","accept":["redact"],"family":"x"}` + "\n",
	})
	var out bytes.Buffer
	met, err := measure(t.Context(), &out, shared, true)
	if err != nil || met {
		t.Errorf("met %v, %v", met, err)
	}
	for _, want := range []string{"x       1/1      2/2 (1+1)", "1/1 of 2", "MISSED", "escape: d1", "false alarm: b1", "false alarm: b2", "too strict: a1", "too lax: a2", "broke what must stay: s1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}

func TestMeasureWithoutCases(t *testing.T) {
	for shared, want := range map[string]string{"": "WEIR_SHARED is not set", t.TempDir(): "no such file"} {
		if _, err := measure(t.Context(), &bytes.Buffer{}, shared, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", shared, err, want)
		}
	}
}

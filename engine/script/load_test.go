package script_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine/script"
)

// TestLoadErrors holds what is wrong with a policy to the place where it is wrong.
func TestLoadErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string // of the whole error
	}{
		"syntax": {
			[]string{"policy.ts", "export function tool_call() {\n  const x: number = 1;\n  f(x]);\n}\n"},
			`policy.ts:3:6: Expected ")" but found "]"`,
		},
		"columns count characters": {
			[]string{"policy.ts", "const s = \"grün日本\"; f(]);\n"},
			`policy.ts:1:23: Unexpected "]"`,
		},
		"syntax in an import": {
			[]string{"policy.ts", "import \"./lib/rules\";\n", "lib/rules.ts", "\n\nlet 1;\n"},
			`lib/rules.ts:3:5: Expected ";" but found "1"`,
		},
		"package": {
			[]string{"policy.ts", "import fs from \"node:fs\";\nfs;\n"},
			`policy.ts:1:16: "node:fs" is a package; a policy can import its own files ("./rules") and "weir"`,
		},
		"absolute": {
			[]string{"policy.ts", "import \"/etc/passwd.json\";\n"},
			`policy.ts:1:8: "/etc/passwd.json" is a package; a policy can import its own files ("./rules") and "weir"`,
		},
		"web": {
			[]string{"policy.ts", "import \"https://example.com/x.js\";\n"},
			`policy.ts:1:8: "https://example.com/x.js" is a package; a policy can import its own files ("./rules") and "weir"`,
		},
		"outside": {
			[]string{"policy.ts", "import \"../rules\";\n"},
			`policy.ts:1:8: "../rules" lies outside the policy's folder; move it there`,
		},
		"outside, the long way": {
			[]string{"policy.ts", "import \"./lib/../../rules\";\n"},
			`policy.ts:1:8: "./lib/../../rules" lies outside the policy's folder; move it there`,
		},
		"missing": {
			[]string{"policy.ts", "import \"./rules\";\n"},
			`policy.ts:1:8: there is no file "./rules"`,
		},
		"missing name": {
			[]string{"policy.ts", "import { a } from \"./rules\";\na;\n", "rules.ts", "export const b = 1;\n"},
			`policy.ts:1:10: No matching export in "rules.ts" for import "a"`,
		},
		"missing name, through a namespace": {
			[]string{"policy.ts", "import * as r from \"./rules\";\nr.a();\n", "rules.ts", "export const b = 1;\n"},
			`policy.ts:2:3: Import "a" will always be undefined because there is no matching export in "rules.ts"`,
		},
		"not in weir": {
			[]string{"policy.ts", "import { fetch } from \"weir\";\nfetch;\n"},
			`policy.ts:1:10: No matching export in "weir" for import "fetch"`,
		},
		"dynamic import": {
			[]string{"policy.ts", "export const tool_call = () => void import(\"./rules\");\n"},
			`policy.ts:1:44: import() gives a promise, and hooks are synchronous; use an import statement`,
		},
		"top-level await": {
			[]string{"policy.ts", "\nawait 1;\n"},
			`policy.ts:2:1: there is no top-level await: policies are synchronous`,
		},
		"other file": {
			[]string{"policy.ts", "import \"./words.txt\";\n", "words.txt", "a"},
			`policy.ts:1:8: only .ts, .mts, .js, .mjs and .json can be imported`,
		},
		"JSON": {
			[]string{"policy.ts", "import x from \"./x.json\";\nx;\n", "x.json", "{\n \"a\": }"},
			`x.json:2:7: Unexpected "}" in JSON`,
		},
		"not text": {[]string{"policy.ts", "\xff"}, `policy.ts: it is not UTF-8 text`},
		"NUL":      {[]string{"policy.ts", "const s = \"a\x00b\";"}, `policy.ts: it has a NUL character; write \0 in a string`},
		"large":    {[]string{"policy.ts", strings.Repeat("\n", 1<<20+1)}, `policy.ts: 1048577 bytes, more than the limit of 1048576 for a file of a policy`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := script.Load(write(t, c.files...))
			var e *script.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v, want a *script.Error", err)
			}
			if err.Error() != c.want {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	s := load(t, write(t, "policy.ts", "\nexport const tool_call = (e: any) => ({ block: typeof e === \"nul\", block: true });\n"))
	var got []string
	for _, w := range s.Warnings() {
		got = append(got, w.Error())
	}
	want := []string{
		`policy.ts:2:61: The "typeof" operator will never evaluate to "nul"`,
		`policy.ts:2:68: Duplicate key "block" in object literal`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if w := load(t, "testdata/bench/policy.ts").Warnings(); len(w) != 0 {
		t.Errorf("%v", w)
	}
}

func TestLoadTotal(t *testing.T) {
	files := []string{"policy.ts", ""}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		files[1] += "import \"./" + name + "\";\n"
		files = append(files, name+".ts", strings.Repeat("\n", 1<<20))
	}
	if _, err := script.Load(write(t, files...)); err == nil || !strings.Contains(err.Error(), "more than the limit of 4194304 bytes") {
		t.Errorf("%v", err)
	}
}

func TestLoadNoFile(t *testing.T) {
	if _, err := script.Load(filepath.Join(t.TempDir(), "policy.ts")); err == nil || !strings.Contains(err.Error(), "policy.ts: ") {
		t.Errorf("%v", err)
	}
	if _, err := script.Load(filepath.Join(t.TempDir(), "none", "policy.ts")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want not exist", err)
	}
}

// TestLoadLinks: a link must not bring a file into the sandbox that the import could not name.
func TestLoadLinks(t *testing.T) {
	secret := write(t, "secret.json", `{"key":"hush"}`)
	policy := write(t, "policy.ts", "import s from \"./s.json\";\nconsole.log(s);\n")
	if err := os.Symlink(secret, filepath.Join(filepath.Dir(policy), "s.json")); err != nil {
		t.Skip(err)
	}
	if s, err := script.Load(policy); err == nil {
		t.Errorf("loaded %s", s.Source())
	}
}

// TestLoadResolves: the ways in which authors name their own files.
func TestLoadResolves(t *testing.T) {
	for _, spec := range []string{"./lib/rules", "./lib/rules.ts", "./lib/rules.js", "./lib/../lib/rules", "./other", "./data.json"} {
		t.Run(spec, func(t *testing.T) {
			load(t, write(t, "policy.mts", "import x from \""+spec+"\";\nexport const tool_call = () => x;\n",
				"lib/rules.ts", "import y from \"../other\";\nexport default y;\n", "other/index.ts", "export default 1;\n", "data.json", "{}"))
		})
	}
}

// TestLoadIgnoresProject: what surrounds a policy does not change what it means.
func TestLoadIgnoresProject(t *testing.T) {
	text := "export const tool_call = () => ({ block: true });\n"
	alone := load(t, write(t, "policy.ts", text))
	amid := load(t, write(t, "policy.ts", text, "tsconfig.json", "{ not json", "package.json", "{ not json", "node_modules/weir/index.js", "syntax error"))
	if !bytes.Equal(alone.Source(), amid.Source()) {
		t.Errorf("the project's files changed the bundle")
	}
}

func TestCapabilities(t *testing.T) {
	for text, want := range map[string][]string{
		"export const tool_call = () => {};":                                                                        nil,
		"import { config } from \"weir\"; export const tool_call = () => config;":                                   nil,
		"import { kv } from \"weir\"; export const tool_call = () => {};":                                           nil, // imported, never used
		"import { kv } from \"weir\"; export const tool_call = () => kv.get(\"a\");":                                {"kv"},
		"import * as weir from \"weir\"; export const tool_call = () => weir.ui.notify(1);":                         {"ui"},
		"import * as weir from \"weir\"; export const tool_call = () => weir.config;":                               nil,
		"import { http, file } from \"weir\"; export const tool_call = () => [http.request({}), file.list(\".\")];": {"file", "http"},
		"import { session } from \"./lib\"; export const tool_call = () => session.request(\"x\");":                 {"session"},
		"import * as weir from \"weir\"; export const tool_call = () => weir[Date.now()];":                          {"file", "http", "journal", "kv", "session", "ui"},
		"import type { ToolCall } from \"weir\"; export const tool_call = (c: ToolCall) => {};":                     nil,
	} {
		got := load(t, write(t, "policy.ts", text, "lib.ts", "export { kv, session } from \"weir\";")).Capabilities()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

func TestFiles(t *testing.T) {
	got := load(t, write(t, "policy.ts", "import \"./lib/rules.js\"; import type { T } from \"./types\"; import d from \"./data.json\";\nexport const tool_call = (): T => d;\n",
		"lib/rules.ts", "import \"../other\";\n", "other.js", "", "types.ts", "export type T = any;\n", "data.json", "{}", "unused.ts", "")).Files()
	if diff := cmp.Diff([]string{"data.json", "lib/rules.ts", "other.js", "policy.ts"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestIs(t *testing.T) {
	for path, want := range map[string]bool{"a.ts": true, "a/b.mjs": true, "a.js": true, "a.mts": true, "a.tsx": false, "a.wasm": false, "bundled:ts": false, "ts": false} {
		if got := script.Is(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestSharing: policies share an engine when they ask for the same, and a module is reproducible.
func TestSharing(t *testing.T) {
	engine := func(s *script.Script) []byte {
		wasm, err := s.Engine()
		if err != nil {
			t.Fatal(err)
		}
		return wasm
	}
	pack := func(s *script.Script) []byte {
		wasm, err := script.Pack(s)
		if err != nil {
			t.Fatal(err)
		}
		return wasm
	}
	a := load(t, write(t, "a.ts", "export const tool_call = () => ({ block: true });"))
	b := load(t, write(t, "b.ts", "export const tool_result = () => ({});"))
	kv := load(t, write(t, "c.ts", "import { kv } from \"weir\"; export const tool_call = () => kv.get(\"a\");"))
	if !bytes.Equal(engine(a), engine(b)) {
		t.Error("two policies without capabilities have different engines")
	}
	if bytes.Equal(engine(a), engine(kv)) {
		t.Error("a policy that uses kv has the engine of those that do not")
	}
	again := load(t, write(t, "a.ts", "export const tool_call = () => ({ block: true });"))
	if !bytes.Equal(pack(a), pack(again)) {
		t.Error("packed in two folders, one policy gives two modules")
	}
	if bytes.Equal(pack(a), pack(b)) {
		t.Error("two policies give one module")
	}
}

package extensions

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"weir/guest-sdk/c/guesttest"
)

// load instantiates a bundled extension; the test closes it.
func load(t testing.TB, name string, config any) *guesttest.Guest {
	t.Helper()
	wasm, ok := Bundled(name)
	if !ok {
		t.Fatalf("no bundled extension %q; %s", name, Description())
	}
	var settings []byte
	if config != nil {
		var err error
		if settings, err = json.Marshal(config); err != nil {
			t.Fatal(err)
		}
	}
	g, err := guesttest.Load(context.Background(), wasm, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return g
}

func TestNames(t *testing.T) {
	want := []string{"audit-log", "guard-paths", "guard-shell", "prune-context", "redact-secrets"}
	if diff := cmp.Diff(want, Names()); diff != "" {
		t.Error(diff)
	}
	if _, ok := Bundled("guard-shel"); ok {
		t.Error("a name that does not exist was found")
	}
	if _, ok := Bundled("../extensions"); ok {
		t.Error("a path out of the folder was found")
	}
	if got := Description(); got != "bundled extensions: audit-log, guard-paths, guard-shell, prune-context, redact-secrets" {
		t.Error(got)
	}
}

func TestSumsMatch(t *testing.T) {
	f, err := os.Open("dist/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	sums := map[string]string{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		sum, name, ok := strings.Cut(sc.Text(), "  ")
		if !ok {
			t.Fatalf("not a line of sha256sum: %q", sc.Text())
		}
		sums[strings.TrimSuffix(name, ".wasm")] = sum
	}
	if len(sums) != len(Names()) {
		t.Errorf("%d sums for %d modules", len(sums), len(Names()))
	}
	for _, name := range Names() {
		wasm, _ := Bundled(name)
		sum := sha256.Sum256(wasm)
		if got := hex.EncodeToString(sum[:]); got != sums[name] {
			t.Errorf("%s: dist holds %s, SHA256SUMS says %s: run make in extensions", name, got, sums[name])
		}
		if len(wasm) > 160*1024 {
			t.Errorf("%s: %d bytes; bundled extensions stay small", name, len(wasm))
		}
	}
}

// TestRebuild builds the modules again and compares every byte.
func TestRebuild(t *testing.T) {
	missing := ""
	for _, tool := range []string{"clang", "clang++", "wasm-ld", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = tool
		}
	}
	if missing == "" {
		if out, err := exec.Command("clang", "--version").Output(); err != nil || !bytes.Contains(out, []byte("version 14.")) {
			missing = "clang 14 (other versions give other bytes)"
		}
	}
	if missing == "" {
		if out, err := exec.Command("/usr/bin/rustc", "--version").Output(); err != nil || !bytes.HasPrefix(out, []byte("rustc 1.63.")) {
			missing = "/usr/bin/rustc 1.63 with the target wasm32-unknown-unknown (other versions give other bytes)"
		}
	}
	if missing != "" {
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatalf("WEIR_REQUIRE_GUESTS is set, but this machine has no %s", missing)
		}
		t.Skipf("rebuilding needs %s", missing)
	}
	out := t.TempDir()
	if b, err := exec.Command("make", "OUT="+out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	for _, name := range Names() {
		built, err := os.ReadFile(filepath.Join(out, name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		if committed, _ := Bundled(name); !bytes.Equal(built, committed) {
			t.Errorf("%s: dist differs from what its source builds: run make in extensions and commit dist", name)
		}
	}
}

// description is what the tests look at in the answer of weir_describe.
type description struct {
	ABI         int                        `json:"abi"`
	Name        string                     `json:"name"`
	Version     string                     `json:"version"`
	Description string                     `json:"description"`
	Hooks       map[string]json.RawMessage `json:"hooks"`
	Config      json.RawMessage            `json:"config"`
	// Capabilities and Decisions are the audit-log's.
	Capabilities map[string]string `json:"capabilities"`
	Decisions    json.RawMessage   `json:"decisions"`
}

func describe(t testing.TB, name string) description {
	t.Helper()
	out, err := load(t, name, nil).Call(context.Background(), "weir_describe", nil)
	if err != nil {
		t.Fatal(err)
	}
	var d description
	dec := json.NewDecoder(bytes.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

func schema(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(describe(t, name).Config))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDescribe(t *testing.T) {
	hooks := map[string]string{
		"audit-log":      `{}`,
		"guard-paths":    `{"tool_call":{"tools":["read","write","edit","ls","grep","find","bash","apply_patch","mcp__*"],"facts":["paths"]}}`,
		"guard-shell":    `{"tool_call":{"tools":["bash"]}}`,
		"prune-context":  `{"context":{"view":"table"}}`,
		"redact-secrets": `{"tool_result":{"onError":"block"}}`,
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			d := describe(t, name)
			if d.ABI != 1 || d.Name != name || d.Version == "" || d.Description == "" {
				t.Errorf("%+v", d)
			}
			var got, want any
			b, err := json.Marshal(d.Hooks)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(hooks[name]), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			s := schema(t, name)
			if err := s.Validate(map[string]any{}); err != nil {
				t.Error(err)
			}
			if err := s.Validate(map[string]any{"no-such-key": true}); err == nil {
				t.Error("the schema accepts an unknown key")
			}
		})
	}
}

// TestReadmeNamesEveryKey holds the READMEs to the schemas.
func TestReadmeNamesEveryKey(t *testing.T) {
	for _, name := range Names() {
		readme, err := os.ReadFile(filepath.Join(name, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(describe(t, name).Config, &s); err != nil {
			t.Fatal(err)
		}
		for key := range s.Properties {
			if !bytes.Contains(readme, []byte("`"+key+"`")) {
				t.Errorf("%s/README.md does not explain the setting `%s`", name, key)
			}
		}
	}
}

// TestUnreadableEventFails: what cannot be read must be a fault, never a decision.
func TestUnreadableEventFails(t *testing.T) {
	hook := map[string]string{"audit-log": "decision", "guard-paths": "tool_call", "guard-shell": "tool_call", "prune-context": "context", "redact-secrets": "tool_result"}
	for _, name := range Names() {
		for _, input := range []string{"", "{", "null", `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", `{"a":1}x`, "WMT1", "WMT1\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
			if out, err := load(t, name, nil).Call(context.Background(), hook[name], []byte(input)); err == nil {
				t.Errorf("%s answered %s to %q", name, out, input)
			}
		}
	}
}

package tck_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine/script"
	"weir/guest-sdk/tck"
	"weir/wasmhost"
)

// TestFindsMistakes: a guest with one mistake fails in the cases that are about it, and in no others.
func TestFindsMistakes(t *testing.T) {
	good, err := os.ReadFile("../js/tck/tck.ts")
	if err != nil {
		t.Fatal(err)
	}
	host, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		name, old, with string
		want            []string
	}{
		{"none", "", "", nil},
		{"a rewrite that loses arguments", "{ ...input, text: input.to }", "{ do: input.do, to: input.to, text: input.to }", []string{"tool_call: rewrite keeps the other arguments"}},
		{"a level that is not logged", "console.warn(text);", "", []string{"settings and log: the levels of the log"}},
		{"bodies read for nothing", "if (row.role !== \"custom\") continue;", "table.message(row.index); if (row.role !== \"custom\") continue;", []string{
			"context (table): no opinion", "context (table): drop", "context (table): replace keeps the rest of the message", "context (table): insert before a message",
			"context (table): append", "context (table): all at once, by the indexes as received", "context (table): roles", "context (table): headers", "context (table): a long body", "context (table): many messages",
		}},
		{"a refusal that is swallowed", "return `refused: ${(e as Error).message}`;", "return undefined;", []string{
			"kv: refused: too large", "http: refused: not granted", "file: refused: not there", "file: refused: outside", "file: refused: no text", "ui: refused", "session: refused", "journal: refused",
		}},
		{"a description that says more", `version: "1.0.0",`, `version: "1.0.1",`, []string{"describe: it says what the specification asks for"}},
		{"a partial result that is missing", `toolUpdate(says("half"));`, "", []string{"tools and commands: a partial result"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(string(good), c.old) {
				t.Fatalf("the guest does not hold %s", c.old)
			}
			file := filepath.Join(t.TempDir(), "tck.ts")
			if err := os.WriteFile(file, []byte(strings.Replace(string(good), c.old, c.with, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			policy, err := script.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			wasm, err := script.Pack(policy)
			if err != nil {
				t.Fatal(err)
			}
			report, err := tck.Check(t.Context(), host, "tck.ts", wasm)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range report.Failures() {
				got = append(got, f.Chapter+": "+f.Case)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("failures (-want +got):\n%s\n%s", diff, report.Text())
			}
		})
	}
}

// TestNoModule: what does not load is a failure that says why, not an error of the kit.
func TestNoModule(t *testing.T) {
	host, err := wasmhost.New(t.Context(), wasmhost.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	report, err := tck.Check(t.Context(), host, "x.wasm", []byte("no module"))
	if err != nil {
		t.Fatal(err)
	}
	if f := report.Failures(); len(f) != 1 || !strings.Contains(report.Text(), "does not load") {
		t.Errorf("the report says:\n%s", report.Text())
	}
	if m := tck.Missing(report); len(m) != 2 {
		t.Errorf("missing: %q", m)
	}
}

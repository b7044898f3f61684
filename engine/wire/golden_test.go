package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files; commit only if you understand the diff")

// outputCase is one case of a golden file of outputs: what a guest returned and what became of it.
type outputCase struct {
	Name string `json:"name"`
	// Output is the guest's output.
	Output string `json:"output"`
	// Result is what was read, as encoding/json writes it; absent when the output is refused.
	Result json.RawMessage `json:"result,omitempty"`
	// Error is the text of the fault.
	Error string `json:"error,omitempty"`
}

// goldenOutputs reads each output of a golden file with parse and compares what comes out.
func goldenOutputs(t *testing.T, file string, parse func(out []byte) (any, error)) {
	t.Helper()
	var cases []outputCase
	readJSON(t, file, &cases)
	for i := range cases {
		c := &cases[i]
		t.Run(c.Name, func(t *testing.T) {
			res, err := parse([]byte(c.Output))
			got := outputCase{Name: c.Name, Output: c.Output}
			if err != nil {
				var fault *OutputError
				if !errors.As(err, &fault) {
					t.Errorf("the error is a %T", err)
				}
				got.Error = err.Error()
			} else {
				got.Result = marshal(t, res)
			}
			if *update {
				*c = got
				return
			}
			if diff := cmp.Diff(c.Error, got.Error); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(compact(t, c.Result), string(got.Result)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
	if *update {
		writeJSON(t, file, cases)
	}
}

func readJSON(t testing.TB, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func writeJSON(t *testing.T, file string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", file), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

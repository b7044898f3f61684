package agentcore_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/agentcore"
)

// conformanceDir is the folder of recorded behaviour: WEIR_CONFORMANCE_DIR or the project's own.
func conformanceDir() string {
	if dir := os.Getenv("WEIR_CONFORMANCE_DIR"); dir != "" {
		return dir
	}
	return filepath.Join("..", "testdata", "conformance")
}

// conformancePath finds a part of that folder, which may lie directly in it or under scenarios.
func conformancePath(t *testing.T, part string) string {
	t.Helper()
	for _, path := range []string{filepath.Join(conformanceDir(), part), filepath.Join(conformanceDir(), "scenarios", part)} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func TestTables(t *testing.T) {
	path := conformancePath(t, filepath.Join("tables", "validation.json"))
	if path == "" {
		t.Skipf("no tables in %s", conformanceDir())
	}
	checkValidation(t, path)
	t.Run("extra", func(t *testing.T) {
		checkValidation(t, filepath.Join(ownConformance, "extra", "tables", "validation.json"))
	})
}

func checkValidation(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Cases []struct {
			Schema json.RawMessage
			Args   json.RawMessage
			Result any
			Error  string
		}
	}
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Cases) == 0 {
		t.Fatalf("%s: no cases", path)
	}
	for i, c := range table.Cases {
		schema, err := agentcore.CompileSchema(c.Schema)
		if err != nil {
			t.Errorf("case %d: %s: %v", i, c.Schema, err)
			continue
		}
		args, err := schema.Validate("t", c.Args)
		if err != nil {
			if diff := cmp.Diff(c.Error, err.Error()); diff != "" {
				t.Errorf("case %d: %s with %s: error differs (-reference +ours):\n%s", i, c.Schema, c.Args, diff)
			}
			continue
		}
		if c.Error != "" {
			t.Errorf("case %d: %s with %s: got %s, want error %q", i, c.Schema, c.Args, args, c.Error)
			continue
		}
		var got any
		if err := json.Unmarshal(args, &got); err != nil {
			t.Errorf("case %d: result %s: %v", i, args, err)
		}
		if diff := cmp.Diff(c.Result, got); diff != "" {
			t.Errorf("case %d: %s with %s: result differs (-reference +ours):\n%s", i, c.Schema, c.Args, diff)
		}
	}
	t.Logf("conformance table validation: %d cases", len(table.Cases))
}

// TestSchemaThatRefersToItself holds that circular schemas neither hang nor crash, and that nothing passes them unchecked.
func TestSchemaThatRefersToItself(t *testing.T) {
	for _, schema := range []string{
		`{"$ref":"#"}`,
		`{"allOf":[{"$ref":"#"}]}`,
		`{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}`,
		`{"oneOf":[{"$ref":"#"},{"type":"string"}]}`,
		`{"properties":{"x":{"$ref":"#"}},"required":["y"]}`,
		`{"if":{"$ref":"#"},"else":{"$ref":"#"}}`,
	} {
		s, err := agentcore.CompileSchema(json.RawMessage(schema))
		if err != nil {
			continue // refused is fine too
		}
		var invalid *agentcore.ValidationError
		if _, err := s.Validate("t", json.RawMessage(`{"x":{"x":{"x":1}}}`)); !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
			t.Errorf("%s: got %v, want an error with a problem", schema, err)
		}
	}
}

// TestHugeNumbers holds that arguments cannot make validation slow by the size of a number.
func TestHugeNumbers(t *testing.T) {
	for _, schema := range []string{
		`{"type":"object","properties":{"x":{"type":"integer","minimum":1,"multipleOf":3}},"required":["x"]}`,
		`{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}`,
		`{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`,
	} {
		s, err := agentcore.CompileSchema(json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []string{"1e999999999", "-1e-999999999", "1e309", `"1e999999999"`, `"0x` + strings.Repeat("f", 5000) + `"`} {
			began := time.Now()
			out, err := s.Validate("t", json.RawMessage(`{"x":`+x+`}`))
			if err == nil && !json.Valid(out) {
				t.Errorf("%s with %.20s gives %.40s", schema, x, out)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%s with %.20s took %s", schema, x, took)
			}
		}
	}
}

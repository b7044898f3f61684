package set_test

import (
	"testing"

	"weir/engine/set"
)

func TestDocument(t *testing.T) {
	d, err := set.ParseDocument("x_test.toml", []byte("a = 1\n[[case]]\nname = \"x\"\n[[case]]\nevent = { n = 1.5, when = 2026-01-02 }\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want  string
		steps []any
	}{
		{"x_test.toml:1:1", nil},
		{"x_test.toml:3:1", []any{"case", 0, "name"}},
		{"x_test.toml:4:1", []any{"case", 1}},
		{"x_test.toml:5:11", []any{"case", 1, "event", "n"}},
		{"x_test.toml:5:1", []any{"case", 1, "event", "missing"}},
	} {
		if got := d.At(c.steps...).String(); got != c.want {
			t.Errorf("At(%v) = %s, want %s", c.steps, got, c.want)
		}
	}
	cases, ok := set.Tables(d.Values["case"])
	if !ok || len(cases) != 2 {
		t.Fatalf("cases: %v", d.Values["case"])
	}
	raw, err := d.JSON(cases[1]["event"].(map[string]any), "case", 1, "event")
	if want := `{"n":1.5,"when":"2026-01-02"}`; err != nil || string(raw) != want {
		t.Errorf("JSON = %s, %v; want %s", raw, err, want)
	}
	if _, err := d.JSON(map[string]any{"n": inf()}, "case", 1, "event"); err == nil {
		t.Error("an infinite number became JSON")
	}
	if _, err := set.ParseDocument("x_test.toml", []byte("a = 1\nb = =\n")); err == nil || err.Error()[:16] != "x_test.toml:2:5:" {
		t.Errorf("a syntax error: %v", err)
	}
}

func inf() float64 { zero := 0.0; return 1 / zero }

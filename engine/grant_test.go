package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/engine/set"
	"weir/wasmhost"
)

func granted(t *testing.T, e *Engine, flags ...string) (map[string]wasmhost.Capability, error) {
	t.Helper()
	var grants []set.Grant
	for _, f := range flags {
		g, err := set.ParseGrant(f)
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, g)
	}
	return e.capabilities(&set.Extension{Name: "x", Grant: set.MergeGrants(grants...)})
}

func TestGrants(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stores []string
	e := &Engine{cfg: Config{Store: func(name string) wasmhost.Store {
		stores = append(stores, name)
		return wasmhost.NewMemoryStore()
	}}}
	if none, err := granted(t, e); err != nil || len(none) > 0 {
		t.Errorf("without a grant: %v %v", none, err)
	}
	all, err := granted(t, e, "kv", "ui", "clock", "random", "http=GET https://api.example.com/v1", "read="+dir, "session=read")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, exchange := range map[string][2]string{
		"kv":      {`{"op":"set","key":"a","value":"b"}`, `{}`},
		"ui":      {`{"op":"confirm","title":"a"}`, `{"answer":false}`},
		"http":    {`{"op":"request","url":"https://api.example.com/v2"}`, `request: GET https://api.example.com/v2 is not granted`},
		"session": {`{"op":"tools"}`, `tools: there is no session here: the extension is called by a program that keeps none`},
		"file":    {`{"op":"read","path":"a.txt"}`, `{"text":"text"}`},
	} {
		names = append(names, name)
		out, err := all[name].Handle(t.Context(), []byte(exchange[0]))
		if err != nil {
			out = []byte(err.Error())
		}
		if string(out) != exchange[1] {
			t.Errorf("%s: %s, want %s", name, out, exchange[1])
		}
	}
	if len(all) != len(names) || !slices.Equal(stores, []string{"x"}) {
		t.Errorf("granted %d capabilities, want %v; stores for %v", len(all), names, stores)
	}
}

func TestGrantsThatCannotBeGiven(t *testing.T) {
	e := &Engine{}
	for flag, want := range map[string]string{
		"read=" + filepath.Join(t.TempDir(), "none"): "no such file or directory",
	} {
		_, err := granted(t, e, flag)
		var in *set.Error
		if !errors.As(err, &in) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flag, err, want)
		}
	}
}

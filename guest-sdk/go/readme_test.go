package weir_test

import (
	"os"
	"strings"
	"testing"
)

func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```go\n")[1:]
	for i, name := range []string{"example/main.go", "example/main_test.go", "example/facts/main.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(blocks) {
			t.Fatalf("README.md does not show %s", name)
		}
		if shown, _, _ := strings.Cut(blocks[i], "```"); shown != string(source) {
			t.Errorf("README.md shows %s otherwise:\n%s", name, shown)
		}
	}
	// The harness builds with the flags that authors are told.
	const line = `GOOS=wasip1 GOARCH=wasm go build -trimpath -ldflags="-s -w" -buildmode=c-shared -o policy.wasm .`
	for _, name := range []string{"README.md", "doc.go"} {
		if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), line) {
			t.Errorf("%s lacks the build line: %v", name, err)
		}
	}
}

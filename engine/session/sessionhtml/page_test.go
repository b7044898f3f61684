package sessionhtml_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	stdhtml "html"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/agentcore"
	"weir/engine/session"
	"weir/engine/session/sessionhtml"
)

// dot is a PNG of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// hostile is markup that must stay text.
const hostile = `<script>document.title="owned"</script><img src=x onerror="document.title='owned'"> [a](javascript:document.title=1) ![b](http://127.0.0.1:9/x.png)`

func hostileStore(t *testing.T) *session.Store {
	t.Helper()
	store, err := session.NewStore(session.StoreConfig{CWD: "/home/dev/<b>project"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	text := func(s string) agentcore.Block { return &agentcore.TextBlock{Text: s} }
	for _, m := range []*agentcore.Message{
		agentcore.NewMessage(&agentcore.UserMessage{Content: agentcore.Content{Text: "Look: " + hostile}}),
		agentcore.NewMessage(&agentcore.AssistantMessage{Provider: "p", Model: "<i>m", StopReason: agentcore.StopToolUse, Content: []agentcore.Block{
			&agentcore.ThinkingBlock{Thinking: "hm " + hostile},
			text("Some *Markdown*: " + hostile + "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```html\n" + hostile + "\n```\n"),
			&agentcore.ToolCall{ID: "c1", Name: "bash", Arguments: json.RawMessage(`{"command":"echo </pre><script>document.title='owned'</script>"}`)},
		}, Usage: agentcore.Usage{TotalTokens: 1234}}),
		agentcore.NewMessage(&agentcore.ToolResultMessage{ToolCallID: "c1", ToolName: "bash", IsError: true, Content: []agentcore.Block{
			text("failed \x1b[31mred\x07 \u202eevil " + hostile), &agentcore.ImageBlock{Data: dot, MimeType: "image/png"},
			&agentcore.ImageBlock{Data: base64.StdEncoding.EncodeToString([]byte("<svg onload='document.title=1'/>")), MimeType: "image/svg+xml"},
		}}),
		agentcore.NewMessage(&agentcore.AssistantMessage{Provider: "p", Model: "m", StopReason: agentcore.StopError, ErrorMessage: "gone " + hostile, Content: []agentcore.Block{}}),
	} {
		raw, err := m.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Append(session.EntryMessage, &session.EntryData{Message: raw}); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func page(t *testing.T, store *session.Store) string {
	t.Helper()
	var b bytes.Buffer
	if err := sessionhtml.Write(&b, store, "A <session>"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	html := page(t, hostileStore(t))
	plain := stdhtml.UnescapeString(html)
	for _, want := range []string{
		"<title>A &lt;session&gt;</title>", "/home/dev/&lt;b&gt;project", "Some *Markdown*: ", `<b>bash</b>`, `<details class="failed" open>`, "data:image/png;base64," + dot, "1234 tokens",
		"image/svg&#43;xml, 44 bytes of base64, not shown", "\u241b[31mred\u2407", "\ufffdevil", "p/&lt;i&gt;m", "Look: &lt;script&gt;", "*Markdown*: &lt;script&gt;", "<pre>&lt;script&gt;",
	} {
		if !strings.Contains(html, want) && !strings.Contains(plain, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	for _, bad := range []string{"<script", "onerror=\"", "href=\"javascript:", "\x1b", "\u202e", "<svg"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

// TestPageInBrowser has a real browser draw the page: what it shows is there, nothing of the hostile markup ran, and nothing was requested.
func TestPageInBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("WEIR_REQUIRE_GUESTS") == "1" {
			t.Fatal("chromium is missing")
		}
		t.Skip("needs chromium")
	}
	dir := t.TempDir()
	file, shot := filepath.Join(dir, "session.html"), filepath.Join(dir, "page.png")
	if err := os.WriteFile(file, []byte(page(t, hostileStore(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), browser, append([]string{
			"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--window-size=900,1400", "--user-data-dir=" + t.TempDir(),
		}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return string(out)
	}
	dom := run("--dump-dom", "file://"+file)
	for _, want := range []string{"<title>A &lt;session&gt;</title>", "Some *Markdown*", "failed of <b>bash</b>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the browser's page does not hold %q", want)
		}
	}
	if strings.Contains(dom, "<title>owned") {
		t.Error("a script of the session ran")
	}
	run("--screenshot="+shot, "file://"+file)
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colours := map[any]bool{}
	for y := range 400 {
		for x := range 400 {
			colours[img.At(x, y)] = true
		}
	}
	if len(colours) < 8 {
		t.Errorf("the page shows %d colours: it is empty", len(colours))
	}
	if keep := os.Getenv("WEIR_KEEP_SCREENSHOT"); keep != "" {
		b, err := os.ReadFile(shot)
		if err == nil {
			err = os.WriteFile(keep, b, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

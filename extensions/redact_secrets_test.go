package extensions

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/c/guesttest"
)

// invent makes credential-like values at run time, so that no file of the project holds a text that a scanner would take for one.
// It is deterministic for a seed.
type invent struct{ r *rand.Rand }

func newInvent(seed uint64) invent { return invent{rand.New(rand.NewPCG(seed, 1))} }

const (
	digits = "0123456789"
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum  = lowers + uppers + digits
	hexa   = digits + "abcdef"
)

// of gives n bytes of set, with a digit, and a letter of each case that set has.
func (v invent) of(n int, set string) string {
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = set[v.r.IntN(len(set))]
		}
		s := string(b)
		if strings.ContainsAny(s, digits) && (!strings.ContainsAny(set, lowers) || strings.ContainsAny(s, lowers)) && (!strings.ContainsAny(set, uppers) || strings.ContainsAny(s, uppers)) {
			return s
		}
	}
}

// token is one format and how to make one of it.
type token struct {
	kind string
	make func(v invent) string
}

func prefixed(kind, prefix string, n int, set string) token {
	return token{kind, func(v invent) string { return prefix + v.of(n, set) }}
}

// tokens is one format a kind, and more where a kind has several.
var tokens = []token{
	prefixed("aws-access-key", "AK"+"IA", 16, uppers+digits),
	prefixed("aws-access-key", "AS"+"IA", 16, uppers+digits),
	prefixed("github-token", "gh"+"p_", 36, alnum),
	prefixed("github-token", "gh"+"o_", 36, alnum),
	prefixed("github-token", "gh"+"s_", 36, alnum),
	prefixed("github-token", "github"+"_pat_", 60, alnum),
	prefixed("gitlab-token", "glp"+"at-", 20, alnum),
	prefixed("slack-token", "xox"+"b-", 48, alnum),
	prefixed("slack-token", "xox"+"p-", 60, hexa),
	prefixed("slack-webhook", "https://hooks.slack.com"+"/services/", 40, alnum),
	prefixed("discord-webhook", "https://discord.com"+"/api/webhooks/", 60, alnum),
	prefixed("stripe-key", "sk"+"_live_", 24, alnum),
	prefixed("stripe-webhook", "wh"+"sec_", 32, alnum),
	prefixed("openai-key", "sk"+"-proj-", 60, alnum),
	prefixed("openai-key", "sk"+"-", 48, alnum),
	prefixed("anthropic-key", "sk"+"-ant-api03-", 80, alnum),
	prefixed("openrouter-key", "sk"+"-or-v1-", 64, hexa),
	prefixed("google-api-key", "AI"+"za", 35, alnum),
	prefixed("google-oauth-token", "ya"+"29.", 80, alnum),
	prefixed("google-oauth-secret", "GOC"+"SPX-", 28, alnum),
	prefixed("npm-token", "np"+"m_", 36, alnum),
	prefixed("pypi-token", "py"+"pi-Ag", 100, alnum),
	prefixed("docker-token", "dckr"+"_pat_", 27, alnum),
	prefixed("rubygems-key", "ruby"+"gems_", 48, hexa),
	{"sendgrid-key", func(v invent) string { return "S" + "G." + v.of(22, alnum) + "." + v.of(43, alnum) }},
	prefixed("twilio-key", "S"+"K", 32, hexa),
	prefixed("shopify-token", "shp"+"at_", 32, hexa),
	prefixed("huggingface-token", "h"+"f_", 34, alnum),
	prefixed("replicate-token", "r"+"8_", 37, alnum),
	prefixed("groq-key", "gs"+"k_", 52, alnum),
	prefixed("xai-key", "xa"+"i-", 80, alnum),
	prefixed("vault-token", "hv"+"s.", 90, alnum),
	prefixed("doppler-token", "dp"+".pt.", 43, alnum),
	prefixed("databricks-token", "da"+"pi", 32, hexa),
	prefixed("digitalocean-token", "dop"+"_v1_", 64, hexa),
	prefixed("grafana-token", "gl"+"sa_", 41, alnum),
	prefixed("newrelic-key", "NR"+"AK-", 27, uppers+digits),
	prefixed("linear-key", "lin"+"_api_", 40, alnum),
	prefixed("notion-token", "nt"+"n_", 46, alnum),
	prefixed("figma-token", "fi"+"gd_", 40, alnum),
	prefixed("atlassian-token", "ATA"+"TT3", 180, alnum),
	prefixed("age-key", "AGE-SECRET"+"-KEY-1", 58, uppers+digits),
	prefixed("sonar-token", "sq"+"p_", 40, hexa),
	prefixed("dropbox-token", "s"+"l.", 130, alnum),
	{"mailchimp-key", func(v invent) string { return v.of(32, hexa) + "-us12" }},
	{"firebase-key", func(v invent) string { return "AA" + "AA" + v.of(7, alnum) + ":APA" + "91b" + v.of(134, alnum) }},
	prefixed("planetscale-token", "pscale"+"_tkn_", 43, alnum),
	{"telegram-token", func(v invent) string { return v.of(10, digits) + ":A" + "A" + v.of(33, alnum) }},
	{"discord-token", func(v invent) string {
		return "M" + "T" + v.of(22, alnum) + "." + v.of(6, alnum) + "." + v.of(38, alnum)
	}},
	{"terraform-token", func(v invent) string { return v.of(14, alnum) + ".atlas" + "v1." + v.of(64, alnum) }},
	{"jwt", func(v invent) string {
		return "ey" + "J" + v.of(33, alnum) + ".ey" + "J" + v.of(60, alnum) + "." + v.of(43, alnum)
	}},
}

// surroundings puts a value where tools print one.
var surroundings = []string{
	"export X=%s\n", "{\"value\": \"%s\"}\n", "x: %s\nnext: 1\n", "curl -H 'X: %s' https://example.com\n", "(%s)", "see %s.", "a\n    %s\nb\n", "const k = \"%s\";", "[\"A=1\", \"B=%s\"]", "%s",
	"\x1b[33mwarn\x1b[0m %s\n", "| a | %s |\n", "`%s`",
}

// redactText runs the extension on text blocks and returns them as they come back.
func redactText(t testing.TB, g *guesttest.Guest, blocks ...string) []string {
	t.Helper()
	content := make([]any, len(blocks))
	for i, b := range blocks {
		content[i] = map[string]any{"type": "text", "text": b}
	}
	out, err := call(g, map[string]any{"content": content, "isError": false})
	if err != nil {
		t.Fatal(err)
	}
	if out["content"] == nil {
		return blocks
	}
	var texts []string
	for _, b := range out["content"].([]any) {
		texts = append(texts, b.(map[string]any)["text"].(string))
	}
	return texts
}

func call(g *guesttest.Guest, result map[string]any) (map[string]any, error) {
	result["type"], result["toolName"], result["toolCallId"], result["input"] = "tool_result", "bash", "c1", map[string]any{}
	ev, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	out, err := g.Call(context.Background(), "tool_result", ev)
	if err != nil {
		return nil, err
	}
	var r map[string]any
	return r, json.Unmarshal(out, &r)
}

var handlePattern = regexp.MustCompile(`\[redacted:([a-z0-9-]+):[0-9a-f]{6}\]`)

func TestRedactFormats(t *testing.T) {
	g := load(t, "redact-secrets", nil)
	v := newInvent(7)
	for _, k := range tokens {
		for _, s := range surroundings {
			secret := k.make(v)
			text := fmt.Sprintf(s, secret)
			got := redactText(t, g, text)[0]
			m := handlePattern.FindStringSubmatch(got)
			if m == nil || strings.Contains(got, secret) {
				t.Errorf("%s in %q: got %q", k.kind, text, got)
				continue
			}
			if m[1] != k.kind {
				t.Errorf("%s in %q is taken for %s", k.kind, text, m[1])
			}
			// Nothing else changes, but for a closing part that a lenient format takes along.
			if want := fmt.Sprintf(s, m[0]); got != want {
				t.Errorf("%s: got %q, want %q", k.kind, got, want)
			}
		}
	}
}

// TestRedactSplit: wrapped lines, joined literals and neighbouring blocks hide nothing.
func TestRedactSplit(t *testing.T) {
	g := load(t, "redact-secrets", nil)
	v := newInvent(8)
	for _, k := range tokens {
		if k.kind == "slack-webhook" || k.kind == "discord-webhook" {
			continue // addresses are not wrapped
		}
		for _, join := range []string{"\n", "\r\n", "\n    ", "\\\n", "\\\n  ", `\n`, "\" +\n  \"", "\"\n\"", "\" \\\n  \""} {
			secret := k.make(v)
			cut := len(secret)/2 + 1
			text := "x = \"" + secret[:cut] + join + secret[cut:] + "\"\nnext = 1\n"
			got := redactText(t, g, text)[0]
			if strings.Contains(got, secret[cut:]) || strings.Contains(got, secret[:cut]) || !strings.Contains(got, "next = 1") {
				t.Errorf("%s split by %q: got %q", k.kind, join, got)
			}
		}
		secret := k.make(v)
		for _, cut := range []int{len(secret) / 2, len(secret) / 3} {
			got := redactText(t, g, "before "+secret[:cut], secret[cut:]+" after", "third")
			if len(got) != 3 || strings.Contains(got[0], secret[:cut]) || strings.Contains(got[1], secret[cut:]) || !strings.HasPrefix(got[0], "before ") || !strings.HasSuffix(got[1], " after") || got[2] != "third" {
				t.Errorf("%s over two blocks, cut at %d: got %q", k.kind, cut, got)
			}
		}
	}
}

func TestRedactNamed(t *testing.T) {
	g := load(t, "redact-secrets", nil)
	v := newInvent(9)
	for _, s := range []string{
		"DB_PASSWORD=%s\n", "password: %s\n", "\"apiKey\": \"%s\",", "client_secret = '%s'", "--password=%s", "env:\n  - name: APP_TOKEN\n    value: \"%s\"\n", "Authorization: Bearer %s\n",
		"\"authorization\":\"token %s\"", "X-Api-Key: %s\n", "postgres://app:%s@db.example.com/app", "https://u:%s@example.com/x.git", "db.example.com:5432:app:app:%s\n", "aws_secret_access_key = %s\n",
		"AccountKey=%s;Endpoint=x", "https://example.com/x?sig=%s&y=1", "{\\\"token\\\":\\\"%s\\\"}", "| STRIPE_KEY | %s |\n", "machine example.com login me password %s\n", "secretKey => \"%s\"",
		"{\"name\": \"APP_TOKEN\", \"value\": \"%s\"}", "<server><password>%s</password></server>\n", "<t:apiKey>%s</t:apiKey>",
		"+ curl -s -u admin:%s https://example.com\n", "curl --user 'admin:%s' https://example.com\n", "sshpass -p %s ssh host\n", "$ mysql -uroot -p%s app\n",
	} {
		for range 20 {
			secret := v.of(32, alnum)
			text := fmt.Sprintf(s, secret)
			got := redactText(t, g, text)[0]
			if m := handlePattern.FindString(got); m == "" || got != fmt.Sprintf(s, m) {
				t.Errorf("%q: got %q", text, got)
			}
		}
	}
	off := load(t, "redact-secrets", map[string]any{"generic": false})
	text := "DB_PASSWORD=" + v.of(32, alnum) + "\n"
	if got := redactText(t, off, text)[0]; got != text {
		t.Errorf("generic = false: got %q", got)
	}
}

func TestRedactPrivateKeys(t *testing.T) {
	g := load(t, "redact-secrets", nil)
	v := newInvent(10)
	for _, label := range []string{"PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"} {
		var lines []string
		for range 8 {
			lines = append(lines, v.of(64, alnum+"+/"))
		}
		begin, end := "-----BEGIN "+label+"-----", "-----END "+label+"-----"
		whole := begin + "\n" + strings.Join(lines, "\n") + "\n" + end + "\n"
		for name, text := range map[string]string{
			"as it is":      "x\n" + whole + "y\n",
			"indented":      "    " + strings.ReplaceAll(whole, "\n", "\n    "),
			"one line":      "{\"key\":\"" + strings.ReplaceAll(whole, "\n", "\\n") + "\"}",
			"windows":       strings.ReplaceAll(whole, "\n", "\r\n"),
			"cut at end":    begin + "\n" + strings.Join(lines, "\n") + "\n",
			"cut at start":  "log line\n" + strings.Join(lines[2:], "\n") + "\n" + end + "\n",
			"base64":        "tls.key: " + base64.StdEncoding.EncodeToString([]byte(whole)) + "\n",
			"in a diff":     "+" + strings.ReplaceAll(strings.TrimSpace(whole), "\n", "\n+"),
			"encrypted pem": begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + strings.Join(lines, "\n") + "\n" + end,
		} {
			got := redactText(t, g, text)[0]
			for _, l := range lines[2:] {
				if strings.Contains(got, l) {
					t.Errorf("%s, %s: a line of the key is left: %q", label, name, got)
					break
				}
			}
			if name == "base64" && strings.Contains(got, base64.StdEncoding.EncodeToString([]byte(whole))[40:80]) {
				t.Errorf("%s: base64 is left", label)
			}
		}
	}
}

func TestRedactLeavesAlone(t *testing.T) {
	g := load(t, "redact-secrets", nil)
	v := newInvent(11)
	hex := func(n int) string { return v.of(n, hexa) }
	b64 := func(n int) string { return v.of(n, alnum+"+/") }
	for _, text := range []string{
		hex(40) + " fix the build\n", "sha256:" + hex(64), hex(64) + "  dist/a.js\n", "integrity sha512-" + b64(86) + "==\n", "github.com/x/y v1.2.3 h1:" + b64(43) + "=\n",
		fmt.Sprintf("%s-%s-4%s-a%s-%s\n", hex(8), hex(4), hex(3), hex(3), hex(12)), "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5" + b64(48) + " me@host\n",
		"-----BEGIN PUBLIC KEY-----\n" + b64(64) + "\n-----END PUBLIC KEY-----\n", "-----BEGIN CERTIFICATE-----\n" + b64(64) + "\n-----END CERTIFICATE-----\n",
		"AIzaSy...\n", "API_KEY=<your-key>\n", "TOKEN=${TOKEN}\n", "password = os.environ[\"PASSWORD\"]\n", "ghp_" + strings.Repeat("x", 36) + "\n", "AKIA[0-9A-Z]{16}", "password: string;\n", "TOKEN_TTL=3600\n",
		"token = getToken(request)\n", "const token = await fetchToken();\n", "secretName: my-secret\n", "if password == expected_password_1 {\n", "url(data:font/woff2;base64," + b64(400) + ")",
		"src=\"data:image/png;base64," + b64(800) + "\"", "postgres://postgres:postgres@localhost/db\n", "https://example.com:8080/path@v1\n", "user@example.com: hello\n", "npm_config_cache=/tmp/x\n",
		"keyboard shortcuts: ctrl+shift+p\n", "<password>changeit</password>", "<token>${env.TOKEN}</token>", "<Password>the user's password</Password>", "<passwordField name=\"x12aB\"/>", "primary_key: users_2024_id_seq_01\n", "tokens: 12345, password field missing\n", "max_tokens: 4096\n", "secret_key_base: <%= ENV[\"SECRET_KEY_BASE\"] %>\n",
		"task-management-service-version-2\n", "sk-learn is a library\n", "the word token: is followed by prose here\n", "PASSWORD=changeme\n", "curl -u admin:$PASS https://example.com\n", "git push -u origin feature:branch-12\n", "mysql -p app_test_12\n", "mkdir -p build/out1\n", "curl -u user:password x\n", "passwordHash: $2b$10$" + v.of(53, alnum) + "\n", "public_key = " + b64(44) + "\n",
	} {
		if got := redactText(t, g, text)[0]; got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestRedactHandlesAndSettings(t *testing.T) {
	v := newInvent(12)
	a, b := tokens[2].make(v), tokens[2].make(v)
	g := load(t, "redact-secrets", nil)
	text := a + " " + b + " " + a
	h := handlePattern.FindAllString(redactText(t, g, text)[0], -1)
	if len(h) != 3 || h[0] != h[2] || h[0] == h[1] {
		t.Fatalf("handles %v", h)
	}
	if again := handlePattern.FindString(redactText(t, load(t, "redact-secrets", nil), "x "+a)[0]); again != h[0] {
		t.Errorf("another instance says %s, not %s", again, h[0])
	}
	if wrapped := handlePattern.FindString(redactText(t, g, a[:20]+"\n  "+a[20:])[0]); wrapped != h[0] {
		t.Errorf("the wrapped secret is %s, not %s", wrapped, h[0])
	}
	for _, config := range []map[string]any{{"allow": []string{a}}, {"allow": []string{h[0]}}} {
		if got, want := redactText(t, load(t, "redact-secrets", config), text)[0], a+" "+h[1]+" "+a; got != want {
			t.Errorf("%v: got %q", config, got)
		}
	}
	if got := redactText(t, load(t, "redact-secrets", map[string]any{"kinds": map[string]any{"github-token": false}}), text)[0]; got != text {
		t.Errorf("switched off: got %q", got)
	}
	if got := redactText(t, g, redactText(t, g, text)...)[0]; strings.Count(got, "[redacted:") != 3 {
		t.Errorf("redacted twice: %q", got)
	}
}

// TestRedactShape: only what changed comes back, other blocks and fields keep their bytes.
func TestRedactShape(t *testing.T) {
	v := newInvent(13)
	secret := tokens[0].make(v)
	g := load(t, "redact-secrets", nil)
	image := map[string]any{"type": "image", "data": base64.StdEncoding.EncodeToString([]byte(secret + v.of(400, alnum))), "mimeType": "image/png"}
	plain := map[string]any{"type": "text", "text": "nothing here"}
	for _, c := range []struct {
		name   string
		result map[string]any
		keys   []string
	}{
		{"nothing", map[string]any{"content": []any{plain, image}, "details": map[string]any{"a": 1}}, nil},
		{"content", map[string]any{"content": []any{plain, map[string]any{"type": "text", "text": "k " + secret, "textSignature": "s"}, image}}, []string{"content"}},
		{"details", map[string]any{"content": []any{plain}, "details": map[string]any{"deep": []any{map[string]any{"x": secret, "n": 1.5, "t": true, "z": nil}}}}, []string{"details"}},
		{"details by name", map[string]any{"content": []any{}, "details": map[string]any{"password": v.of(20, alnum)}}, []string{"details"}},
		{"no content", map[string]any{"content": nil, "details": nil}, nil},
	} {
		want, err := json.Marshal(c.result)
		if err != nil {
			t.Fatal(err)
		}
		var before map[string]any
		if err := json.Unmarshal(want, &before); err != nil {
			t.Fatal(err)
		}
		got, err := call(g, c.result)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var keys []string
		for _, k := range []string{"content", "details", "isError", "usage"} {
			if _, ok := got[k]; ok {
				keys = append(keys, k)
			}
		}
		if diff := cmp.Diff(c.keys, keys); diff != "" || len(got) != len(c.keys) {
			t.Errorf("%s: %v %s", c.name, got, diff)
			continue
		}
		for _, k := range keys {
			// Putting the handle into what was sent gives what came back.
			b, err := json.Marshal(got[k])
			if err != nil {
				t.Fatal(err)
			}
			h := handlePattern.FindString(string(b))
			if h == "" || strings.Contains(string(b), secret) {
				t.Errorf("%s: %s", c.name, b)
			}
			if c.name == "details by name" {
				continue
			}
			orig, err := json.Marshal(before[k])
			if err != nil {
				t.Fatal(err)
			}
			if wantText := strings.ReplaceAll(string(orig), secret, h); wantText != string(b) {
				t.Errorf("%s: got %s, want %s", c.name, b, wantText)
			}
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	v := newInvent(14)
	var text strings.Builder
	for text.Len() < 50_000 {
		fmt.Fprintf(&text, "src/%s.go:%d:\tfunc %s(ctx context.Context, name string) error { return nil }\n", v.of(6, lowers+digits), v.r.IntN(900), v.of(10, alnum))
	}
	ev, err := json.Marshal(map[string]any{"type": "tool_result", "toolName": "bash", "content": []any{map[string]any{"type": "text", "text": text.String()}}})
	if err != nil {
		b.Fatal(err)
	}
	g := load(b, "redact-secrets", nil)
	b.SetBytes(int64(len(ev)))
	for b.Loop() {
		if _, err := g.Call(context.Background(), "tool_result", ev); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRedactReadme runs the table of the README.
func TestRedactReadme(t *testing.T) {
	readme, err := os.ReadFile("redact-secrets/README.md")
	if err != nil {
		t.Fatal(err)
	}
	g := load(t, "redact-secrets", nil)
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (?:`([^`]+)`|the same) \\|$").FindAllStringSubmatch(string(readme), -1)
	if len(rows) != 4 {
		t.Fatalf("the README shows %d examples", len(rows))
	}
	for _, row := range rows {
		want := row[2]
		if want == "" {
			want = row[1]
		}
		if diff := cmp.Diff([]string{want}, redactText(t, g, row[1])); diff != "" {
			t.Errorf("%s (-README +got):\n%s", row[1], diff)
		}
	}
}

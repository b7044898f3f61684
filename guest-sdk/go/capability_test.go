package weir

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/guest-sdk/go/internal/hostfn"
)

// answering is a host that answers each capability call with the same text.
type answering struct {
	hostfn.Host
	response string
	code     int32
	requests []string
}

func (a *answering) Capability(name string, request []byte) ([]byte, int32) {
	a.requests = append(a.requests, name+" "+string(request))
	return []byte(a.response), a.code
}

func TestRequests(t *testing.T) {
	host := &answering{}
	hostfn.Use(host)
	t.Cleanup(func() { hostfn.Use(nil) })
	for _, c := range []struct {
		call              func() (any, error)
		request, response string
		want              any
	}{
		{func() (any, error) { return KVList("a") }, `kv {"op":"list","prefix":"a"}`, `{"keys":["a","ab"]}`, []string{"a", "ab"}},
		{func() (any, error) { return nil, KVDelete("a") }, `kv {"op":"delete","key":"a"}`, `{}`, nil},
		{
			func() (any, error) {
				r, err := HTTP(HTTPRequest{URL: "https://a.example/", Headers: []Header{{"X-A", "b"}}, Body: "hi"})
				return []any{r.Status, r.Headers.Get("x").Str(), r.Body}, err
			}, `http {"op":"request","method":"GET","url":"https://a.example/","headers":{"X-A":"b"},"body":"aGk="}`,
			`{"status":404,"headers":{"x":"y"},"body":"AP8="}`,
			[]any{404, "y", "\x00\xff"},
		},
		{func() (any, error) { return FileRead("a.txt") }, `file {"op":"read","path":"a.txt"}`, `{"text":"é"}`, "é"},
		{func() (any, error) { return FileStat("a") }, `file {"op":"stat","path":"a"}`, `{"name":"a","dir":true,"size":3}`, FileInfo{"a", true, 3}},
		{func() (any, error) { return FileList(".") }, `file {"op":"list","path":"."}`, `{"entries":[{"name":"a","size":1}]}`, []FileInfo{{Name: "a", Size: 1}}},
		{func() (any, error) { return UIConfirm("t\xff", "m") }, "ui {\"op\":\"confirm\",\"title\":\"t\ufffd\",\"message\":\"m\"}", `{"answer":true}`, true},
		{func() (any, error) { return nil, UINotify(LevelWarn, "m") }, `ui {"op":"notify","message":"m","level":"warning"}`, `{}`, nil},
		{func() (any, error) { return nil, UIStatus("s") }, `ui {"op":"status","text":"s"}`, `{}`, nil},
		{func() (any, error) {
			answer, ok, err := UISelect("t", "a", "b")
			return []any{answer, ok}, err
		}, `ui {"op":"select","title":"t","options":["a","b"]}`, `{"answer":null}`, []any{"", false}},
		{func() (any, error) {
			answer, ok, err := UIInput("t", "p")
			return []any{answer, ok}, err
		}, `ui {"op":"input","title":"t","placeholder":"p"}`, `{"answer":""}`, []any{"", true}},
		{func() (any, error) {
			v, err := Session("label", Field{"entryId", String("e")})
			return v.Get("ok").Bool(false), err
		}, `session {"op":"label","entryId":"e"}`, `{"ok":true}`, true},
	} {
		*host = answering{response: c.response}
		got, err := c.call()
		if err != nil {
			t.Errorf("%s: %v", c.request, err)
		}
		if diff := cmp.Diff([]string{c.request}, host.requests); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.request, diff)
		}

		*host = answering{response: "no", code: -2}
		_, err = c.call()
		var refused *HostError
		if !errors.As(err, &refused) || refused.Code != -2 || refused.Text != "no" {
			t.Errorf("%s: refused with %v", c.request, err)
		}
		*host = answering{response: "{"}
		if _, err = c.call(); err == nil {
			t.Errorf("%s: a response that is no JSON is accepted", c.request)
		}
	}
	*host = answering{response: `{}`}
	if err := KVSet("k", "\xff"); err == nil || len(host.requests) > 0 {
		t.Errorf("a value that is not UTF-8: %v, requests %q", err, host.requests)
	}
	*host = answering{response: `{"body":"?"}`}
	if _, err := HTTP(HTTPRequest{URL: "u"}); err == nil {
		t.Error("a body that is not base64 is accepted")
	}
}

func TestReadAll(t *testing.T) {
	for _, n := range []int{0, 1, firstRead - 1, firstRead, firstRead + 1, 3 * firstRead} {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(i)
		}
		calls := 0
		read := func(buf []byte, offset int) int {
			calls++
			if len(buf) == 0 {
				return n
			}
			return copy(buf, text[offset:])
		}
		first := readAll(nil, read)
		if string(first) != string(text) || n < firstRead && calls != 1 {
			t.Errorf("%d bytes: read %d in %d calls", n, len(first), calls)
		}
		calls = 0
		// A buffer that is filled to its last byte needs a second call to know that this was all.
		if again := readAll(first, read); string(again) != string(text) || calls != 1 && n != cap(first) {
			t.Errorf("%d bytes again: read %d in %d calls", n, len(again), calls)
		}
	}
}

package validjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"weir/internal/validjson"
)

var seeds = []string{
	`{}`, `[]`, `null`, `tru`, `-`, `-0`, `01`, `1.`, `1e`, `1E+5`, `"a`, `"\u12g4"`, `"\u0041\n\/"`, "\"\x01\"", `{"a":1,}`, `[1,]`, `{"a" : [ 1 , {"b":"c"} ] } `,
	`{"a"}`, `{1:2}`, ` 1 2`, ``, ` `, "\"\xff\"", `"\`, `"\u`, `[[[[`, strings.Repeat("[", 10001) + strings.Repeat("]", 10001), strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
}

func TestCheck(t *testing.T) {
	for _, s := range seeds {
		check(t, []byte(s))
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(check)
}

func check(t *testing.T, raw []byte) {
	err := validjson.Check(raw)
	if want := json.Valid(raw); (err == nil) != want {
		t.Errorf("%.200q: %v, encoding/json says %v", raw, err, want)
	}
}

func BenchmarkCheck(b *testing.B) {
	raw := []byte(`{"type":"message","text":"` + strings.Repeat(`some text of a message\n`, 45) + `"}`)
	b.Run("Check", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if err := validjson.Check(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if !json.Valid(raw) {
				b.Fatal("invalid")
			}
		}
	})
}

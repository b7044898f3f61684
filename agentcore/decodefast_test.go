package agentcore

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// usual are messages that decodeFast must read itself.
var usual = []string{
	`{"role":"user","content":"hello","timestamp":1700000000000}`,
	` { "role" : "user" , "content" : [ { "type" : "text" , "text" : "a\n\u00e9\ud83d\ude00\"" } , {"type":"image","data":"AA==","mimeType":"image/png"} ] , "timestamp" : 1 } `,
	`{"role":"user","content":[]}`, `{"role":"user","content":"\b\f\n\r\t\"\\\/ \\u0041 \u0041 \ud800 \ud83d\ude00 \\"}`,
	`{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"s","redacted":true},{"type":"text","text":"x","textSignature":"y"},` +
		`{"type":"toolCall","id":"1","name":"n","arguments":{"a":[1,"]}",{}]},"thoughtSignature":"q","namespace":"w"}],"api":"a","provider":"p","model":"m",` +
		`"responseModel":"r","responseId":"i","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"total":0.5}},` +
		`"stopReason":"toolUse","rawStopReason":"z","errorMessage":"e","timestamp":-5,"more":{"b":1},"other":null}`,
	`{"role":"toolResult","toolCallId":"1","toolName":"n","content":[{"type":"text","text":""}],"details":{"x":1},"usage":{"input":1},` +
		`"addedToolNames":["a"],"isError":true,"timestamp":2,"unknown":1}`,
	`{"role":"toolResult","toolCallId":"1","toolName":"n","content":[],"details":null,"isError":false,"timestamp":2}`,
	"{\"role\":\"user\",\"content\":\"invalid \xff text\"}",
}

// unusual are messages that decodeFast must leave alone.
var unusual = []string{
	``, `{`, `null`, `[]`, `7`, `{}`, `{"role":""}`, `{"role":null}`, `{"role":7}`, `{"role":"user"}`, `{"role":"user","content":null}`,
	`{"role":"user","role":"assistant","content":[]}`, `{"role":"user","Content":"x"}`, `{"role":"user","content":"x","TIMESTAMP":3}`,
	`{"role":"user","content":7}`, `{"role":"user","content":[7]}`, `{"role":"user","content":[{"type":"new"}]}`,
	`{"role":"user","content":[{"type":"text","Text":"x"}]}`, `{"role":"user","content":[{"type":"text","text":"x","text":"y"}]}`,
	`{"role":"user","content":[{"type":"text","text":null}]}`, `{"role":"user","content":"x","timestamp":"2024-01-01"}`,
	`{"role":"user","content":"x","timestamp":1.5}`, `{"role":"user","content":"x","timestamp":1234567890123456789}`,
	`{"role":"us\u0065r","content":"x","a\u0062":1}`, `{"role":"custom","content":"x"}`, `{"role":"assistant","content":[],"isError":true}`,
	`{"role":"assistant","content":[],"usage":null}`, `{"role":"assistant","content":"text"}`, `{"role":"user","content":"x","ſtopReaſon":1}`,
}

func compareDecoders(t *testing.T, raw []byte) (fastUsed bool) {
	t.Helper()
	fast, ok := decodeFast(raw)
	if !ok {
		return false
	}
	slow, err := decodeSlow(raw)
	if err != nil {
		t.Fatalf("%s: read, but it is wrong: %v", raw, err)
	}
	if diff := cmp.Diff(slow.Body(), fast.Body()); diff != "" {
		t.Fatalf("%s (-slow +fast):\n%s", raw, diff)
	}
	return true
}

func TestDecodeFast(t *testing.T) {
	for _, raw := range usual {
		if !compareDecoders(t, []byte(raw)) {
			t.Errorf("%s: left alone", raw)
		}
	}
	for _, raw := range unusual {
		if compareDecoders(t, []byte(raw)) {
			t.Errorf("%s: not left alone", raw)
		}
	}
}

// Every message of the recorded scenarios is read alike by both decoders.
func TestDecodeFastRecorded(t *testing.T) {
	files, err := filepath.Glob("../testdata/conformance/*/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	read := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		eachObject(value, func(object map[string]any) {
			if _, ok := object["role"].(string); !ok {
				return
			}
			raw, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if compareDecoders(t, raw) {
				read++
			}
		})
	}
	if read == 0 {
		t.Error("not one message was read")
	}
	t.Logf("%d messages in %d files", read, len(files))
}

func eachObject(value any, visit func(map[string]any)) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			eachObject(item, visit)
		}
	case map[string]any:
		visit(value)
		for _, item := range value {
			eachObject(item, visit)
		}
	}
}

func FuzzDecodeFast(f *testing.F) {
	for _, raw := range append(usual, unusual...) {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { compareDecoders(t, raw) })
}

func BenchmarkDecodeMessage(b *testing.B) {
	raw := []byte(`{"role":"toolResult","toolCallId":"1","toolName":"read","content":[{"type":"text","text":"` + strings.Repeat(`a line of text\n`, 200) +
		`"}],"details":{"lines":200},"isError":false,"timestamp":1700000000000}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := DecodeMessage(raw); err != nil {
			b.Fatal(err)
		}
	}
}

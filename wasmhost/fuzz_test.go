package wasmhost_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"weir/wasmhost"
)

// fuzzValues are arguments that stand at some edge.
func fuzzValues() []uint64 {
	return []uint64{
		0, 1, 2, 7, 8, 15, 16, 63, 64, 100, 4096, 0xffff, 0x10000, memoryEnd - 8, memoryEnd - 1, memoryEnd, memoryEnd + 1, firstBlock - 1, firstBlock, firstBlock + 8, firstBlock + 16, firstBlock + 24,
		1 << 21, 1 << 31, 1<<32 - 8, 1<<32 - 1, 1 << 32, 1<<32 + firstBlock, 1 << 40, 1 << 63, 1<<64 - 8, 1<<64 - 1,
	}
}

// FuzzCalls has a guest call the host's functions in any order with arguments at the edges. Whatever happens is a result
// or a fault of the guest's: never a panic of ours, and the guest can be called again.
func FuzzCalls(f *testing.F) {
	f.Add([]byte{16, 5, 6, 0, 0, 2, 0, 0, 0, 0})
	f.Add([]byte{16, 8, 0, 0, 0, 28, 18, 8, 0, 0, 17, 18, 0, 0, 0, 28, 18, 8, 0, 0})
	f.Add([]byte{66, 1, 8, 2, 9, 67, 10, 11, 2, 9, 70, 12, 13, 0, 0})
	values := fuzzValues()
	caps := grants()
	caps["kv"] = wasmhost.KV(wasmhost.NewMemoryStore())
	p := probeOn(f, newHost(f, wasmhost.Config{}), wasmhost.GuestConfig{Capabilities: caps, Limits: wasmhost.Limits{Timeout: time.Second, Memory: 4 << 20, Quarantine: 1 << 30, HostCalls: 1000}})
	imports := uint64(len(p.ops) - 11)
	input := wasmhost.Input{Messages: 2, Message: func(int) []byte { return []byte("message") }, Update: func(context.Context, []byte) {}}
	f.Fuzz(func(t *testing.T, script []byte) {
		var steps []byte
		for ; len(script) >= 5 && len(steps) < 64*48; script = script[5:] {
			code := uint64(script[0])
			if code >= 16 {
				code = 16 + (code-16)%imports
			} else if code > 4 {
				code = 2
			}
			code |= uint64(script[4]&3) << 8
			for _, v := range []uint64{code, values[int(script[1])%len(values)], values[int(script[2])%len(values)], values[int(script[3])%len(values)], values[int(script[4])%len(values)], 8} {
				steps = binary.LittleEndian.AppendUint64(steps, v)
			}
		}
		input.Bytes = steps
		_, err := p.Call(t.Context(), "call", input, func([]byte) error { return nil })
		var fault *wasmhost.Fault
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("%v is no fault", err)
		}
		if err != nil && (strings.Contains(err.Error(), "runtime error") || strings.Contains(err.Error(), "panic") || strings.Contains(err.Error(), "the kernel gave") || fault.Kind == wasmhost.KindLoad) {
			t.Fatal(err)
		}
		out, _, err := p.try(t, op("alloc", 8), op("load_u64", firstBlock))
		if w := words(t, out); err != nil || w[0] != firstBlock || w[1] != 0 {
			t.Fatalf("the next call finds %v, %v", w, err)
		}
	})
}

// FuzzRequest gives capabilities any bytes. What is answered is JSON, and what was taken for a request is one for
// encoding/json too.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"op":"get","key":"a"}`, `{"op":"set","key":"a","value":"b"}`, `{"op":"list","prefix":""}`, `{"op":"request","url":"http://127.0.0.1/","headers":{"a":"b"},"body":"aGk="}`,
		`{"op":"read","path":"a","encoding":"base64"}`, `{"op":"select","title":"a","options":["b"]}`, `{"op":"\ud800"}`, `{"op":"get","op":"get"}`,
	} {
		f.Add([]byte(s))
	}
	file, err := wasmhost.File([]string{f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	caps := []wasmhost.Capability{wasmhost.KV(wasmhost.NewMemoryStore()), wasmhost.HTTP([]wasmhost.HTTPRule{{Methods: []string{"GET"}, Scheme: "https", Host: "a.example", Port: 443, Path: "/v1"}}), file, wasmhost.AskUI("x", nil)}
	f.Fuzz(func(t *testing.T, request []byte) {
		if strings.Contains(string(request), "a.example") {
			t.Skip("it would look the name up")
		}
		for _, c := range caps {
			answer, err := c.Handle(t.Context(), request)
			if err != nil {
				continue
			}
			if !json.Valid(answer) || !json.Valid(request) {
				t.Fatalf("%q was answered with %q", request, answer)
			}
		}
	})
}

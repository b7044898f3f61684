package wasmbin_test

import (
	"math"
	"testing"

	"weir/wasmhost/internal/wasmbin"
)

// TestNumbers reads back what was appended, and refuses encodings that are too long, too large or cut.
func TestNumbers(t *testing.T) {
	for _, v := range []uint32{0, 1, 127, 128, 16383, 16384, math.MaxInt32, math.MaxUint32} {
		b := wasmbin.AppendU32(nil, v)
		r := wasmbin.NewReader(b, 0)
		if got := r.U32(); got != v || r.Err() != nil || r.Len() != 0 {
			t.Errorf("%d as %x: %d, %v", v, b, got, r.Err())
		}
	}
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 8191, -8192, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		b := wasmbin.AppendS64(nil, v)
		r := wasmbin.NewReader(b, 0)
		if got := r.S64(); got != v || r.Err() != nil || r.Len() != 0 {
			t.Errorf("%d as %x: %d, %v", v, b, got, r.Err())
		}
		if v == int64(int32(v)) {
			r := wasmbin.NewReader(b, 0)
			if got := r.S32(); got != int32(v) || r.Err() != nil {
				t.Errorf("%d as %x: %d, %v", v, b, got, r.Err())
			}
		}
	}
	for name, read := range map[string]func(*wasmbin.Reader){
		"\xff\xff\xff\xff\x1f":     func(r *wasmbin.Reader) { r.U32() },
		"\x80\x80\x80\x80\x80\x00": func(r *wasmbin.Reader) { r.U32() },
		"\x80":                     func(r *wasmbin.Reader) { r.U32() },
		"":                         func(r *wasmbin.Reader) { r.U32() },
		"\xff\xff\xff\xff\x0f":     func(r *wasmbin.Reader) { r.S32() },
		"\x80\x80\x80\x80\x70":     func(r *wasmbin.Reader) { r.S32() },
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01": func(r *wasmbin.Reader) { r.S64() },
	} {
		r := wasmbin.NewReader([]byte(name), 7)
		if read(r); r.Err() == nil || r.Err().Offset < 7 {
			t.Errorf("%x: %v", name, r.Err())
		}
	}
}

// TestErrorSticks checks that nothing is read after an error and that the first one is kept.
func TestErrorSticks(t *testing.T) {
	r := wasmbin.NewReader([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2}, 100)
	if n := r.Count("things", 1); n != 0 || r.Err().Error() != "offset 0x64: 4294967295 things claimed, 2 bytes left" {
		t.Errorf("%d, %v", n, r.Err())
	}
	first := r.Err()
	if r.Byte() != 0 || r.U32() != 0 || len(r.Name()) != 0 || r.Err() != first {
		t.Errorf("read on after an error: %v", r.Err())
	}
}

package wasmbin

// AppendU32 appends v as an unsigned LEB128 number.
func AppendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// AppendS64 appends v as a signed LEB128 number; it serves 32- and 33-bit numbers too.
func AppendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// AppendName appends the length of s and s.
func AppendName(b []byte, s string) []byte {
	return append(AppendU32(b, uint32(len(s))), s...)
}

// AppendSection appends a section with its size.
func AppendSection(b []byte, id byte, data []byte) []byte {
	b = AppendU32(append(b, id), uint32(len(data)))
	return append(b, data...)
}

package meter

// leafFrame is the largest frame, in bytes, of a function without calls that need not be counted in depth.
const leafFrame = 1024

// valueBytes is how much stack values of the given types take in wazero: eight bytes each, sixteen for a vector.
func valueBytes(types []byte) int {
	n := 8 * len(types)
	for _, t := range types {
		if t == v128Type {
			n += 8
		}
	}
	return n
}

// frameSize estimates the native frame of a function, in bytes.
func frameSize(p *plan, t funcType) int64 {
	return int64(64 + p.paramBytes + p.localBytes + valueBytes(t.results) + p.argBytes)
}

package wire

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"

	"weir/agentcore"
)

// originals finds out which original message an element of a context result's messages is.
type originals struct {
	messages []*agentcore.Message
	used     []bool
	// next is the original that comes after the one found last: most guests keep the order.
	next int

	seed   maphash.Seed
	hashes []uint64 // of the canonical forms
	byHash map[uint64][]int
	a, b   []byte
}

func (o *originals) take(i int) {
	o.used[i] = true
	o.next = i + 1
}

// find returns an original that is equal to raw as a JSON value and not used yet, the nearest from next on before others;
// -1 when there is none. However many elements there are, each original is read to its end a few times at most.
func (o *originals) find(raw []byte) int {
	// Most guests that return messages have kept the bytes and left out a few.
	const ahead = 32
	for i := o.next; i < len(o.messages) && i < o.next+ahead; i++ {
		if o.used[i] {
			continue
		}
		if own, err := o.messages[i].JSON(); err == nil && bytes.Equal(own, raw) {
			return i
		}
	}
	canonical, ok := appendCanonical(o.a[:0], raw)
	o.a = canonical
	if !ok {
		return -1
	}
	o.index()
	h := maphash.Bytes(o.seed, canonical)
	if o.next < len(o.messages) && !o.used[o.next] && o.hashes[o.next] == h && o.equal(o.next, canonical) {
		return o.next
	}
	candidates := o.byHash[h]
	for len(candidates) > 0 && o.used[candidates[0]] {
		candidates = candidates[1:]
	}
	o.byHash[h] = candidates
	// Two values of one hash under a random seed do not happen; if they did, the later one would count as a new message.
	if len(candidates) > 0 && o.equal(candidates[0], canonical) {
		return candidates[0]
	}
	return -1
}

func (o *originals) equal(i int, canonical []byte) bool {
	raw, err := o.messages[i].JSON()
	if err != nil {
		return false
	}
	var ok bool
	o.b, ok = appendCanonical(o.b[:0], raw)
	return ok && bytes.Equal(o.b, canonical)
}

// index hashes all originals, once.
func (o *originals) index() {
	if o.byHash != nil {
		return
	}
	o.seed = maphash.MakeSeed()
	o.byHash = make(map[uint64][]int, len(o.messages))
	o.hashes = make([]uint64, len(o.messages))
	for i, m := range o.messages {
		raw, err := m.JSON()
		if err != nil {
			continue
		}
		var ok bool
		if o.b, ok = appendCanonical(o.b[:0], raw); ok {
			o.hashes[i] = maphash.Bytes(o.seed, o.b)
			o.byHash[o.hashes[i]] = append(o.byHash[o.hashes[i]], i)
		}
	}
}

// appendCanonical appends a form of a JSON value that is the same for equal values: no white space, keys sorted, one
// spelling for each string, numbers as the float64 nearest to them (a JavaScript guest cannot return more than that). It
// is false for what the strict reader refuses.
func appendCanonical(dst, src []byte) ([]byte, bool) {
	r := reader{src: src}
	dst = r.canonical(dst)
	r.end()
	return dst, r.err == nil
}

func (r *reader) canonical(dst []byte) []byte {
	switch r.peek() {
	case '{':
		return r.canonicalObject(dst)
	case '[':
		if !r.array() {
			return dst
		}
		dst = append(dst, '[')
		for n := 0; r.more(&n); {
			dst = append(r.canonical(dst), ',')
		}
		return append(dst, ']')
	case '"':
		return AppendString(dst, r.string())
	case 't', 'f', 'n':
		return append(dst, r.raw()...)
	}
	f := r.float()
	if f == 0 {
		f = 0 // the sign of a zero does not survive JSON.stringify
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

func (r *reader) canonicalObject(dst []byte) []byte {
	type member struct {
		key      []byte
		from, to int
	}
	if !r.enter() {
		return dst
	}
	dst = append(dst, '{')
	var members []member
	base := len(dst)
	for began := false; ; {
		start, end, key, ok := r.nextKey(&began)
		if !ok || !r.colon() {
			break
		}
		if key == nil {
			key = r.src[start+1 : end-1]
		}
		m := member{key: key, from: len(dst)}
		dst = AppendString(dst, string(key))
		dst = append(dst, ':')
		dst = append(r.canonical(dst), ',')
		m.to = len(dst)
		members = append(members, m)
	}
	byKey := func(a, b member) int { return bytes.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(members, byKey) {
		unsorted := slices.Clone(dst[base:])
		slices.SortStableFunc(members, byKey)
		dst = dst[:base]
		for _, m := range members {
			dst = append(dst, unsorted[m.from-base:m.to-base]...)
		}
	}
	return append(dst, '}')
}

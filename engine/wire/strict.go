package wire

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may be nested in what a guest returns, the outermost object counted (ABI
// section 4).
const MaxDepth = 64

// OutputError says why a guest's output was refused. It is the text of a fault of kind "output" or, for describe, of a
// load error.
type OutputError struct {
	// Path names the key that is wrong, such as "ask.title" or "replace[3].message.role"; "" is the whole output. A long
	// key is cut.
	Path string
	// Offset is the byte of the output at which the reader stopped, from 0; -1 when the fault is not at one place.
	Offset int
	// Message says what is wrong and what was wanted, without the path.
	Message string
	// Err is a sentinel to branch on, such as [ErrNewerABI]; usually nil.
	Err error
}

// Error is "path: message (at byte n)".
func (e *OutputError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Offset >= 0 {
		b.WriteString(" (at byte ")
		b.WriteString(strconv.Itoa(e.Offset))
		b.WriteByte(')')
	}
	return b.String()
}

// Unwrap returns Err.
func (e *OutputError) Unwrap() error { return e.Err }

// reader is the strict reader: one pass over a JSON text, typed by its caller. The first error sticks: all methods
// return zero values after it. It keeps no reference to src in what it returns, but for raw.
type reader struct {
	src   []byte
	pos   int
	depth int
	err   *OutputError
	// keys are the keys of the untyped objects that are being read, innermost last.
	keys [][]byte
}

// fields is the state of reading one object whose keys are known. At most 64 names.
type fields struct {
	names []string
	seen  uint64
	start int // of the object's brace
	any   bool
}

// has says whether the key names[i] was present.
func (f *fields) has(i int) bool { return f.seen&(1<<i) != 0 }

// fail records the first error. The path is worked out from the text, so that reading keeps no track of it.
func (r *reader) fail(offset int, message string) {
	r.failAfter(offset, offset, message)
}

// failAfter is fail with a path that ends at another place than the offset, such as after a key.
func (r *reader) failAfter(offset, pathEnd int, message string) {
	if r.err == nil {
		r.err = &OutputError{Path: pathAt(r.src, pathEnd), Offset: offset, Message: message}
	}
}

// failMissing reports a key that object f lacks.
func (r *reader) failMissing(f *fields, key string) {
	r.fail(f.start, "missing key "+strconv.Quote(key))
}

// root opens the outermost object of src.
func (r *reader) root() bool {
	r.space()
	if r.pos == len(r.src) {
		r.fail(r.pos, "empty output; want a JSON object, at least {}")
		return false
	}
	if !utf8.Valid(r.src) {
		r.fail(invalidAt(r.src), "invalid UTF-8")
		return false
	}
	if r.src[r.pos] != '{' {
		r.wrongType("an object")
		return false
	}
	return true
}

// end checks that nothing but white space follows.
func (r *reader) end() {
	if r.err != nil {
		return
	}
	r.space()
	if r.pos < len(r.src) {
		r.fail(r.pos, "trailing bytes after the JSON object")
	}
}

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		c, n := utf8.DecodeRune(src[i:])
		if c == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(src)
}

func (r *reader) space() {
	for r.pos < len(r.src) {
		switch r.src[r.pos] {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token, 0 at the end or after an error. A NUL byte is no token either.
func (r *reader) peek() byte {
	if r.err != nil {
		return 0
	}
	r.space()
	if r.pos >= len(r.src) {
		return 0
	}
	return r.src[r.pos]
}

func (r *reader) wrongType(want string) {
	if r.err != nil {
		return
	}
	r.space()
	got := "the end of the output"
	if r.pos < len(r.src) {
		switch c := r.src[r.pos]; {
		case c == '{':
			got = "an object"
		case c == '[':
			got = "an array"
		case c == '"':
			got = "a string"
		case c == 't' || c == 'f':
			got = "a boolean"
		case c == 'n':
			got = "null"
		case c == '-' || c >= '0' && c <= '9':
			got = "a number"
		default:
			r.unexpected()
			return
		}
	}
	r.fail(r.pos, "want "+want+", got "+got)
}

// unexpected reports a byte that can start or continue nothing.
func (r *reader) unexpected() {
	if r.pos >= len(r.src) {
		r.fail(len(r.src), "the output ends in the middle")
		return
	}
	if r.src[r.pos] == 0 {
		r.fail(r.pos, "NUL byte")
		return
	}
	c, _ := utf8.DecodeRune(r.src[r.pos:])
	r.fail(r.pos, "unexpected "+strconv.QuoteRune(c))
}

func (r *reader) enter() bool {
	if r.depth == MaxDepth {
		r.fail(r.pos, "nested deeper than "+strconv.Itoa(MaxDepth))
		return false
	}
	r.depth++
	r.pos++
	return true
}

// object opens an object whose keys are names.
func (r *reader) object(names []string) fields {
	f := fields{names: names}
	if r.peek() != '{' {
		r.wrongType("an object")
		return f
	}
	f.start = r.pos
	r.enter()
	return f
}

// next reads up to the value of the next key and returns the key's index in f.names; -1 at the end of the object and
// after an error.
func (r *reader) next(f *fields) int {
	start, end, key, ok := r.nextKey(&f.any)
	if !ok {
		return -1
	}
	if key == nil {
		key = r.src[start+1 : end-1]
	}
	for i, name := range f.names {
		if string(key) != name {
			continue
		}
		if f.seen&(1<<i) != 0 {
			r.failAfter(start, end, "duplicate key")
			return -1
		}
		f.seen |= 1 << i
		if !r.colon() {
			return -1
		}
		return i
	}
	r.failAfter(start, end, "unknown key"+didYouMean(string(key), f.names))
	return -1
}

// nextKey reads a key of the current object, or its closing brace (ok is then false). src[start:end] is the key with
// its quotes; decoded is nil unless the key was written with escapes.
func (r *reader) nextKey(began *bool) (start, end int, decoded []byte, ok bool) {
	c := r.peek()
	if c == '}' {
		r.pos++
		r.depth--
		return 0, 0, nil, false
	}
	if *began {
		if c != ',' {
			r.unexpectedIn("an object")
			return 0, 0, nil, false
		}
		r.pos++
		c = r.peek()
	}
	if c != '"' {
		r.unexpectedIn("an object, where a key belongs")
		return 0, 0, nil, false
	}
	*began = true
	start = r.pos
	escaped := r.skipString()
	if r.err != nil {
		return 0, 0, nil, false
	}
	end = r.pos
	if escaped {
		decoded = r.unescape(start+1, end-1)
	}
	return start, end, decoded, true
}

func (r *reader) unexpectedIn(where string) {
	if r.err != nil {
		return
	}
	r.unexpected()
	r.err.Message += " in " + where
}

func (r *reader) colon() bool {
	if r.peek() != ':' {
		r.unexpectedIn("an object, where ':' belongs")
		return false
	}
	r.pos++
	return true
}

// array opens an array.
func (r *reader) array() bool {
	if r.peek() != '[' {
		r.wrongType("an array")
		return false
	}
	return r.enter()
}

// more says whether another element follows in the current array; n counts them and starts at 0.
func (r *reader) more(n *int) bool {
	c := r.peek()
	if c == ']' {
		r.pos++
		r.depth--
		return false
	}
	if *n > 0 {
		if c != ',' {
			r.unexpectedIn("an array")
			return false
		}
		r.pos++
		if r.peek() == ']' {
			r.unexpectedIn("an array, after a comma")
			return false
		}
	} else if c == 0 {
		r.unexpectedIn("an array")
		return false
	}
	*n++
	return r.err == nil
}

func (r *reader) bool() bool {
	switch r.peek() {
	case 't':
		r.literal("true")
		return r.err == nil
	case 'f':
		r.literal("false")
	default:
		r.wrongType("a boolean")
	}
	return false
}

func (r *reader) literal(word string) {
	end := r.pos + len(word)
	if end > len(r.src) || string(r.src[r.pos:end]) != word {
		r.unexpected()
		return
	}
	r.pos = end
	// "truex" fails here and not at the next token, which would be reported as if it stood alone.
	if r.pos < len(r.src) && isWord(r.src[r.pos]) {
		r.unexpected()
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

// string reads a string into memory of its own.
func (r *reader) string() string {
	if r.peek() != '"' {
		r.wrongType("a string")
		return ""
	}
	start := r.pos
	escaped := r.skipString()
	if r.err != nil {
		return ""
	}
	if escaped {
		return string(r.unescape(start+1, r.pos-1))
	}
	return string(r.src[start+1 : r.pos-1])
}

// stringNotEmpty is string for texts that must say something.
func (r *reader) stringNotEmpty() string {
	r.peek()
	at := r.pos
	s := r.string()
	if r.err == nil && s == "" {
		r.fail(at, "must not be empty")
	}
	return s
}

// oneOf reads a string that must be one of words and returns its index.
func (r *reader) oneOf(words []string) int {
	r.peek()
	at := r.pos
	s := r.string()
	if r.err != nil {
		return -1
	}
	for i, w := range words {
		if s == w {
			return i
		}
	}
	r.fail(at, "unknown value "+quoteShort(s)+"; want "+orList(words))
	return -1
}

// skipString reads over the string at pos and says whether it holds an escape. Escapes are checked, not decoded.
func (r *reader) skipString() (escaped bool) {
	i := r.pos + 1
	for i < len(r.src) {
		c := r.src[i]
		if c == '"' {
			r.pos = i + 1
			return escaped
		}
		if c >= 0x20 && c != '\\' {
			i++
			continue
		}
		if c == 0 {
			r.fail(i, "NUL byte in a string")
			return escaped
		}
		if c < 0x20 {
			r.fail(i, "control character in a string; it must be escaped")
			return escaped
		}
		escaped = true
		n := r.checkEscape(i)
		if n == 0 {
			return escaped
		}
		i += n
	}
	r.fail(len(r.src), "the output ends in the middle of a string")
	return escaped
}

// checkEscape returns the length of the escape at i, a whole surrogate pair counted as one; 0 after an error.
func (r *reader) checkEscape(i int) int {
	if i+1 >= len(r.src) {
		r.fail(len(r.src), "the output ends in the middle of a string")
		return 0
	}
	switch r.src[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
	default:
		r.fail(i, "unknown escape in a string")
		return 0
	}
	u, ok := hex4(r.src, i+2)
	switch {
	case !ok:
		r.fail(i, "malformed \\u escape in a string")
	case u == 0:
		r.fail(i, "NUL in a string")
	case u < 0xd800 || u > 0xdfff:
		return 6
	case u >= 0xdc00:
		r.fail(i, "low surrogate without a high one before it")
	default:
		low, ok := hex4(r.src, i+8)
		if ok && r.src[i+6] == '\\' && r.src[i+7] == 'u' && low >= 0xdc00 && low <= 0xdfff {
			return 12
		}
		r.fail(i, "high surrogate without a low one after it")
	}
	return 0
}

func hex4(src []byte, i int) (u rune, ok bool) {
	if i+4 > len(src) {
		return 0, false
	}
	for _, c := range src[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		u = u<<4 | rune(c)
	}
	return u, true
}

// unescape decodes the body of a string that skipString accepted.
func (r *reader) unescape(start, end int) []byte {
	return appendUnescaped(make([]byte, 0, end-start), r.src[start:end])
}

func appendUnescaped(b, s []byte) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c != '\\' {
			b = append(b, c)
			i++
			continue
		}
		switch s[i+1] {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			u, _ := hex4(s, i+2)
			i += 6
			if utf16.IsSurrogate(u) {
				low, _ := hex4(s, i+2)
				u = utf16.DecodeRune(u, low)
				i += 6
			}
			b = utf8.AppendRune(b, u)
			continue
		default:
			c = s[i+1]
		}
		b = append(b, c)
		i += 2
	}
	return b
}

// skipNumber reads over a number by JSON's grammar. A number beyond the range of a float64 is refused: readers differ
// in what they make of it.
func (r *reader) skipNumber() (integer bool) {
	start := r.pos
	i, integer, ok := scanNumber(r.src, start)
	r.pos = i
	if !ok {
		r.unexpectedIn("a number")
		return false
	}
	if i < len(r.src) && isWord(r.src[i]) {
		r.unexpectedIn("a number")
		return false
	}
	// 300 digits without an exponent stay below the largest float64, 1.8e308.
	if i-start > 300 || !integer {
		if _, err := strconv.ParseFloat(string(r.src[start:i]), 64); err != nil {
			r.fail(start, "number out of range")
		}
	}
	return integer
}

// scanNumber returns where the number at i ends, or where it stops being one.
func scanNumber(s []byte, i int) (end int, integer, ok bool) {
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return i, false, false
	}
	integer = true
	if i < len(s) && s[i] == '.' {
		i++
		if integer = false; !digits() {
			return i, false, false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if integer = false; !digits() {
			return i, false, false
		}
	}
	return i, integer, true
}

// int reads a whole number, written without fraction and exponent, from lo to hi.
func (r *reader) int(lo, hi int64) int64 {
	c := r.peek()
	if c != '-' && (c < '0' || c > '9') {
		r.wrongType("a whole number")
		return 0
	}
	start := r.pos
	integer := r.skipNumber()
	if r.err != nil {
		return 0
	}
	if !integer {
		r.fail(start, "want a whole number without fraction and exponent")
		return 0
	}
	n, err := strconv.ParseInt(string(r.src[start:r.pos]), 10, 64)
	if err != nil || n < lo || n > hi {
		want := "want a whole number from " + strconv.FormatInt(lo, 10) + " to " + strconv.FormatInt(hi, 10)
		if lo == hi {
			want = "want " + strconv.FormatInt(lo, 10)
		}
		r.fail(start, want)
		return 0
	}
	return n
}

func (r *reader) float() float64 {
	c := r.peek()
	if c != '-' && (c < '0' || c > '9') {
		r.wrongType("a number")
		return 0
	}
	start := r.pos
	r.skipNumber()
	if r.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(string(r.src[start:r.pos]), 64)
	if err != nil {
		r.fail(start, "number out of range")
	}
	return f
}

// raw reads any value and returns its bytes, which are part of src.
func (r *reader) raw() []byte {
	r.peek()
	start := r.pos
	r.skip()
	if r.err != nil {
		return nil
	}
	return r.src[start:r.pos]
}

// rawObject is raw for a value that must be an object.
func (r *reader) rawObject() []byte {
	if r.peek() != '{' {
		r.wrongType("an object")
		return nil
	}
	return r.raw()
}

// linearKeys is how many keys of an untyped object are compared one by one; beyond, a map is used, so that an object of
// a million keys does not take the host hours.
const linearKeys = 16

// skip reads over any value, with all checks.
func (r *reader) skip() {
	switch c := r.peek(); {
	case c == '{':
		r.skipObject()
	case c == '[':
		if !r.enter() {
			return
		}
		for n := 0; r.more(&n); {
			r.skip()
		}
	case c == '"':
		r.skipString()
	case c == 't':
		r.literal("true")
	case c == 'f':
		r.literal("false")
	case c == 'n':
		r.literal("null")
	case c == '-' || c >= '0' && c <= '9':
		r.skipNumber()
	default:
		if r.err == nil {
			r.unexpected()
		}
	}
}

func (r *reader) skipObject() {
	if !r.enter() {
		return
	}
	base := len(r.keys)
	var many map[string]struct{}
	began := false
	for {
		start, end, key, ok := r.nextKey(&began)
		if !ok {
			break
		}
		if key == nil {
			key = r.src[start+1 : end-1]
		}
		duplicate := false
		if many != nil {
			_, duplicate = many[string(key)]
			many[string(key)] = struct{}{}
		} else {
			for _, k := range r.keys[base:] {
				if string(k) == string(key) {
					duplicate = true
					break
				}
			}
			r.keys = append(r.keys, key)
			if len(r.keys)-base > linearKeys {
				many = make(map[string]struct{}, 4*linearKeys)
				for _, k := range r.keys[base:] {
					many[string(k)] = struct{}{}
				}
			}
		}
		if duplicate {
			r.failAfter(start, end, "duplicate key")
			return
		}
		if !r.colon() {
			return
		}
		r.skip()
	}
	r.keys = r.keys[:base]
}

// scan reads an object and notes in where, by the index of the key, at which byte each value starts; -1 for a key that is
// absent. It serves objects in which one key decides what the others may be; to come back, set pos.
func (r *reader) scan(names []string, where []int) fields {
	f := r.object(names)
	for i := range where {
		where[i] = -1
	}
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		r.peek()
		where[i] = r.pos
		r.skip()
	}
	return f
}

// at reads a value that scan noted: it runs read there and comes back. The depth is that of the object.
func (r *reader) at(pos int, read func()) {
	back := r.pos
	r.pos = pos
	r.depth++
	read()
	r.depth--
	r.pos = back
}

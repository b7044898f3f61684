package facts

import (
	"math"
	"strconv"
	"strings"

	"weir/agentcore"
	"weir/engine/wire"
)

// Bounds of what is listed; maxScanned is what is looked through of one result.
const (
	maxSpans   = 512
	maxScanned = 8 << 20
	longBase64 = 512 // an encoded run of so many bytes is a block: no credential of a known format is that long but keys in PEM
)

// Secrets are the spans of a result that look like credentials. See the package documentation for the JSON.
type Secrets struct {
	Spans     []Span
	Base64    []Span // Kind is ""
	Truncated bool
}

// Span is a part of the text of a content block, in bytes.
type Span struct {
	Block, Start, End int
	Kind              string
}

// Secrets looks through the text of a result. A call has none.
func (e *Event) Secrets() *Secrets {
	f := &secretFinder{out: &Secrets{}}
	left := maxScanned
	for i, b := range e.content {
		t, ok := b.(*agentcore.TextBlock)
		if !ok {
			continue
		}
		text := t.Text
		if len(text) > left {
			text, f.out.Truncated = text[:left], true
		}
		left -= len(text)
		f.block, f.text = i, text
		f.scan(e.c.formats())
	}
	return f.out
}

// formats are the table by the first byte of the prefix.
func (c *Computer) formats() *[128][]format {
	c.once.Do(func() {
		c.table = new([128][]format)
		for _, f := range formats() {
			c.table[f.prefix[0]] = append(c.table[f.prefix[0]], f)
		}
	})
	return c.table
}

type secretFinder struct {
	out   *Secrets
	block int
	text  string
}

func (f *secretFinder) add(start, end int, kind string) {
	if len(f.out.Spans) == maxSpans {
		f.out.Truncated = true
		return
	}
	f.out.Spans = append(f.out.Spans, Span{f.block, start, end, kind})
}

// scan goes over a block once, from token to token.
func (f *secretFinder) scan(table *[128][]format) {
	t := f.text
	for i := 0; i < len(t); {
		c := t[i]
		if !word.has(c) {
			if c == '-' && strings.HasPrefix(t[i:], "-----BEGIN ") {
				if end := f.pem(i); end > i {
					i = end
					continue
				}
			}
			i++
			continue
		}
		if i > 0 && word.has(t[i-1]) {
			i++ // only at the start of a word
			continue
		}
		end := f.at(i, table)
		if end == i {
			for end < len(t) && word.has(t[end]) {
				end++
			}
		}
		i = end
	}
}

// at looks for what starts at i and returns where it ends, i when there is nothing.
func (f *secretFinder) at(i int, table *[128][]format) int {
	t := f.text
	if c := t[i]; c < 128 {
		for _, m := range table[c] {
			if !strings.HasPrefix(t[i:], m.prefix) {
				continue
			}
			if end := f.format(i, m); end > i {
				f.add(i, end, m.kind)
				return end
			}
		}
	}
	if end := f.base64Block(i); end > i {
		return end
	}
	if end := f.telegram(i); end > i {
		f.add(i, end, "telegram-token")
		return end
	}
	if start, end, ok := f.urlPassword(i); ok {
		f.add(start, end, "url-credentials")
		return end
	}
	if start, end, ok := f.named(i); ok {
		f.add(start, end, "secret-value")
		return end
	}
	return i
}

func (f *secretFinder) format(i int, m format) int {
	t := f.text
	start := i + len(m.prefix)
	end := start
	for end < len(t) && m.set.has(t[end]) && (m.max == 0 || end-start < m.max) {
		end++
	}
	if m.max > 0 && end < len(t) && word.has(t[end]) && m.set.has(t[end]) {
		return i // longer than such a token is
	}
	for m.set >= dashed && end > start && (t[end-1] == '.' || t[end-1] == '-') {
		end-- // the end of a sentence
	}
	body := t[start:end]
	switch {
	case len(body) < m.min || placeholder(body):
		return i
	case m.kind == "jwt":
		if strings.Count(body, ".") != 2 || !strings.Contains(body, ".eyJ") {
			return i
		}
	case len(m.prefix) <= 4 && m.set != capital && entropy(body) < 3:
		return i
	}
	return end
}

// telegram is a bot's token: a number, a colon, 35 characters that begin with AA.
func (f *secretFinder) telegram(i int) int {
	t := f.text
	j := i
	for j < len(t) && t[j] >= '0' && t[j] <= '9' {
		j++
	}
	if j-i < 8 || j-i > 10 || !strings.HasPrefix(t[j:], ":AA") {
		return i
	}
	end := j + 1
	for end < len(t) && end-j <= 60 && dashed.has(t[end]) {
		end++
	}
	if n := end - j - 1; n < 32 || n > 40 {
		return i
	}
	return end
}

// pem is a private key block. Public keys and certificates are not secret.
func (f *secretFinder) pem(i int) int {
	line, _, _ := strings.Cut(f.text[i:], "\n")
	if !strings.Contains(line, "PRIVATE KEY") {
		return i
	}
	end := strings.Index(f.text[i+10:], "-----END ")
	stop := len(f.text)
	if end >= 0 {
		stop = i + 10 + end
		if tail := strings.Index(f.text[stop+9:], "-----"); tail >= 0 && tail < 80 {
			stop += 9 + tail + 5
		}
	}
	f.add(i, stop, "private-key")
	return stop
}

// base64Block is a long run of an encoding, wrapped or not.
func (f *secretFinder) base64Block(i int) int {
	t := f.text
	if i+longBase64 > len(t) {
		return i
	}
	end, run := i, 0
	for end < len(t) {
		if c := t[end]; base64s.has(c) && c != '_' && c != '-' {
			run++
			end++
			continue
		}
		if t[end] == '\n' && run >= 60 {
			run = 0
			end++
			continue
		}
		break
	}
	if end-i < longBase64 {
		return i
	}
	f.out.Base64 = append(f.out.Base64, Span{Block: f.block, Start: i, End: end})
	if len(f.out.Base64) > maxSpans {
		f.out.Base64, f.out.Truncated = f.out.Base64[:maxSpans], true
	}
	return end
}

// urlPassword is the password in SCHEME://USER:PASSWORD@HOST.
func (f *secretFinder) urlPassword(i int) (start, end int, ok bool) {
	t := f.text
	j := i
	for j < len(t) && j-i < 20 && isSchemeByte(t[j]) {
		j++
	}
	if j == i || !strings.HasPrefix(t[j:], "://") {
		return 0, 0, false
	}
	limit := min(len(t), j+3+512)
	authority := t[j+3 : limit]
	if k := strings.IndexAny(authority, "/ \t\r\n\"'<>?#"); k >= 0 {
		authority = authority[:k]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return 0, 0, false
	}
	colon := strings.IndexByte(authority[:at], ':')
	if colon < 0 || at-colon < 4 || placeholder(authority[colon+1:at]) {
		return 0, 0, false
	}
	return j + 3 + colon + 1, j + 3 + at, true
}

// named is the value of something that is called a secret: NAME=value, "name": "value", Authorization: Bearer value.
func (f *secretFinder) named(i int) (start, end int, ok bool) {
	t := f.text
	j := i
	for j < len(t) && j-i < 64 && dotted.has(t[j]) {
		j++
	}
	name := t[i:j]
	for j < len(t) && (t[j] == '"' || t[j] == '\'' || t[j] == ' ') && j-i < 70 {
		j++
	}
	if j >= len(t) || (t[j] != '=' && t[j] != ':') || !secretName(name) {
		return 0, 0, false
	}
	for j < len(t) && strings.IndexByte("=:> \"'`", t[j]) >= 0 {
		j++
	}
	for _, scheme := range [...]string{"Bearer ", "bearer ", "Basic ", "Token ", "token "} {
		if strings.HasPrefix(t[j:], scheme) {
			j += len(scheme)
		}
	}
	start = j
	for j < len(t) && j-start < 4096 && t[j] > ' ' && strings.IndexByte("\"'`,;}&|)", t[j]) < 0 {
		j++
	}
	value := t[start:j]
	if len(value) < 8 || len(value) > 512 || placeholder(value) || strings.ContainsAny(value, "(<[{$*") || strings.HasPrefix(value, "/") || strings.Contains(value, "://") {
		return 0, 0, false
	}
	// A word is no secret, whatever it is called; what looks random is.
	if !strings.ContainsAny(value, "0123456789") || entropy(value) < 2.5 {
		return 0, 0, false
	}
	return start, j, true
}

// secretName says whether a name calls its value a secret.
func secretName(name string) bool {
	n := strings.ToLower(name)
	for _, part := range [...]string{"public", "hash", "digest", "checksum", "length", "expir", "count", "name", "path", "file", "url", "uri", "_id", "limit"} {
		if strings.Contains(n, part) {
			return false
		}
	}
	for _, part := range [...]string{
		"password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "access_key", "accesskey", "private_key", "privatekey",
		"auth_key", "authorization", "credential", "client_key", "encryption_key", "signing_key", "connection_string",
	} {
		if strings.Contains(n, part) {
			return !strings.HasSuffix(n, "tokens")
		}
	}
	if n == "sig" || strings.HasSuffix(n, "signature") {
		return true
	}
	return strings.HasSuffix(n, "_key") || strings.HasSuffix(n, "_auth") || n == "auth" || strings.HasSuffix(n, "_pwd") || strings.HasSuffix(n, "_pass")
}

// placeholder says whether a value stands for one.
func placeholder(v string) bool {
	n := strings.ToLower(v)
	for _, part := range [...]string{"xxxx", "****", "....", "your", "example", "placeholder", "changeme", "redacted", "replace", "dummy", "<", "${", "{{", "0123456789", "abcdefghij"} {
		if strings.Contains(n, part) {
			return true
		}
	}
	tail := v[len(v)/2:]
	return strings.Trim(tail, tail[:min(1, len(tail))]) == ""
}

// entropy is that of the bytes, in bits each.
func entropy(s string) float64 {
	var counts [256]int
	for i := 0; i < len(s); i++ {
		counts[s[i]]++
	}
	e, n := 0.0, float64(len(s))
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / n
			e -= p * math.Log2(p)
		}
	}
	return e
}

func (s *Secrets) appendJSON(b []byte) []byte {
	b = append(b, `{"spans":[`...)
	b = appendSpans(b, s.Spans)
	b = append(b, `],"base64":[`...)
	b = appendSpans(b, s.Base64)
	b = append(b, ']')
	if s.Truncated {
		b = append(b, `,"truncated":true`...)
	}
	return append(b, '}')
}

func appendSpans(b []byte, spans []Span) []byte {
	for i, s := range spans {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"block":`...)
		b = strconv.AppendInt(b, int64(s.Block), 10)
		b = append(b, `,"start":`...)
		b = strconv.AppendInt(b, int64(s.Start), 10)
		b = append(b, `,"end":`...)
		b = strconv.AppendInt(b, int64(s.End), 10)
		if s.Kind != "" {
			b = append(b, `,"kind":`...)
			b = wire.AppendString(b, s.Kind)
		}
		b = append(b, '}')
	}
	return b
}

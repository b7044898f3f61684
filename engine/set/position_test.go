package set

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// checkPlaces holds the locator to its promise for text that the library
// accepted: every key and element of the document has a place of its own, and
// the text there is that key, or the start of that value.
func checkPlaces(t *testing.T, text string) {
	t.Helper()
	var doc map[string]any
	if _, err := toml.Decode(text, &doc); err != nil {
		t.Fatalf("the library refuses the document: %v\n%s", err, text)
	}
	root, problem := locate("x.toml", text)
	if problem != nil {
		t.Fatal(problem)
	}
	checkPlace(t, text, "", doc, root)
}

func checkPlace(t *testing.T, text, path string, v any, n *node) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if len(n.keys) != len(v) {
			t.Errorf("%s: %d keys located, %d decoded", path, len(n.keys), len(v))
		}
		for key, member := range v {
			child := n.keys[key]
			if child == nil {
				t.Errorf("%s: key %q was not located in\n%s", path, key, text)
				continue
			}
			if at := text[offsetOf(text, child.pos):]; !startsWithKey(at, key) {
				t.Errorf("%s: key %q located at %v, which is %.20q", path, key, child.pos, at)
			}
			checkPlace(t, text, path+"."+key, member, child)
		}
	case []map[string]any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		checkPlace(t, text, path, list, n)
	case []any:
		if len(n.items) != len(v) {
			t.Fatalf("%s: %d elements located, %d decoded in\n%s", path, len(n.items), len(v), text)
		}
		for i, member := range v {
			at := text[offsetOf(text, n.items[i].pos):]
			if !startsWithValue(at, member) {
				t.Errorf("%s[%d]: %v located at %v, which is %.20q", path, i, member, n.items[i].pos, at)
			}
			checkPlace(t, text, fmt.Sprintf("%s[%d]", path, i), member, n.items[i])
		}
	}
}

// offsetOf is the inverse of a position, written without the locator's code.
func offsetOf(text string, pos Position) int {
	offset := 0
	for range pos.Line - 1 {
		offset += strings.Index(text[offset:], "\n") + 1
	}
	column := 1
	for i := range text[offset:] {
		if column == pos.Column {
			return offset + i
		}
		column++
	}
	return len(text)
}

// startsWithKey lets the library read the key that the text starts with.
func startsWithKey(text, key string) bool {
	for end := 1; end <= len(text); end++ {
		// The shortest prefix that is a key by itself may be cut short where
		// the key is bare: "a" of "ab". So all are tried.
		var doc map[string]any
		if _, err := toml.Decode(text[:end]+" = 1", &doc); err == nil {
			if _, ok := doc[key]; ok && len(doc) == 1 {
				return end == len(text) || !bare(text[end]) || text[0] == '"' || text[0] == '\''
			}
		}
		if end > 12*len(key)+12 {
			break
		}
	}
	return false
}

func startsWithValue(text string, v any) bool {
	switch v.(type) {
	case map[string]any:
		return text[0] == '{' || strings.HasPrefix(text, "[[")
	case []any, []map[string]any:
		return text[0] == '['
	case string:
		return text[0] == '"' || text[0] == '\''
	case bool:
		return text[0] == 't' || text[0] == 'f'
	}
	return strings.IndexByte("0123456789+-in", text[0]) >= 0
}

func TestPlaces(t *testing.T) {
	for name, text := range map[string]string{
		"dotted":          "a.b . c = 1\na.d = 2\n",
		"quoted":          "'a.b' = 1\n\"c d\".\"\\u00e9\\t\\\"\" = 2\n\"\" = 3",
		"escapes":         `"\b\t\n\f\r\e\"\\\x41\u0042\U00000043" = 1`,
		"headers":         "[a]\nx=1\n[a.b]\ny=1\n[ c . 'd' ]\n[c]\nz=1",
		"explicit later":  "[a.b]\nx=1\n[a]\ny=1",
		"arrays":          "[[a]]\nx=1\n[[a.b]]\ny=1\n[[a.b]]\ny=2\n[a.c]\nz=1\n[[a]]\n[a.c]\nz=1",
		"inline":          "a = { b = 1, c.d = { e = [ { f = 1 }, { f = 2 } ] } }",
		"inline lines":    "a = { # c }\n b = 1, # }\n\n c = 2,\n}",
		"array lines":     "a = [ # ]\n  1, # ]\n\n  [ 2, 3 ],\n  'x]', \"y\\\"]\",\n]",
		"multi-line":      "a = \"\"\"\nb = 1\n\\\"\"\" [x] \"\" \"\"\"\"\"\nc = 1",
		"multi-line raw":  "a = '''\nb = 1\\''' \nc = 1",
		"quotes at end":   "a = ''''x'''''\nb = \"\"\"\"\"\"\nc = ''''''\nd = \"\"\"\"\"\"\"\"\ne = 1",
		"empty strings":   "a = \"\"\nb = ''\nc = ['', \"\"]",
		"dates":           "a = 1979-05-27 07:32:00Z # x\nb = [07:32:00, 1979-05-27 07:32:00]",
		"numbers":         "a = [+1, -1.5e+3, 0xff, 0o7, 0b1, inf, -nan, 1_0]",
		"crlf":            "a = 1\r\n[b]\r\nc = \"\"\"\r\nx\\\r\n y\"\"\"\r\nd = [\r\n1]\r\n",
		"wide characters": "\"é\" = 1\nx = ['日本', { 日 = 1 }]",
		"comments":        "# a = 1\na = 1 # b = 2\n  # [c]\n[d] # e = 1\n",
		"no final line":   "a = [1]",
		"nothing":         "",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "wide characters" {
				text = strings.ReplaceAll(text, "日 =", "'日' =")
			}
			checkPlaces(t, text)
		})
	}
}

// TestPlacesGenerated checks documents made at random in all the ways that
// TOML has to write the same thing. A failure names its seed.
func TestPlacesGenerated(t *testing.T) {
	for seed := range uint64(500) {
		g := &generator{r: rand.New(rand.NewPCG(seed, 1)), nl: "\n"}
		if seed%4 == 0 {
			g.nl = "\r\n"
		}
		g.document()
		checkPlaces(t, g.b.String())
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, g.b.String())
		}
	}
}

type generator struct {
	r  *rand.Rand
	b  strings.Builder
	nl string
	n  int
}

func (g *generator) pick(words ...string) string { return words[g.r.IntN(len(words))] }

func (g *generator) write(parts ...string) {
	for _, p := range parts {
		g.b.WriteString(p)
	}
}

func (g *generator) space() string { return g.pick("", " ", "\t", "  ") }

// key is new each time, so that documents are valid.
func (g *generator) key() string {
	g.n++
	return fmt.Sprintf(g.pick("k%d", "K-%d_", "%d", `"q%d"`, `'r%d = #'`, `"\u00e9 [%d] \" \\"`, `"\t\x41%d."`, `"é日%d"`), g.n)
}

func (g *generator) dotted() string {
	key := g.key()
	for g.r.IntN(3) == 0 {
		key += g.space() + "." + g.space() + g.key()
	}
	return key
}

func (g *generator) comment() string { return g.pick("", "", " # c = [1, {\" '''", "#]}\"\"\"") }

func (g *generator) document() {
	g.pairs()
	var open []string // headers of arrays of tables, to go deeper into
	for range g.r.IntN(6) {
		key := g.dotted()
		if len(open) > 0 && g.r.IntN(2) == 0 {
			key = open[len(open)-1] + "." + key
		} else {
			open = nil
		}
		if g.r.IntN(2) == 0 {
			g.write(g.space(), "[", g.space(), key, g.space(), "]", g.comment(), g.nl)
			g.pairs()
			continue
		}
		open = append(open, key)
		for range 1 + g.r.IntN(3) {
			g.write(g.space(), "[[", g.space(), key, g.space(), "]]", g.comment(), g.nl)
			g.pairs()
		}
	}
	g.write(g.pick("", "# end", g.nl))
}

func (g *generator) pairs() {
	for range g.r.IntN(4) {
		g.write(g.pick("", g.nl, "# x = 1"+g.nl), g.space(), g.dotted(), g.space(), "=", g.space())
		g.value(0)
		g.write(g.comment(), g.nl)
	}
}

func (g *generator) value(depth int) {
	kind := g.r.IntN(4)
	if depth > 3 {
		kind = 0
	}
	switch kind {
	case 1:
		g.write("[", g.gap())
		for range g.r.IntN(4) {
			g.value(depth + 1)
			g.write(g.gap(), ",", g.gap())
		}
		if g.r.IntN(2) == 0 {
			g.value(depth + 1)
		}
		g.write(g.gap(), "]")
	case 2:
		g.write("{", g.space())
		for i := range g.r.IntN(4) {
			if i > 0 {
				g.write(g.space(), ",", g.gap())
			}
			g.write(g.dotted(), g.space(), "=", g.space())
			g.value(depth + 1)
		}
		g.write(g.gap(), "}")
	default:
		g.write(g.pick("1", "-2.5", "true", "0xAf", "inf", "1979-05-27 07:32:00Z", "07:32:00",
			`"s, ] } # \" \\"`, `'raw \'`, `""`, `''`,
			`"""`+g.nl+`a = 1 \""" ""`+g.nl+`[b]"""`, `"""x"""""`, `"""\`+g.nl+`  y"""`,
			`'''`+g.nl+`a = 1 \ '' `+g.nl+`'''`, `''''q'''''`))
	}
}

// gap is what may stand between the elements of an array.
func (g *generator) gap() string {
	return g.pick("", " ", g.nl, " # ] } \" '''"+g.nl+"\t", g.nl+g.nl)
}

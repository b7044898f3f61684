package sessionhtml

import (
	"bytes"
	"context"
	_ "embed" // the template
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"

	"weir/agentcore"
	"weir/engine/session"
)

//go:embed page.html
var pageSource string

// Write writes the page of a session's present branch. title is its heading. What is wrong with an entry is said in its place; only a
// failing w is an error.
func Write(w io.Writer, store *session.Store, title string) error {
	page, err := template.New("page").Parse(pageSource)
	if err != nil {
		return err // a broken template is ours
	}
	p := &parts{}
	branch := store.Branch("")
	for _, e := range branch {
		p.entry(e)
	}
	if left := store.Len() - len(branch); left > 0 {
		p.add(part{Kind: "note", Text: fmt.Sprintf("%d entries on other branches are not shown.", left)})
	}
	h := store.Header()
	facts := []string{"session " + h.ID, h.Timestamp, h.CWD}
	if p.tokens > 0 {
		facts = append(facts, fmt.Sprintf("%d tokens", p.tokens))
	}
	if p.cost > 0 {
		facts = append(facts, fmt.Sprintf("$%.4f", p.cost))
	}
	return page.Execute(w, struct {
		Title, Facts string
		Parts        []part
	}{visible(title), visible(strings.Join(facts, " · ")), p.list})
}

// part is one element of the page. Which fields a kind has is in page.html.
type part struct {
	Kind   string
	Who    string
	Text   string
	Short  string
	Said   []section
	Images []template.URL
	Failed bool
}

// section is a piece of what a model said.
type section struct {
	Text string
	Code bool
}

type parts struct {
	list   []part
	tokens int64
	cost   float64
}

func (p *parts) add(x part) { p.list = append(p.list, x) }

func (p *parts) entry(e *session.Entry) {
	d, err := e.Data()
	if err != nil {
		p.add(part{Kind: "error", Text: visible(err.Error())})
		return
	}
	switch e.Type {
	case session.EntryModel:
		p.add(part{Kind: "note", Text: visible(fmt.Sprintf("model %s/%s", d.Provider, d.ModelID))})
		return
	case session.EntryThinkingLevel:
		p.add(part{Kind: "note", Text: visible("thinking " + d.ThinkingLevel)})
		return
	case session.EntryCompaction:
		p.add(part{Kind: "note", Text: "What came before was summarised for the model:"})
	}
	m, err := e.Message()
	switch {
	case err != nil:
		p.add(part{Kind: "error", Text: visible(err.Error())})
	case m != nil:
		p.message(m)
	}
}

func (p *parts) message(m *agentcore.Message) {
	switch {
	case m.User() != nil:
		p.add(said("user", m.User().Content))
	case m.Assistant() != nil:
		p.assistant(m.Assistant())
	case m.ToolResult() != nil:
		r := m.ToolResult()
		text, images := content(agentcore.Content{Blocks: r.Content})
		p.add(part{Kind: "result", Who: visible(r.ToolName), Text: visible(text), Short: size(text), Images: images, Failed: r.IsError})
	default:
		// As the model reads it; what it does not read is left out.
		read, err := session.ConvertToLLM(context.Background(), []*agentcore.Message{m})
		if err != nil || len(read) == 0 || read[0].User() == nil {
			return
		}
		p.add(said(string(m.Role()), read[0].User().Content))
	}
}

// said is what somebody but the model said, as it was written.
func said(who string, c agentcore.Content) part {
	text, images := content(c)
	return part{Kind: "user", Who: visible(who), Text: visible(text), Images: images}
}

func (p *parts) assistant(a *agentcore.AssistantMessage) {
	p.tokens += a.Usage.TotalTokens
	p.cost += a.Usage.Cost.Total
	who := visible(a.Provider + "/" + a.Model)
	for _, block := range a.Content {
		switch b := block.(type) {
		case *agentcore.TextBlock:
			p.add(part{Kind: "assistant", Who: who, Said: sections(b.Text)})
		case *agentcore.ThinkingBlock:
			if b.Thinking != "" {
				p.add(part{Kind: "thinking", Text: visible(b.Thinking)})
			}
		case *agentcore.ToolCall:
			p.add(part{Kind: "call", Who: visible(b.Name), Short: visible(summary(b.Arguments)), Text: visible(indented(b.Arguments))})
		}
	}
	if a.ErrorMessage != "" {
		p.add(part{Kind: "error", Text: visible(fmt.Sprintf("%s: %s", a.StopReason, a.ErrorMessage))})
	}
}

// sections cuts Markdown at its fences: what is between them is shown in a block of its own, the rest as it was written.
func sections(text string) []section {
	var list []section
	var lines []string
	fence := ""
	flush := func() {
		if joined := strings.Join(lines, "\n"); strings.TrimSpace(joined) != "" {
			list = append(list, section{Text: strings.Trim(joined, "\n"), Code: fence != ""})
		}
		lines = nil
	}
	for line := range strings.Lines(visible(text)) {
		line = strings.TrimSuffix(line, "\n")
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			flush()
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), fence[:1]) == "":
			flush()
			fence = ""
		default:
			lines = append(lines, line)
		}
	}
	flush()
	return list
}

// fenceOf is the run of three or more backticks or tildes that a line starts with; "" when it does not.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range [...]string{"`", "~"} {
		if rest := strings.TrimLeft(line, c); len(line)-len(rest) >= 3 && (c == "~" || !strings.Contains(rest, "`")) {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// drawn says which images browsers draw and nothing else. SVG can hold more than a picture.
func drawn(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	default:
		return false
	}
}

func content(c agentcore.Content) (text string, images []template.URL) {
	if c.Blocks == nil {
		return c.Text, nil
	}
	var texts []string
	for _, block := range c.Blocks {
		switch b := block.(type) {
		case *agentcore.TextBlock:
			texts = append(texts, b.Text)
		case *agentcore.ImageBlock:
			if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil || !drawn(b.MimeType) {
				texts = append(texts, fmt.Sprintf("[image %s, %d bytes of base64, not shown]", b.MimeType, len(b.Data)))
				continue
			}
			images = append(images, template.URL("data:"+b.MimeType+";base64,"+b.Data)) //nolint:gosec // checked
		}
	}
	return strings.Join(texts, "\n"), images
}

// visible shows control characters and direction marks instead of obeying them.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ':
			return '\u2400' + r // the picture of a control character
		case r == 0x7f:
			return '\u2421'
		case unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cc, r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// summary is what a call is about in a few words.
func summary(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return ""
	}
	for _, key := range [...]string{"command", "path", "pattern", "url", "query"} {
		var text string
		if json.Unmarshal(fields[key], &text) == nil && text != "" {
			return shortened(text)
		}
	}
	return ""
}

func shortened(s string) string {
	const most = 100
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func indented(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, args, "", "  ") != nil {
		return string(args)
	}
	return b.String()
}

func size(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("(%d lines)", strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1)
}

package sessionhtml

import (
	"html"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// newMarkdown renders Markdown of a model. goldmark drops addresses such as javascript: by itself; markup is shown as text.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(markupAsText{}, 100))))
}

// markupAsText shows HTML in Markdown as what was written.
type markupAsText struct{}

func (markupAsText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			raw := n.(*ast.RawHTML)
			for i := range raw.Segments.Len() {
				at := raw.Segments.At(i)
				writeEscaped(w, at.Value(source))
			}
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		block := n.(*ast.HTMLBlock)
		if entering {
			write(w, "<pre>")
			for i := range block.Lines().Len() {
				at := block.Lines().At(i)
				writeEscaped(w, at.Value(source))
			}
			return ast.WalkContinue, nil
		}
		if block.HasClosure() {
			writeEscaped(w, block.ClosureLine.Value(source))
		}
		write(w, "</pre>\n")
		return ast.WalkContinue, nil
	})
}

func writeEscaped(w util.BufWriter, b []byte) { write(w, html.EscapeString(string(b))) }

func write(w util.BufWriter, s string) { _, _ = w.WriteString(s) } // into memory

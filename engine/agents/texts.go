package agents

import (
	"encoding/json"
	"errors"
	"strings"

	"weir/agentcore"
)

// span is where a text stands in a JSON value, quotes included.
type span struct{ start, end int }

// textSpans finds the texts of a valid JSON value that a model reads, in their order: all but keys, what only describes the
// shape, and encoded images. So a result of any shape can be shown to extensions, and be put together again in its shape.
func textSpans(raw []byte) []span {
	type level struct {
		object bool
		key    string
	}
	var spans []span
	stack := []level{{}}
	wantKey := false
	for i := 0; i < len(raw); i++ {
		top := &stack[len(stack)-1]
		switch raw[i] {
		case '{':
			stack = append(stack, level{object: true})
			wantKey = true
		case '[':
			stack = append(stack, level{key: top.key})
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			wantKey = false
		case ',':
			wantKey = top.object
		case '"':
			end := stringEnd(raw, i)
			switch {
			case wantKey:
				top.key, wantKey = unquote(raw[i:end]), false
			case !describes(top.key, raw[i:end]):
				spans = append(spans, span{i, end})
			}
			i = end - 1
		}
	}
	return spans
}

// describes says whether the text under a key is about the shape of a result, or an encoded image.
func describes(key string, text []byte) bool {
	switch key {
	case "type", "mode", "resultType", "result_type", "filePath", "file_path", "media_type", "mediaType", "mimeType", "mime_type":
		return true
	case "data", "base64":
		const shortest = 66 // below this it is no image, and may be anything
		return len(text) >= shortest && strings.Trim(string(text[1:len(text)-1]), base64Letters) == ""
	}
	return false
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_"

// stringEnd is the offset after the text that starts at i.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func unquote(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "" // the value was valid JSON, so this is a text
	}
	return s
}

// textBlocks are the texts as content of a result.
func textBlocks(raw []byte, spans []span) []agentcore.Block {
	blocks := make([]agentcore.Block, len(spans))
	for i, s := range spans {
		blocks[i] = &agentcore.TextBlock{Text: unquote(raw[s.start:s.end])}
	}
	return blocks
}

// putBack gives a result in which the texts are replaced. As many blocks as there were texts take their places; otherwise the
// first text becomes all of them and the others become empty.
func putBack(raw []byte, spans []span, blocks []agentcore.Block) (json.RawMessage, error) {
	if len(spans) == 0 {
		return nil, errors.New("the result has no text that could be replaced")
	}
	texts, err := texts(blocks)
	if err != nil {
		return nil, err
	}
	if len(texts) != len(spans) {
		all := make([]string, len(spans))
		all[0] = strings.Join(texts, "\n")
		texts = all
	}
	var out []byte
	at := 0
	for i, s := range spans {
		out = append(out, raw[at:s.start]...)
		if texts[i] == unquote(raw[s.start:s.end]) {
			out = append(out, raw[s.start:s.end]...)
		} else {
			out = append(out, encode(texts[i])...)
		}
		at = s.end
	}
	return append(out, raw[at:]...), nil
}

// texts are the texts of blocks. An image has no place in another agent's result.
func texts(blocks []agentcore.Block) ([]string, error) {
	list := make([]string, len(blocks))
	for i, b := range blocks {
		text, ok := b.(*agentcore.TextBlock)
		if !ok {
			return nil, errors.New("the rewritten result holds something else than text")
		}
		list[i] = text.Text
	}
	return list, nil
}

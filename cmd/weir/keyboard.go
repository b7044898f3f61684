package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// keyboard gives what is typed to the line editor, but for Ctrl-C, and with placeholders for what was pasted in many lines.
type keyboard struct {
	interrupt func()
	typed     chan []byte
	pressed   chan []byte
	ended     chan struct{} // closed when nothing more can be typed

	left []byte // of what was given last; for Read only

	mu     sync.Mutex
	pastes []string

	held    []byte // the beginning of what may be a mark, or what is pasted
	pasting bool
}

// A terminal in bracketed paste mode sends a paste between these.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// maxInline is how long a paste may be that is put into the line as it is: the line editor takes 4096 characters.
const maxInline = 1000

// newKeyboard reads keys, in the background, as long as there are any.
func newKeyboard(keys io.Reader, interrupt func()) *keyboard {
	k := &keyboard{interrupt: interrupt, typed: make(chan []byte), pressed: make(chan []byte, 16), ended: make(chan struct{})}
	go func() {
		defer close(k.ended)
		buf := make([]byte, 4096)
		for {
			n, err := keys.Read(buf)
			if out := k.filter(buf[:n]); len(out) > 0 {
				k.typed <- out
			}
			if err != nil {
				return
			}
		}
	}()
	return k
}

// press types a key.
func (k *keyboard) press(key byte) {
	select {
	case k.pressed <- []byte{key}:
	case <-k.ended:
	}
}

// over says whether nothing more can be typed.
func (k *keyboard) over() bool {
	select {
	case <-k.ended:
		return true
	default:
		return false
	}
}

// Read implements [io.Reader].
func (k *keyboard) Read(p []byte) (int, error) {
	for len(k.left) == 0 {
		select {
		case k.left = <-k.pressed:
		case k.left = <-k.typed:
		case <-k.ended:
			return 0, io.EOF
		}
	}
	n := copy(p, k.left)
	k.left = k.left[n:]
	return n, nil
}

// filter gives what the line editor is to see of new keys.
func (k *keyboard) filter(keys []byte) []byte {
	var out []byte
	in := append(k.held, keys...)
	k.held = nil
	for len(in) > 0 {
		if k.pasting {
			end := bytes.Index(in, []byte(pasteEnds))
			if end < 0 {
				k.held = append([]byte(nil), in...)
				return out
			}
			out = append(out, k.paste(string(in[:end]))...)
			in, k.pasting = in[end+len(pasteEnds):], false
			continue
		}
		begin := bytes.Index(in, []byte(pasteBegins))
		plain := in
		if begin >= 0 {
			plain = in[:begin]
		} else if n := partial(in, pasteBegins); n > 1 { // Esc alone is a key
			plain = in[:len(in)-n]
			k.held = append([]byte(nil), in[len(in)-n:]...)
		}
		for _, c := range plain {
			switch c {
			case 0x03:
				k.interrupt()
			case keyAside, keyBack:
			default:
				out = append(out, c)
			}
		}
		if begin < 0 {
			return out
		}
		in, k.pasting = in[begin+len(pasteBegins):], true
	}
	return out
}

// partial is how much of mark's beginning stands at the end of text.
func partial(text []byte, mark string) int {
	for n := min(len(mark)-1, len(text)); n > 0; n-- {
		if bytes.HasSuffix(text, []byte(mark[:n])) {
			return n
		}
	}
	return 0
}

// paste gives what stands in the line for a paste: itself, or a placeholder.
func (k *keyboard) paste(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\uFFFD"))
	if !strings.Contains(text, "\n") && len(text) <= maxInline {
		return strings.Map(func(r rune) rune {
			if r < 0x20 || r == 0x7f { // keys of the line editor
				return ' '
			}
			return r
		}, text)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pastes = append(k.pastes, text)
	return pasteMark(len(k.pastes), text)
}

func pasteMark(n int, text string) string {
	return fmt.Sprintf("[paste %d: %d lines]", n, strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1)
}

// expand puts what was pasted in the places of the placeholders.
func (k *keyboard) expand(line string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var pairs []string
	for i, text := range k.pastes {
		pairs = append(pairs, pasteMark(i+1, text), text)
	}
	return strings.NewReplacer(pairs...).Replace(line)
}

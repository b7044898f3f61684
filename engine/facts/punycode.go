package facts

import (
	"strings"
	"unicode/utf8"
)

// punycode encodes the labels of a name that are not ASCII (RFC 3492). The mapping of IDNA beyond lower case is not applied:
// a name that needs it is not one that can be registered.
func punycode(name string) string {
	labels := strings.Split(name, ".")
	for i, l := range labels {
		if !isASCII(l) && utf8.ValidString(l) && len(l) < 256 {
			labels[i] = "xn--" + encodeLabel([]rune(l))
		}
	}
	return strings.Join(labels, ".")
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// encodeLabel is RFC 3492 section 6.3.
func encodeLabel(label []rune) string {
	const base, tMin, tMax, initialBias, initialN = 36, 1, 26, 72, 128
	out := make([]byte, 0, len(label)*3)
	for _, r := range label {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		}
	}
	done := len(out)
	basic := done
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(initialN), 0, initialBias
	for done < len(label) {
		next := utf8.MaxRune
		for _, r := range label {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tMin), tMax)
				if q < t {
					break
				}
				out = append(out, punyDigit(t+(q-t)%(base-t)))
				q = (q - t) / (base - t)
			}
			out = append(out, punyDigit(q))
			bias = adapt(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return string(out)
}

func punyDigit(d int) byte {
	if d < 26 {
		return byte('a' + d)
	}
	return byte('0' + d - 26)
}

// adapt is RFC 3492 section 6.1.
func adapt(delta, points int, first bool) int {
	const base, tMin, tMax, skew, damp = 36, 1, 26, 38, 700
	if first {
		delta /= damp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for delta > (base-tMin)*tMax/2 {
		delta /= base - tMin
		k += base
	}
	return k + (base-tMin+1)*delta/(delta+skew)
}

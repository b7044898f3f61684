package weir

// Base64 as JSON carries bytes. The package encoding/base64 brings reflection
// into a module.
const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// base64 encodes bytes as a JSON string, none as "", which Object leaves out.
func base64(s string) JSON {
	if s == "" {
		return ""
	}
	b := make([]byte, 0, len(s)*4/3+6)
	b = append(b, '"')
	for ; len(s) >= 3; s = s[3:] {
		b = append(b, base64Digits[s[0]>>2], base64Digits[s[0]&3<<4|s[1]>>4], base64Digits[s[1]&15<<2|s[2]>>6], base64Digits[s[2]&63])
	}
	switch len(s) {
	case 1:
		b = append(b, base64Digits[s[0]>>2], base64Digits[s[0]&3<<4], '=', '=')
	case 2:
		b = append(b, base64Digits[s[0]>>2], base64Digits[s[0]&3<<4|s[1]>>4], base64Digits[s[1]&15<<2], '=')
	}
	return JSON(append(b, '"'))
}

func unbase64(s string) (string, bool) {
	if len(s)%4 != 0 {
		return "", false
	}
	end := len(s)
	for padding := 0; padding < 2 && end > 0 && s[end-1] == '='; padding++ {
		end--
	}
	var bits uint32
	b := make([]byte, 0, len(s)/4*3)
	for i := range end {
		digit := base64Digit(s[i])
		if digit < 0 {
			return "", false
		}
		bits = bits<<6 | uint32(digit)
		// After the first digit of four there is no whole byte yet.
		if shift := (3 - i%4) * 2; i%4 > 0 {
			b = append(b, byte(bits>>shift))
		}
	}
	return string(b), true
}

func base64Digit(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}

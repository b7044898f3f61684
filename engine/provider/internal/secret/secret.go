// Package secret tells keys from other text, so that none gets into an error, a log, an extension or a recording.
// Functions are safe for concurrent use.
package secret

import (
	"regexp"
	"strings"
	"sync"
)

// Mark stands where a key was.
const Mark = "[key]"

// Header says whether the value of a header may be a key: what carries credentials in HTTP, and every name that sounds
// like one.
func Header(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "authorization", "proxy-authorization", "cookie", "set-cookie", "api-key", "x-api-key":
		return true
	}
	for _, word := range []string{"key", "token", "secret", "auth", "password", "credential", "session", "signature"} {
		if strings.Contains(name, word) && !strings.HasPrefix(name, "anthropic-ratelimit-") && !strings.HasPrefix(name, "x-ratelimit-") {
			return true
		}
	}
	return false
}

// least is the shortest text that is taken for a key: shorter ones are likely to be a part of a word.
const least = 6

// Strip takes key out of text. A key that is too short to be one stays.
func Strip(text, key string) string {
	if len(key) < least {
		return text
	}
	return strings.ReplaceAll(text, key, Mark)
}

// StripLike takes out what looks like a key, masked by stars or not: some servers repeat the key that they refuse.
func StripLike(text string) string { return like().ReplaceAllString(text, Mark) }

var like = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:sk|pk|rk|gsk|xai|nvapi|hf|key)[-_][A-Za-z0-9_*-]{6,}|\bAIza[A-Za-z0-9_-]{10,}|\bBearer [A-Za-z0-9._~+/=*-]{6,}`)
})

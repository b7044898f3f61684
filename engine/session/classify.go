package session

import (
	"regexp"
	"strings"
	"sync"

	"weir/agentcore"
)

// Retryable says whether a failed response is worth another attempt: its error is of the passing kind and not one that a
// plan or a budget sets. Overflow comes first: what overflows is compacted, not retried.
func Retryable(m *agentcore.AssistantMessage) bool {
	if m.StopReason != agentcore.StopError || m.ErrorMessage == "" {
		return false
	}
	return !spent().MatchString(m.ErrorMessage) && transient().MatchString(m.ErrorMessage)
}

// Overflow says whether a response failed, or was cut short, because the context does not fit the model's window of
// contextWindow tokens (0: not known).
func Overflow(m *agentcore.AssistantMessage, contextWindow int64) bool {
	input := m.Usage.Input + m.Usage.CacheRead
	switch m.StopReason {
	case agentcore.StopError:
		return tooLong().MatchString(m.ErrorMessage) && !throttled().MatchString(m.ErrorMessage)
	case agentcore.StopStop:
		// Some providers cut the input silently and answer.
		return contextWindow > 0 && input > contextWindow
	case agentcore.StopLength:
		// Others leave no room to answer in. 99 in 100 of the window is the reference's measure of full.
		return contextWindow > 0 && m.Usage.Output == 0 && input*100 >= contextWindow*99
	default:
		return false
	}
}

// RecoverableLength says whether a response was cut off before it had used the output it was allowed, so that a shorter
// context would let it finish.
func RecoverableLength(m *agentcore.AssistantMessage, maxOutput int64) bool {
	return m.StopReason == agentcore.StopLength && maxOutput > 0 && m.Usage.Output < maxOutput
}

// The four classes of error texts, from the reference's list (NOTES section 4): facts about what providers say.
var (
	transient = anyOf(
		// load, status codes and failures of servers
		"overloaded", "rate.?limit", "too many requests", "429", "50[0234]", "524", "service.?unavailable", "server.?error",
		"internal.?error", "provider.?returned.?error", "exceeded request buffer limit while retrying upstream", "ResourceExhausted",
		// the network between
		"network.?error", "connection.?(error|refused|lost)", "other side closed", "fetch failed", "getaddrinfo", "ENOTFOUND",
		"EAI_AGAIN", "upstream.?connect", "reset before headers", "socket hang up", "socket connection was closed", "timed? out",
		"timeout", "terminated", "websocket.?(closed|error)", "http2 request did not get a response",
		// streams that end too early
		"ended without", "stream ended before (message_stop|a terminal response event)",
		// providers that say what to do
		"retry delay", "(you can|please) retry your request", "try your request again",
	)
	spent = anyOf(
		"(Go|Free)UsageLimitError", "Monthly usage limit reached", "available balance", "insufficient_quota", "out of budget",
		"quota exceeded", "billing",
	)
	tooLong = anyOf(
		"prompt is too long", "request_too_large", "input is too long for requested model", "exceeds the context window",
		`exceeds (the )?(model'?s )?maximum context length( of [\d,]+ tokens?|\s*\([\d,]+\))`,
		"input token count.*exceeds the maximum", `maximum prompt length is \d+`, "reduce the length of the messages",
		`maximum context length is \d+ tokens`, `exceeds (the )?maximum allowed input length of [\d,]+ tokens?`,
		`input \(\d+ tokens\) is longer than the model'?s context length \(\d+ tokens\)`, `exceeds the limit of \d+`,
		"exceeds the available context size", "greater than the context length", "context window exceeds limit",
		"exceeded model token limit", `too large for model with \d+ maximum context length`,
		`prompt has [\d,]+ tokens?, but the configured context size is [\d,]+ tokens?`, "model_context_window_exceeded",
		"prompt too long; exceeded (max )?context length", "range of input length should be", "context[_ ]length[_ ]exceeded",
		"too many tokens", "token limit exceeded", `^4(00|13)\s*(status code)?\s*\(no body\)`,
	)
	throttled = anyOf("^(Throttling error|Service unavailable):", "rate limit", "too many requests")
)

// anyOf compiles alternatives, ignoring case, on first use.
func anyOf(patterns ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)" + strings.Join(patterns, "|")) })
}

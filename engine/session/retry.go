package session

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"weir/agentcore"
)

// RetrySettings say how failed responses are tried again.
type RetrySettings struct {
	Enabled bool
	// MaxRetries is how many attempts follow the first; 0 is none.
	MaxRetries int
	// BaseDelay is the pause before the first of them; it doubles with each. Where a server said how long to wait, the pause is
	// at least that; one that asks for more than [MaxRetryAfter] is not asked again.
	BaseDelay time.Duration
}

// MaxRetryAfter is the longest that a session waits because a server said so. Who is to wait longer than that has run out of a
// quota, which a pause does not mend.
const MaxRetryAfter = 2 * time.Minute

// DefaultRetry is the reference's.
func DefaultRetry() RetrySettings {
	return RetrySettings{Enabled: true, MaxRetries: 3, BaseDelay: 2 * time.Second}
}

// maxDelay keeps doubling from overflowing; nobody waits longer.
const maxDelay = time.Hour

func (r RetrySettings) delay(attempt int) time.Duration {
	delay := r.BaseDelay
	for ; attempt > 1 && delay < maxDelay; attempt-- {
		delay *= 2
	}
	return min(delay, max(maxDelay, r.BaseDelay))
}

// pause is what goes before an attempt, after a response with this error text.
func (r RetrySettings) pause(attempt int, message string, now time.Time) time.Duration {
	return max(r.delay(attempt), retryAfter(message, now))
}

// afterPattern finds what the providers of engine/provider make of a Retry-After header.
var afterPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(retry after ([^()]{1,40})\)$`) })

// retryAfter is how long the server said to wait; 0 when it said nothing. (RFC 9110, section 10.2.3: seconds, or a date.)
func retryAfter(message string, now time.Time) time.Duration {
	found := afterPattern().FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	if number, ok := strings.CutSuffix(found[1], "s"); ok {
		if seconds, err := strconv.ParseFloat(number, 64); err == nil && seconds > 0 {
			return time.Duration(min(seconds, (24*time.Hour).Seconds()) * float64(time.Second))
		}
	}
	if at, err := http.ParseTime(found[1]); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// SetAutoRetry switches retrying on or off.
func (s *Session) SetAutoRetry(enabled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retry.Enabled = enabled
}

func (s *Session) retrySettings() RetrySettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retry
}

// retryable says whether a response failed in a passing way. What overflows is compacted, not retried.
func (s *Session) retryable(a *agentcore.AssistantMessage) bool {
	return Retryable(a) && !Overflow(a, s.Model().ContextWindow) && retryAfter(a.ErrorMessage, s.now()) <= MaxRetryAfter
}

// willRetry is what agent_end says.
func (s *Session) willRetry(messages []*agentcore.Message) bool {
	s.mu.Lock()
	budget := s.retry.Enabled && s.retries < s.retry.MaxRetries
	s.mu.Unlock()
	if !budget {
		return false
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if a := messages[i].Assistant(); a != nil {
			return s.retryable(a)
		}
	}
	return false
}

// prepareRetry takes the failed response from the transcript and waits. It is false when there is no budget, or when the
// pause was ended.
func (s *Session) prepareRetry(ctx context.Context, a *agentcore.AssistantMessage) (bool, error) {
	s.mu.Lock()
	settings := s.retry
	if !settings.Enabled || s.retries >= settings.MaxRetries {
		s.mu.Unlock()
		return false, nil
	}
	s.retries++
	attempt := s.retries
	s.mu.Unlock()
	delay := settings.pause(attempt, a.ErrorMessage, s.now())
	err := s.emit(&AutoRetryStart{Attempt: attempt, MaxAttempts: settings.MaxRetries, DelayMs: delay.Milliseconds(), ErrorMessage: a.ErrorMessage})
	if err != nil {
		return false, err
	}
	s.dropLast()
	pause, done := s.begin(ctx, &s.pause)
	slept := sleep(pause, delay)
	done()
	if slept {
		return true, nil
	}
	s.mu.Lock()
	s.retries = 0
	s.mu.Unlock()
	return false, s.emit(&AutoRetryEnd{Attempt: attempt, FinalError: "Retry cancelled"})
}

// sleep waits; it is false when ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

package tools

import (
	"testing"

	"go.uber.org/goleak"
)

// Every goroutine of a command has ended when its call returns.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

//go:build !unix

package wasmhost_test

import "time"

// cpuTime cannot be read here.
func cpuTime() time.Duration { return 0 }

//go:build unix

package granted

import (
	"os"
	"syscall"
)

const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

//go:build !unix

package granted

import "os"

const openFlags = os.O_RDONLY

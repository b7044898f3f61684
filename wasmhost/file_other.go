//go:build !unix

package wasmhost

import "os"

const openFlags = os.O_RDONLY

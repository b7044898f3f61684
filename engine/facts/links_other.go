//go:build !unix

package facts

import "io/fs"

func linkCount(fs.FileInfo) uint64 { return 0 }

func isNotDir(error) bool { return false }

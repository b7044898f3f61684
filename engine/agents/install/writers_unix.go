//go:build unix

package install

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// writers says who but its owner can change a file: Bad for anybody, and for an owner that is neither this person nor root.
func writers(info fs.FileInfo) (Level, string) {
	const group, others = 0o020, 0o002
	mode := info.Mode()
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int64(st.Uid) != int64(os.Getuid()) {
		return Bad, fmt.Sprintf("its owner, user %d", st.Uid)
	}
	if info.IsDir() && mode&fs.ModeSticky != 0 {
		return OK, "" // what is in it belongs to its owners
	}
	switch {
	case mode&others != 0:
		return Bad, "everybody"
	case mode&group != 0:
		return Note, "its group"
	}
	return OK, ""
}

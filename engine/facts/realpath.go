package facts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// entry is what lies at the end of a path.
type entry struct {
	exists bool
	kind   string
	links  uint64
}

const (
	maxLinks      = 40   // as many as Linux follows in one path (path_resolution(7))
	maxPathBytes  = 4096 // PATH_MAX; a longer one is not looked up
	maxComponents = 512
)

// realPath follows an absolute path as the kernel does, .. after links included, and goes on by the text where nothing is
// there yet. unresolved: it could not be followed to its end.
func realPath(path string) (real string, e entry, unresolved bool) {
	e.kind = "missing"
	if len(path) > maxPathBytes || strings.IndexByte(path, 0) >= 0 {
		return filepath.Clean(path), e, true
	}
	volume := filepath.VolumeName(path)
	separator := string(filepath.Separator)
	cur := volume + separator
	rest := splitPath(path[len(volume):])
	e = entry{exists: true, kind: "dir"}
	links, gone := 0, false
	for n := 0; len(rest) > 0; n++ {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			cur = filepath.Dir(cur)
			continue
		case n > maxComponents:
			return filepath.Join(append([]string{cur, part}, rest...)...), entry{kind: "missing"}, true
		}
		next := cur + part
		if cur[len(cur)-1] != filepath.Separator {
			next = cur + separator + part
		}
		if gone {
			cur = next
			continue
		}
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || isNotDir(err):
			gone, e = true, entry{kind: "missing"}
		case err != nil:
			gone, unresolved, e = true, true, entry{kind: "missing"}
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(next)
			if links++; err != nil || links > maxLinks {
				return filepath.Join(append([]string{next}, rest...)...), entry{exists: true, kind: "symlink"}, true
			}
			if filepath.IsAbs(target) {
				volume = filepath.VolumeName(target)
				cur = volume + separator
				target = target[len(volume):]
			}
			rest = append(splitPath(target), rest...)
			e = entry{exists: true, kind: "dir"} // of where the link starts, should it lead to that very folder
			continue
		default:
			e = entry{exists: true, kind: kindOf(info.Mode()), links: linkCount(info)}
		}
		cur = next
	}
	return filepath.Clean(cur), e, unresolved
}

func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "dir"
	case m&fs.ModeNamedPipe != 0:
		return "fifo"
	case m&fs.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}

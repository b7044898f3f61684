package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"weir/engine/set"
	"weir/wasmhost"
	"weir/wasmhost/screen"
)

// cacheDir is where compiled modules are kept: $WEIR_CACHE_DIR, or weir in the user's cache folder. "" when there is none.
func cacheDir() string {
	if dir := os.Getenv("WEIR_CACHE_DIR"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "weir")
}

// newHost makes the host of a command, with the user's module cache.
func newHost(ctx context.Context) (*wasmhost.Host, error) {
	host, err := wasmhost.New(ctx, wasmhost.Config{CacheDir: cacheDir(), Precompile: compileElsewhere})
	if err != nil {
		return nil, fmt.Errorf("%w\nset WEIR_CACHE_DIR to a folder that can be written", err)
	}
	return host, nil
}

const (
	// compileTimeout is how long one module may take to compile (ABI section 14).
	compileTimeout = 20 * time.Second
	// compileHere is the estimated compile time, in the screen's microseconds, below which starting a process costs more than it
	// protects.
	compileHere = 300_000
)

// compileElsewhere compiles a costly module in a process of its own, so that a compilation that runs wild does not take
// this one down. The result comes back through the cache.
func compileElsewhere(ctx context.Context, wasm []byte, limits wasmhost.Limits) error {
	s, err := screen.Summarize(wasm)
	if err != nil || s.CompileCost < compileHere {
		return nil // the host screened the module and reports what is wrong with it
	}
	self, err := os.Executable()
	if err != nil {
		return nil // without a path to ourselves the module is compiled here, screened as it is
	}
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, compileCommand, strconv.FormatUint(uint64(limits.Table), 10), strconv.FormatUint(uint64(limits.Depth), 10))
	cmd.Stdin = bytes.NewReader(wasm)
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("compiling took longer than %v", compileTimeout)
	case err != nil:
		line, _, _ := strings.Cut(said.String(), "\n")
		return fmt.Errorf("compiling failed: %s (%w)", line, err)
	}
	return nil
}

// managedFolder holds what whoever administers the machine demands. It is a variable for tests only: neither a flag nor the
// environment may change it, since whoever could would be rid of those demands.
var managedFolder = "/etc/weir"

// discovery says where sets are looked for. project is that of the project, nil when it does not count.
func discovery(setFile string, project *set.Set) set.Discovery {
	user, err := configFolder()
	if err != nil {
		user = "" // without one there is no set of the user's
	}
	return set.Discovery{ManagedDir: managedFolder, UserDir: user, SetFile: setFile, Project: project}
}

//go:build unix

package tools

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestShell: output and exit code are the command's; what cannot be started, and what was aborted, is an error.
func TestShell(t *testing.T) {
	dir := t.TempDir()
	run := func(ctx context.Context, cwd, command string) (string, int, error) {
		var out strings.Builder
		code, err := Shell{Env: []string{"GREETING=hello"}}.Exec(ctx, command, cwd, func(p []byte) { out.Write(p) })
		return out.String(), code, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		command, out string
		code         int
	}{{"echo $GREETING; pwd -P >/dev/null; exit 3", "hello\n", 3}, {"echo a >&2", "a\n", 0}, {"kill -9 $$", "", -1}} {
		if out, code, err := run(ctx, dir, c.command); out != c.out || code != c.code || err != nil {
			t.Errorf("%s: %q, %d, %v", c.command, out, code, err)
		}
	}
	if _, _, err := run(ctx, dir+"/nothing", "true"); err == nil {
		t.Error("a folder that is not there is no error")
	}
	cancel()
	var end *CommandError
	if _, code, err := run(ctx, dir, "sleep 60"); code != -1 || !errors.As(err, &end) || !errors.Is(err, context.Canceled) {
		t.Errorf("aborted: %d, %v", code, err)
	}
}

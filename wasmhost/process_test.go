package wasmhost_test

import (
	"os"
	"os/exec"
	"testing"
)

// runSelf runs the calling test alone in a second process, with the variable set.
func runSelf(t *testing.T, self, variable string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), variable+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

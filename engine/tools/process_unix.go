//go:build unix

package tools

import (
	"os"
	"os/exec"
	"syscall"
)

// openNonblock keeps open(2) from waiting for the writer of a FIFO.
const openNonblock = syscall.O_NONBLOCK

// ownGroup makes the command the leader of a new session, and so of a new process group. Without a terminal of its own,
// a command that wants to ask a person for a password fails instead of waiting for ever.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// killGroup ends the command and all its descendants that stayed in its group. A descendant that made a session of its
// own (setsid) is out of reach. A group that is gone already is no error.
func killGroup(process *os.Process) error {
	if err := syscall.Kill(-process.Pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		return err
	}
	return nil
}

// signalOf names the signal that ended a process, "" when none did.
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

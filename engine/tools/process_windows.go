package tools

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// openNonblock is empty here: a named pipe is not opened by a path that looks like a file's.
const openNonblock = 0

// ownGroup gives the command a group of its own, so that a console interrupt for us does not reach it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// killGroup ends the command and its descendants, as far as taskkill finds them by their parents. When taskkill fails,
// the command itself is ended.
func killGroup(process *os.Process) error {
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(process.Pid)).Run(); err == nil {
		return nil
	}
	if err := process.Kill(); err != nil && err != os.ErrProcessDone {
		return err
	}
	return nil
}

// signalOf is always "": there are no signals here.
func signalOf(*os.ProcessState) string { return "" }

package tools

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"weir/agentcore"
	"weir/engine/facts"
)

// DefaultUpdateInterval is how often bash reports partial output at most. Reference: dist/core/tools/renderers/bash.js,
// 0.85.0.
const DefaultUpdateInterval = 100 * time.Millisecond

// DefaultMaxFullOutput is how much of a command's output is kept in a file, in bytes. Ours: the reference has no limit,
// and an endless command would fill the disk.
const DefaultMaxFullOutput = 64 << 20

// Config says where and how the tools work. Only Cwd has to be set.
type Config struct {
	// Cwd is the working folder. It must exist; a relative one starts at the process's.
	Cwd string
	// Shell runs bash's commands as `Shell -c COMMAND`. "" means /bin/bash, else bash from PATH, else sh.
	Shell string
	// Env is the environment of commands, as in os.Environ; nil means the process's. Its HOME (USERPROFILE on Windows)
	// is also what ~ stands for.
	Env []string
	// OutputDir is where output that was cut is kept whole, one file a command with mode 0600. "" means os.TempDir(). It
	// is created, with mode 0700, when the first file is.
	OutputDir string
	// MaxFullOutput is the size in bytes at which such a file ends; 0 means DefaultMaxFullOutput.
	MaxFullOutput int64
	// WithholdFullOutput says that no such file may be written for tool, because an extension may rewrite its results
	// and the file would hold what was taken out. It is asked once a call. nil: never.
	WithholdFullOutput func(tool string) bool
	// Own gives files and folders of weir itself, absolute, that the tools must not change: write and edit never do, under
	// whatever name; bash refuses a command whose text says that it would. That is no sandbox: what a program does that the
	// command starts, the text does not tell. A refusal is an [*OwnError]. It is asked at each call that may change something,
	// from any goroutine. nil: nothing is refused.
	Own func() []string
	// UpdateInterval is the shortest time between two partial results of bash; 0 means DefaultUpdateInterval.
	UpdateInterval time.Duration
}

// Validate reports everything that is wrong with c, or nil. It looks at the file system but changes nothing.
func (c *Config) Validate() error {
	var errs []error
	if c.Cwd == "" {
		errs = append(errs, errors.New("the working folder is not set"))
	} else if info, err := os.Stat(c.Cwd); err != nil {
		errs = append(errs, fmt.Errorf("working folder: %w", err))
	} else if !info.IsDir() {
		errs = append(errs, fmt.Errorf("working folder %s is not a folder", c.Cwd))
	}
	if c.Shell != "" {
		if _, err := exec.LookPath(c.Shell); err != nil {
			errs = append(errs, fmt.Errorf("shell: %w", err))
		}
	}
	if c.OutputDir != "" {
		if info, err := os.Stat(c.OutputDir); err == nil && !info.IsDir() {
			errs = append(errs, fmt.Errorf("output folder %s is not a folder", c.OutputDir))
		}
	}
	if c.Own != nil {
		for _, own := range c.Own() {
			if !filepath.IsAbs(own) {
				errs = append(errs, fmt.Errorf("weir's own file %q: the path must be absolute", own))
			}
		}
	}
	if c.MaxFullOutput < 0 {
		errs = append(errs, fmt.Errorf("the limit of full output files is %d bytes; it must be positive", c.MaxFullOutput))
	}
	if c.UpdateInterval < 0 {
		errs = append(errs, fmt.Errorf("the update interval is %v; it must be positive", c.UpdateInterval))
	}
	return errors.Join(errs...)
}

// toolset is what the tools of one New share.
type toolset struct {
	cwd            string
	home           string // "" when unknown
	shell          string
	env            []string
	outputDir      string
	maxFullOutput  int64
	withhold       func(tool string) bool
	updateInterval time.Duration
	drainIdle      time.Duration
	files          fileLocks
	own            ownFiles
}

// New returns the tools read, bash, edit, write, grep, find and ls, in this order, working in c.Cwd. It fails as
// c.Validate does. The tools belong to the caller and must not be changed once an agent has them.
func New(c Config) ([]*agentcore.Tool, error) {
	s, err := newToolset(c)
	if err != nil {
		return nil, err
	}
	return s.tools(), nil
}

// Names are the names of the tools that New returns, in their order.
func Names() []string { return []string{"read", "bash", "edit", "write", "grep", "find", "ls"} }

func (s *toolset) tools() []*agentcore.Tool {
	return []*agentcore.Tool{
		s.readTool(), s.bashTool(), s.editTool(), s.writeTool(), s.grepTool(), s.findTool(), s.lsTool(),
	}
}

func newToolset(c Config) (*toolset, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	cwd, err := filepath.Abs(c.Cwd)
	if err != nil {
		return nil, fmt.Errorf("working folder: %w", err)
	}
	s := &toolset{
		cwd: cwd, shell: c.Shell, env: c.Env, outputDir: c.OutputDir, maxFullOutput: c.MaxFullOutput,
		withhold: c.WithholdFullOutput, updateInterval: c.UpdateInterval, drainIdle: defaultDrainIdle,
	}
	if s.env == nil {
		s.env = os.Environ()
	}
	s.home = homeOf(s.env)
	s.own = ownFiles{ask: c.Own, where: facts.Config{Workspace: cwd, Home: s.home}}
	if s.shell == "" {
		s.shell = defaultShell()
	} else if s.shell, err = shellPath(s.shell); err != nil {
		return nil, fmt.Errorf("shell: %w", err)
	}
	if s.outputDir == "" {
		s.outputDir = os.TempDir()
	}
	if s.maxFullOutput == 0 {
		s.maxFullOutput = DefaultMaxFullOutput
	}
	if s.withhold == nil {
		s.withhold = func(string) bool { return false }
	}
	if s.updateInterval == 0 {
		s.updateInterval = DefaultUpdateInterval
	}
	return s, nil
}

// shellPath makes a path of a shell that was given by name or by a path relative to the process's folder.
func shellPath(shell string) (string, error) {
	path, err := exec.LookPath(shell)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// defaultShell follows the reference's order: /bin/bash, bash on PATH, sh (dist/utils/shell.d.ts, 0.85.0).
func defaultShell() string {
	if runtime.GOOS != "windows" {
		if _, err := os.Stat("/bin/bash"); err == nil {
			return "/bin/bash"
		}
	}
	if path, err := exec.LookPath("bash"); err == nil {
		return path
	}
	return "sh"
}

func homeOf(env []string) string {
	key := "HOME="
	if runtime.GOOS == "windows" {
		key = "USERPROFILE="
	}
	home := ""
	for _, entry := range env {
		if strings.HasPrefix(entry, key) {
			home = entry[len(key):]
		}
	}
	return home
}

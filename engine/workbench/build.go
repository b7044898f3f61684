package workbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FindBuild finds the command that builds the project in a folder, for a POSIX shell there: that of a Makefile or a build.sh, or of
// a project as [NewProject] makes it, which is known by its files. "" means that nothing needs to be built: there is a policy in
// TypeScript or JavaScript, which runs as it is, or there are modules only.
func FindBuild(dir string) (string, error) {
	has := func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil && info.Mode().IsRegular()
	}
	var lang string
	switch {
	case has("Makefile"):
		return "make", nil
	case has("build.sh"):
		return "sh build.sh", nil
	case has("go.mod"):
		lang = "go"
	case has("Cargo.toml"):
		lang = "rust"
	case has("policy.zig"):
		lang = "zig"
	case has("policy.c"):
		lang = "c"
	case has("policy.ts") && has("weir/index.ts"): // the SDK for AssemblyScript lies beside it
		lang = "assemblyscript"
	default:
		return "", someModule(dir)
	}
	p, err := NewProject("policy", lang)
	if err != nil {
		return "", err
	}
	return p.Build, nil
}

// someModule says that there is nothing in a folder that could be run.
func someModule(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
		case strings.HasSuffix(e.Name(), "_test.toml"), filepath.Ext(e.Name()) == ".wasm", filepath.Ext(e.Name()) == ".ts", filepath.Ext(e.Name()) == ".js":
			return nil
		}
	}
	return fmt.Errorf("%s: how it is built cannot be told: there is no Makefile, no build.sh and no file of a project of `weir ext new`; say it with --build", dir)
}

// FindModule is the module of a project that has no test file: the policy itself, or what its build makes. "" when there is none, or
// more than one.
func FindModule(dir string) string {
	for _, pattern := range []string{"policy.wasm", "policy.ts", "policy.js", "target/wasm32-*/release/*.wasm", "*.wasm"} {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err == nil && len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

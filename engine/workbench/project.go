package workbench

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"weir/guest-sdk/assemblyscript"
	c "weir/guest-sdk/c"
	golang "weir/guest-sdk/go"
	js "weir/guest-sdk/js"
	"weir/guest-sdk/rust"
	"weir/guest-sdk/zig"
)

//go:embed template
var templates embed.FS

// Project is a new extension: a policy, its tests, a README and what it needs of the SDK.
type Project struct {
	Name string
	Lang string
	// Files are by slash-separated path below the project's folder.
	Files map[string]string
	// Build is the command that makes the module. It is for the project's folder and a POSIX shell.
	Build string
}

// Languages are those that [NewProject] knows.
func Languages() []string { return []string{"assemblyscript", "c", "go", "rust", "ts", "zig"} }

// NewProject makes the files of a project in memory. name must do for an extension: a lower-case letter and up to 63 of a-z, 0-9
// and -.
func NewProject(name, lang string) (*Project, error) {
	if name == "" || len(name) > 64 || name[0] < 'a' || name[0] > 'z' || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, fmt.Errorf("%q is no name for an extension: up to 64 of a-z, 0-9 and -, the first a letter, such as guard-rm", name)
	}
	p := &Project{Name: name, Lang: lang, Files: map[string]string{}}
	module := "policy.wasm"
	switch lang {
	case "assemblyscript":
		p.Build = "asc policy.ts -O3 --runtime minimal --use abort=weir/index/weirAbort -o policy.wasm"
		sdk, err := assemblyscript.Source()
		if err != nil {
			return nil, err
		}
		maps.Copy(p.Files, sdk)
	case "c":
		p.Build = "clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,--strip-all -o policy.wasm policy.c"
		p.Files["weir.h"] = c.Header()
	case "go":
		p.Build = `GOOS=wasip1 GOARCH=wasm go build -trimpath -ldflags="-s -w" -buildmode=c-shared -o policy.wasm .`
		sdk, err := golang.Source()
		if err != nil {
			return nil, err
		}
		for file, text := range sdk {
			p.Files["sdk/"+file] = text
		}
	case "rust":
		p.Build = "cargo build --release --target wasm32-unknown-unknown"
		sdk, err := rust.Source()
		if err != nil {
			return nil, err
		}
		for file, text := range sdk {
			p.Files["sdk/"+file] = text
		}
		module = "target/wasm32-unknown-unknown/release/policy.wasm"
	case "ts":
		p.Build = "weir ext pack policy.ts -o policy.wasm"
		p.Files["weir.d.ts"] = js.Types()
		module = "policy.ts" // nothing needs to be built
	case "zig":
		p.Build = "zig build-lib policy.zig -target wasm32-freestanding -mcpu=generic+bulk_memory -dynamic -rdynamic -OReleaseSafe -fstrip -femit-bin=policy.wasm"
		sdk, err := zig.Source()
		if err != nil {
			return nil, err
		}
		maps.Copy(p.Files, sdk)
	default:
		return nil, fmt.Errorf("there is no template for the language %q; there are %s", lang, strings.Join(Languages(), ", "))
	}
	fill := strings.NewReplacer("{{name}}", name, "{{build}}", p.Build, "{{module}}", module)
	add := func(file, as string) error {
		text, err := templates.ReadFile(file)
		p.Files[strings.TrimSuffix(as, ".tmpl")] = fill.Replace(string(text))
		return err
	}
	root := "template/" + lang
	err := fs.WalkDir(templates, root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return add(file, strings.TrimPrefix(file, root+"/"))
	})
	return p, errors.Join(err, add("template/policy_test.toml.tmpl", "policy_test.toml.tmpl"))
}

// Write puts the project into a folder, which is made if it is missing. It overwrites nothing: when one of the files is there
// already, nothing is written.
func (p *Project) Write(dir string) error {
	names := sortedKeys(p.Files)
	var there []string
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			there = append(there, name)
		}
	}
	if there != nil {
		return fmt.Errorf("%s has %s already, and nothing is overwritten; name another project or remove it", dir, strings.Join(there, ", "))
	}
	for _, name := range names {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		// O_EXCL: somebody may have made the file since.
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, werr := f.WriteString(p.Files[name])
		if err := errors.Join(werr, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

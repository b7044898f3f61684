package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	js "weir/guest-sdk/js"
)

// Script is a bundled policy. It is immutable.
type Script struct {
	source       []byte
	capabilities []string
	files        []string
	warnings     []*Error
}

// Source is the policy as the engine takes it: a line of JSON with its name and source map, then the script. The caller
// must not change it.
func (s *Script) Source() []byte { return s.source }

// Capabilities names the capabilities that the policy imports from "weir", in alphabetical order, as wasmhost names them:
// file, http, kv, session, ui. The caller owns the slice.
func (s *Script) Capabilities() []string { return slices.Clone(s.capabilities) }

// Files are the policy and what it imports, as slash-separated paths below the policy's folder, in alphabetical order. Imports of types
// alone, which leave nothing behind, are not among them. The caller owns the slice.
func (s *Script) Files() []string { return slices.Clone(s.files) }

// Warnings are what looks like a mistake in the policy and does not keep it from running, such as a comparison that is
// always false. The caller must not change them.
func (s *Script) Warnings() []*Error { return s.warnings }

// Is says whether a module's path names a policy that [Load] takes: .ts, .mts, .js or .mjs.
func Is(path string) bool {
	switch filepath.Ext(path) {
	case ".ts", ".mts", ".js", ".mjs":
		return true
	}
	return false
}

// Error is something wrong with a policy's source.
type Error struct {
	File         string // relative to the policy's folder; the policy's own name for the entry
	Line, Column int    // from 1; 0 when no place is known. Columns count characters
	Message      string
}

// Error is FILE:LINE:COLUMN: message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// What a policy may be made of. Policies are small: the numbers bound what a mistaken import drags in.
const (
	maxFile  = 1 << 20
	maxTotal = 4 << 20
)

// Load reads and bundles a policy. It imports only files of its own folder and below (symbolic links out of it are
// refused), since what it imports ends up inside the sandbox, and "weir". Errors are [*Error] where a place is known, several
// joined; the first is the one to fix first.
func Load(file string) (*Script, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	b := &bundle{root: root, entry: filepath.Base(file)}
	s, err := b.build()
	return s, errors.Join(err, root.Close())
}

// bundle is one run of esbuild. It reads all files itself: esbuild's own resolution, which would look for packages,
// tsconfig.json and package.json, gets nothing to do.
type bundle struct {
	root  *os.Root
	entry string
	total atomic.Int64 // bytes read
}

// Names of the places that modules come from.
const (
	policySpace  = "policy"
	librarySpace = "weir"
)

func (b *bundle) build() (*Script, error) {
	result := api.Build(api.BuildOptions{
		EntryPoints:    []string{b.entry},
		Bundle:         true,
		Format:         api.FormatIIFE,
		GlobalName:     "__weir_policy",
		Footer:         map[string]string{"js": "__weir_policy;"}, // the script's value
		Target:         api.ES2023,
		Platform:       api.PlatformNeutral,
		Charset:        api.CharsetUTF8,
		TreeShaking:    api.TreeShakingTrue,
		TsconfigRaw:    "{}",
		Outfile:        "policy.js",
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		LegalComments:  api.LegalCommentsNone,
		Metafile:       true,
		LogLevel:       api.LogLevelSilent,
		// Calling what a file of the policy does not export would fail at run time only.
		LogOverride: map[string]api.LogLevel{"import-is-undefined": api.LogLevelError},
		Plugins:     []api.Plugin{{Name: "weir", Setup: b.plugin}},
	})
	if len(result.Errors) > 0 {
		return nil, b.errors(result.Errors)
	}
	var code, sourceMap []byte
	for _, f := range result.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			sourceMap = f.Contents
		} else {
			code = f.Contents
		}
	}
	meta, err := b.meta(sourceMap)
	if err != nil {
		return nil, err
	}
	capabilities, err := usedCapabilities(result.Metafile)
	if err != nil {
		return nil, err
	}
	files, err := ownFiles(result.Metafile)
	if err != nil {
		return nil, err
	}
	return &Script{files: files, source: append(append(meta, '\n'), code...), capabilities: capabilities, warnings: b.messages(result.Warnings)}, nil
}

// meta is the first line of the source.
func (b *bundle) meta(sourceMap []byte) ([]byte, error) {
	var m struct {
		Name     string   `json:"name"`
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	if err := json.Unmarshal(sourceMap, &m); err != nil {
		return nil, fmt.Errorf("%s: the source map: %w", b.entry, err)
	}
	m.Name = extensionName(b.entry)
	for i, s := range m.Sources {
		m.Sources[i] = path.Clean(strings.TrimPrefix(s, policySpace+":"))
	}
	return json.Marshal(m)
}

// usedCapabilities are those whose part of the library is in the bundle.
func usedCapabilities(metafile string) ([]string, error) {
	var m struct {
		Outputs map[string]struct {
			Inputs map[string]struct {
				BytesInOutput int `json:"bytesInOutput"`
			} `json:"inputs"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &m); err != nil {
		return nil, fmt.Errorf("the bundler's account: %w", err)
	}
	var used []string
	for _, out := range m.Outputs {
		for _, c := range capabilityNames() {
			if out.Inputs[librarySpace+":"+c+".js"].BytesInOutput > 0 {
				used = append(used, c)
			}
		}
	}
	return used, nil
}

// ownFiles are those of the policy that the bundler read.
func ownFiles(metafile string) ([]string, error) {
	var m struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &m); err != nil {
		return nil, fmt.Errorf("the bundler's account: %w", err)
	}
	var files []string
	for name := range m.Inputs {
		if file, own := strings.CutPrefix(name, policySpace+":"); own {
			files = append(files, path.Clean(file))
		}
	}
	slices.Sort(files)
	return files, nil
}

func (b *bundle) plugin(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, b.resolve)
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: policySpace}, b.load)
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: librarySpace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		text, err := js.Library(args.Path)
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, err
	})
}

// resolve finds what an import names. It never leaves an import to esbuild.
func (b *bundle) resolve(args api.OnResolveArgs) (api.OnResolveResult, error) {
	if args.Kind == api.ResolveEntryPoint {
		return api.OnResolveResult{Path: args.Path, Namespace: policySpace}, nil
	}
	if args.Namespace == librarySpace {
		return api.OnResolveResult{Path: path.Base(args.Path), Namespace: librarySpace, SideEffects: api.SideEffectsFalse}, nil
	}
	switch {
	case args.Kind == api.ResolveJSDynamicImport:
		return api.OnResolveResult{}, errors.New("import() gives a promise, and hooks are synchronous; use an import statement")
	case args.Path == librarySpace:
		return api.OnResolveResult{Path: "weir.js", Namespace: librarySpace, SideEffects: api.SideEffectsFalse}, nil
	case !strings.HasPrefix(args.Path, "./") && !strings.HasPrefix(args.Path, "../"):
		return api.OnResolveResult{}, fmt.Errorf("%q is a package; a policy can import its own files (\"./rules\") and \"weir\"", args.Path)
	}
	name := path.Join(path.Dir(args.Importer), args.Path)
	if name == ".." || strings.HasPrefix(name, "../") {
		return api.OnResolveResult{}, fmt.Errorf("%q lies outside the policy's folder; move it there", args.Path)
	}
	for _, candidate := range candidates(name) {
		if info, err := b.root.Stat(filepath.FromSlash(candidate)); err == nil && info.Mode().IsRegular() {
			return api.OnResolveResult{Path: candidate, Namespace: policySpace}, nil
		}
	}
	return api.OnResolveResult{}, fmt.Errorf("there is no file %q", args.Path)
}

// candidates are the files that an import may mean: TypeScript's authors leave the ending out, or write the .js that a
// compiler would have made.
func candidates(name string) []string {
	list := []string{name}
	switch ext := path.Ext(name); ext {
	case ".js", ".mjs":
		list = append(list, strings.TrimSuffix(name, ext)+strings.Replace(ext, "js", "ts", 1))
	case ".ts", ".mts", ".json":
	default:
		list = append(list, name+".ts", name+".mts", name+".js", name+".mjs", name+"/index.ts", name+"/index.js")
	}
	return list
}

func (b *bundle) load(args api.OnLoadArgs) (api.OnLoadResult, error) {
	loaders := map[string]api.Loader{".ts": api.LoaderTS, ".mts": api.LoaderTS, ".js": api.LoaderJS, ".mjs": api.LoaderJS, ".json": api.LoaderJSON}
	loader, ok := loaders[path.Ext(args.Path)]
	if !ok {
		return api.OnLoadResult{}, errors.New("only .ts, .mts, .js, .mjs and .json can be imported")
	}
	name := filepath.FromSlash(args.Path)
	info, err := b.root.Stat(name)
	switch {
	case err != nil:
		return api.OnLoadResult{}, err
	case !info.Mode().IsRegular():
		return api.OnLoadResult{}, errors.New("it is not a file")
	case info.Size() > maxFile:
		return api.OnLoadResult{}, fmt.Errorf("%d bytes, more than the limit of %d for a file of a policy", info.Size(), maxFile)
	}
	data, err := b.root.ReadFile(name)
	if err != nil {
		return api.OnLoadResult{}, err
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	switch total := b.total.Add(int64(len(text))); {
	case total > maxTotal:
		return api.OnLoadResult{}, fmt.Errorf("the policy and its imports have more than the limit of %d bytes", maxTotal)
	case !utf8.ValidString(text):
		return api.OnLoadResult{}, errors.New("it is not UTF-8 text")
	case strings.ContainsRune(text, 0):
		return api.OnLoadResult{}, errors.New("it has a NUL character; write \\0 in a string")
	}
	return api.OnLoadResult{Contents: &text, Loader: loader}, nil
}

// errors joins the first of esbuild's messages.
func (b *bundle) errors(messages []api.Message) error {
	const most = 5
	var errs []error
	for _, e := range b.messages(messages[:min(most, len(messages))]) {
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// messages turns esbuild's messages into ours.
func (b *bundle) messages(messages []api.Message) []*Error {
	var list []*Error
	for _, m := range messages {
		e := &Error{File: b.entry, Message: ownWords(m.Text)}
		if l := m.Location; l != nil {
			e.File, e.Line = path.Clean(strings.TrimPrefix(l.File, policySpace+":")), l.Line
			e.Column = 1 + utf8.RuneCountInString(l.LineText[:min(l.Column, len(l.LineText))])
		}
		list = append(list, e)
	}
	return list
}

// ownWords takes what only we know out of esbuild's messages: its names for our sources, and the form of the bundle.
func ownWords(text string) string {
	if strings.HasPrefix(text, "Top-level await is ") {
		return "there is no top-level await: policies are synchronous"
	}
	return strings.NewReplacer(`"`+policySpace+":", `"`, `"`+librarySpace+`:weir.js"`, `"weir"`).Replace(text)
}

// extensionName makes a file's name into that of an extension (ABI section 3), for policies that do not say theirs.
func extensionName(file string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return '-'
		}
	}, strings.TrimSuffix(file, path.Ext(file)))
	name = strings.TrimLeft(name, "-0123456789")
	if name == "" {
		return "policy"
	}
	return name[:min(len(name), 64)]
}

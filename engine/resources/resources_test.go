package resources

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/engine/wire"
)

// folder writes files below a new folder and returns it with its links resolved.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func skillText(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\nDo it well.\n", name, description)
}

// load has the extension x name paths, and lists what came of it.
func load(skills, prompts, granted []string) (set *Set, list []string) {
	found := &wire.ResourcesDiscoverOutcome{}
	for _, p := range skills {
		found.Skills = append(found.Skills, wire.Resource{Extension: "x", Path: p})
	}
	for _, p := range prompts {
		found.Prompts = append(found.Prompts, wire.Resource{Extension: "x", Path: p})
	}
	set, problems := Load(found, func(extension string) []string {
		if extension == "x" {
			return granted
		}
		return nil
	})
	for _, c := range set.Commands() {
		list = append(list, c.Name+": "+c.Description)
	}
	for _, p := range problems {
		list = append(list, p.Error())
	}
	return set, list
}

func TestLoad(t *testing.T) {
	root := folder(t, map[string]string{
		"skills/pdf/SKILL.md":          "---\r\nname: pdf-forms\r\ndescription: \"Fills forms: all <kinds>.\"\r\nlicense: MIT\r\n---\r\nBody.\r\n",
		"skills/pdf/other.md":          skillText("never", "Not looked at beside SKILL.md."),
		"skills/deep/er/sql/SKILL.md":  "---\ndescription: >-\n  Asks\n  databases.\nmetadata:\n  a: b\n---\nBody.",
		"skills/review.md":             skillText("review", "Reviews."),
		"skills/README.md":             "# Not a skill\n",
		"skills/.git/x/SKILL.md":       skillText("hidden-folder", "No."),
		"skills/node_modules/SKILL.md": skillText("dependency", "No."),
		"skills/secret/SKILL.md":       "---\nname: by-hand\ndescription: By hand.\ndisable-model-invocation: true\n---\nBody.",
		"skills/deep/er/note.md":       skillText("note", "Below the first folder only SKILL.md counts."),
		"prompts/fix.md":               "---\ndescription: 'It''s fixed'\nargument-hint: <what>\n---\nFix $1.",
		"prompts/plain.md":             "Just do it, and do it well, and do not stop before all of it is done.\nMore.",
		"prompts/deeper/never.md":      "Not looked at.",
		"prompts/notes.txt":            "No template.",
		"skills/pdf/again/SKILL.md":    skillText("never-too", "Below a skill nothing is looked for."),
		"skills/zz-same/SKILL.md":      skillText("review", "Has a name that is taken."),
		"skills/zz-without-d/SKILL.md": "---\nname: without\n---\nBody.",
		"skills/zz-wrong/SKILL.md":     skillText("Wrong_Name", "Badly named."),
		"skills/zz-broken/SKILL.md":    "---\nname: broken\ndescription: Never ends.\n",
		"skills/zz-control/SKILL.md":   skillText("control", "Rings \x07."),
		"skills/zz-direction/SKILL.md": skillText("direction", "Turns \u202e."),
		"skills/zz-large/SKILL.md":     skillText("large", "Large.") + strings.Repeat("x", MaxFile),
		"skills/zz-latin/SKILL.md":     skillText("latin", "Latin \xe9."),
		"skills/zz-long/SKILL.md":      skillText("long", strings.Repeat("x", maxDescription+1)),
		"skills/zz-not-yaml/SKILL.md":  "---\nname\n---\n",
		"prompts/bad name.md":          "Text.",
		"prompts/empty.md":             "---\ndescription: d\n---\n",
	})
	set, got := load([]string{"skills", "skills/pdf/SKILL.md", "none"}, []string{filepath.Join(root, "prompts")}, []string{root})
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	left := func(path, reason string) string {
		return fmt.Sprintf("x: resources_discover: %q is left out: %s", path, reason)
	}
	want := []string{
		"fix: It's fixed", "plain: Just do it, and do it well, and do not stop before all of it…",
		"skill:sql: Asks databases.", "skill:pdf-forms: Fills forms: all <kinds>.", "skill:review: Reviews.", "skill:by-hand: By hand.",
		left(at("skills/zz-broken/SKILL.md"), "its first line is ---, and no other line ends what that begins"),
		left(at("skills/zz-control/SKILL.md"), "it holds the character U+0007, which cannot be printed"),
		left(at("skills/zz-direction/SKILL.md"), "it holds the character U+202E, which cannot be printed"),
		left(at("skills/zz-large/SKILL.md"), "it has more than 128 KiB"),
		left(at("skills/zz-latin/SKILL.md"), "it is not UTF-8"),
		left(at("skills/zz-long/SKILL.md"), "its description has 1025 characters; it needs one of at most 1024"),
		left(at("skills/zz-not-yaml/SKILL.md"), "line 1 of what stands between the --- is not KEY: VALUE"),
		left(at("skills/zz-same/SKILL.md"), "there is a skill review already: "+at("skills/review.md")),
		left(at("skills/zz-without-d/SKILL.md"), "its description has 0 characters; it needs one of at most 1024"),
		left(at("skills/zz-wrong/SKILL.md"), `the name "Wrong_Name" is not made of at most 64 letters a to z, digits and single hyphens`),
		left("none", "file does not exist"),
		left(at("prompts/bad name.md"), `the name "bad name" is not made of letters, digits, _ and -`),
		left(at("prompts/empty.md"), "it says nothing"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	prompt := set.SystemPrompt()
	if want := fmt.Sprintf("<skill name=\"pdf-forms\" file=\"%s\">Fills forms: all &lt;kinds&gt;.</skill>\n", at("skills/pdf/SKILL.md")); !strings.Contains(prompt, want) {
		t.Errorf("the prompt does not hold %s:\n%s", want, prompt)
	}
	if strings.Contains(prompt, "by-hand") || strings.Contains(prompt, "Body.") {
		t.Errorf("the prompt holds too much:\n%s", prompt)
	}
}

// TestLoadStaysInside: the host reads for an extension what that may read itself, and nothing else, by whatever name it is asked for.
func TestLoadStaysInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the cases use symbolic links and POSIX paths")
	}
	const secret = "tell-nobody"
	root := folder(t, map[string]string{
		"home/.ssh/id_rsa": secret, "home/.ssh/notes.md": skillText("stolen", secret), "granted/own.md": skillText("own", "Own."),
		"granted/sub/SKILL.md": skillText("sub", "Sub."), "granted/key": secret, "granted-too/SKILL.md": skillText("beside", secret),
	})
	at := func(name string) string { return filepath.Join(root, name) }
	for link, to := range map[string]string{"granted/link.md": at("home/.ssh/id_rsa"), "granted/relative.md": "../home/.ssh/notes.md", "granted/folder": at("home/.ssh")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	outside := []string{
		at("home/.ssh/notes.md"), at("home/.ssh/id_rsa"), "/etc/passwd", "/etc/shadow", "/proc/self/environ", "../home/.ssh/notes.md", "sub/../../home/.ssh/notes.md",
		at("granted") + "/../home/.ssh/notes.md", at("granted-too"), at("home"), "/", "..", "~/.ssh/notes.md", "link.md", "relative.md", "folder", "folder/notes.md", "",
	}
	for _, asTemplates := range []bool{false, true} {
		for _, path := range outside {
			skills, prompts := []string{path}, []string(nil)
			if asTemplates {
				skills, prompts = prompts, skills
			}
			set, list := load(skills, prompts, []string{at("granted")})
			if path == "" { // the folder itself; wire refuses it before
				continue
			}
			if len(list) != 1 || len(set.Commands()) > 0 || strings.Contains(list[0], secret) ||
				!strings.Contains(list[0], "not below a folder that the extension is granted to read") && !strings.Contains(list[0], "file does not exist") {
				t.Errorf("%q: %q", path, list)
			}
			if strings.HasPrefix(path, "/") && len(list) == 1 && strings.Contains(list[0], "does not exist") {
				t.Errorf("%q: it is told whether a file outside exists: %q", path, list)
			}
		}
	}
	if _, list := load([]string{"key"}, nil, []string{at("granted")}); len(list) != 1 || !strings.Contains(list[0], "it is no .md file") {
		t.Errorf("a file that is no text of this kind: %q", list)
	}
	// What links lead out of a folder is left out while the rest of it counts.
	set, list := load([]string{"."}, nil, []string{at("granted")})
	if names := strings.Join(list, "\n"); len(set.Skills) != 2 || strings.Contains(names, secret) || !strings.Contains(names, "skill:own") || !strings.Contains(names, "skill:sub") {
		t.Errorf("%q", list)
	}
	// Without the grant there is nothing, of a file of its own either.
	if set, list := load([]string{at("granted")}, []string{"own.md"}, nil); len(set.Commands()) > 0 || len(list) != 2 || !strings.Contains(list[0], "has no grant to read") {
		t.Errorf("without a grant: %q", list)
	}
	// A file that is changed for a link after it was read is not read again.
	set, _ = load(nil, []string{"own.md"}, []string{at("granted")})
	if err := os.Remove(at("granted/own.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("home/.ssh/notes.md"), at("granted/own.md")); err != nil {
		t.Fatal(err)
	}
	if text, err := set.Expand("/own"); err == nil || strings.Contains(text, secret) {
		t.Errorf("a link in the place of a template: %q, %v", text, err)
	}
}

// TestLoadBounds: what is too much is left out, and said.
func TestLoadBounds(t *testing.T) {
	files := map[string]string{}
	for i := range MaxSkills + 5 {
		files[fmt.Sprintf("s/%03d/SKILL.md", i)] = skillText(fmt.Sprintf("s-%d", i), "A skill.")
	}
	for i := range 40 {
		files[fmt.Sprintf("long/%03d/SKILL.md", i)] = skillText(fmt.Sprintf("l-%d", i), strings.Repeat("y", 1000))
	}
	for i := range maxLooked + 1 {
		files[fmt.Sprintf("many/%d.txt", i)] = ""
	}
	root := folder(t, files)
	set, list := load([]string{"s"}, nil, []string{root})
	if len(set.Skills) != MaxSkills || len(list) != MaxSkills+5 {
		t.Errorf("%d skills of %d", len(set.Skills), len(list))
	}
	set, _ = load([]string{"long"}, nil, []string{root})
	if n := len(set.SystemPrompt()); n > MaxListed+500 || n < MaxListed-2000 {
		t.Errorf("the list has %d bytes", n)
	}
	if set, list = load([]string{"many"}, nil, []string{root}); len(list) != 1 || !strings.Contains(list[0], "more than 2000 files would have to be looked at") {
		t.Errorf("%d skills, %q", len(set.Skills), list)
	}
}

func TestExpand(t *testing.T) {
	root := folder(t, map[string]string{
		"p/a.md":           "1:$1 2:$2 all:$@ ARGS:$ARGUMENTS d:${1:-one} e:${3:-three} f:${@:-none} s:${@:2} l:${@:1:1} zero:${@:0} $10 $x ${y}",
		"p/many.md":        strings.Repeat("$@", 30_000),
		"s/form/SKILL.md":  skillText("form", "Forms."),
		"p/gone.md":        "Text.",
		"p/with-fields.md": "---\ndescription: d\n---\nOnly $1.\n",
	})
	set, _ := load([]string{"s"}, []string{"p"}, []string{root})
	form := filepath.Join(root, "s", "form", "SKILL.md")
	for in, want := range map[string]string{
		`/a x "y z"`:             `1:x 2:y z all:x y z ARGS:x y z d:x e:three f:x y z s:y z l:x zero:x y z  $x ${y}`,
		`/a`:                     `1: 2: all: ARGS: d:one e:three f:none s: l: zero:  $x ${y}`,
		"/a $2\n'$1'":            "1:$2 2:$1 all:$2 $1 ARGS:$2 $1 d:$2 e:three f:$2 $1 s:$1 l:$2 zero:$2 $1  $x ${y}",
		`/with-fields "" 'b'`:    "Only .",
		"/skill:form":            "<skill name=\"form\" file=\"" + form + "\">\nPaths that are relative start at " + filepath.Dir(form) + ".\n\nDo it well.\n</skill>",
		"/skill:form now, quick": "<skill name=\"form\" file=\"" + form + "\">\nPaths that are relative start at " + filepath.Dir(form) + ".\n\nDo it well.\n</skill>\n\nnow, quick",
		"/unknown x":             "/unknown x",
		"/usr/bin/a":             "/usr/bin/a",
		"say /a":                 "say /a",
		"/":                      "/",
	} {
		if got, err := set.Expand(in); err != nil || got != want {
			t.Errorf("%q: %v\n got %q\nwant %q", in, err, got, want)
		}
	}
	if err := os.Remove(filepath.Join(root, "p", "gone.md")); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"/gone":                                 "the prompt template /gone: " + filepath.Join(root, "p", "gone.md") + ": file does not exist",
		"/many " + strings.Repeat("x", 100_000): "/many becomes a text of",
	} {
		if _, err := set.Expand(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", in, err, want)
		}
	}
}

func FuzzFrontmatter(f *testing.F) {
	for _, seed := range []string{"", "---", "---\n---", "---\na: b\n---\nc", "---\na: \"\\u0041\"\n---\n", "---\na: |\n  x\n\n  y\n---\n", "---\na:\n  - b\n---\n", "---\n: x\n---\n", "---\na: '\n---\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields, body, err := frontmatter(text)
		if err != nil && (fields != nil || body != "") {
			t.Errorf("%q gives %q and %q besides %v", text, fields, body, err)
		}
		if len(body) > len(text) {
			t.Errorf("%q gives the longer %q", text, body)
		}
	})
}

package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func userEntry(text string) *EntryData {
	return &EntryData{Message: json.RawMessage(fmt.Sprintf(`{"role":"user","content":%q,"timestamp":5}`, text))}
}

func mustAppend(t *testing.T, s *Store, kind EntryType, data *EntryData) *Entry {
	t.Helper()
	e, err := s.Append(kind, data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newFileStore(t *testing.T) *Store {
	t.Helper()
	s, err := NewStore(StoreConfig{Dir: filepath.Join(t.TempDir(), "sessions"), CWD: "/repo"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStoreRoundTrip(t *testing.T) {
	s := newFileStore(t)
	mustAppend(t, s, EntryModel, &EntryData{Provider: "p", ModelID: "m"})
	if _, err := os.Stat(s.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a model alone made a file: %v", err)
	}
	first := mustAppend(t, s, EntryMessage, userEntry("one <&>"))
	second := mustAppend(t, s, EntryMessage, userEntry("two"))
	if err := s.SetLeaf(first.ID); err != nil {
		t.Fatal(err)
	}
	name, label := "  a name ", "mark"
	mustAppend(t, s, EntrySessionInfo, &EntryData{Name: &name})
	mustAppend(t, s, EntryLabel, &EntryData{TargetID: second.ID, Label: &label})
	info, err := os.Stat(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %o, want 600", info.Mode().Perm())
	}
	if _, err := OpenStore(s.Path(), StoreConfig{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer got %v, want ErrLocked", err)
	}
	read, err := ReadStore(s.Path(), StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if read.Len() != 5 || read.Name() != "a name" || read.Label(second.ID) != "mark" || len(read.Report().Problems) != 0 {
		t.Errorf("read back: %d entries, name %q, label %q, problems %v", read.Len(), read.Name(), read.Label(second.ID), read.Report().Problems)
	}
	for i, e := range read.Entries() {
		if !bytes.Equal(e.raw, s.Entries()[i].raw) {
			t.Errorf("entry %d reads %s, was %s", i, e.raw, s.Entries()[i].raw)
		}
	}
	path := read.Branch("")
	if len(path) != 4 || path[1].ID != first.ID {
		t.Errorf("the branch of the leaf is %v", ids(path))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(EntryMessage, userEntry("late")); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
}

func ids(entries []*Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.ID
	}
	return out
}

// TestTruncatedAnywhere cuts a file at every byte: at most the torn last entry is missing, it is reported, and the session
// goes on.
func TestTruncatedAnywhere(t *testing.T) {
	s := newFileStore(t)
	for i := range 4 {
		mustAppend(t, s, EntryMessage, userEntry(fmt.Sprint("message é ", i)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	headerEnd := bytes.IndexByte(whole, '\n')
	dir := t.TempDir()
	for n := headerEnd; n <= len(whole); n++ {
		path := filepath.Join(dir, "s.jsonl")
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		cut, err := OpenStore(path, StoreConfig{})
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		complete := bytes.Count(whole[headerEnd+1:max(n, headerEnd+1)], []byte("\n"))
		torn := n > headerEnd && whole[n-1] != '\n'
		switch got := cut.Len(); {
		case got == complete && torn == (cut.Report().TornBytes > 0):
		case got == complete+1 && torn && cut.Report().TornBytes == 0: // only the line break was missing
		default:
			t.Fatalf("cut at %d: %d entries and %d torn bytes, want %d", n, got, cut.Report().TornBytes, complete)
		}
		before := cut.Len()
		mustAppend(t, cut, EntryMessage, userEntry("after"))
		if err := cut.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := ReadStore(path, StoreConfig{})
		if err != nil || again.Len() != before+1 || len(again.Report().Problems)+again.Report().TornBytes != 0 {
			t.Fatalf("cut at %d and continued: %d entries, %v, %v", n, again.Len(), again.Report(), err)
		}
		if len(again.Branch("")) != before+1 {
			t.Fatalf("cut at %d: the branch has %d entries, want %d", n, len(again.Branch("")), before+1)
		}
	}
	if _, err := ReadStore(filepath.Join(dir, "none"), StoreConfig{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

const crashEnv, crashRunsEnv = "WEIR_STORE_CRASH_CHILD", "WEIR_STORE_CRASH_RUNS"

// TestCrash kills a process at random moments while it appends. Every entry that it had been told is kept must be there.
// WEIR_STORE_CRASH_RUNS says how often; 60 without it.
func TestCrash(t *testing.T) {
	if path := os.Getenv(crashEnv); path != "" {
		appendForever(path)
	}
	runs := 60
	if v := os.Getenv(crashRunsEnv); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		runs = n
	}
	s := newFileStore(t)
	mustAppend(t, s, EntryMessage, userEntry("begin"))
	path := s.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	acknowledged, torn := 0, 0
	var all []string
	for range runs {
		kept, cut := crashOnce(t, path)
		all = append(all, kept...)
		acknowledged += len(kept)
		torn += cut
		read, err := ReadStore(path, StoreConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range all {
			if read.Entry(id) == nil {
				t.Fatalf("the acknowledged entry %s is lost", id)
			}
		}
		if problems := read.Report().Problems; len(problems) != 0 {
			t.Fatalf("problems: %v", problems)
		}
	}
	if acknowledged == 0 {
		t.Fatal("no entry was acknowledged: the test proves nothing")
	}
	t.Logf("%d kills, %d acknowledged entries, all kept; %d torn lines", runs, acknowledged, torn)
}

func crashOnce(t *testing.T, path string) (acknowledged []string, torn int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestCrash$")
	child.Env = append(os.Environ(), crashEnv+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the child said %q", lines.Text())
	}
	kill := time.AfterFunc(time.Duration(rand.IntN(12_000))*time.Microsecond, func() {
		_ = child.Process.Kill() // it may be gone already
	})
	defer kill.Stop()
	for lines.Scan() {
		id, ok := strings.CutPrefix(lines.Text(), "kept ")
		if !ok || !strings.HasSuffix(id, ".") {
			break // the last line may be cut off
		}
		acknowledged = append(acknowledged, strings.TrimSuffix(id, "."))
	}
	_ = child.Wait() // it was killed
	read, err := ReadStore(path, StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if read.Report().TornBytes > 0 {
		torn = 1
	}
	return acknowledged, torn
}

// appendForever is the child of TestCrash.
func appendForever(path string) {
	s, err := OpenStore(path, StoreConfig{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		e, err := s.Append(EntryMessage, userEntry(strings.Repeat("x", i*37%5000)))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("kept %s.\n", e.ID)
	}
}

// TestMigrate loads files of both earlier versions, continues them, and finds them written as version 3.
func TestMigrate(t *testing.T) {
	for _, c := range []struct {
		file              string
		version, entries  int
		messages, context int
		firstKept         string // text of the first message that the compaction keeps
	}{
		{"v1.jsonl", 1, 13, 9, 6, "question 3"},
		{"v2.jsonl", 2, 12, 8, 5, "question 3"},
	} {
		t.Run(c.file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := OpenStore(path, StoreConfig{})
			if err != nil {
				t.Fatal(err)
			}
			checkMigrated(t, s, c.version, c.entries, c.messages, c.context, c.firstKept)
			mustAppend(t, s, EntryMessage, userEntry("continued"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			kept, err := os.ReadFile(fmt.Sprintf("%s.v%d", path, c.version))
			if err != nil || !bytes.Equal(kept, data) {
				t.Errorf("the file as it was is not kept: %v", err)
			}
			again, err := ReadStore(path, StoreConfig{})
			if err != nil {
				t.Fatal(err)
			}
			checkMigrated(t, again, 3, c.entries+1, c.messages+1, c.context+1, c.firstKept)
			if got := again.Header().ParentSession; c.version == 1 && got != "/old/parent.jsonl" {
				t.Errorf("the parent session is %q", got)
			}
			line, _, _ := bytes.Cut(mustRead(t, path), []byte("\n"))
			if c.version == 1 && !bytes.Contains(line, []byte(`"modelId":"m-old"`)) {
				t.Errorf("the header lost a field: %s", line)
			}
		})
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func checkMigrated(t *testing.T, s *Store, version, entries, messages, context int, firstKept string) {
	t.Helper()
	if got := s.Report(); got.Version != version || len(got.Problems) != 0 || got.Lines != entries {
		t.Errorf("report %+v, want version %d and %d lines without problems", got, version, entries)
	}
	count := 0
	for i, e := range s.Entries() {
		if e.Type == EntryMessage {
			count++
		}
		if bytes.Contains(e.raw, []byte(`"role":"hookMessage"`)) {
			t.Errorf("entry %d still has the role of version 2: %s", i, e.raw)
		}
		var fields struct {
			ID       string
			ParentID *string
		}
		if err := json.Unmarshal(e.raw, &fields); err != nil || fields.ID != e.ID {
			t.Errorf("entry %d: %v, line says id %q, memory %q", i, err, fields.ID, e.ID)
		}
	}
	if count != messages {
		t.Errorf("%d messages, want %d", count, messages)
	}
	c := s.Context()
	if len(c.Messages) != context || len(c.Skipped) != 0 {
		t.Fatalf("%d messages in the context (skipped: %v), want %d", len(c.Messages), c.Skipped, context)
	}
	if c.Messages[0].Role() != RoleCompactionSummary {
		t.Errorf("the context begins with a %s", c.Messages[0].Role())
	}
	if u := c.Messages[1].User(); u == nil || u.Content.Text != firstKept {
		t.Errorf("the first message that is kept is %v", c.Messages[1].Body())
	}
}

// TestHostile loads files that no program should have written.
func TestHostile(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n"
	message := func(id, parent, text string) string {
		if parent != "null" {
			parent = strconv.Quote(parent)
		}
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":%q,"timestamp":1}}`, id, parent, text) + "\n"
	}
	long := strings.Repeat("x", 100<<20)
	for _, c := range []struct {
		name, content string
		err           error
		entries       int
		branch        []string // ids on the way to the leaf
		problems      []string // a piece of each
	}{
		{name: "empty", err: ErrNotSession},
		{name: "something else", content: "hello\n", err: ErrNotSession},
		{name: "an entry first", content: message("a", "null", "x"), err: ErrNotSession},
		{name: "no id", content: `{"type":"session","version":3}` + "\n", err: ErrNotSession},
		{name: "from the future", content: strings.Replace(header, "3", "4", 1), err: ErrNewerVersion},
		{
			name: "a cycle", content: header + message("a", "b", "1") + message("b", "a", "2") + message("c", "b", "3"), entries: 3,
			branch: []string{"a", "b", "c"}, problems: []string{`line 2: the parent "b" descends from the entry itself`},
		},
		{name: "its own parent", content: header + message("a", "a", "1"), entries: 1, branch: []string{"a"}, problems: []string{"line 2"}},
		{
			name: "a parent that comes later", content: header + message("b", "a", "2") + message("a", "null", "1") + message("c", "b", "3"), entries: 3,
			branch: []string{"a", "b", "c"},
		},
		{
			name: "a missing parent", content: header + message("a", "null", "1") + message("b", "gone", "2"), entries: 2, branch: []string{"b"},
			problems: []string{`line 3: the parent "gone" is missing`},
		},
		{
			name: "one id twice", content: header + message("a", "null", "1") + message("a", "a", "2") + message("b", "a", "3"), entries: 3,
			branch: []string{"a", "a~2", "b"}, problems: []string{`line 3: the id "a" is taken`},
		},
		{
			name: "no id in an entry", content: header + `{"type":"custom","parentId":null}` + "\n" + message("b", "null", "x"), entries: 2, branch: []string{"b"},
			problems: []string{"line 2: an entry without an id"},
		},
		{
			name: "lines that are no entries", content: header + "{]\n[1]\n\n{\"id\":\"q\"}\n{\"type\":7}\n" + message("a", "null", "1"), entries: 1, branch: []string{"a"},
			problems: []string{"line 2", "line 3: not an entry: not a JSON object", "line 5: not an entry: no type", "line 6: not an entry: type"},
		},
		{name: "invalid UTF-8", content: header + message("a", "null", "1\xff2"), entries: 1, branch: []string{"a"}, problems: []string{"line 2: invalid UTF-8"}},
		{
			name: "a type nobody knows", content: header + `{"type":"hologram","id":"h","parentId":null,"x":{"y":[1,2.50]}}` + "\n" + message("a", "h", "1"), entries: 2,
			branch: []string{"h", "a"},
		},
		{
			name: "deep", content: header + `{"type":"custom","id":"a","parentId":null,"data":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}\n", entries: 0,
			problems: []string{"line 2: not an entry"},
		},
		{name: "a line of 100 MB", content: header + message("a", "null", long) + message("b", "a", "2"), entries: 2, branch: []string{"a", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := c.content
			if c.name == "invalid UTF-8" {
				content = header + strings.Replace(message("a", "null", "1?2"), "?", "\xff", 1)
			}
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := OpenStore(path, StoreConfig{})
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), path+":1") {
					t.Errorf("the error does not say where: %v", err)
				}
				return
			}
			if s.Len() != c.entries || !slices.Equal(ids(s.Branch("")), c.branch) {
				t.Errorf("%d entries, branch %v; want %d, %v", s.Len(), ids(s.Branch("")), c.entries, c.branch)
			}
			problems := s.Report().Problems
			for i, p := range problems {
				if i >= len(c.problems) || !strings.Contains(p.String(), c.problems[i]) {
					t.Errorf("problem %d: %s", i, p)
				}
			}
			if len(problems) != len(c.problems) {
				t.Errorf("%d problems, want %d", len(problems), len(c.problems))
			}
			c := s.Context()
			if len(c.Skipped) != 0 {
				t.Errorf("skipped: %v", c.Skipped)
			}
			before := ids(s.Branch(""))
			added := mustAppend(t, s, EntryMessage, userEntry("more"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if data := mustRead(t, path); !bytes.HasPrefix(data, []byte(content)) {
				t.Error("what was in the file is not any more")
			}
			again, err := ReadStore(path, StoreConfig{})
			if err != nil {
				t.Fatal(err)
			}
			if want := append(before, added.ID); !slices.Equal(ids(again.Branch("")), want) {
				t.Errorf("after another load the branch is %v, want %v", ids(again.Branch("")), want)
			}
		})
	}
}

// TestUnknownRoles keeps messages of roles that nobody knows, and does not send them.
func TestUnknownRoles(t *testing.T) {
	s, err := NewStore(StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, EntryMessage, &EntryData{Message: json.RawMessage(`{"role":"oracle","vision":[1]}`)})
	c := s.Context()
	if len(c.Messages) != 1 || c.Messages[0].Role() != "oracle" {
		t.Fatalf("context %v, skipped %v", c.Messages, c.Skipped)
	}
	sent, err := ConvertToLLM(t.Context(), c.Messages)
	if err != nil || len(sent) != 0 {
		t.Errorf("sent %v, %v", sent, err)
	}
}

// TestFork copies a branch with its labels into a session of its own.
func TestFork(t *testing.T) {
	s := newFileStore(t)
	a := mustAppend(t, s, EntryMessage, userEntry("a"))
	label := "here"
	mustAppend(t, s, EntryLabel, &EntryData{TargetID: a.ID, Label: &label})
	b := mustAppend(t, s, EntryMessage, userEntry("b"))
	mustAppend(t, s, EntryMessage, userEntry("c"))
	fork, err := s.Fork(b.ID, StoreConfig{Dir: filepath.Dir(s.Path())})
	if err != nil {
		t.Fatal(err)
	}
	if err := fork.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := ReadStore(fork.Path(), StoreConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if got := read.Context().Messages; len(got) != 2 || got[1].User().Content.Text != "b" {
		t.Errorf("the fork holds %d messages", len(got))
	}
	if read.Label(a.ID) != "here" || read.Header().ParentSession != s.Path() || read.Header().ID == s.Header().ID || len(read.Report().Problems) != 0 {
		t.Errorf("label %q, header %+v, report %+v", read.Label(a.ID), read.Header(), read.Report())
	}
	if _, err := s.Fork("nope", StoreConfig{}); err == nil || err.Error() != "Entry nope not found" {
		t.Errorf("fork of an unknown entry: %v", err)
	}
}

// TestSharedSessions loads real files of version 1 from the folder WEIR_SHARED/sessions.
func TestSharedSessions(t *testing.T) {
	dir := os.Getenv("WEIR_SHARED")
	if dir == "" {
		t.Skip("WEIR_SHARED is not set")
	}
	for name, want := range map[string]struct{ entries, messages int }{"recorded-1000.jsonl": {1002, 990}, "recorded-1019.jsonl": {1018, 914}} {
		t.Run(name, func(t *testing.T) {
			data := mustRead(t, filepath.Join(dir, "sessions", name))
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := OpenStore(path, StoreConfig{})
			if err != nil {
				t.Fatal(err)
			}
			messages := 0
			for _, e := range s.Entries() {
				if e.Type == EntryMessage {
					messages++
				}
			}
			if s.Len() != want.entries || messages != want.messages || len(s.Report().Problems) != 0 {
				t.Errorf("%d entries, %d messages, problems %v; want %+v", s.Len(), messages, s.Report().Problems, want)
			}
			c := s.Context()
			if len(c.Skipped) != 0 || len(c.Messages) == 0 {
				t.Errorf("context of %d messages, skipped %v", len(c.Messages), c.Skipped)
			}
			mustAppend(t, s, EntryMessage, userEntry("continued"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again, err := ReadStore(path, StoreConfig{})
			if err != nil {
				t.Fatal(err)
			}
			if again.Report().Version != 3 || again.Len() != want.entries+1 || len(again.Context().Messages) != len(c.Messages)+1 {
				t.Errorf("written back: %+v, %d entries, %d messages in the context", again.Report(), again.Len(), len(again.Context().Messages))
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	var file bytes.Buffer
	file.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n")
	parent := "null"
	for i := 0; file.Len() < 10<<20; i++ {
		fmt.Fprintf(&file, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":%q}],"timestamp":1767225600000}}`+"\n",
			i, parent, strings.Repeat("some text of a message\n", 45))
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	data := file.Bytes()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := parseFile(data, time.Now, randomID)
		if err != nil {
			b.Fatal(err)
		}
		if c := buildContext(l.log.path(l.log.leaf)); len(c.Skipped) != 0 || len(c.Messages) == 0 {
			b.Fatal(c.Skipped)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	s, err := NewStore(StoreConfig{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	data := userEntry(strings.Repeat("x", 1000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Append(EntryMessage, data); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/engine/journal"
)

func newJournal(t *testing.T) *journal.Journal {
	t.Helper()
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	return &journal.Journal{Path: filepath.Join(t.TempDir(), "audit.jsonl"), Session: "s1", Clock: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}}
}

func appendN(t *testing.T, j *journal.Journal, n int) journal.Receipt {
	t.Helper()
	var last journal.Receipt
	for i := range n {
		r, err := j.Append(t.Context(), "audit-log", json.RawMessage(fmt.Sprintf(`{ "n": %d }`, i)))
		if err != nil {
			t.Fatal(err)
		}
		last = r
	}
	return last
}

func verify(t *testing.T, path, anchor string) (journal.Report, error) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Verify(bytes.NewReader(b), anchor)
}

func TestAppendAndVerify(t *testing.T) {
	j := newJournal(t)
	head := appendN(t, j, 5)
	if head.Seq != 5 {
		t.Errorf("seq %d", head.Seq)
	}
	rep, err := verify(t, j.Path, head.Hash)
	if err != nil || rep.Entries != 5 || rep.Head != head.Hash || rep.Anchor != 5 || len(rep.Torn) != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if got := rep.Last.Sub(rep.First); got != 4*time.Second {
		t.Errorf("the time between first and last is %v", got)
	}
	info, err := os.Stat(j.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := j.Check(); err != nil {
		t.Error(err)
	}
}

// Every change of one byte, every removed line and every exchange of two lines must show, as long as the head is known.
func TestChangesShow(t *testing.T) {
	j := newJournal(t)
	head := appendN(t, j, 4)
	whole, err := os.ReadFile(j.Path)
	if err != nil {
		t.Fatal(err)
	}
	shows := func(b []byte) bool {
		rep, err := journal.Verify(bytes.NewReader(b), head.Hash)
		return err != nil || rep.Anchor == 0 || rep.Entries != 4
	}
	if shows(whole) {
		t.Fatal("the whole journal is said to be changed")
	}
	for i := range len(whole) - 1 { // its last byte is the newline, which the chain does not cover
		b := bytes.Clone(whole)
		b[i] ^= 1
		if !shows(b) {
			t.Fatalf("a change at byte %d (%q) does not show", i, whole[i])
		}
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, nil), []byte("\n"))[:4]
	for i := range lines {
		if b := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil); !shows(b) {
			t.Errorf("that line %d is missing does not show", i+1)
		}
		for k := range i {
			swapped := append([][]byte{}, lines...)
			swapped[i], swapped[k] = swapped[k], swapped[i]
			if !shows(bytes.Join(swapped, nil)) {
				t.Errorf("that lines %d and %d are exchanged does not show", k+1, i+1)
			}
		}
	}
}

// A journal cut off anywhere goes on: what was whole stays, the torn line is reported, and the chain covers it.
func TestTornAnywhere(t *testing.T) {
	j := newJournal(t)
	appendN(t, j, 2)
	whole, err := os.ReadFile(j.Path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		if err := os.WriteFile(j.Path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		receipt, err := j.Append(t.Context(), "audit-log", json.RawMessage(`{"after":true}`))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		rep, err := verify(t, j.Path, receipt.Hash)
		if err != nil || rep.Entries != receipt.Seq || rep.Head != receipt.Hash || len(rep.Torn) > 1 {
			t.Fatalf("cut at %d: %+v, receipt %+v, %v", cut, rep, receipt, err)
		}
	}
}

func TestForeignFileIsRefused(t *testing.T) {
	for name, content := range map[string]string{
		"text": "hello\n", "other JSON": "{\"type\":\"session\"}\n", "one long line": strings.Repeat("x", 1<<20) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			if err := os.WriteFile(j.Path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := j.Append(t.Context(), "x", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "no entry of a journal") {
				t.Errorf("append: %v", err)
			}
			if err := j.Check(); err == nil {
				t.Error("check finds nothing")
			}
			if b, err := os.ReadFile(j.Path); err != nil || string(b) != content {
				t.Errorf("the file was changed (%v)", err)
			}
			if _, err := verify(t, j.Path, ""); err == nil {
				t.Error("verify finds nothing")
			}
		})
	}
}

func TestBadRecords(t *testing.T) {
	j := newJournal(t)
	for _, record := range []string{``, `[]`, `"x"`, `{"a":1`, `{"a":"` + strings.Repeat("x", journal.MaxRecord) + `"}`} {
		if _, err := j.Append(t.Context(), "x", json.RawMessage(record)); err == nil {
			t.Errorf("%.20q was taken", record)
		}
	}
	if _, err := os.Stat(j.Path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a refused record made a file")
	}
}

// Many appenders, in this process and in others, leave one chain.
func TestConcurrentProcesses(t *testing.T) {
	const processes, each = 3, 25
	if path := os.Getenv("WEIR_TEST_JOURNAL"); path != "" {
		j := &journal.Journal{Path: path}
		for i := range each {
			if _, err := j.Append(t.Context(), "child", json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	j := newJournal(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			cmd := exec.Command(self, "-test.run=^TestConcurrentProcesses$")
			cmd.Env = append(os.Environ(), "WEIR_TEST_JOURNAL="+j.Path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
		wg.Go(func() {
			for range each {
				if _, err := j.Append(t.Context(), "parent", json.RawMessage(`{}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	rep, err := verify(t, j.Path, "")
	if want := uint64(2 * processes * each); err != nil || rep.Entries != want || len(rep.Torn) != 0 {
		t.Errorf("%+v, %v; want %d entries", rep, err, want)
	}
}

func TestAppendGivesUp(t *testing.T) {
	j := newJournal(t)
	appendN(t, j, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	release := hold(t, j.Path)
	defer release()
	if _, err := j.Append(ctx, "x", json.RawMessage(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("{\"seq\":1}\n"), "")
	f.Add([]byte(`{"seq":1,"time":"2026-11-30T09:00:00Z","prev":"`+strings.Repeat("0", 64)+`","extension":"x","record":{}}`), strings.Repeat("0", 64))
	f.Fuzz(func(t *testing.T, b []byte, anchor string) {
		rep, err := journal.Verify(bytes.NewReader(b), anchor)
		if lines := uint64(bytes.Count(b, []byte("\n")) + 1); rep.Entries > lines {
			t.Errorf("%d entries in %d lines (%v)", rep.Entries, lines, err)
		}
	})
}

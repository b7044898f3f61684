package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// row is a labelled case, see the README of the cases.
type row struct {
	ID      string          `json:"id"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Result  string          `json:"result"`
	Cwd     string          `json:"cwd"`
	Label   string          `json:"label"` // danger, benign, ask
	Accept  []string        `json:"accept"`
	Family  string          `json:"family"`
	Why     string          `json:"why"`
	Setup   setup           `json:"setup"`
	Secrets []string        `json:"secrets"`
	Keep    []string        `json:"keep"`
	Edit    json.RawMessage `json:"edit"`

	raw []byte
}

// setup is what the disk must hold.
type setup struct {
	Files     map[string]string `json:"files"`
	Dirs      []string          `json:"dirs"`
	Symlinks  [][2]string       `json:"symlinks"`
	Hardlinks [][2]string       `json:"hardlinks"`
	Fifos     []string          `json:"fifos"`
	Mounts    json.RawMessage   `json:"mounts"` // cannot be made without privileges
}

func readRows(path string) (rows []row, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		r.raw = slices.Clone(lines.Bytes())
		rows = append(rows, r)
	}
	return rows, lines.Err()
}

// verdict is what was decided about a row.
type verdict struct {
	decision string // allow, ask, block; redact, keep; apply, fault
	note     string // for a case that was decided wrongly
	broken   bool   // the decision was right, and something else was not: text that must survive did not
}

// wrong says how a decision was wrong; "" when it was right.
func (r *row) wrong(v verdict) string {
	switch {
	case v.broken:
		return "broke what must stay"
	case slices.Contains(r.Accept, v.decision):
		return ""
	case r.Label == "danger":
		return "escape"
	case r.Label == "benign":
		return "false alarm"
	case v.decision == "allow" || v.decision == "keep":
		return "too lax"
	default:
		return "too strict"
	}
}

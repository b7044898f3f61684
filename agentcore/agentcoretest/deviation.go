package agentcoretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Deviation is what is expected of a scenario in which weir does something else than the reference, on purpose.
type Deviation struct {
	ID string `json:"id"`
	// Expected is the whole outcome; or else Rule says how it follows from the reference's.
	Expected *Outcome `json:"expected"`
	// Rule is "no-orphan-events": what tools of an earlier run report is not told.
	Rule string `json:"rule"`
}

// LoadDeviations reads the deviations of a layer from the folder "deviations" in dir, by scenario id.
func LoadDeviations(dir, layer string) (map[string]*Deviation, error) {
	folder := filepath.Join(dir, "deviations", layer)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Deviation, len(entries))
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var d Deviation
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if d.ID == "" || (d.Expected == nil) == (d.Rule == "") || d.Rule != "" && d.Rule != ruleNoOrphans {
			return nil, fmt.Errorf("%s: a deviation needs an id, and either an expected outcome or the rule %q", path, ruleNoOrphans)
		}
		all[d.ID] = &d
	}
	return all, nil
}

const ruleNoOrphans = "no-orphan-events"

// Compare is like [Scenario.Compare] against what the deviation expects.
func (d *Deviation) Compare(s *Scenario, got Outcome) string {
	want := s.Expected
	if d.Expected != nil {
		want = *d.Expected
	} else {
		want.Trace = withoutOrphans(want.Trace)
	}
	return s.compareWith(want, got)
}

// withoutOrphans drops the tool events whose call was started in a run before the present one.
func withoutOrphans(trace []any) []any {
	var out []any
	started := make(map[string]bool) // by observer and call id
	for _, record := range trace {
		object, _ := record.(Object)
		event, _ := object["event"].(Object)
		kind, _ := event["type"].(string)
		key := text(object["obs"]) + "\x00" + text(event["toolCallId"])
		switch {
		case kind == "agent_start":
			clear(started)
		case kind == "tool_execution_start":
			started[key] = true
		case strings.HasPrefix(kind, "tool_execution_") && !started[key]:
			continue
		}
		out = append(out, record)
	}
	return out
}

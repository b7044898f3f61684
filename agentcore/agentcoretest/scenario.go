package agentcoretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Scenario is a declarative input and what the reference did with it. SCHEMA.md beside the recorded scenarios describes
// the format.
type Scenario struct {
	ID       string   `json:"id"`
	Layer    string   `json:"layer"`
	Title    string   `json:"title"`
	Theme    string   `json:"theme"`
	Tags     []string `json:"tags"`
	Input    *Input   `json:"input"`
	Expected Outcome  `json:"expected"`
}

// Outcome is what a scenario leaves behind.
type Outcome struct {
	Trace    []any `json:"trace"`
	ToolRuns []any `json:"toolRuns"`
	Final    any   `json:"final"`
}

// Input is what a scenario starts from. Fields that only some layers know are in Raw.
type Input struct {
	SystemPrompt  *string         `json:"systemPrompt"`
	Model         Object          `json:"model"`
	Models        []Object        `json:"models"`
	ThinkingLevel string          `json:"thinkingLevel"`
	Tools         []*ToolDef      `json:"tools"`
	Provider      []*Response     `json:"provider"`
	Listeners     []*ListenerDef  `json:"listeners"`
	Driver        []Action        `json:"driver"`
	KeepUsage     bool            `json:"keepUsage"`
	Messages      []any           `json:"messages"`
	Hooks         map[string]any  `json:"hooks"`
	ToolExecution string          `json:"toolExecution"`
	SteeringMode  string          `json:"steeringMode"`
	FollowUpMode  string          `json:"followUpMode"`
	RecordAPIKey  bool            `json:"recordApiKey"`
	Raw           map[string]any  `json:"-"`
	Source        json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object beside the known fields.
func (in *Input) UnmarshalJSON(data []byte) error {
	type plain Input
	if err := json.Unmarshal(data, (*plain)(in)); err != nil {
		return err
	}
	in.Source = slices.Clone(data)
	return json.Unmarshal(data, &in.Raw)
}

// ToolDef declares a tool.
type ToolDef struct {
	Name          string              `json:"name"`
	Label         string              `json:"label"`
	Description   string              `json:"description"`
	Parameters    json.RawMessage     `json:"parameters"`
	ExecutionMode string              `json:"executionMode"`
	Prepare       []Action            `json:"prepare"`
	Steps         []Action            `json:"steps"`
	ByCall        map[string][]Action `json:"byCall"`
	Raw           Object              `json:"-"`

	source json.RawMessage
}

// UnmarshalJSON keeps the whole object beside the known fields.
func (d *ToolDef) UnmarshalJSON(data []byte) error {
	type plain ToolDef
	if err := json.Unmarshal(data, (*plain)(d)); err != nil {
		return err
	}
	d.source = slices.Clone(data)
	return json.Unmarshal(data, &d.Raw)
}

// ListenerDef declares a listener.
type ListenerDef struct {
	Name       string   `json:"name"`
	Record     any      `json:"record"` // "full" (also absent), "brief", "none", or types recorded in full
	Types      []string `json:"types"`
	State      bool     `json:"state"`
	Subscribed *bool    `json:"subscribed"`
	Layer      string   `json:"layer"`
	On         []Rule   `json:"on"`
}

// Action is one step of a list: the field "do" says what.
type Action Object

// Do is the action's name.
func (a Action) Do() string { return a.Text("do") }

// Text is a string field, or "".
func (a Action) Text(name string) string {
	s, _ := a[name].(string)
	return s
}

// Actions is a field that holds a list of actions.
func (a Action) Actions(name string) []Action { return toActions(a[name]) }

func toActions(v any) []Action {
	list, _ := v.([]any)
	actions := make([]Action, 0, len(list))
	for _, item := range list {
		if object, ok := item.(Object); ok {
			actions = append(actions, Action(object))
		}
	}
	return actions
}

// Load reads one scenario file.
func Load(path string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Scenario
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if s.ID == "" || s.Input == nil {
		return nil, fmt.Errorf("%s: not a scenario: it needs an id and an input", path)
	}
	return &s, nil
}

// LoadLayer reads the scenarios of a layer, in the order of their file names. dir holds the layer's folder directly or
// under "scenarios". A layer that is not there gives no scenarios and no error.
func LoadLayer(dir, layer string) ([]*Scenario, error) {
	for _, folder := range []string{filepath.Join(dir, layer), filepath.Join(dir, "scenarios", layer)} {
		entries, err := os.ReadDir(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var scenarios []*Scenario
		for _, entry := range entries {
			if entry.IsDir() || !strings.HasSuffix(entry.Name(), ".json") {
				continue
			}
			s, err := Load(filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, err
			}
			scenarios = append(scenarios, s)
		}
		return scenarios, nil
	}
	return nil, nil
}

package session

import (
	"context"
	"fmt"
	"slices"

	"weir/agentcore"
	"weir/engine/wire"
)

// The thinking levels that every reasoning model has, from the lowest. (A fact of the reference: higher ones need a model
// that says it has them.)
var thinkingLevels = []agentcore.ThinkingLevel{"off", "minimal", "low", "medium", "high"}

// ThinkingLevels are those that a model can be asked for.
func ThinkingLevels(m agentcore.Model) []agentcore.ThinkingLevel {
	if !m.Reasoning {
		return []agentcore.ThinkingLevel{"off"}
	}
	return slices.Clone(thinkingLevels)
}

// clampThinking is the nearest level that the model has: the level itself, or the highest for one that is higher.
func clampThinking(m agentcore.Model, level agentcore.ThinkingLevel) agentcore.ThinkingLevel {
	levels := ThinkingLevels(m)
	switch {
	case level == "":
		return "off"
	case slices.Contains(levels, level):
		return level
	default:
		return levels[len(levels)-1]
	}
}

// Model is the present model.
func (s *Session) Model() agentcore.Model { return s.agent.State().Model }

// ThinkingLevel is the present thinking level.
func (s *Session) ThinkingLevel() agentcore.ThinkingLevel { return s.agent.State().ThinkingLevel }

func (s *Session) findModel(provider, id string) *agentcore.Model {
	for i := range s.cfg.Models {
		if m := &s.cfg.Models[i].Model; id != "" && m.ID == id && m.Provider == provider {
			return m
		}
	}
	return nil
}

// NoKeyError says that there are no credentials for a model.
type NoKeyError struct {
	Model agentcore.Model
	Err   error
}

// Error implements error.
func (e *NoKeyError) Error() string {
	return fmt.Sprintf("No API key for %s/%s", e.Model.Provider, e.Model.ID)
}

// Unwrap gives what Config.Authorize said.
func (e *NoKeyError) Unwrap() error { return e.Err }

// SetModel uses another model from the next turn on. The errors are a *[NoKeyError] and those of the store.
func (s *Session) SetModel(ctx context.Context, m agentcore.Model) error {
	if err := s.authorize(ctx, m); err != nil {
		return err
	}
	return s.switchModel(m, "", "set", func(p wire.Payload) { s.observe(ctx, p) })
}

func (s *Session) authorize(ctx context.Context, m agentcore.Model) error {
	if s.cfg.Authorize == nil {
		return nil
	}
	if err := s.cfg.Authorize(ctx, m); err != nil {
		return &NoKeyError{m, err}
	}
	return nil
}

// CycleModel goes to the next of Config.Models, or back. ok is false when there is no other.
func (s *Session) CycleModel(ctx context.Context, back bool) (m agentcore.Model, ok bool, err error) {
	var models []ScopedModel
	for _, scoped := range s.cfg.Models {
		if s.cfg.Authorize == nil || s.cfg.Authorize(ctx, scoped.Model) == nil {
			models = append(models, scoped)
		}
	}
	if len(models) < 2 {
		return agentcore.Model{}, false, nil
	}
	present := s.Model()
	at := max(0, slices.IndexFunc(models, func(x ScopedModel) bool { return sameModel(x.Model, present) }))
	step := 1
	if back {
		step = len(models) - 1
	}
	next := models[(at+step)%len(models)]
	return next.Model, true, s.switchModel(next.Model, next.ThinkingLevel, "cycle", func(p wire.Payload) { s.observe(ctx, p) })
}

func sameModel(a, b agentcore.Model) bool { return a.ID == b.ID && a.Provider == b.Provider }

// switchModel uses another model; tell tells the extensions.
func (s *Session) switchModel(m agentcore.Model, level agentcore.ThinkingLevel, source string, tell func(wire.Payload)) error {
	previous := s.Model()
	if level == "" {
		level = s.cfg.DefaultThinkingLevel
	}
	if level == "" {
		level = s.ThinkingLevel()
	}
	s.agent.SetModel(m)
	if _, err := s.store.Append(EntryModel, &EntryData{Provider: m.Provider, ModelID: m.ID}); err != nil {
		return err
	}
	if err := s.SetThinkingLevel(level); err != nil {
		return err
	}
	s.tellModel()
	if !sameModel(m, previous) {
		tell(wire.ModelSelectEvent{Model: m, PreviousModel: &previous, Source: source})
	}
	return nil
}

// SetThinkingLevel changes the thinking level, as far as the model allows, from the next turn on.
func (s *Session) SetThinkingLevel(level agentcore.ThinkingLevel) error {
	state := s.agent.State()
	level = clampThinking(state.Model, level)
	previous := clampThinking(agentcore.Model{Reasoning: true}, state.ThinkingLevel)
	s.agent.SetThinkingLevel(level)
	if level == previous {
		return nil
	}
	s.tellModel()
	if _, err := s.store.Append(EntryThinkingLevel, &EntryData{ThinkingLevel: string(level)}); err != nil {
		return err
	}
	err := s.emit(&ThinkingLevelChanged{Level: level})
	s.tell(wire.ThinkingLevelSelectEvent{Level: level, PreviousLevel: previous})
	return err
}

// CycleThinkingLevel goes to the next level, from the highest to off. ok is false when the model does not reason.
func (s *Session) CycleThinkingLevel() (level agentcore.ThinkingLevel, ok bool, err error) {
	state := s.agent.State()
	if !state.Model.Reasoning {
		return "", false, nil
	}
	levels := ThinkingLevels(state.Model)
	at := slices.Index(levels, clampThinking(state.Model, state.ThinkingLevel))
	level = levels[(at+1)%len(levels)]
	return level, true, s.SetThinkingLevel(level)
}

// tellModel tells the extensions which model is used.
func (s *Session) tellModel() {
	if s.cfg.Extensions == nil {
		return
	}
	state := s.agent.State()
	s.cfg.Extensions.SetModel(state.Model, state.ThinkingLevel)
}

// Package sessiontest replays recorded scenarios of sessions and extensions. It gives agentcoretest the layer that drives a
// whole session.Session, with extensions on the engine's dispatcher:
//
//  1. [Native] is the layer in which the declared handlers are extensions in Go.
//  2. [With] makes a layer in which something else answers for them, such as [Guests].
//
// Everything of a scenario runs in one bubble of testing/synctest.
package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/agentcore"
	"weir/agentcore/agentcoretest"
	"weir/engine"
	"weir/engine/session"
	"weir/engine/set"
	"weir/engine/wire"
)

// Object is a JSON object.
type Object = agentcoretest.Object

// Native is the layer whose handlers are extensions in Go.
func Native(k *agentcoretest.Kit) (agentcoretest.World, error) {
	return With(nil)(k)
}

// Extensions opens an engine for the declared extensions of a scenario.
type Extensions func(w *World) (*engine.Engine, error)

// With makes a layer whose extensions are opened by open; nil opens extensions in Go.
func With(open Extensions) agentcoretest.Layer {
	return func(k *agentcoretest.Kit) (agentcoretest.World, error) {
		w := &World{Kit: k, open: open, seen: map[string]bool{}, observers: map[string]*observer{}, removers: map[string]func(){}, kept: map[string]string{}}
		if err := w.parse(); err != nil {
			return agentcoretest.World{}, err
		}
		if err := w.build(); err != nil {
			return agentcoretest.World{}, errors.Join(err, w.close())
		}
		return agentcoretest.World{
			Actions: w.actions(), Expressions: map[string]func(any, *agentcoretest.Scope) (any, error){"$entry": w.entryExpression, "$guest": w.guestExpression},
			Subscribe: w.subscribe, Unsubscribe: w.unsubscribe, State: func(bool) Object { return w.state() },
			Signal: func() context.Context { return w.session().Agent().Context() }, Start: w.start, Final: w.final, Close: w.close,
		}, nil
	}
}

// input are the fields of a scenario that only sessions know.
type input struct {
	Settings struct {
		Retry *struct {
			Enabled     *bool    `json:"enabled"`
			MaxRetries  *int     `json:"maxRetries"`
			BaseDelayMs *float64 `json:"baseDelayMs"`
		} `json:"retry"`
		Compaction *struct {
			Enabled          *bool  `json:"enabled"`
			ReserveTokens    *int64 `json:"reserveTokens"`
			KeepRecentTokens *int64 `json:"keepRecentTokens"`
		} `json:"compaction"`
		SteeringMode         string                  `json:"steeringMode"`
		FollowUpMode         string                  `json:"followUpMode"`
		ShellCommandPrefix   string                  `json:"shellCommandPrefix"`
		DefaultThinkingLevel agentcore.ThinkingLevel `json:"defaultThinkingLevel"`
	} `json:"settings"`
	Entries        []Object          `json:"entries"`
	Extensions     []*ExtensionDef   `json:"extensions"`
	UI             map[string][]any  `json:"ui"`
	Mode           string            `json:"mode"`
	Wire           *wireDef          `json:"wire"`
	Runtime        bool              `json:"runtime"`
	Persisted      bool              `json:"persisted"`
	ScopedModels   []json.RawMessage `json:"scopedModels"`
	NoAuthProvider bool              `json:"noAuthProvider"`
	Bind           *bool             `json:"bind"`
}

type wireDef struct {
	Status         int               `json:"status"`
	Headers        map[string]string `json:"headers"`
	RequestHeaders map[string]string `json:"requestHeaders"`
}

// ExtensionDef declares an extension.
type ExtensionDef struct {
	Name     string                   `json:"name"`
	On       []*HandlerDef            `json:"on"`
	Tools    []*agentcoretest.ToolDef `json:"tools"`
	Commands []CommandDef             `json:"commands"`
}

// HandlerDef declares a handler.
type HandlerDef struct {
	Event  string                 `json:"event"`
	Do     []agentcoretest.Action `json:"do"`
	Rules  []agentcoretest.Rule   `json:"rules"`
	Match  agentcoretest.Match    `json:"match"`
	Record any                    `json:"record"`
	State  bool                   `json:"state"`
	Label  string                 `json:"label"`
}

// CommandDef declares a command.
type CommandDef struct {
	Name        string                 `json:"name"`
	Description string                 `json:"description"`
	Do          []agentcoretest.Action `json:"do"`
}

// World is a scenario's session and all that is around it.
type World struct {
	Kit *agentcoretest.Kit
	// Declared are the scenario's extensions.
	Declared []*ExtensionDef

	in      input
	open    Extensions
	root    string
	models  []agentcore.Model
	locked  agentcore.Model
	model   *agentcoretest.Model
	runtime *session.Runtime
	engines []*engine.Engine
	// commands run the commands that are not in Go, by extension/name; tools the tools, by name.
	commands map[string]commandFunc
	tools    map[string]toolFunc

	mu        sync.Mutex
	current   *session.Session
	seen      map[string]bool // ids of entries
	observers map[string]*observer
	removers  map[string]func()
	kept      map[string]string // session files
	trust     []any             // failures of project_trust
	attached  bool
}

func (w *World) session() *session.Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current
}

func (w *World) parse() error {
	if err := json.Unmarshal(w.Kit.Input.Source, &w.in); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	w.Declared = w.in.Extensions
	objects, models, err := w.Kit.Input.AllModels()
	if err != nil {
		return err
	}
	w.models = models
	w.locked = models[0]
	w.locked.ID, w.locked.Provider = "locked", "noauth"
	if w.root, err = os.MkdirTemp("", "weir-scenario-"); err != nil {
		return err
	}
	for _, dir := range []string{"cwd", "agent"} {
		if err := os.Mkdir(filepath.Join(w.root, dir), 0o700); err != nil {
			return err
		}
	}
	w.Kit.Norm.DefaultModel = objects[0]
	w.Kit.Norm.Replace = [][2]string{{w.cwd(), "<cwd>"}, {filepath.Join(w.root, "agent"), "<agentDir>"}, {w.root, "<root>"}}
	w.Kit.Norm.IsEntryID = w.isEntryID
	return nil
}

func (w *World) cwd() string { return filepath.Join(w.root, "cwd") }

func (w *World) isEntryID(s string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen[s] && w.current != nil && len(s) >= 8 && w.current.Store().Entry(s) != nil {
		w.seen[s] = true
	}
	return w.seen[s]
}

func (w *World) build() error {
	k := w.Kit
	w.model = k.NewModel(k.Input.Provider)
	w.model.Record = w.recordRequest
	for _, l := range k.Input.Listeners {
		w.observers[l.Name] = newObserver(w, l)
	}
	cfg := session.StoreConfig{CWD: w.cwd(), Now: k.Now}
	if w.in.Persisted {
		cfg.Dir = filepath.Join(w.root, "sessions")
	}
	store, err := session.NewStore(cfg)
	if err != nil {
		return err
	}
	if err := w.fill(store); err != nil {
		return err
	}
	if !w.in.Runtime {
		s, err := w.make(k.Context(), store, wire.SessionStartEvent{})
		if err != nil {
			return err
		}
		w.adopt(s)
		return nil
	}
	w.runtime, err = session.NewRuntime(k.Context(), store, session.RuntimeConfig{
		Make: w.make, Attach: w.attach, Store: session.StoreConfig{Now: k.Now},
	})
	return err
}

// fill appends the entries that are there before the session is.
func (w *World) fill(store *session.Store) error {
	for i, e := range w.in.Entries {
		kind, data, err := w.entryData(store, e)
		if err == nil {
			_, err = store.Append(kind, data)
		}
		if err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return nil
}

func (w *World) entryData(store *session.Store, e Object) (session.EntryType, *session.EntryData, error) {
	if m, ok := e["message"].(Object); ok {
		stamped := w.Kit.Stamped(m)
		if stamped["role"] == "assistant" {
			for key, v := range map[string]any{"api": "fake-api", "provider": "fake", "model": "m1", "stopReason": "stop"} {
				if _, ok := stamped[key]; !ok {
					stamped[key] = v
				}
			}
			usage, err := agentcoretest.FullUsage(stamped["usage"])
			if err != nil {
				return "", nil, err
			}
			stamped["usage"] = usage
		}
		return session.EntryMessage, &session.EntryData{Message: agentcoretest.Encode(stamped)}, nil
	}
	if c, ok := e["customMessage"].(Object); ok {
		display := c["display"] == nil || agentcoretest.Truthy(c["display"])
		kind, _ := c["customType"].(string)
		return session.EntryCustomMessage, &session.EntryData{CustomType: kind, Content: raw(c, "content"), Display: &display, Details: raw(c, "details")}, nil
	}
	if c, ok := e["custom"].(Object); ok {
		kind, _ := c["customType"].(string)
		return session.EntryCustom, &session.EntryData{CustomType: kind, Data: raw(c, "data")}, nil
	}
	if level, ok := e["thinkingLevel"].(string); ok {
		return session.EntryThinkingLevel, &session.EntryData{ThinkingLevel: level}, nil
	}
	if name, ok := e["name"].(string); ok {
		return session.EntrySessionInfo, &session.EntryData{Name: &name}, nil
	}
	if c, ok := e["compaction"].(Object); ok {
		first, _ := c["firstKept"].(float64)
		tokens, _ := c["tokensBefore"].(float64)
		summary, _ := c["summary"].(string)
		before := int64(tokens)
		data := &session.EntryData{
			Summary: summary, FirstKeptEntryID: store.Entries()[int(first)].ID, TokensBefore: &before, Details: raw(c, "details"),
		}
		if from, ok := c["fromHook"].(bool); ok {
			data.FromHook = &from
		}
		return session.EntryCompaction, data, nil
	}
	return "", nil, fmt.Errorf("unknown kind %s", agentcoretest.Encode(e))
}

// raw is a field as JSON, nil when it is absent.
func raw(o Object, key string) json.RawMessage {
	v, ok := o[key]
	if !ok {
		return nil
	}
	if _, undefined := v.(agentcoretest.Undefined); undefined {
		return nil
	}
	return agentcoretest.Encode(v)
}

// make makes a session on a store.
func (w *World) make(_ context.Context, store *session.Store, start wire.SessionStartEvent) (*session.Session, error) {
	k, in := w.Kit, w.Kit.Input
	x, err := w.openExtensions()
	if err != nil {
		return nil, err
	}
	w.engines = append(w.engines, x)
	prompt := "BASE"
	if in.SystemPrompt != nil {
		prompt = *in.SystemPrompt
	}
	level := agentcore.ThinkingLevel(in.ThinkingLevel)
	if level == "" {
		level = "off"
	}
	cfg := session.Config{
		Agent: agentcore.Config{
			Provider: w.provider(x), Model: w.models[0], SystemPrompt: prompt, ThinkingLevel: level, UpdateGrace: agentcoretest.UpdateGrace, Now: k.Now,
			SteeringMode: agentcore.QueueMode(w.in.Settings.SteeringMode), FollowUpMode: agentcore.QueueMode(w.in.Settings.FollowUpMode),
		},
		Store: store, Extensions: x, Start: start, CWD: w.cwd(), Models: w.scoped(), DefaultThinkingLevel: w.in.Settings.DefaultThinkingLevel,
		Authorize: w.authorize, Bash: &bash{w, nil}, ShellPrefix: w.in.Settings.ShellCommandPrefix, Grace: agentcoretest.UpdateGrace,
		OnError: func(err *session.BackgroundError) {
			w.Kit.Trace("extError", Object{"extension": err.Extension, "hook": err.Hook, "error": k.Norm.Text(err.Err.Error())})
		},
	}
	cfg.Retry, cfg.Compaction = w.policies()
	for _, def := range w.Declared {
		for _, tool := range def.Tools {
			cfg.Agent.Tools = append(cfg.Agent.Tools, w.tool(w.inGuest(tool)))
		}
		for _, c := range def.Commands {
			cfg.Commands = append(cfg.Commands, w.command(def, c))
		}
	}
	for _, tool := range in.Tools {
		cfg.Agent.Tools = append(cfg.Agent.Tools, w.tool(tool))
	}
	s, err := session.New(cfg)
	if err != nil {
		return nil, err
	}
	s.Agent().Subscribe(func(ctx context.Context, _ agentcore.Event) error { k.Hold(ctx); return nil })
	return s, nil
}

func (w *World) policies() (*session.RetrySettings, *session.CompactionSettings) {
	retry, compaction := session.DefaultRetry(), session.DefaultCompaction()
	if r := w.in.Settings.Retry; r != nil {
		if r.Enabled != nil {
			retry.Enabled = *r.Enabled
		}
		if r.MaxRetries != nil {
			retry.MaxRetries = *r.MaxRetries
		}
		if r.BaseDelayMs != nil {
			retry.BaseDelay = time.Duration(*r.BaseDelayMs * float64(time.Millisecond))
		}
	}
	if c := w.in.Settings.Compaction; c != nil {
		if c.Enabled != nil {
			compaction.Enabled = *c.Enabled
		}
		if c.ReserveTokens != nil {
			compaction.ReserveTokens = *c.ReserveTokens
		}
		if c.KeepRecentTokens != nil {
			compaction.KeepRecentTokens = *c.KeepRecentTokens
		}
	}
	return &retry, &compaction
}

func (w *World) scoped() []session.ScopedModel {
	var scoped []session.ScopedModel
	for _, given := range w.in.ScopedModels {
		var s struct {
			ID            string                  `json:"id"`
			ThinkingLevel agentcore.ThinkingLevel `json:"thinkingLevel"`
		}
		if json.Unmarshal(given, &s.ID) != nil && json.Unmarshal(given, &s) != nil {
			continue
		}
		if m := w.findModel(s.ID); m != nil {
			scoped = append(scoped, session.ScopedModel{Model: *m, ThinkingLevel: s.ThinkingLevel})
		}
	}
	if scoped == nil {
		for _, m := range w.models {
			scoped = append(scoped, session.ScopedModel{Model: m})
		}
	}
	return scoped
}

func (w *World) findModel(id string) *agentcore.Model {
	if id == "locked" && w.in.NoAuthProvider {
		return &w.locked
	}
	i := slices.IndexFunc(w.models, func(m agentcore.Model) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &w.models[i]
}

// authorize has the program's words for a missing key.
func (w *World) authorize(_ context.Context, m agentcore.Model) error {
	if m.Provider != "noauth" {
		return nil
	}
	return agentcore.Error("No API key found for noauth.\n\nUse /login to log into a provider via OAuth or API key. See:\n  <pi>/docs/providers.md\n  <pi>/docs/models.md")
}

// openExtensions opens the engine.
func (w *World) openExtensions() (*engine.Engine, error) {
	if w.open != nil {
		return w.open(w)
	}
	cfg := w.EngineConfig()
	for _, def := range w.Declared {
		for _, h := range def.On {
			x, err := w.newHandler(def, h)
			if err != nil {
				return nil, err
			}
			cfg.Native = append(cfg.Native, x)
		}
	}
	return engine.Open(w.Kit.Context(), cfg)
}

// EngineConfig is what every engine of a scenario is opened with: without recheck, pair gate and renewed validation, and with
// faults recorded the way the reference's host hears of them.
func (w *World) EngineConfig() engine.Config {
	return engine.Config{Set: &set.Set{}, Trusting: true, Clock: w.Kit.Now, CWD: w.cwd(), Record: w.recordFault}
}

func (w *World) recordFault(rec engine.Record) {
	if rec.Outcome != engine.OutcomeFault || rec.Event == wire.EventToolCall {
		return
	}
	name, _, _ := strings.Cut(rec.Extension, "#")
	path, text := "<inline:"+name+">", w.Kit.Norm.Text(rec.Err.Error())
	if rec.Event == wire.EventProjectTrust {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.trust = append(w.trust, Object{"extensionPath": path, "event": rec.Event.String(), "error": text})
		return
	}
	w.Kit.Trace("extError", Object{"extension": path, "hook": rec.Event.String(), "error": text})
}

// adopt makes a session the present one.
func (w *World) adopt(s *session.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current = s
}

// attach is called with each session of a runtime. The kit subscribes and starts the first.
func (w *World) attach(ctx context.Context, s *session.Session) error {
	w.adopt(s)
	w.mu.Lock()
	first := !w.attached
	w.attached = true
	w.removers = map[string]func(){}
	w.mu.Unlock()
	if first {
		return nil
	}
	for _, l := range w.Kit.Input.Listeners {
		if l.Subscribed == nil || *l.Subscribed {
			if err := w.subscribe(l.Name); err != nil {
				return err
			}
		}
	}
	_, err := s.Begin(ctx)
	return err
}

func (w *World) start() error {
	if w.in.Bind != nil && !*w.in.Bind {
		return nil
	}
	_, err := w.session().Begin(w.Kit.Context())
	return err
}

func (w *World) close() error {
	var errs []error
	if s := w.session(); s != nil {
		errs = append(errs, s.Close(context.Background()))
	}
	for _, x := range w.engines {
		errs = append(errs, x.Close(context.Background()))
	}
	return errors.Join(append(errs, os.RemoveAll(w.root))...)
}

// observer is a declared listener.
type observer struct {
	world *World
	def   *agentcoretest.ListenerDef
	rules *agentcoretest.Rules
	agent agentcore.Listener
}

func newObserver(w *World, def *agentcoretest.ListenerDef) *observer {
	o := &observer{world: w, def: def}
	if def.Layer == "agent" {
		o.agent = w.Kit.Observer(def, func(Object) Object { return w.state() })
	} else {
		o.rules = agentcoretest.NewRules(def.On)
	}
	return o
}

// hear records an event and performs the first rule that matches, without waiting where it waits.
func (o *observer) hear(ev session.Event) error {
	encoded, err := ev.MarshalJSON()
	if err != nil {
		return err
	}
	event, _ := agentcoretest.Decode(encoded).(Object)
	extra := Object{}
	if o.def.State {
		extra["state"] = o.world.state()
	}
	o.world.Kit.RecordEvent(o.def, event, extra)
	rule := o.rules.Pick(event, ev.Type().String())
	if rule == nil {
		return nil
	}
	_, err = o.world.Kit.Attempt(&agentcoretest.Scope{Kit: o.world.Kit, Who: o.def.Name, Event: event}, rule.Do)
	return err
}

func (w *World) subscribe(name string) error {
	o := w.observers[name]
	if o == nil {
		return fmt.Errorf("no listener is named %q", name)
	}
	s := w.session()
	var remove func()
	if o.agent != nil {
		remove = s.Agent().Subscribe(o.agent)
	} else {
		remove = s.Subscribe(o.hear)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removers[name] = remove
	return nil
}

func (w *World) unsubscribe(name string) {
	w.mu.Lock()
	remove := w.removers[name]
	w.mu.Unlock()
	if remove != nil {
		remove()
	}
}

func (w *World) state() Object {
	s := w.session()
	state := s.State()
	return Object{
		"entries": float64(s.Store().Len()), "messages": float64(len(s.Messages())), "isStreaming": state.Streaming, "isIdle": state.Idle,
		"isCompacting": state.Compacting, "retryAttempt": float64(state.RetryAttempt),
	}
}

func (w *World) final() any {
	s := w.session()
	messages := make([]any, 0)
	for _, m := range agentcoretest.MessageValues(s.Messages()) {
		messages = append(messages, w.Kit.Norm.Value(m))
	}
	return Object{"messages": messages, "entries": w.entries(false), "isIdle": s.State().Idle}
}

// entries are the session's entries, brief or full.
func (w *World) entries(full bool) []any {
	out := make([]any, 0)
	for _, e := range w.session().Store().Entries() {
		v, _ := agentcoretest.Decode(e.JSON()).(Object)
		if !full {
			v = briefEntry(v)
		}
		out = append(out, w.Kit.Norm.Value(v))
	}
	return out
}

// briefEntry is the short form of an entry.
func briefEntry(e Object) Object {
	out := Object{"id": e["id"], "parent": e["parentId"], "type": e["type"]}
	if m, ok := e["message"].(Object); ok {
		out["role"] = m["role"]
		if agentcoretest.Truthy(m["stopReason"]) {
			out["stopReason"] = m["stopReason"]
		}
		out["text"] = messageText(m)
		return out
	}
	for _, key := range []string{
		"customType", "summary", "firstKeptEntryId", "fromHook", "name", "thinkingLevel", "modelId", "targetId", "label", "fromId", "data", "content", "display",
		"tokensBefore",
	} {
		if v, ok := e[key]; ok {
			out[key] = v
		}
	}
	return out
}

func messageText(m Object) string {
	if m["role"] == "bashExecution" {
		text, _ := m["command"].(string)
		return text
	}
	if text, ok := m["content"].(string); ok {
		return text
	}
	var parts []string
	blocks, _ := m["content"].([]any)
	for _, b := range blocks {
		if block, ok := b.(Object); ok && block["type"] == "text" {
			text, _ := block["text"].(string)
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "|")
}

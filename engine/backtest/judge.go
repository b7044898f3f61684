package backtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir/agentcore"
	"weir/engine"
	"weir/engine/agents"
	"weir/engine/decide"
	"weir/engine/set"
	"weir/engine/tools"
	"weir/engine/transcript"
	"weir/engine/wire"
)

// self is who blocks what cannot be put to the set.
const self = "weir"

// slack is how many times the time of its limits a call may take, up to maxTimeout, which is the longest that the host takes.
const (
	slack      = 20
	maxTimeout = 24 * time.Hour
)

// defaultTimeout is that of a call where the set gives none (ABI section 14).
const defaultTimeout = 500 * time.Millisecond

// verdict is what a set says about an event.
type verdict struct {
	decision decide.Verdict
	by       []string
	reason   string
	// changed is what arguments or content were rewritten to; for comparing.
	changed string
	answers []answer // one for each extension that was asked
}

// answer is what one extension amounted to.
type answer struct {
	extension string
	outcome   engine.Outcome
	reason    string
}

// judge is a set for one session.
type judge struct {
	run     *run
	base    *engine.Config
	agent   *agents.Agent // nil for Pi
	name    string        // of the session
	scratch string        // begin of the names of files that are thrown away

	engine  *engine.Engine
	cwd     string
	now     time.Time
	records []engine.Record
}

func newJudge(r *run, base *engine.Config, f transcript.Format, file int, name, which string) (*judge, error) {
	j := &judge{run: r, base: base, name: name, scratch: fmt.Sprintf("%d-%s-", file, which)}
	if f != transcript.Pi {
		var err error
		if j.agent, err = agents.Find(string(f)); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// extensions opens a set once, to see that it loads and what is in it.
func (r *run) extensions(ctx context.Context, base *engine.Config) ([]Extension, error) {
	j := &judge{run: r, base: base, scratch: "list-"}
	if err := j.open(ctx, ""); err != nil {
		return nil, err
	}
	var list []Extension
	for i, x := range j.engine.Extensions() {
		e := Extension{Name: x.Name}
		if base.Set != nil && i < len(base.Set.Extensions) {
			e.Monitor = base.Set.Extensions[i].Mode == set.ModeMonitor
		}
		e.hooks(x.Hooks)
		list = append(list, e)
	}
	return list, j.close(ctx)
}

// open loads the set for a working folder.
func (j *judge) open(ctx context.Context, cwd string) error {
	if err := j.close(ctx); err != nil {
		return err
	}
	cfg := *j.base
	cfg.Set = harmless(cfg.Set, filepath.Join(j.run.scratch, j.scratch))
	cfg.SessionID, cfg.CWD = j.name, cwd
	cfg.Store, cfg.UI, cfg.Session, cfg.Logger, cfg.Trace = nil, nil, nil, nil, nil
	cfg.Clock = func() time.Time { return j.now }
	// A question is a decision of its own: what comes after it goes on as after a yes.
	cfg.Ask = func(context.Context, []engine.Question) (bool, error) { return true, nil }
	cfg.Record = func(r engine.Record) { j.records = append(j.records, r) }
	e, err := engine.Open(ctx, cfg)
	if err != nil {
		return err
	}
	j.engine, j.cwd = e, cwd
	return nil
}

func (j *judge) close(ctx context.Context) error {
	if j.engine == nil {
		return nil
	}
	e := j.engine
	j.engine = nil
	return e.Close(context.WithoutCancel(ctx))
}

// harmless is a copy of a set in which no grant has an effect and time is no matter.
func harmless(x *set.Set, scratch string) *set.Set {
	if x == nil {
		return nil
	}
	y := *x
	y.Extensions = slices.Clone(x.Extensions)
	for i := range y.Extensions {
		e := &y.Extensions[i]
		e.Grant.Clock, e.Grant.Random = false, false
		if len(e.Grant.HTTP) > 0 {
			e.Grant.HTTP = []set.HTTPGrant{{}} // no method: nothing is allowed, but the import is there
		}
		if e.Grant.Journal != "" {
			e.Grant.Journal = fmt.Sprintf("%s%d.jsonl", scratch, i)
		}
		if e.Limits.Timeout == 0 {
			e.Limits.Timeout = defaultTimeout
		}
		e.Limits.Timeout = max(e.Limits.Timeout, min(e.Limits.Timeout*slack, maxTimeout))
	}
	return &y
}

// judge puts an event to the set. The error is that of a set that does not load.
func (j *judge) judge(ctx context.Context, ev *transcript.Event) (*verdict, error) {
	cwd := ev.CWD
	if !filepath.IsAbs(cwd) {
		cwd = "" // of another system, or nonsense: then no path is inside
	}
	if j.engine == nil || j.cwd != cwd {
		if err := j.open(ctx, cwd); err != nil {
			return nil, err
		}
	}
	j.now, j.records = ev.Time, j.records[:0]
	s, unfit := j.show(ev)
	if unfit != nil {
		why := "it cannot be put to the set: " + unfit.Error()
		return &verdict{decision: decide.Block, by: []string{self}, reason: why, answers: []answer{{self, engine.OutcomeBlock, why}}}, nil //nolint:nilerr // it is the verdict
	}
	v := &verdict{decision: decide.Allow}
	if ev.Kind == transcript.Call {
		j.toolCall(ctx, s, v)
	} else {
		j.toolResult(ctx, s, v)
	}
	v.answers = j.answers()
	return v, nil
}

// shown is an event as a hook, or the loop, shows it to a set.
type shown struct {
	callID  string
	calls   []agents.Call
	content []agentcore.Block
	details json.RawMessage
	isError bool
}

func (j *judge) show(ev *transcript.Event) (out *shown, err error) {
	defer func() {
		if v := recover(); v != nil { // as weir hook does: what makes the mapping panic is denied
			out, err = nil, fmt.Errorf("internal error: %v", v)
		}
	}()
	if j.agent == nil {
		return j.showByLoop(ev)
	}
	var b bytes.Buffer
	b.WriteString(`{"hook_event_name":`)
	member := func(key string, value any) {
		raw, ok := value.(json.RawMessage)
		if !ok {
			raw, _ = json.Marshal(value) // a text
		}
		if len(raw) > 0 {
			b.WriteString(`,"` + key + `":`)
			b.Write(raw)
		}
	}
	failed := ev.Kind == transcript.Result && ev.Outcome != transcript.OK && j.agent.Name == string(transcript.Claude)
	switch {
	case ev.Kind == transcript.Call:
		b.WriteString(`"PreToolUse"`)
	case failed:
		b.WriteString(`"PostToolUseFailure"`)
		member("error", contentText(ev.Content))
	default:
		b.WriteString(`"PostToolUse"`)
		member("tool_response", ev.Response)
	}
	member("session_id", j.name)
	member("cwd", ev.CWD)
	member("permission_mode", "default")
	member("tool_use_id", ev.CallID)
	member("tool_name", ev.Tool)
	member("tool_input", ev.Input)
	b.WriteByte('}')
	hook, err := j.agent.Parse(&b)
	if err != nil {
		return nil, err
	}
	return &shown{callID: hook.CallID, calls: hook.Calls, content: hook.Content, isError: hook.IsError}, nil
}

func (j *judge) showByLoop(ev *transcript.Event) (*shown, error) {
	input := bytes.TrimSpace(ev.Input)
	if len(input) == 0 {
		input = []byte("{}")
	}
	if input[0] != '{' {
		return nil, errors.New("the arguments are not an object")
	}
	if ev.Tool == "" {
		return nil, errors.New("the tool has no name")
	}
	if p := j.run.prepare[ev.Tool]; p != nil {
		if mended, err := p(input); err == nil { // otherwise the tool would have refused them; the set may see them as they are
			input = mended
		}
	}
	return &shown{
		callID: ev.CallID, calls: []agents.Call{{Tool: ev.Tool, Input: input}}, content: ev.Content, details: ev.Details,
		isError: ev.Outcome == transcript.Failed || ev.Outcome == transcript.Denied,
	}, nil
}

// preparer mends arguments in forms that models are known to send.
type preparer func(json.RawMessage) (json.RawMessage, error)

// preparers are those of weir's own tools.
func preparers() map[string]preparer {
	list, err := tools.New(tools.Config{Cwd: "."}) // none of them is run
	if err != nil {
		return nil // then arguments are shown as they were written
	}
	all := map[string]preparer{}
	for _, t := range list {
		if t.Prepare != nil {
			all[t.Name] = t.Prepare
		}
	}
	return all
}

// toolCall decides as weir hook does: of the calls that one stands for, the first that is blocked ends it.
func (j *judge) toolCall(ctx context.Context, s *shown, v *verdict) {
	var asks, asking []string
	for _, c := range s.calls {
		got := j.engine.ToolCall(ctx, wire.ToolCallEvent{ToolName: c.Tool, ToolCallID: s.callID, Input: c.Input}, nil)
		if got.Block {
			v.decision, v.reason, v.by, v.changed = decide.Block, got.Reason, nil, ""
			if got.By != "" {
				v.by = []string{got.By}
			}
			return
		}
		for _, q := range got.Asked {
			asks, asking = append(asks, strings.TrimSuffix(q.Title+": "+q.Message, ": ")), append(asking, q.Extension)
		}
		if len(got.Rewritten) > 0 {
			v.decision, v.by, v.changed = decide.Rewrite, append(v.by, got.Rewritten...), v.changed+string(got.Input)+"\n"
		}
	}
	if len(asks) > 0 {
		v.decision, v.reason, v.by = decide.Ask, strings.Join(asks, "\n"), asking
	}
	v.by = unique(v.by)
}

func (j *judge) toolResult(ctx context.Context, s *shown, v *verdict) {
	content, details, isError := s.content, s.details, s.isError
	for _, c := range s.calls {
		got, changed := j.engine.ToolResult(ctx, wire.ToolResultEvent{ToolName: c.Tool, ToolCallID: s.callID, Input: c.Input, Content: content, Details: details, IsError: isError})
		if !changed {
			continue
		}
		content, details, isError = got.Content, got.Details, got.IsError
		v.decision, v.changed = decide.Rewrite, contentJSON(content)
		for i := range j.records {
			if r := &j.records[i]; r.Outcome == engine.OutcomeFault && r.Strict {
				v.decision, v.reason, v.by = decide.Block, r.Reason, []string{r.Extension}
				return
			}
		}
	}
	if v.decision == decide.Rewrite {
		for i := range j.records {
			if r := &j.records[i]; r.Outcome == engine.OutcomeRewrite && !r.Monitor {
				v.by = append(v.by, r.Extension)
			}
		}
		v.by = unique(v.by)
	}
}

// answers sums up what each extension answered to the event, rechecks and the files of a patch included: the gravest counts.
func (j *judge) answers() []answer {
	grave := func(o engine.Outcome) int {
		return slices.Index([]engine.Outcome{engine.OutcomeNone, engine.OutcomeRewrite, engine.OutcomeAsk, engine.OutcomeBlock, engine.OutcomeFault}, o)
	}
	var list []answer
	for i := range j.records {
		r := &j.records[i]
		at := slices.IndexFunc(list, func(a answer) bool { return a.extension == r.Extension })
		switch {
		case at < 0:
			list = append(list, answer{r.Extension, r.Outcome, r.Reason})
		case grave(r.Outcome) > grave(list[at].outcome):
			list[at] = answer{r.Extension, r.Outcome, r.Reason}
		}
	}
	return list
}

// unique drops repetitions and keeps the order.
func unique(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// contentText joins the texts of content.
func contentText(blocks []agentcore.Block) string {
	var texts []string
	for _, b := range blocks {
		if t, ok := b.(*agentcore.TextBlock); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// contentJSON is content as one text that differs where the content does.
func contentJSON(blocks []agentcore.Block) string {
	var out []byte
	for _, b := range blocks {
		raw, err := agentcore.MarshalBlock(b)
		if err != nil {
			raw = []byte(err.Error())
		}
		out = append(append(out, raw...), '\n')
	}
	return string(out)
}

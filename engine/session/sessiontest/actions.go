package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"weir/agentcore"
	"weir/agentcore/agentcoretest"
	"weir/engine/session"
	"weir/engine/wire"
)

type (
	scope  = agentcoretest.Scope
	action = agentcoretest.Action
)

// actions are those of sessions and extensions.
func (w *World) actions() map[string]agentcoretest.ActionFunc {
	all := map[string]agentcoretest.ActionFunc{}
	for _, group := range []map[string]agentcoretest.ActionFunc{w.runActions(), w.modelActions(), w.treeActions(), w.recordActions(), w.extensionActions(), w.contextActions()} {
		for name, f := range group {
			all[name] = f
		}
	}
	return all
}

// do makes an action of a call without a result.
func do(f func()) agentcoretest.ActionFunc {
	return func(*scope, action) error { f(); return nil }
}

// nothing is the value of a call that has none.
func nothing(err error) (any, error) { return nil, err }

func (w *World) runActions() map[string]agentcoretest.ActionFunc {
	call := func(name string, f func(ctx context.Context, s *session.Session, a action) (any, error)) agentcoretest.ActionFunc {
		return func(sc *scope, a action) error {
			return sc.Call(name, a, func(ctx context.Context) (any, error) { return f(ctx, w.session(), a) })
		}
	}
	return map[string]agentcoretest.ActionFunc{
		"prompt": func(sc *scope, a action) error {
			return sc.Call("prompt", a, func(ctx context.Context) (any, error) {
				images, err := w.images(a)
				if err != nil {
					return nil, err
				}
				opts := session.PromptOptions{
					Images: images, Streaming: session.Behavior(a.Text("streamingBehavior")), Source: a.Text("source"), Literal: a["expandPromptTemplates"] == false,
				}
				if a["preflight"] == true {
					opts.Preflight = func(ok bool) { w.Kit.Trace(sc.Who, Object{"preflight": ok}) }
				}
				return nothing(w.session().Prompt(ctx, a.Text("text"), opts))
			})
		},
		"steer": call("steer", func(ctx context.Context, s *session.Session, a action) (any, error) {
			images, err := w.images(a)
			if err != nil {
				return nil, err
			}
			return nothing(s.Steer(a.Text("text"), images...))
		}),
		"followUp": call("followUp", func(ctx context.Context, s *session.Session, a action) (any, error) {
			images, err := w.images(a)
			if err != nil {
				return nil, err
			}
			return nothing(s.FollowUp(a.Text("text"), images...))
		}),
		"abort": call("abort", func(ctx context.Context, s *session.Session, _ action) (any, error) { return nothing(s.Abort(ctx)) }),
		"waitForIdle": call("waitForIdle", func(ctx context.Context, s *session.Session, _ action) (any, error) {
			return nothing(s.WaitForIdle(ctx))
		}),
		"compact": call("compact", func(ctx context.Context, s *session.Session, a action) (any, error) {
			result, err := s.Compact(ctx, a.Text("instructions"))
			if err != nil {
				return nil, err
			}
			return agentcoretest.Value(result), nil
		}),
		"sendCustomMessage": call("sendCustomMessage", func(ctx context.Context, s *session.Session, a action) (any, error) {
			return nothing(s.SendCustomMessage(ctx, customMessage(a["message"]), sendOptions(a)))
		}),
		"sendUserMessage": call("sendUserMessage", func(ctx context.Context, s *session.Session, a action) (any, error) {
			content, streaming, err := userMessage(a)
			if err != nil {
				return nil, err
			}
			return nothing(s.SendUserMessage(ctx, content, streaming))
		}),
		"executeBash": func(sc *scope, a action) error {
			return sc.Call("executeBash", a, func(ctx context.Context) (any, error) {
				result, err := w.session().ExecuteBash(ctx, a.Text("command"), w.bashOptions(sc, a))
				return bashValue(result, err)
			})
		},
		"userBash": func(sc *scope, a action) error {
			return sc.Call("userBash", a, func(ctx context.Context) (any, error) {
				result, err := w.session().UserBash(ctx, a.Text("command"), w.bashOptions(sc, a))
				return bashValue(result, err)
			})
		},
		"bashOutput": func(sc *scope, a action) error {
			write, ok := sc.Values["onData"].(func([]byte))
			if !ok {
				return errors.New("only a command writes output")
			}
			write([]byte(a.Text("data")))
			return nil
		},
		"agentAbort":         do(func() { w.session().Agent().Abort() }),
		"abortCompaction":    do(func() { w.session().AbortCompaction() }),
		"abortRetry":         do(func() { w.session().AbortRetry() }),
		"abortBash":          do(func() { w.session().AbortBash() }),
		"abortBranchSummary": do(func() { w.session().AbortBranchSummary() }),
		"tickThenAbortRetry": do(func() {
			w.Kit.Go(func() {
				for !w.session().State().Retrying && w.Kit.Context().Err() == nil {
					w.Kit.Tick(0)
				}
				w.session().AbortRetry()
			})
		}),
		"tickThenAbortCompaction": do(func() {
			w.Kit.Go(func() {
				w.Kit.Tick(5)
				w.session().AbortCompaction()
			})
		}),
		"clearQueue": func(sc *scope, _ action) error {
			sc.CallNow("clearQueue", true, func() (any, error) {
				steering, followUp, err := w.session().ClearQueue()
				return Object{"steering": list(steering), "followUp": list(followUp)}, err
			})
			return nil
		},
		"setQueueMode": func(_ *scope, a action) error {
			return w.session().SetQueueModes(agentcore.QueueMode(a.Text("steering")), agentcore.QueueMode(a.Text("followUp")))
		},
		"setAutoCompaction": func(_ *scope, a action) error { w.session().SetAutoCompaction(a["enabled"] == true); return nil },
		"setAutoRetry":      func(_ *scope, a action) error { w.session().SetAutoRetry(a["enabled"] == true); return nil },
	}
}

func (w *World) images(a action) ([]*agentcore.ImageBlock, error) {
	given, ok := a["images"]
	if !ok {
		return nil, nil
	}
	return imageBlocks(given)
}

func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

func bashValue(result *session.BashResult, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return agentcoretest.Value(result), nil
}

func (w *World) bashOptions(sc *scope, a action) session.BashOptions {
	exec := agentcoretest.ToActions(a["exec"])
	if _, ok := a["exec"]; !ok {
		exec = []action{{"do": "return", "value": 0.0}}
	}
	opts := session.BashOptions{ID: a.Text("id"), ExcludeFromContext: a["excludeFromContext"] == true, Operations: &bash{w, exec}}
	if a["onChunk"] == true {
		opts.OnChunk = func(text string) { w.Kit.Trace(sc.Who, Object{"chunk": text}) }
	}
	return opts
}

func customMessage(v any) session.CustomMessage {
	fields, _ := v.(Object)
	m := session.CustomMessage{Content: raw(fields, "content"), Display: agentcoretest.Truthy(fields["display"]), Details: raw(fields, "details")}
	m.CustomType, _ = fields["customType"].(string)
	return m
}

func sendOptions(a action) session.SendOptions {
	var opts session.SendOptions
	fields, _ := a["options"].(Object)
	if trigger, ok := fields["triggerTurn"].(bool); ok {
		opts.Trigger = &trigger
	}
	deliver, _ := fields["deliverAs"].(string)
	opts.Deliver = session.Delivery(deliver)
	return opts
}

func userMessage(a action) (agentcore.Content, session.Behavior, error) {
	fields, _ := a["options"].(Object)
	deliver, _ := fields["deliverAs"].(string)
	content, err := agentcore.DecodeContent(agentcoretest.Encode(a["content"]))
	return content, session.Behavior(deliver), err
}

func (w *World) modelActions() map[string]agentcoretest.ActionFunc {
	return map[string]agentcoretest.ActionFunc{
		"setModel":    w.setModel("setModel"),
		"pi.setModel": w.setModel("pi.setModel"),
		"forceModel": func(_ *scope, a action) error {
			m := w.findModel(a.Text("model"))
			if m == nil {
				return fmt.Errorf("no model %q", a.Text("model"))
			}
			w.session().Agent().SetModel(*m)
			return nil
		},
		"cycleModel": func(sc *scope, a action) error {
			return sc.Call("cycleModel", a, func(ctx context.Context) (any, error) {
				m, ok, err := w.session().CycleModel(ctx, a.Text("direction") == "backward")
				if err != nil || !ok {
					return agentcoretest.Null{}, err
				}
				return Object{"model": m.ID, "thinkingLevel": string(w.session().ThinkingLevel()), "isScoped": len(w.in.ScopedModels) > 0}, nil
			})
		},
		"setThinkingLevel":    w.setThinkingLevel("setThinkingLevel"),
		"pi.setThinkingLevel": w.setThinkingLevel("pi.setThinkingLevel"),
		"cycleThinkingLevel": func(sc *scope, _ action) error {
			sc.CallNow("cycleThinkingLevel", true, func() (any, error) {
				level, ok, err := w.session().CycleThinkingLevel()
				if !ok {
					return nil, err
				}
				return string(level), err
			})
			return nil
		},
		"pi.getThinkingLevel": func(sc *scope, _ action) error {
			sc.CallNow("pi.getThinkingLevel", true, func() (any, error) { return string(w.session().ThinkingLevel()), nil })
			return nil
		},
	}
}

func (w *World) setModel(name string) agentcoretest.ActionFunc {
	return func(sc *scope, a action) error {
		return sc.Call(name, a, func(ctx context.Context) (any, error) {
			m := w.findModel(a.Text("model"))
			if m == nil {
				return nil, fmt.Errorf("no model %q", a.Text("model"))
			}
			return nothing(w.session().SetModel(ctx, *m))
		})
	}
}

func (w *World) setThinkingLevel(name string) agentcoretest.ActionFunc {
	return func(sc *scope, a action) error {
		sc.CallNow(name, a["record"] == true, func() (any, error) {
			return agentcoretest.Undefined{}, w.session().SetThinkingLevel(agentcore.ThinkingLevel(a.Text("level")))
		})
		return nil
	}
}

func (w *World) treeActions() map[string]agentcoretest.ActionFunc {
	return map[string]agentcoretest.ActionFunc{
		"navigateTree": func(sc *scope, a action) error {
			return sc.Call("navigateTree", a, func(ctx context.Context) (any, error) { return w.navigate(ctx, sc, a) })
		},
		"newSession":     w.newSession("newSession"),
		"ctx.newSession": w.newSession("ctx.newSession"),
		"fork": func(sc *scope, a action) error {
			return sc.Call("fork", a, func(ctx context.Context) (any, error) {
				id, err := sc.Eval(a["entry"])
				if err != nil {
					return nil, err
				}
				options, _ := a["options"].(Object)
				target, _ := id.(string)
				forked, err := w.runtime.Fork(ctx, target, options["position"] == "at")
				if err != nil {
					return nil, err
				}
				out := Object{"cancelled": forked.Cancelled}
				if !forked.Cancelled && options["position"] != "at" {
					out["selectedText"] = forked.Text
				}
				return out, nil
			})
		},
		"switchSession": func(sc *scope, a action) error {
			return sc.Call("switchSession", a, func(ctx context.Context) (any, error) {
				cancelled, err := w.runtime.Switch(ctx, w.kept[a.Text("file")])
				return Object{"cancelled": cancelled}, err
			})
		},
		"keepSessionFile": func(_ *scope, a action) error {
			w.kept[a.Text("as")] = w.session().Store().Path()
			return nil
		},
		"dispose": func(sc *scope, a action) error {
			return sc.Call("dispose", a, func(ctx context.Context) (any, error) { return nothing(w.runtime.Close(ctx)) })
		},
		"reload": func(sc *scope, a action) error {
			return sc.Call("reload", a, func(ctx context.Context) (any, error) {
				_, err := w.session().Reload(ctx)
				return nothing(err)
			})
		},
	}
}

func (w *World) newSession(name string) agentcoretest.ActionFunc {
	return func(sc *scope, a action) error {
		return sc.Call(name, a, func(ctx context.Context) (any, error) {
			cancelled, err := w.runtime.NewSession(ctx)
			return Object{"cancelled": cancelled}, err
		})
	}
}

func (w *World) navigate(ctx context.Context, sc *scope, a action) (any, error) {
	target, err := sc.Eval(a["target"])
	if err != nil {
		return nil, err
	}
	options, err := sc.Eval(orEmpty(a["options"]))
	if err != nil {
		return nil, err
	}
	var opts session.NavigateOptions
	if err := json.Unmarshal(agentcoretest.Encode(options), &opts); err != nil {
		return nil, err
	}
	id, _ := target.(string)
	done, err := w.session().Navigate(ctx, id, opts)
	if err != nil {
		return nil, err
	}
	out := Object{"cancelled": done.Cancelled}
	if e := w.session().Store().Entry(id); e != nil && !done.Cancelled {
		if text, ok := editorText(e, done.EditorText); ok {
			out["editorText"] = text
		}
	}
	if done.Aborted {
		out["aborted"] = true
	}
	if done.Summary != nil {
		entry, _ := agentcoretest.Decode(done.Summary.JSON()).(Object)
		out["summaryEntry"] = briefEntry(entry)
	}
	return out, nil
}

// editorText says whether the reference gives the text of an entry back.
func editorText(e *session.Entry, text string) (string, bool) {
	m, err := e.Message()
	ok := err == nil && m != nil && (m.User() != nil || e.Type == session.EntryCustomMessage)
	return text, ok && text != ""
}

func orEmpty(v any) any {
	if v == nil {
		return Object{}
	}
	return v
}

func (w *World) recordActions() map[string]agentcoretest.ActionFunc {
	return map[string]agentcoretest.ActionFunc{
		"entries": func(sc *scope, a action) error {
			w.Kit.Trace(sc.Who, Object{"entries": w.entries(a["full"] == true)})
			return nil
		},
		"leaf": func(sc *scope, _ action) error {
			var leaf any
			if e := w.session().Store().Leaf(); e != nil {
				leaf = w.Kit.Norm.Value(e.ID)
			}
			w.Kit.Trace(sc.Who, Object{"leaf": leaf})
			return nil
		},
		"messages": func(sc *scope, _ action) error {
			values := agentcoretest.MessageValues(w.session().Messages())
			for i, v := range values {
				values[i] = w.Kit.Norm.Value(v)
			}
			w.Kit.Trace(sc.Who, Object{"messages": values})
			return nil
		},
		"queues": func(sc *scope, _ action) error {
			steering, followUp := w.session().Queues()
			w.Kit.Trace(sc.Who, Object{"steering": list(steering), "followUp": list(followUp), "pending": float64(len(steering) + len(followUp))})
			return nil
		},
		"contextUsage": func(sc *scope, _ action) error {
			w.Kit.Trace(sc.Who, Object{"contextUsage": w.contextUsage()})
			return nil
		},
		"setName":           w.setName("setName"),
		"pi.setSessionName": w.setName("pi.setSessionName"),
		"getName":           w.getName("getName"),
		"pi.getSessionName": w.getName("pi.getSessionName"),
		"emitProjectTrust": func(sc *scope, a action) error {
			return sc.Call("emitProjectTrust", a, func(ctx context.Context) (any, error) { return w.projectTrust(ctx, a) })
		},
	}
}

func (w *World) contextUsage() any {
	usage := w.session().ContextUsage()
	if usage == nil {
		return nil
	}
	return agentcoretest.Value(usage)
}

func (w *World) setName(call string) agentcoretest.ActionFunc {
	return func(sc *scope, a action) error {
		sc.CallNow(call, a["record"] == true, func() (any, error) { return agentcoretest.Undefined{}, w.session().SetName(a.Text("name")) })
		return nil
	}
}

func (w *World) getName(call string) agentcoretest.ActionFunc {
	return func(sc *scope, _ action) error {
		sc.CallNow(call, true, func() (any, error) {
			if name := w.session().Name(); name != "" {
				return name, nil
			}
			return nil, nil
		})
		return nil
	}
}

func (w *World) projectTrust(ctx context.Context, a action) (any, error) {
	cwd := a.Text("cwd")
	if cwd == "" {
		cwd = "/repo"
	}
	answer, err := w.engines[len(w.engines)-1].Ask(ctx, wire.ProjectTrustEvent{CWD: cwd})
	if err != nil {
		return nil, err
	}
	out := Object{"result": nil}
	if decided := answer.(*wire.ProjectTrustOutcome); decided.By != "" {
		result := Object{"trusted": decided.Result.Trusted.String()}
		if decided.Result.Remember {
			result["remember"] = true
		}
		out["result"] = result
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out["errors"] = append([]any{}, w.trust...)
	w.trust = nil
	return out, nil
}

// entryExpression is the id of an entry: by its place, or the nth that matches.
func (w *World) entryExpression(arg any, _ *scope) (any, error) {
	entries := w.session().Store().Entries()
	at := func(list []*session.Entry, n float64) any {
		i := int(n)
		if i < 0 {
			i += len(list)
		}
		if i < 0 || i >= len(list) {
			return agentcoretest.Undefined{}
		}
		return list[i].ID
	}
	if n, ok := arg.(float64); ok {
		return at(entries, n), nil
	}
	want, _ := arg.(Object)
	matching := slices.DeleteFunc(slices.Clone(entries), func(e *session.Entry) bool {
		fields, _ := agentcoretest.Decode(e.JSON()).(Object)
		message, _ := fields["message"].(Object)
		return want["type"] != nil && want["type"] != fields["type"] || want["role"] != nil && (message == nil || want["role"] != message["role"]) ||
			want["customType"] != nil && want["customType"] != fields["customType"]
	})
	n, _ := want["index"].(float64)
	return at(matching, n), nil
}

// bash runs declared actions as a command.
type bash struct {
	world   *World
	actions []action
}

// Exec implements [wire.BashOperations].
func (b *bash) Exec(ctx context.Context, command, cwd string, onData func([]byte)) (int, error) {
	k := b.world.Kit
	k.Trace("bash", Object{"exec": k.Norm.Text(command), "cwd": k.Norm.Text(cwd)})
	sc := &scope{Kit: k, Who: "bash", Event: Object{}, Context: ctx, Values: map[string]any{"onData": onData}}
	result, err := sc.Run(b.actions)
	code, _ := result.Value.(float64)
	return int(code), err
}

// tool makes a declared tool; its actions may use the session.
func (w *World) tool(def *agentcoretest.ToolDef) *agentcore.Tool {
	return w.Kit.NewTool(def, func(_ context.Context, sc *scope) { sc.Values = map[string]any{"control": w.session().Control()} })
}

// commandLabel names a command as an observer.
func commandLabel(x *ExtensionDef, def CommandDef) string {
	return "ext:" + x.Name + "/cmd:" + def.Name
}

func (w *World) command(x *ExtensionDef, def CommandDef) session.Command {
	who, guest := commandLabel(x, def), w.commands[x.Name+"/"+def.Name]
	return session.Command{Name: def.Name, Description: def.Description, Run: func(ctx context.Context, args string) error {
		w.Kit.Trace(who, Object{"args": args})
		if guest != nil {
			return guest(ctx, args)
		}
		sc := &scope{Kit: w.Kit, Who: who, Event: Object{"args": args}, Values: map[string]any{"control": w.session().Control()}}
		_, err := sc.Run(def.Do)
		return err
	}}
}

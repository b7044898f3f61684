package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"weir/agentcore/agentcoretest"
	"weir/engine/session"
)

// controlOf is what an extension's handler, tool or command holds of the session.
func controlOf(sc *scope) (*session.Control, error) {
	c, ok := sc.Values["control"].(*session.Control)
	if !ok {
		return nil, errors.New("only extensions and tools may do this")
	}
	return c, nil
}

// stale gives an error to the scenario as what JavaScript would throw.
func thrown(err error) error {
	if err == nil {
		return nil
	}
	return &agentcoretest.Thrown{IsError: true, Message: err.Error()}
}

// extensionActions are those of the extension API.
func (w *World) extensionActions() map[string]agentcoretest.ActionFunc {
	now := func(name string, record bool, f func(c *session.Control, sc *scope, a action) (any, error)) agentcoretest.ActionFunc {
		return func(sc *scope, a action) error {
			c, err := controlOf(sc)
			if err != nil {
				return err
			}
			sc.CallNow(name, record || a["record"] == true, func() (any, error) {
				if _, err := c.Session(); err != nil {
					return nil, err
				}
				return f(c, sc, a)
			})
			return nil
		}
	}
	done := func(err error) (any, error) { return agentcoretest.Undefined{}, err }
	return map[string]agentcoretest.ActionFunc{
		"pi.sendMessage": now("pi.sendMessage", false, func(c *session.Control, sc *scope, a action) (any, error) {
			message, err := sc.Eval(a["message"])
			if err != nil {
				return nil, err
			}
			return done(c.SendMessage(customMessage(message), sendOptions(a)))
		}),
		"pi.sendUserMessage": now("pi.sendUserMessage", false, func(c *session.Control, _ *scope, a action) (any, error) {
			content, streaming, err := userMessage(a)
			if err != nil {
				return nil, err
			}
			return done(c.SendUserMessage(content, streaming))
		}),
		"pi.appendEntry": now("pi.appendEntry", false, func(c *session.Control, sc *scope, a action) (any, error) {
			var data json.RawMessage
			if given, ok := a["data"]; ok {
				v, err := sc.Eval(given)
				if err != nil {
					return nil, err
				}
				data = agentcoretest.Encode(v)
			}
			_, err := c.AppendEntry(a.Text("customType"), data)
			return done(err)
		}),
		"pi.setLabel": now("pi.setLabel", false, func(_ *session.Control, sc *scope, a action) (any, error) {
			id, err := sc.Eval(a["entry"])
			if err != nil {
				return nil, err
			}
			entry, _ := id.(string)
			return done(w.session().SetLabel(entry, a.Text("label")))
		}),
		"pi.getActiveTools": now("pi.getActiveTools", true, func(*session.Control, *scope, action) (any, error) {
			return list(w.session().ActiveTools()), nil
		}),
		"pi.setActiveTools": now("pi.setActiveTools", false, func(_ *session.Control, _ *scope, a action) (any, error) {
			var names []string
			given, _ := a["tools"].([]any)
			for _, v := range given {
				name, _ := v.(string)
				names = append(names, name)
			}
			return done(w.session().SetActiveTools(names))
		}),
		"pi.registerTool": func(sc *scope, a action) error {
			var def agentcoretest.ToolDef
			if err := json.Unmarshal(agentcoretest.Encode(a["tool"]), &def); err != nil {
				return err
			}
			return thrown(w.session().RegisterTool(w.tool(&def)))
		},
	}
}

// contextActions are those of the context that handlers and commands are given.
func (w *World) contextActions() map[string]agentcoretest.ActionFunc {
	return map[string]agentcoretest.ActionFunc{
		"ctx.get": func(sc *scope, a action) error {
			c, err := controlOf(sc)
			if err != nil {
				return err
			}
			if _, err := c.Session(); err != nil {
				return thrown(err)
			}
			out := Object{}
			keys, _ := a["keys"].([]any)
			for _, key := range keys {
				name, _ := key.(string)
				if out[name], err = w.contextValue(sc, name); err != nil {
					return err
				}
			}
			w.Kit.Trace(sc.Who, Object{"ctx": out})
			return nil
		},
		"ctx.abort": func(sc *scope, _ action) error {
			c, err := controlOf(sc)
			if err != nil {
				return err
			}
			return thrown(c.Abort())
		},
		"ctx.compact": func(sc *scope, a action) error {
			c, err := controlOf(sc)
			if err != nil {
				return err
			}
			return thrown(c.Compact(a.Text("instructions"), func(r *session.CompactionResult, err error) {
				if err != nil {
					w.Kit.Trace(sc.Who, Object{"compactError": err.Error()})
				} else {
					w.Kit.Trace(sc.Who, Object{"compactComplete": r.Summary})
				}
				if gate := a.Text("open"); gate != "" {
					w.Kit.Gates.Open(gate)
				}
			}))
		},
		"ctx.waitForIdle": func(sc *scope, a action) error {
			return sc.Call("ctx.waitForIdle", a, func(ctx context.Context) (any, error) { return nothing(w.session().WaitForIdle(ctx)) })
		},
		"ctx.navigateTree": func(sc *scope, a action) error {
			return sc.Call("ctx.navigateTree", a, func(ctx context.Context) (any, error) {
				done, err := w.navigate(ctx, sc, a)
				if err != nil {
					return nil, err
				}
				return Object{"cancelled": done.(Object)["cancelled"]}, nil
			})
		},
		"ctx.shutdown": func(*scope, action) error { w.Kit.Trace("host", Object{"call": "shutdown"}); return nil },
		"ui": func(sc *scope, a action) error {
			name := "ui." + a.Text("method")
			return sc.Call(name, a, func(ctx context.Context) (any, error) { return w.dialog(ctx, a.Text("method"), a["args"]) })
		},
	}
}

func (w *World) contextValue(sc *scope, name string) (any, error) {
	s := w.session()
	switch name {
	case "isIdle":
		return s.State().Idle, nil
	case "signalAborted":
		ctx := s.Agent().Context()
		if ctx == nil {
			return nil, nil
		}
		return agentcoretest.Aborted(ctx), nil
	case "model":
		return s.Model().ID, nil
	case "thinkingLevel":
		return string(s.ThinkingLevel()), nil
	case "hasPendingMessages":
		steering, followUp := s.Queues()
		return len(steering)+len(followUp) > 0, nil
	case "mode":
		if w.in.Mode != "" {
			return w.in.Mode, nil
		}
		if w.in.UI != nil {
			return "tui", nil
		}
		return "print", nil
	case "hasUI":
		return w.in.UI != nil, nil
	case "cwd":
		return w.Kit.Norm.Text(s.CWD()), nil
	case "isProjectTrusted":
		return true, nil
	case "entryCount":
		return float64(s.Store().Len()), nil
	case "leafType":
		leaf := s.Store().Leaf()
		if leaf == nil {
			return nil, nil
		}
		kind := string(leaf.Type)
		if m, err := leaf.Message(); err == nil && m != nil && leaf.Type == session.EntryMessage {
			kind += ":" + string(m.Role())
		}
		return kind, nil
	case "systemPrompt":
		if prompt, ok := sc.Values["systemPrompt"].(string); ok {
			return w.Kit.Norm.Text(prompt), nil
		}
		return w.Kit.Norm.Text(s.SystemPrompt()), nil
	case "contextUsage":
		return w.contextUsage(), nil
	default:
		return nil, fmt.Errorf("the context has no %q", name)
	}
}

// dialog asks the scripted person.
func (w *World) dialog(ctx context.Context, method string, args any) (any, error) {
	if w.in.UI == nil {
		if method == "confirm" {
			return false, nil
		}
		return nil, nil
	}
	given, _ := args.([]any)
	w.Kit.Trace("ui", Object{"method": method, "args": w.Kit.Norm.Value(append([]any{}, given...))})
	if method == "notify" || method == "setStatus" {
		return nil, nil
	}
	title := ""
	if len(given) > 0 && method != "custom" {
		title, _ = given[0].(string)
	}
	return w.session().Ask(ctx, method, title, func(context.Context) (any, error) {
		w.mu.Lock()
		queue := w.in.UI[method]
		var script Object
		if len(queue) > 0 {
			script, _ = queue[0].(Object)
			w.in.UI[method] = queue[1:]
		}
		w.mu.Unlock()
		result, err := (&scope{Kit: w.Kit, Who: "ui", Event: Object{}}).Run(agentcoretest.ToActions(script["do"]))
		return result.Value, err
	})
}

package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"weir/engine/journal"
	"weir/engine/set"
	"weir/wasmhost"
)

// capabilities are what an extension's grants open. The error is a *set.Error at the grant that cannot be given.
func (e *Engine) capabilities(x *set.Extension) (map[string]wasmhost.Capability, error) {
	g := &x.Grant
	granted := map[string]wasmhost.Capability{}
	if g.KV {
		granted["kv"] = wasmhost.KV(e.store(x.Name))
	}
	if len(g.HTTP) > 0 {
		rules := make([]wasmhost.HTTPRule, len(g.HTTP))
		for i, h := range g.HTTP {
			rules[i] = wasmhost.HTTPRule{Methods: h.Methods, Scheme: h.Scheme, Host: h.Host, Port: h.Port, Path: h.Path}
		}
		granted["http"] = wasmhost.HTTP(rules)
	}
	if len(g.Read) > 0 {
		file, err := wasmhost.File(g.Read)
		if err != nil {
			return nil, x.At("grant", "read").Error("extension.grant.read", fmt.Sprintf("extension %q: %v", x.Name, err), "name folders that exist; a relative path starts at the set file's folder")
		}
		granted["file"] = file
	}
	if g.Journal != "" {
		j := &journal.Journal{Path: g.Journal, Session: e.cfg.SessionID, Clock: e.cfg.Clock}
		if err := j.Check(); err != nil {
			return nil, x.At("grant", "journal").Error("extension.grant.journal", fmt.Sprintf("extension %q: %v", x.Name, err), "name a file in a folder that exists; a relative path starts at the set file's folder")
		}
		granted["journal"] = wasmhost.Journal(func(ctx context.Context, record json.RawMessage) (wasmhost.JournalEntry, error) {
			receipt, err := j.Append(ctx, x.Name, record)
			return wasmhost.JournalEntry(receipt), err
		})
	}
	if len(g.Session) > 0 {
		granted["session"] = wasmhost.UseSession(g.Session, e.sessionFor(x.Name))
	}
	if g.UI {
		granted["ui"] = wasmhost.AskUI(x.Name, e.cfg.UI)
	}
	return granted, nil
}

// store is what keeps an extension's values. It outlives the guest.
func (e *Engine) store(extension string) wasmhost.Store {
	if s := e.stores[extension]; s != nil {
		return s
	}
	s := wasmhost.NewMemoryStore()
	if e.cfg.Store != nil {
		s = e.cfg.Store(extension)
	}
	if e.stores == nil {
		e.stores = map[string]wasmhost.Store{}
	}
	e.stores[extension] = s
	return s
}

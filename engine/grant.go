package engine

import (
	"fmt"

	"weir/engine/set"
	"weir/wasmhost"
)

// capabilities are what an extension's grants open.
func (e *Engine) capabilities(x *set.Extension) (map[string]wasmhost.Capability, error) {
	for _, g := range []struct {
		key     string
		granted bool
	}{{"kv", x.Grant.KV}, {"http", len(x.Grant.HTTP) > 0}, {"read", len(x.Grant.Read) > 0}, {"ui", x.Grant.UI}, {"session", len(x.Grant.Session) > 0}} {
		if g.granted {
			return nil, x.At("grant", g.key).Error("extension.grant."+g.key, fmt.Sprintf("extension %q: the capability %q is not built into this version", x.Name, g.key), "")
		}
	}
	return nil, nil
}

package wasmhost

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// WithSource returns a module that shares m's code and hands source to every one of its guests. It is how one compiled
// engine runs many scripts: an engine reads the source during _initialize, by weir_input_read, for which it is the input;
// Extism's config_get has it under "weir.source". weir_config_read does not show it.
//
// What the module says of itself is asked and kept for each source. Digest covers the code and the source. The source is
// copied; an empty one gives m.
func (m *Module) WithSource(source []byte) *Module {
	if len(source) == 0 {
		return m
	}
	sum := sha256.New()
	sum.Write(m.key.digest[:])
	sum.Write(source)
	s := &Module{
		host: m.host, key: m.key, entry: m.entry, size: m.size + len(source), summary: m.summary, compiled: m.compiled, plugin: m.plugin, kernel: m.kernel, info: m.info,
		source: bytes.Clone(source),
	}
	s.digest = hex.EncodeToString(sum.Sum(nil))
	return s
}

// describeKey is where the store keeps what the module says of itself.
func (m *Module) describeKey() string {
	if m.source == nil {
		return m.key.String()
	}
	return m.key.String() + "-s" + m.digest
}

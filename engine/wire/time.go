package wire

import "weir/agentcore"

// Timestamp is the time of a message in milliseconds since 1970, 0 when it has none.
func Timestamp(m *agentcore.Message) int64 { return timestamp(m) }

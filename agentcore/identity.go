package agentcore

// WithID is m under the append number id: a message that stands in for another keeps the other's number. It shares m's
// body and JSON; m itself is not changed.
func (m *Message) WithID(id uint64) *Message { return m.numbered(id) }

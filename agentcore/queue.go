package agentcore

// QueueMode says how many queued messages one poll delivers. The zero value means one at a time.
type QueueMode string

// The queue modes.
const (
	QueueOneAtATime QueueMode = "one-at-a-time"
	QueueAll        QueueMode = "all"
)

// queue holds messages that wait for a place in a run. The agent's mutex guards it.
type queue struct {
	mode     QueueMode
	messages []*Message
}

func (q *queue) drain() []*Message {
	if len(q.messages) == 0 {
		return nil
	}
	n := 1
	if q.mode == QueueAll {
		n = len(q.messages)
	}
	drained := q.messages[:n:n]
	q.messages = q.messages[n:]
	return drained
}

func (q *queue) clear() []*Message {
	cleared := q.messages
	q.messages = nil
	return cleared
}

package weir

import "weir/guest-sdk/go/internal/hostfn"

// OnDecision registers a handler that hears what the set decided: of each tool
// call before the tool runs, and of every other event to which an extension had
// something to say. The event has event, decision (allow, rewrite or block), by,
// reason, toolName, toolCallId, input, asked and answers; docs/abi.md lists
// them. An error is a fault; it changes nothing, unless BlockOnError was said:
// then a tool call whose decision this extension could not take down is blocked.
//
// Of the returned Hook only BlockOnError counts.
func OnDecision(handle func(*Event) error) *Hook {
	if ext.decision != nil {
		ext.mistake("two handlers for decision")
	}
	ext.decision = &Hook{event: decisionExport, run: func(c *call) error {
		if err := c.event.parse(c.readInput()); err != nil {
			return err
		}
		if err := handle(&c.event); err != nil {
			return err
		}
		return c.answer(None())
	}}
	return ext.decision
}

// JournalAppend adds a record, a JSON object of up to 64 KiB, to the journal
// that the set names, and returns when it is on the disk: the entry's number and
// the hash of its line. Needs the grant journal.
func JournalAppend(record JSON) (seq int64, hash string, err error) {
	v, err := request("journal", hostfn.Journal, "append", Field{"record", record})
	if err != nil {
		return 0, "", err
	}
	return v.Get("seq").Int(0), v.Get("hash").Str(), nil
}

func observeDecision(c *call) error {
	if ext.decision == nil {
		return &answerError{decisionExport, errNoHandler}
	}
	return ext.decision.run(c)
}

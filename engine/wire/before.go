package wire

import (
	"encoding/json"

	"weir/agentcore"
)

// SessionBeforeResult is the answer of a session_before_switch, _fork, _compact or _tree hook. The zero value is no
// opinion. A field that the event does not have is never set.
type SessionBeforeResult struct {
	// Cancel stops what was about to happen. Never set together with anything else.
	Cancel bool
	// SkipConversationRestore (fork) leaves the conversation where it is.
	SkipConversationRestore bool
	// Compaction (compact) stands in for the summary of the model; nil does not.
	Compaction *Compaction
	// Summary (tree) stands in for the summary of the branch; nil does not.
	Summary *BranchSummary
	// CustomInstructions, ReplaceInstructions and Label (tree) replace what the person chose; nil keeps.
	CustomInstructions  *string
	ReplaceInstructions *bool
	Label               *string
}

// Compaction is a summary of what is cut from a session.
type Compaction struct {
	Summary          string
	FirstKeptEntryID string
	TokensBefore     int64
	Details          json.RawMessage // nil when absent
}

// BranchSummary is a summary of a branch that is left.
type BranchSummary struct {
	Summary string
	Details json.RawMessage // nil when absent
	Usage   *agentcore.Usage
}

// Key tables; read only.
var (
	beforeKeys = []string{
		"cancel", "skipConversationRestore", "compaction", "summary", "customInstructions", "replaceInstructions", "label",
	}
	compactionKeys    = []string{"summary", "firstKeptEntryId", "tokensBefore", "details"}
	branchSummaryKeys = []string{"summary", "details", "usage"}
)

// sessionBeforeKeys are the keys that the result of e may have.
func sessionBeforeKeys(e Event) []string {
	switch e {
	case EventSessionBeforeFork:
		return beforeKeys[:2]
	case EventSessionBeforeCompact:
		return []string{"cancel", "compaction"}
	case EventSessionBeforeTree:
		return []string{"cancel", "summary", "customInstructions", "replaceInstructions", "label"}
	}
	return beforeKeys[:1]
}

// ParseSessionBefore reads the answer of a hook for e, one of the four session_before events.
func ParseSessionBefore(e Event, out []byte) (SessionBeforeResult, error) {
	var res SessionBeforeResult
	keys := sessionBeforeKeys(e)
	err := parse(out, keys, func(r *reader, i int) {
		switch keys[i] {
		case "cancel":
			res.Cancel = r.bool()
		case "skipConversationRestore":
			res.SkipConversationRestore = r.bool()
		case "compaction":
			res.Compaction = r.compaction()
		case "summary":
			res.Summary = r.branchSummary()
		case "customInstructions":
			s := r.string()
			res.CustomInstructions = &s
		case "replaceInstructions":
			b := r.bool()
			res.ReplaceInstructions = &b
		case "label":
			s := r.string()
			res.Label = &s
		}
	}, func(r *reader, f *fields) {
		if res.Cancel && f.seen != 1 {
			r.fail(f.start, "what is cancelled cannot be changed: cancel stands alone")
		}
	})
	if err != nil {
		return SessionBeforeResult{}, err
	}
	return res, nil
}

func (r *reader) compaction() *Compaction {
	c := &Compaction{}
	f := r.object(compactionKeys)
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		switch i {
		case 0:
			c.Summary = r.stringNotEmpty()
		case 1:
			c.FirstKeptEntryID = r.stringNotEmpty()
		case 2:
			c.TokensBefore = r.int(0, maxSafe)
		case 3:
			c.Details = clone(r.raw())
		}
	}
	r.require(&f, 0, 1, 2)
	return c
}

func (r *reader) branchSummary() *BranchSummary {
	s := &BranchSummary{}
	f := r.object(branchSummaryKeys)
	for i := r.next(&f); i >= 0; i = r.next(&f) {
		switch i {
		case 0:
			s.Summary = r.stringNotEmpty()
		case 1:
			s.Details = clone(r.raw())
		case 2:
			s.Usage = r.usage()
		}
	}
	r.require(&f, 0)
	return s
}

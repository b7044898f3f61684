package session

import "weir/agentcore"

// CutEntry is a session entry as far as a compaction needs to know it.
type CutEntry struct {
	// Message is what the entry puts into the context, nil for entries that put nothing there (labels, names, level
	// changes …).
	Message *agentcore.Message
	// Compaction marks the entry of an earlier compaction: nothing before it is looked at, and no cut is made on it.
	Compaction bool
}

// Cut says where a compaction cuts.
type Cut struct {
	// FirstKept is the first entry that stays as it is.
	FirstKept int
	// TurnStart is the entry that begins the turn which the cut splits, -1 when it splits none.
	TurnStart int
	// SplitTurn says that the cut lies within a turn.
	SplitTurn bool
}

// FindCut finds where to cut entries[start:end] so that about keepRecent tokens stay. A cut never parts a tool result
// from its call. Entries that are not part of the context stay with what follows them.
func FindCut(entries []CutEntry, start, end int, keepRecent int64) Cut {
	first := nextCutPoint(entries, start, end)
	if first < 0 {
		return Cut{FirstKept: start, TurnStart: -1}
	}
	cut := first
	var kept int64
	for i := end - 1; i >= start; i-- {
		if entries[i].Message == nil {
			continue
		}
		tokens := EstimateTokens(entries[i].Message)
		kept += tokens
		if tokens > 0 && kept >= keepRecent {
			if at := nextCutPoint(entries, i, end); at >= 0 {
				cut = at
			}
			break
		}
	}
	for cut > start && entries[cut-1].Message == nil && !entries[cut-1].Compaction {
		cut--
	}
	if startsTurn(entries[cut]) {
		return Cut{FirstKept: cut, TurnStart: -1}
	}
	for i := cut; i >= start; i-- {
		if startsTurn(entries[i]) {
			return Cut{FirstKept: cut, TurnStart: i, SplitTurn: true}
		}
	}
	return Cut{FirstKept: cut, TurnStart: -1}
}

// nextCutPoint is the first entry from i on where a cut may be made, or -1.
func nextCutPoint(entries []CutEntry, i, end int) int {
	for ; i < end; i++ {
		if startsTurn(entries[i]) || !entries[i].Compaction && roleOf(entries[i]) == agentcore.RoleAssistant {
			return i
		}
	}
	return -1
}

// startsTurn says whether the entry holds what the user, or a program for them, said.
func startsTurn(e CutEntry) bool {
	if e.Compaction {
		return false
	}
	switch roleOf(e) {
	case agentcore.RoleUser, RoleBashExecution, RoleCustom, RoleBranchSummary, RoleCompactionSummary:
		return true
	default:
		return false
	}
}

func roleOf(e CutEntry) agentcore.Role {
	if e.Message == nil {
		return ""
	}
	return e.Message.Role()
}

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/agentcore"
	"weir/engine/wire"
)

// ErrNavigateStreaming is returned by Navigate during a run.
const ErrNavigateStreaming agentcore.Error = "Wait for the current response to finish before navigating the session tree."

// NavigateOptions say how a branch is left.
type NavigateOptions struct {
	// Summarize has the model write a summary of what is left, which the new branch begins with.
	Summarize bool `json:"summarize"`
	// Instructions are wishes for it; with Replace, they are all that the model is told.
	Instructions string `json:"customInstructions"`
	Replace      bool   `json:"replaceInstructions"`
	// Label marks the summary or, without one, the target.
	Label string `json:"label"`
}

// Navigated is what came of a navigation.
type Navigated struct {
	// EditorText is the text of the user's message that was gone to, to be written anew.
	EditorText string
	// Cancelled says that an extension, or an abort of the summary (then Aborted), kept the session where it is.
	Cancelled, Aborted bool
	// Summary is the entry of the summary; nil without one.
	Summary *Entry
}

// Navigate moves the leaf to another entry: before it, if it is a message of the user or of an extension, whose text is
// returned. The errors are [ErrNavigateStreaming], a *[EntryError], what the summary failed with, and those of the store; the session stays
// where it is.
func (s *Session) Navigate(ctx context.Context, target string, opts NavigateOptions) (Navigated, error) {
	if s.State().Streaming {
		return Navigated{}, ErrNavigateStreaming
	}
	oldLeaf := s.leafID()
	if oldLeaf != nil && *oldLeaf == target {
		return Navigated{}, nil
	}
	entry := s.store.Entry(target)
	if entry == nil {
		return Navigated{}, &EntryError{ID: target}
	}
	left, ancestor := s.leftBehind(target)
	ctx, done, ok := s.beginIf(ctx, &s.branching, func() bool { return !s.active })
	if !ok {
		return Navigated{}, ErrNavigateStreaming
	}
	defer done()
	out, err := ask[wire.SessionBeforeOutcome](ctx, s.cfg.Extensions, wire.SessionBeforeTreeEvent{Preparation: wire.TreePreparation{
		TargetID: target, OldLeafID: oldLeaf, CommonAncestorID: ancestor, EntriesToSummarize: entryJSON(left), UserWantsSummary: opts.Summarize,
		CustomInstructions: opts.Instructions, ReplaceInstructions: opts.Replace, Label: opts.Label,
	}})
	if err != nil {
		return Navigated{}, err
	}
	var given *wire.BranchSummary
	if out != nil {
		if out.Result.Cancel {
			return Navigated{Cancelled: true}, nil
		}
		given = opts.override(&out.Result)
	}
	summary, err := s.branchSummary(ctx, left, given, opts)
	switch {
	case errors.Is(err, errSummaryAborted):
		return Navigated{Cancelled: true, Aborted: true}, nil
	case err != nil:
		return Navigated{}, err
	}
	return s.moveTo(ctx, entry, oldLeaf, summary, opts.Label)
}

// override takes up what extensions want otherwise, and returns the summary that they give.
func (o *NavigateOptions) override(r *wire.SessionBeforeResult) *wire.BranchSummary {
	if r.CustomInstructions != nil {
		o.Instructions = *r.CustomInstructions
	}
	if r.ReplaceInstructions != nil {
		o.Replace = *r.ReplaceInstructions
	}
	if r.Label != nil {
		o.Label = *r.Label
	}
	if !o.Summarize {
		return nil // nobody asked for one
	}
	return r.Summary
}

func (s *Session) leafID() *string {
	if leaf := s.store.Leaf(); leaf != nil {
		return &leaf.ID
	}
	return nil
}

// leftBehind are the entries of the present branch that the branch of target does not have, and the last that both have.
func (s *Session) leftBehind(target string) (left []*Entry, ancestor *string) {
	shared := map[string]bool{}
	for _, e := range s.store.Branch(target) {
		shared[e.ID] = true
	}
	present := []*Entry{}
	if s.store.Leaf() != nil {
		present = s.store.Branch("")
	}
	at := len(present)
	for at > 0 && !shared[present[at-1].ID] {
		at--
	}
	if at > 0 {
		ancestor = &present[at-1].ID
	}
	return present[at:], ancestor
}

// branchSummaryReserve is what a branch's summary leaves free of the window (a fact of the reference), and
// branchSummaryTokens the most that it may be long.
const (
	branchSummaryReserve = 16384
	branchSummaryTokens  = 4096
	unknownWindow        = 128000
)

// branchSummary is the data of the summary's entry; nil when there is none.
func (s *Session) branchSummary(ctx context.Context, left []*Entry, given *wire.BranchSummary, opts NavigateOptions) (*EntryData, error) {
	fromHook := given != nil
	if given != nil {
		data := &EntryData{Summary: given.Summary, Details: given.Details, FromHook: &fromHook}
		if given.Usage != nil {
			var err error
			if data.Usage, err = encodeJSON(given.Usage); err != nil {
				return nil, err
			}
		}
		return data, nil
	}
	if !opts.Summarize || len(left) == 0 {
		return nil, nil
	}
	window := s.Model().ContextWindow
	if window == 0 {
		window = unknownWindow
	}
	messages, files := branchMessages(left, window-branchSummaryReserve)
	data := &EntryData{Summary: "No content to summarize", FromHook: &fromHook}
	if len(messages) > 0 {
		task := withFocus(branchTask, opts.Instructions)
		if opts.Replace && opts.Instructions != "" {
			task = opts.Instructions
		}
		text, usage, err := s.writeSummary(ctx, summaryRequest{
			label: "Branch summarization", messages: messages, task: task, maxTokens: branchSummaryTokens, retry: SummarizationRetryAttemptStart{Source: "branchSummary"},
		})
		if err != nil {
			return nil, err
		}
		read, modified := fileLists(files.ops())
		data.Summary = branchPreface + text + fileSections(read, modified)
		if data.Details, err = encodeJSON(fileDetails{read, modified}); err != nil {
			return nil, fmt.Errorf("details of the summary: %w", err)
		}
		if data.Usage, err = encodeJSON(usage); err != nil {
			return nil, fmt.Errorf("usage of the summary: %w", err)
		}
	}
	return data, nil
}

// branchMessages are the last messages of a branch that fit into so many tokens, and the files that they touch. A summary that just
// does not fit is taken if there is room left, since it stands for much.
func branchMessages(entries []*Entry, budget int64) ([]*agentcore.Message, *fileOps) {
	files := newFileOps()
	for _, e := range entries {
		if e.Type != EntryBranchSummary {
			continue
		}
		if d, err := e.Data(); err == nil && (d.FromHook == nil || !*d.FromHook) {
			files.addDetails(d.Details)
		}
	}
	var messages []*agentcore.Message
	var total int64
	for _, e := range slices.Backward(entries) {
		m, err := e.Message()
		if err != nil || m == nil || m.Role() == agentcore.RoleToolResult {
			continue
		}
		files.add([]*agentcore.Message{m})
		tokens := EstimateTokens(m)
		if budget > 0 && total+tokens > budget {
			if summary := e.Type == EntryCompaction || e.Type == EntryBranchSummary; summary && total*10 < budget*9 {
				messages = append(messages, m)
			}
			break
		}
		messages = append(messages, m)
		total += tokens
	}
	slices.Reverse(messages)
	return messages, files
}

// moveTo moves the leaf, adds the summary and the label there, and tells the extensions.
func (s *Session) moveTo(ctx context.Context, target *Entry, oldLeaf *string, summary *EntryData, label string) (Navigated, error) {
	var done Navigated
	newLeaf := target.ID
	if text, ok := editable(target); ok {
		newLeaf, done.EditorText = target.ParentID, text
	}
	if err := s.store.SetLeaf(newLeaf); err != nil {
		return Navigated{}, err
	}
	labelled := target.ID
	if summary != nil && summary.Summary != "" {
		if summary.FromID = "root"; oldLeaf != nil {
			summary.FromID = *oldLeaf
		}
		entry, err := s.store.Append(EntryBranchSummary, summary)
		if err != nil {
			return Navigated{}, errors.Join(err, s.backTo(oldLeaf))
		}
		done.Summary, labelled = entry, entry.ID
	}
	if label != "" {
		if _, err := s.store.Append(EntryLabel, &EntryData{TargetID: labelled, Label: &label}); err != nil {
			return done, err
		}
	}
	s.agree.Lock()
	s.agent.SetMessages(s.store.Context().Messages)
	s.agree.Unlock()
	event := wire.SessionTreeEvent{NewLeafID: s.leafID(), OldLeafID: oldLeaf}
	if done.Summary != nil {
		event.SummaryEntry, event.FromExtension = done.Summary.JSON(), summary.FromHook
	}
	s.observe(ctx, event)
	return done, nil
}

func (s *Session) backTo(leaf *string) error {
	if leaf == nil {
		return s.store.SetLeaf("")
	}
	return s.store.SetLeaf(*leaf)
}

// editable is the text of an entry that is written anew rather than continued.
func editable(e *Entry) (string, bool) {
	m, err := e.Message()
	if err != nil || m == nil {
		return "", false
	}
	if u := m.User(); u != nil {
		return contentText(u.Content), true
	}
	if e.Type != EntryCustomMessage {
		return "", false
	}
	d, err := e.Data()
	if err != nil {
		return "", false
	}
	content, err := agentcore.DecodeContent(d.Content)
	if err != nil {
		return "", false
	}
	return contentText(content), true
}

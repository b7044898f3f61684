package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"weir/agentcore"
	"weir/engine/wire"
)

// DefaultCompaction is the reference's.
func DefaultCompaction() CompactionSettings {
	return CompactionSettings{Enabled: true, ReserveTokens: 16384, KeepRecentTokens: 20000}
}

// What Compact fails with (NOTES section 4).
const (
	ErrNothingToCompact    agentcore.Error = "Nothing to compact (session too small)"
	ErrAlreadyCompacted    agentcore.Error = "Already compacted"
	ErrCompactionCancelled agentcore.Error = "Compaction cancelled"
)

// What compaction_end says when the one attempt at recovery did not help.
const (
	textOverflowAgain = "Context overflow recovery failed after one compact-and-retry attempt. Try reducing context or switching to a larger-context model."
	textCutAgain      = "Truncated response recovery failed after one compact-and-retry attempt."
)

// SetAutoCompaction switches compaction by threshold and on overflow on or off.
func (s *Session) SetAutoCompaction(enabled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compaction.Enabled = enabled
}

func (s *Session) compactionSettings() CompactionSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compaction
}

// prepareCompaction says what a compaction of a branch would cut; nil when there is nothing to cut. The content of entries that cannot
// be read is left out.
func prepareCompaction(branch []*Entry, settings CompactionSettings) *wire.CompactionPreparation {
	if len(branch) == 0 || branch[len(branch)-1].Type == EntryCompaction {
		return nil
	}
	p := &wire.CompactionPreparation{Settings: settings, TokensBefore: EstimateContext(buildContext(branch).Messages).Tokens}
	start, files := previousCompaction(branch, p)
	cut := FindCut(cutEntries(branch), start, len(branch), settings.KeepRecentTokens)
	if cut.FirstKept >= len(branch) {
		return nil
	}
	p.FirstKeptEntryID, p.IsSplitTurn = branch[cut.FirstKept].ID, cut.SplitTurn
	end := cut.FirstKept
	if cut.SplitTurn {
		end = cut.TurnStart
		p.TurnPrefixMessages = summarizable(branch[cut.TurnStart:cut.FirstKept])
	}
	p.MessagesToSummarize = summarizable(branch[start:end])
	if len(p.MessagesToSummarize)+len(p.TurnPrefixMessages) == 0 {
		return nil
	}
	files.add(p.MessagesToSummarize)
	files.add(p.TurnPrefixMessages)
	p.FileOps = files.ops()
	if p.TurnPrefixMessages == nil {
		p.TurnPrefixMessages = []*agentcore.Message{}
	}
	if p.MessagesToSummarize == nil {
		p.MessagesToSummarize = []*agentcore.Message{}
	}
	return p
}

// previousCompaction finds where the last compaction of a branch left off: what it kept is summarised now.
func previousCompaction(branch []*Entry, p *wire.CompactionPreparation) (start int, files *fileOps) {
	files = newFileOps()
	for i := len(branch) - 1; i >= 0; i-- {
		if branch[i].Type != EntryCompaction {
			continue
		}
		d, err := branch[i].Data()
		if err != nil {
			return i + 1, files
		}
		p.PreviousSummary = d.Summary
		if d.FromHook == nil || !*d.FromHook {
			files.addDetails(d.Details)
		}
		first := slices.IndexFunc(branch, func(e *Entry) bool { return e.ID == d.FirstKeptEntryID })
		if first < 0 {
			first = i + 1
		}
		return first, files
	}
	return 0, files
}

func cutEntries(branch []*Entry) []CutEntry {
	out := make([]CutEntry, len(branch))
	for i, e := range branch {
		if e.Type == EntryCompaction {
			out[i].Compaction = true
		} else if m, err := e.Message(); err == nil {
			out[i].Message = m
		}
	}
	return out
}

// summarizable are the messages of entries. A compaction's own summary is not among them: it is carried on otherwise.
func summarizable(entries []*Entry) []*agentcore.Message {
	var messages []*agentcore.Message
	for _, e := range entries {
		if m, err := e.Message(); err == nil && m != nil && e.Type != EntryCompaction {
			messages = append(messages, m)
		}
	}
	return messages
}

// compaction is one compaction under way.
type compaction struct {
	session       *Session
	reason        CompactionReason
	willRetry     bool
	instructions  string
	fromExtension bool
}

// Compact summarises what is older than the settings keep. A run is aborted first. When it fails, extensions have heard
// of session_compact_failed before the error is returned. The errors are those above, what the provider failed with, and
// those of the store.
func (s *Session) Compact(ctx context.Context, instructions string) (*CompactionResult, error) {
	work, done, err := s.takeOver(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c := &compaction{session: s, reason: CompactManual, instructions: instructions}
	var result *CompactionResult
	if err = s.emit(&CompactionStart{Reason: CompactManual}); err == nil {
		result, err = c.manual(work)
	}
	done() // subscribers may submit prompts when it has ended
	if err == nil {
		return result, s.emit(&CompactionEnd{Reason: CompactManual, Result: result})
	}
	aborted := errors.Is(err, ErrCompactionCancelled) || errors.Is(err, context.Canceled)
	text := ""
	if !aborted {
		text = "Compaction failed: " + err.Error()
	}
	return nil, errors.Join(err, c.fail(ctx, text, aborted))
}

// takeOver aborts what is under way until a compaction by hand has the session to itself.
func (s *Session) takeOver(ctx context.Context) (work context.Context, done func(), err error) {
	for {
		if err := s.Abort(ctx); err != nil {
			return nil, nil, err
		}
		if work, done, ok := s.beginIf(ctx, &s.manual, s.isIdle); ok {
			return work, done, nil
		}
	}
}

func (c *compaction) manual(ctx context.Context) (*CompactionResult, error) {
	s := c.session
	branch := s.store.Branch("")
	p := prepareCompaction(branch, s.compactionSettings())
	switch {
	case p != nil:
	case len(branch) > 0 && branch[len(branch)-1].Type == EntryCompaction:
		return nil, ErrAlreadyCompacted
	default:
		return nil, ErrNothingToCompact
	}
	return c.perform(ctx, p, branch)
}

// perform makes the summary and puts it in place. ErrCompactionCancelled says that it was cancelled.
func (c *compaction) perform(ctx context.Context, p *wire.CompactionPreparation, branch []*Entry) (*CompactionResult, error) {
	s := c.session
	out, err := ask[wire.SessionBeforeOutcome](ctx, s.cfg.Extensions, wire.SessionBeforeCompactEvent{
		Preparation: *p, BranchEntries: entryJSON(branch), CustomInstructions: c.instructions, Reason: string(c.reason), WillRetry: c.willRetry,
	})
	if err != nil {
		return nil, err
	}
	result := &CompactionResult{}
	switch {
	case out != nil && out.Result.Cancel:
		return nil, ErrCompactionCancelled
	case out != nil && out.Result.Compaction != nil:
		given := out.Result.Compaction
		c.fromExtension = true
		result.Summary, result.FirstKeptEntryID, result.TokensBefore, result.Details = given.Summary, given.FirstKeptEntryID, given.TokensBefore, given.Details
	default:
		result, err = s.summarize(ctx, p, c.instructions, c.reason)
	}
	if err != nil && !errors.Is(err, errSummaryAborted) {
		return nil, err
	}
	if err != nil || ctx.Err() != nil {
		return nil, ErrCompactionCancelled
	}
	return result, c.put(ctx, result)
}

// put appends the compaction and rebuilds the transcript.
func (c *compaction) put(ctx context.Context, result *CompactionResult) error {
	s := c.session
	data := &EntryData{
		Summary: result.Summary, FirstKeptEntryID: result.FirstKeptEntryID, TokensBefore: &result.TokensBefore, Details: result.Details,
		FromHook: &c.fromExtension,
	}
	if result.Usage != nil {
		var err error
		if data.Usage, err = encodeJSON(result.Usage); err != nil {
			return err
		}
	}
	s.agree.Lock()
	entry, err := s.store.Append(EntryCompaction, data)
	if err != nil {
		s.agree.Unlock()
		return err
	}
	messages := s.store.Context().Messages
	s.agent.SetMessages(messages)
	s.agree.Unlock()
	for _, m := range messages {
		result.EstimatedTokensAfter += EstimateTokens(m)
	}
	s.observe(ctx, wire.SessionCompactEvent{
		CompactionEntry: entry.JSON(), FromExtension: c.fromExtension, Reason: string(c.reason), WillRetry: c.willRetry,
	})
	return nil
}

// fail tells that a compaction ended without effect: the subscribers, then the extensions, which are waited for.
func (c *compaction) fail(ctx context.Context, text string, aborted bool) error {
	err := c.session.emit(&CompactionEnd{Reason: c.reason, Aborted: aborted, ErrorMessage: text})
	c.session.observe(context.WithoutCancel(ctx), wire.SessionCompactFailedEvent{
		Reason: string(c.reason), ErrorMessage: text, Aborted: aborted, FromExtension: c.fromExtension,
	})
	return err
}

func entryJSON(entries []*Entry) []json.RawMessage {
	out := make([]json.RawMessage, len(entries))
	for i, e := range entries {
		out[i] = e.JSON()
	}
	return out
}

// checkCompaction looks at the last response: did it overflow, is the context too large? It is true when the session goes on
// by itself. beforePrompt says that a prompt follows; then aborted responses count too.
func (s *Session) checkCompaction(ctx context.Context, last *agentcore.Message, beforePrompt bool) (bool, error) {
	a := last.Assistant()
	settings := s.compactionSettings()
	if !settings.Enabled || !beforePrompt && a.StopReason == agentcore.StopAborted {
		return false, nil
	}
	compacted := s.lastCompaction()
	if compacted != nil && a.Timestamp <= compacted.Time().UnixMilli() {
		return false, nil // it tells of the context before
	}
	model := s.Model()
	// What another model said of its window means nothing for this one's.
	if a.Model == model.ID && a.Provider == model.Provider {
		overflow := Overflow(a, model.ContextWindow)
		if overflow || RecoverableLength(a, model.MaxTokens) {
			return s.recover(ctx, a, overflow, beforePrompt)
		}
	}
	tokens := ContextTokens(&a.Usage)
	if a.StopReason == agentcore.StopError || tokens == 0 {
		messages := s.Messages()
		estimate := EstimateContext(messages)
		if i := estimate.LastUsageIndex; i >= 0 && compacted != nil && messages[i].Assistant().Timestamp <= compacted.Time().UnixMilli() {
			return false, nil // kept from before, with the usage of before
		}
		tokens = estimate.Tokens
	}
	if model.ContextWindow <= 0 || !ShouldCompact(tokens, model.ContextWindow, settings) {
		return false, nil
	}
	return s.autoCompact(ctx, CompactThreshold, false, beforePrompt)
}

func (s *Session) lastCompaction() *Entry {
	for _, e := range slices.Backward(s.store.Branch("")) {
		if e.Type == EntryCompaction {
			return e
		}
	}
	return nil
}

// recover compacts after an overflow. A response that failed is taken back and asked for again, once.
func (s *Session) recover(ctx context.Context, a *agentcore.AssistantMessage, overflow, beforePrompt bool) (bool, error) {
	if a.StopReason == agentcore.StopStop {
		return s.autoCompact(ctx, CompactOverflow, false, beforePrompt)
	}
	s.mu.Lock()
	tried := s.overflowTried
	s.overflowTried = true
	s.mu.Unlock()
	if tried {
		text := textCutAgain
		if overflow {
			text = textOverflowAgain
		}
		return false, (&compaction{session: s, reason: CompactOverflow}).fail(ctx, text, false)
	}
	s.dropLast()
	return s.autoCompact(ctx, CompactOverflow, true, beforePrompt)
}

// autoCompact compacts by itself. Failures are told by events; the error is a subscriber's. It is true when the session goes on: to
// retry, or with what was queued meanwhile.
func (s *Session) autoCompact(ctx context.Context, reason CompactionReason, willRetry, beforePrompt bool) (bool, error) {
	branch := s.store.Branch("")
	p := prepareCompaction(branch, s.compactionSettings())
	if p == nil || s.Model().ID == "" {
		return false, nil
	}
	if beforePrompt && !s.State().Idle {
		return false, nil // another prompt was faster; its run sees to its context itself
	}
	if err := s.emit(&CompactionStart{Reason: reason}); err != nil {
		return false, err
	}
	c := &compaction{session: s, reason: reason, willRetry: willRetry}
	work, done, ok := s.beginIf(ctx, &s.auto, func() bool { return !beforePrompt || s.isIdle() })
	if !ok {
		return false, c.fail(ctx, "", true)
	}
	defer done()
	result, err := c.perform(work, p, branch)
	switch {
	case errors.Is(err, ErrCompactionCancelled):
		return false, c.fail(ctx, "", true)
	case err != nil:
		prefix := "Auto-compaction failed: "
		if reason == CompactOverflow {
			prefix = "Context overflow recovery failed: "
		}
		return false, c.fail(ctx, prefix+err.Error(), false)
	}
	if err := s.emit(&CompactionEnd{Reason: reason, Result: result, WillRetry: willRetry}); err != nil {
		return false, err
	}
	if !willRetry {
		return s.waiting(), nil
	}
	// The response that is retried is still in the store, so it may be back in the transcript.
	if last := s.lastInTranscript(); last != nil && (last.StopReason == agentcore.StopError || last.StopReason == agentcore.StopLength) {
		s.dropLast()
	}
	return true, nil
}

func (s *Session) lastInTranscript() *agentcore.AssistantMessage {
	messages := s.Messages()
	if len(messages) == 0 {
		return nil
	}
	return messages[len(messages)-1].Assistant()
}

// summarize has the model write the summary of a compaction.
func (s *Session) summarize(ctx context.Context, p *wire.CompactionPreparation, instructions string, reason CompactionReason) (*CompactionResult, error) {
	settings := s.compactionSettings()
	retry := SummarizationRetryAttemptStart{Source: "compaction", Reason: reason}
	var summary string
	var usage *agentcore.Usage
	if len(p.MessagesToSummarize) > 0 || !p.IsSplitTurn {
		text, used, err := s.writeSummary(ctx, summaryRequest{
			label: "Summarization", messages: p.MessagesToSummarize, previous: p.PreviousSummary, task: historyTask(p.PreviousSummary != "", instructions),
			maxTokens: settings.ReserveTokens * 8 / 10, reason: true, retry: retry,
		})
		if err != nil {
			return nil, err
		}
		summary, usage = text, used
	} else {
		summary = "No prior history."
	}
	if p.IsSplitTurn && len(p.TurnPrefixMessages) > 0 {
		text, used, err := s.writeSummary(ctx, summaryRequest{
			label: "Turn prefix summarization", messages: p.TurnPrefixMessages, task: turnTask, maxTokens: settings.ReserveTokens / 2, reason: true, retry: retry,
		})
		if err != nil {
			return nil, err
		}
		summary += "\n\n---\n\n**Turn Context (split turn):**\n\n" + text
		usage = addUsage(usage, used)
	}
	read, modified := fileLists(p.FileOps)
	details, err := encodeJSON(fileDetails{read, modified})
	if err != nil {
		return nil, fmt.Errorf("details of the compaction: %w", err)
	}
	return &CompactionResult{
		Summary: summary + fileSections(read, modified), FirstKeptEntryID: p.FirstKeptEntryID, TokensBefore: p.TokensBefore, Usage: usage, Details: details,
	}, nil
}

//go:build wasip1

package weir

// The compiler needs each export as a function of its own. All are exported by
// every extension: the host calls those that the description names.

//go:wasmexport weir_describe
func exportWeirDescribe() int32 { return run(describe) }

//go:wasmexport tool_execute
func exportToolExecute() int32 { return run(executeTool) }

//go:wasmexport command_execute
func exportCommandExecute() int32 { return run(executeCommand) }

//go:wasmexport decision
func exportDecision() int32 { return run(observeDecision) }

//go:wasmexport project_trust
func exportProjectTrust() int32 { return invokeHook("project_trust") }

//go:wasmexport resources_discover
func exportResourcesDiscover() int32 { return invokeHook("resources_discover") }

//go:wasmexport session_start
func exportSessionStart() int32 { return invokeHook("session_start") }

//go:wasmexport session_info_changed
func exportSessionInfoChanged() int32 { return invokeHook("session_info_changed") }

//go:wasmexport session_before_switch
func exportSessionBeforeSwitch() int32 { return invokeHook("session_before_switch") }

//go:wasmexport session_before_fork
func exportSessionBeforeFork() int32 { return invokeHook("session_before_fork") }

//go:wasmexport session_before_compact
func exportSessionBeforeCompact() int32 { return invokeHook("session_before_compact") }

//go:wasmexport session_compact
func exportSessionCompact() int32 { return invokeHook("session_compact") }

//go:wasmexport session_compact_failed
func exportSessionCompactFailed() int32 { return invokeHook("session_compact_failed") }

//go:wasmexport session_shutdown
func exportSessionShutdown() int32 { return invokeHook("session_shutdown") }

//go:wasmexport session_before_tree
func exportSessionBeforeTree() int32 { return invokeHook("session_before_tree") }

//go:wasmexport session_tree
func exportSessionTree() int32 { return invokeHook("session_tree") }

//go:wasmexport context
func exportContext() int32 { return invokeHook("context") }

//go:wasmexport before_provider_headers
func exportBeforeProviderHeaders() int32 { return invokeHook("before_provider_headers") }

//go:wasmexport before_provider_request
func exportBeforeProviderRequest() int32 { return invokeHook("before_provider_request") }

//go:wasmexport after_provider_response
func exportAfterProviderResponse() int32 { return invokeHook("after_provider_response") }

//go:wasmexport before_agent_start
func exportBeforeAgentStart() int32 { return invokeHook("before_agent_start") }

//go:wasmexport agent_start
func exportAgentStart() int32 { return invokeHook("agent_start") }

//go:wasmexport agent_settled
func exportAgentSettled() int32 { return invokeHook("agent_settled") }

//go:wasmexport agent_end
func exportAgentEnd() int32 { return invokeHook("agent_end") }

//go:wasmexport turn_start
func exportTurnStart() int32 { return invokeHook("turn_start") }

//go:wasmexport turn_end
func exportTurnEnd() int32 { return invokeHook("turn_end") }

//go:wasmexport message_start
func exportMessageStart() int32 { return invokeHook("message_start") }

//go:wasmexport message_update
func exportMessageUpdate() int32 { return invokeHook("message_update") }

//go:wasmexport message_end
func exportMessageEnd() int32 { return invokeHook("message_end") }

//go:wasmexport tool_execution_start
func exportToolExecutionStart() int32 { return invokeHook("tool_execution_start") }

//go:wasmexport tool_execution_update
func exportToolExecutionUpdate() int32 { return invokeHook("tool_execution_update") }

//go:wasmexport tool_execution_end
func exportToolExecutionEnd() int32 { return invokeHook("tool_execution_end") }

//go:wasmexport model_select
func exportModelSelect() int32 { return invokeHook("model_select") }

//go:wasmexport thinking_level_select
func exportThinkingLevelSelect() int32 { return invokeHook("thinking_level_select") }

//go:wasmexport ui_prompt_start
func exportUiPromptStart() int32 { return invokeHook("ui_prompt_start") }

//go:wasmexport ui_prompt_end
func exportUiPromptEnd() int32 { return invokeHook("ui_prompt_end") }

//go:wasmexport user_bash
func exportUserBash() int32 { return invokeHook("user_bash") }

//go:wasmexport input
func exportInput() int32 { return invokeHook("input") }

//go:wasmexport tool_call
func exportToolCall() int32 { return invokeHook("tool_call") }

//go:wasmexport tool_result
func exportToolResult() int32 { return invokeHook("tool_result") }

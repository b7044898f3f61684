package weir

// isEvent reports whether name is one of the 36 events of ABI version 1.
func isEvent(name string) bool {
	switch name {
	case "project_trust",
		"resources_discover",
		"session_start",
		"session_info_changed",
		"session_before_switch",
		"session_before_fork",
		"session_before_compact",
		"session_compact",
		"session_compact_failed",
		"session_shutdown",
		"session_before_tree",
		"session_tree",
		"context",
		"before_provider_headers",
		"before_provider_request",
		"after_provider_response",
		"before_agent_start",
		"agent_start",
		"agent_settled",
		"agent_end",
		"turn_start",
		"turn_end",
		"message_start",
		"message_update",
		"message_end",
		"tool_execution_start",
		"tool_execution_update",
		"tool_execution_end",
		"model_select",
		"thinking_level_select",
		"ui_prompt_start",
		"ui_prompt_end",
		"user_bash",
		"input",
		"tool_call",
		"tool_result":
		return true
	}
	return false
}

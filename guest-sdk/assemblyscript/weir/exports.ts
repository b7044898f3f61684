// The exports of a module. A policy re-exports those of the hooks that it registers: `export { weir_describe, tool_call } from "./weir";`
// The host refuses a module that describes a hook and does not export it.

import { describeAll, runCommand, runContext, runEvent, runTool, runToolCall, runToolResult } from "./extension";

export function weir_describe(): i32 {
  return describeAll();
}
export function tool_call(): i32 {
  return runToolCall();
}
export function tool_result(): i32 {
  return runToolResult();
}
export function context(): i32 {
  return runContext();
}
export function tool_execute(): i32 {
  return runTool();
}
export function command_execute(): i32 {
  return runCommand();
}
export function project_trust(): i32 {
  return runEvent("project_trust");
}
export function resources_discover(): i32 {
  return runEvent("resources_discover");
}
export function session_start(): i32 {
  return runEvent("session_start");
}
export function session_info_changed(): i32 {
  return runEvent("session_info_changed");
}
export function session_before_switch(): i32 {
  return runEvent("session_before_switch");
}
export function session_before_fork(): i32 {
  return runEvent("session_before_fork");
}
export function session_before_compact(): i32 {
  return runEvent("session_before_compact");
}
export function session_compact(): i32 {
  return runEvent("session_compact");
}
export function session_compact_failed(): i32 {
  return runEvent("session_compact_failed");
}
export function session_shutdown(): i32 {
  return runEvent("session_shutdown");
}
export function session_before_tree(): i32 {
  return runEvent("session_before_tree");
}
export function session_tree(): i32 {
  return runEvent("session_tree");
}
export function before_provider_headers(): i32 {
  return runEvent("before_provider_headers");
}
export function before_provider_request(): i32 {
  return runEvent("before_provider_request");
}
export function after_provider_response(): i32 {
  return runEvent("after_provider_response");
}
export function before_agent_start(): i32 {
  return runEvent("before_agent_start");
}
export function agent_start(): i32 {
  return runEvent("agent_start");
}
export function agent_end(): i32 {
  return runEvent("agent_end");
}
export function agent_settled(): i32 {
  return runEvent("agent_settled");
}
export function turn_start(): i32 {
  return runEvent("turn_start");
}
export function turn_end(): i32 {
  return runEvent("turn_end");
}
export function message_start(): i32 {
  return runEvent("message_start");
}
export function message_update(): i32 {
  return runEvent("message_update");
}
export function message_end(): i32 {
  return runEvent("message_end");
}
export function tool_execution_start(): i32 {
  return runEvent("tool_execution_start");
}
export function tool_execution_update(): i32 {
  return runEvent("tool_execution_update");
}
export function tool_execution_end(): i32 {
  return runEvent("tool_execution_end");
}
export function model_select(): i32 {
  return runEvent("model_select");
}
export function thinking_level_select(): i32 {
  return runEvent("thinking_level_select");
}
export function ui_prompt_start(): i32 {
  return runEvent("ui_prompt_start");
}
export function ui_prompt_end(): i32 {
  return runEvent("ui_prompt_end");
}
export function user_bash(): i32 {
  return runEvent("user_bash");
}
export function input(): i32 {
  return runEvent("input");
}
export function decision(): i32 {
  return runEvent("decision");
}

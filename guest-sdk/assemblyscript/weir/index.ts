/**
 * Extensions for weir in AssemblyScript. README.md shows a policy and how it is built.
 *
 * A policy calls `describe`, registers handlers (`onToolCall`, `onToolResult`, `onContextTable`, `onContext`, `on`, `observe`) when
 * its file runs, and re-exports `weir_describe` and the hooks of the same names. A handler that throws is a fault with the text and
 * the position in the source; for tool_call the host then blocks.
 */

export * from "./answer";
export { Reply, HTTPReply, file, http, journal, kv, ui, vars } from "./capability";
export { Context, Edits, Role, Row, Table, roleName } from "./context";
export { CommandRun, Event, ToolCall, ToolResult, ToolRun } from "./events";
export * from "./exports";
export * from "./facts";
export {
  Hook, addCommand, addTool, capability, config, describe, log, observe, on, onContext, onContextTable, onDecision, onToolCall, onToolResult, settings,
} from "./extension";
export { Kind } from "./scan";
export { SessionMessage, SessionNavigation, session } from "./session";
export { ObjectWriter, Text, quote, quoteAll, textContent } from "./text";
export { Value } from "./value";

import { end } from "./extension";

/** For the compiler's `--use abort=weir/index/weirAbort`. */
export function weirAbort(message: string | null, file: string | null, line: u32, column: u32): void {
  end(message, file, line, column);
}

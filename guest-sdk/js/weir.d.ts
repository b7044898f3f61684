// Types of the module "weir" for policies in TypeScript, ABI version 1. Only editors and type checkers read this file:
// weir itself strips types without looking at them. `weir ext pack --types` prints it.

declare module "weir" {
  // ---- what a policy exports ----

  /** `export const describe: Describe = {…}` says what the policy is. All of it is optional. */
  export interface Describe {
    /** `[a-z][a-z0-9-]{0,63}`; without it the file's name. */
    name?: string;
    /** Semantic version; without it 0.0.0. */
    version?: string;
    description?: string;
    /** Options of hooks. A hook without options need not be listed: every exported function named like an event is one. */
    hooks?: { [E in keyof Events]?: HookOptions };
    /** Tools that `export function tool_execute` runs. */
    tools?: ToolSpec[];
    /** Commands that `export function command_execute` runs. */
    commands?: { name: string; description: string }[];
    /** JSON Schema of the settings. */
    config?: object;
    /** Why the policy wants a capability, for the person who grants it. */
    capabilities?: { [C in "kv" | "http" | "read" | "ui" | "session" | "journal" | "clock" | "random"]?: string };
    /** Options of `export function decision`. With "block", a tool call whose decision it could not be told is blocked. */
    decisions?: { onError?: "block" };
  }

  export interface HookOptions {
    /** Names or patterns with `*` of the tools it wants to hear of; tool_call and tool_result only. */
    tools?: string[];
    /** How `context` gets the history: every message, or a table of 32 bytes a message; context only. */
    view?: "full" | "table";
    /** What the host shall work out before it asks, for `event.facts`: tool_call takes shell, paths and net, tool_result secrets too. */
    facts?: ("shell" | "paths" | "net" | "secrets")[];
    /** A fault of this hook stops what the event is about, where it would be passed over. */
    onError?: "block";
  }

  export interface ToolSpec {
    name: string;
    label?: string;
    description: string;
    /** JSON Schema of the arguments. */
    parameters: object;
    executionMode?: "parallel" | "sequential";
  }

  /** What each hook gets. */
  export interface Events {
    project_trust: ProjectTrust;
    resources_discover: ResourcesDiscover;
    session_start: SessionStart;
    session_info_changed: SessionInfoChanged;
    session_before_switch: SessionBeforeSwitch;
    session_before_fork: SessionBeforeFork;
    session_before_compact: SessionBeforeCompact;
    session_compact: SessionCompact;
    session_compact_failed: SessionCompactFailed;
    session_shutdown: SessionShutdown;
    session_before_tree: SessionBeforeTree;
    session_tree: SessionTree;
    context: ContextEvent | ContextTable;
    before_provider_headers: BeforeProviderHeaders;
    before_provider_request: BeforeProviderRequest;
    after_provider_response: AfterProviderResponse;
    before_agent_start: BeforeAgentStart;
    agent_start: Event<"agent_start">;
    agent_end: AgentEnd;
    agent_settled: Event<"agent_settled">;
    turn_start: TurnStart;
    turn_end: TurnEnd;
    message_start: MessageStart;
    message_update: MessageUpdate;
    message_end: MessageEnd;
    tool_execution_start: ToolExecutionStart;
    tool_execution_update: ToolExecutionUpdate;
    tool_execution_end: ToolExecutionEnd;
    model_select: ModelSelect;
    thinking_level_select: ThinkingLevelSelect;
    ui_prompt_start: UIPrompt<"ui_prompt_start">;
    ui_prompt_end: UIPrompt<"ui_prompt_end">;
    user_bash: UserBash;
    input: Input;
    tool_call: ToolCall;
    tool_result: ToolResult;
  }

  /** What a hook may answer. Nothing (`undefined`) or `{}` is no opinion; the events that are not listed take nothing else. */
  export interface Results {
    project_trust: { trusted: "yes" | "no" | "undecided"; remember?: boolean };
    resources_discover: { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] };
    session_before_switch: { cancel?: boolean };
    session_before_fork: { cancel: true } | { skipConversationRestore?: boolean };
    session_before_compact: { cancel: true } | { compaction?: { summary: string; firstKeptEntryId: string; tokensBefore: number; details?: unknown } };
    session_before_tree:
      | { cancel: true }
      | {
          summary?: { summary: string; details?: unknown; usage?: Usage };
          customInstructions?: string;
          replaceInstructions?: boolean;
          label?: string;
        };
    context: ContextResult;
    before_provider_headers: { headers?: Record<string, string | null> };
    before_provider_request: { payload?: unknown };
    before_agent_start: { message?: { customType: string; content: string | (Text | Image)[]; display: boolean; details?: unknown }; systemPrompt?: string };
    message_end: { message?: Message };
    user_bash: { result: { output: string; exitCode?: number; cancelled: boolean; truncated: boolean } } | { command?: string };
    input: { action: "continue" } | { action: "transform"; text: string; images?: Image[] } | { action: "handled" };
    tool_call: ToolCallResult;
    tool_result: ToolResultResult;
  }

  /** The type of a hook: `export const turn_end: Hook<"turn_end"> = (event) => {…}`. */
  export type Hook<E extends keyof Events> = (event: Events[E]) => (E extends keyof Results ? Results[E] | Record<string, never> : Record<string, never>) | undefined | void;

  // ---- decisions ----

  /**
   * What the set decided: `export function decision(d: Decision)` hears of each tool call before the tool runs, and of every other
   * event to which an extension had something to say.
   */
  export interface Decision {
    type: "decision";
    event: keyof Events;
    decision: "allow" | "rewrite" | "block";
    /** Who blocked, or who rewrote. */
    by?: string[];
    reason?: string;
    toolName?: string;
    toolCallId?: string;
    /** The arguments that run, or would have run. */
    input?: Record<string, unknown>;
    /** A person was asked. */
    asked?: boolean;
    answers: { extension: string; outcome: "allow" | "block" | "ask" | "rewrite" | "fault"; reason?: string; monitor?: boolean; round?: number }[];
    context: Event<"tool_call">["context"];
  }

  // ---- events ----

  /** What every event says of the session. It is parsed when it is looked at. */
  export interface Context {
    sessionId: string;
    extension: string;
    cwd: string;
    mode: "text" | "json" | "rpc" | "chat" | "embedded";
    hasUI: boolean;
    model?: { provider: string; id: string };
    thinkingLevel: ThinkingLevel;
    turnIndex: number;
    callIndex: number;
  }

  export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

  export interface Event<Type extends string> {
    type: Type;
    context: Context;
  }

  export interface ToolCall extends Event<"tool_call"> {
    toolName: string;
    toolCallId: string;
    input: Record<string, unknown>;
    /** Another extension changed the arguments after this one had seen them: do not count the call again. */
    recheck?: true;
    facts?: Facts;
  }
  export interface ToolCallResult {
    block?: boolean;
    reason?: string;
    /** End the run after this call; only with block. */
    terminate?: boolean;
    /** Let a person decide. */
    ask?: { title: string; message?: string };
    /** Replaces the arguments. */
    input?: Record<string, unknown>;
  }

  export interface ToolResult extends Event<"tool_result"> {
    toolName: string;
    toolCallId: string;
    input: Record<string, unknown>;
    content: (Text | Image)[];
    details?: unknown;
    isError: boolean;
    usage?: Usage;
    facts?: Facts;
  }
  /** Each key replaces. */
  export interface ToolResultResult {
    content?: (Text | Image)[];
    details?: unknown;
    isError?: boolean;
    usage?: Usage;
  }

  // ---- facts, of which an event has those that the hook's option `facts` names ----

  export interface Facts {
    shell?: ShellFacts;
    paths?: PathFacts;
    net?: NetFacts;
    secrets?: SecretFacts;
  }

  /** The commands that the text of a tool call would run. Where it is not understood, `commands` are those found until then. */
  export type ShellFacts = { understood: true; commands: ShellCommand[] } | { understood: false; reason: string; commands: ShellCommand[] };
  export interface ShellCommand {
    /** Its words, resolved as the shell would; none for a redirection or an assignment that stands alone. */
    argv: string[];
    /** A word, an assignment or a target is not known before it runs. */
    dynamic?: true;
    /** Indexes of the words that are not known: they stand in argv as the text has them. */
    unknown?: number[];
    /** Indexes of the words that the shell would expand by the names of files. */
    globs?: number[];
    assigns?: { name: string; value: string; dynamic?: true }[];
    /** `fd` is -1 when it is a variable. */
    redirects?: { op: string; fd?: number; target: string; dynamic?: true }[];
    /** The way in, outermost first: "subshell", "loop", "sudo", "bash -c" … */
    in?: string[];
    /** What else runs with it: text that was read, text that is not known, a file that was not looked at, another language. */
    code?: "known" | "unknown" | "file" | "other";
    /** The folder it runs in, where cd changed it. */
    cwd?: string;
    cwdUnknown?: true;
    pipeline?: number;
    stage?: number;
    stdin?: "pipe" | "file" | "heredoc" | "herestring";
  }

  export interface PathFacts {
    workspace: string;
    paths: (KnownPath | DynamicPath)[];
    truncated?: true;
  }
  export interface KnownPath {
    /** As the argument has it; absolute; with symbolic links resolved. */
    raw: string;
    abs: string;
    real: string;
    unresolved?: true;
    /** In the workspace. */
    inside: boolean;
    /** A file of weir itself, or a folder that holds one. */
    own: boolean;
    holdsOwn?: true;
    exists: boolean;
    kind: "file" | "dir" | "symlink" | "fifo" | "socket" | "device" | "missing";
    links?: number;
    op: PathOp;
    /** The argument it comes from; for "command" also the index in facts.shell. */
    arg: string;
    command?: number;
    glob?: true;
    dynamic?: undefined;
  }
  /** A path that is not known before the call runs. */
  export interface DynamicPath {
    raw: string;
    arg: string;
    op: PathOp;
    command?: number;
    glob?: true;
    dynamic: true;
    real?: undefined;
    inside?: undefined;
    own?: undefined;
    exists?: undefined;
    kind?: undefined;
  }
  export type PathOp = "read" | "write" | "list" | "search" | "delete" | "execute" | "use";

  export interface NetFacts {
    hosts: {
      raw: string;
      scheme: string;
      /** In lower case and punycode; an address in its usual form. */
      host: string;
      /** 0 when it is not known. */
      port: number;
      userinfo: boolean;
      ip: boolean;
      /** An address that was written in an unusual form. */
      odd: boolean;
      scope: "public" | "loopback" | "private" | "linklocal" | "unspecified" | "multicast" | "";
      dynamic?: true;
    }[];
    truncated?: true;
  }

  /** Bytes [start, end) of the UTF-8 text of a content block. */
  export interface SecretFacts {
    spans: { block: number; start: number; end: number; kind: string }[];
    /** Encoded blocks in which no secret was looked for. */
    base64: { block: number; start: number; end: number }[];
    truncated?: true;
  }

  export interface ContextEvent extends Event<"context"> {
    messages: Message[];
  }
  /** The history as a table, for `view: "table"`. */
  export interface ContextTable extends Event<"context">, Iterable<Row> {
    length: number;
    at(index: number): Row;
    /** The whole message, fetched from the host. */
    message(index: number): Message;
  }
  /** Its values are read when they are asked for: name those that you need, `{ ...row }` copies the index alone. */
  export interface Row {
    index: number;
    role: Message["role"] | "other";
    /** Tool name or customType; else "". */
    name: string;
    isError: boolean;
    hasImage: boolean;
    hasToolCall: boolean;
    hasThinking: boolean;
    display: boolean;
    /** Of all text blocks. */
    textBytes: number;
    /** Of the message as JSON. */
    bytes: number;
    /** Of a toolResult: the index of the message with its call; else -1. */
    pair: number;
    /** Number in the session, stable while the message is edited; 0 if an extension inserted it. */
    id: number;
    /** Milliseconds since 1970. */
    time: number;
  }
  /** Edits by index of the history as it was received, or a whole new one. */
  export type ContextResult =
    | { drop?: number[]; replace?: { at: number; message: Message }[]; insert?: { at: number; message: Message }[] }
    | { messages: (Message | { ref: number })[] };

  export interface ProjectTrust extends Event<"project_trust"> { cwd: string }
  export interface ResourcesDiscover extends Event<"resources_discover"> { cwd: string; reason: "startup" | "reload" }
  export interface SessionStart extends Event<"session_start"> { reason: "startup" | "reload" | "new" | "resume" | "fork"; previousSessionFile?: string }
  export interface SessionInfoChanged extends Event<"session_info_changed"> { name?: string }
  export interface SessionBeforeSwitch extends Event<"session_before_switch"> { reason: "new" | "resume"; targetSessionFile?: string }
  export interface SessionBeforeFork extends Event<"session_before_fork"> { entryId: string; position: "before" | "at" }
  export interface SessionBeforeCompact extends Event<"session_before_compact"> {
    preparation: {
      firstKeptEntryId: string;
      messagesToSummarize: Message[];
      turnPrefixMessages: Message[];
      isSplitTurn: boolean;
      tokensBefore: number;
      previousSummary?: string;
      fileOps: { read: string[]; written: string[]; edited: string[] };
      settings: unknown;
    };
    branchEntries: Entry[];
    customInstructions?: string;
    reason: "manual" | "threshold" | "overflow";
    willRetry: boolean;
  }
  export interface SessionCompact extends Event<"session_compact"> { compactionEntry: Entry; fromExtension: boolean; reason: "manual" | "threshold" | "overflow"; willRetry: boolean }
  export interface SessionCompactFailed extends Event<"session_compact_failed"> {
    reason: "manual" | "threshold" | "overflow";
    errorMessage?: string;
    aborted: boolean;
    willRetry: boolean;
    fromExtension: boolean;
  }
  export interface SessionShutdown extends Event<"session_shutdown"> { reason: "quit" | "reload" | "new" | "resume" | "fork"; targetSessionFile?: string }
  export interface SessionBeforeTree extends Event<"session_before_tree"> {
    preparation: {
      targetId: string;
      oldLeafId: string | null;
      commonAncestorId: string | null;
      entriesToSummarize: Entry[];
      userWantsSummary: boolean;
      customInstructions?: string;
      replaceInstructions?: boolean;
      label?: string;
    };
  }
  export interface SessionTree extends Event<"session_tree"> { newLeafId: string | null; oldLeafId: string | null; summaryEntry?: Entry; fromExtension?: boolean }
  export interface BeforeProviderHeaders extends Event<"before_provider_headers"> { headers: Record<string, string | null> }
  export interface BeforeProviderRequest extends Event<"before_provider_request"> { payload: any }
  export interface AfterProviderResponse extends Event<"after_provider_response"> { status: number; headers: Record<string, string> }
  export interface BeforeAgentStart extends Event<"before_agent_start"> {
    prompt: string;
    images?: Image[];
    systemPrompt: string;
    systemPromptOptions: { cwd: string; customPrompt: string; selectedTools: string[]; toolSnippets: Record<string, string>; promptGuidelines: string[] };
  }
  export interface AgentEnd extends Event<"agent_end"> { messages: Message[] }
  export interface TurnStart extends Event<"turn_start"> { turnIndex: number; timestamp: number }
  export interface TurnEnd extends Event<"turn_end"> { turnIndex: number; message: Message; toolResults: ToolResultMessage[] }
  export interface MessageStart extends Event<"message_start"> { message: Message }
  export interface MessageEnd extends Event<"message_end"> { message: Message }
  /** What changed in the assistant's message, not the growing whole. */
  export interface MessageUpdate extends Event<"message_update"> {
    assistantMessageEvent:
      | { type: "text_start" | "thinking_start"; contentIndex: number }
      | { type: "toolcall_start"; contentIndex: number; id: string; toolName: string }
      | { type: "text_delta" | "thinking_delta" | "toolcall_delta"; contentIndex: number; delta: string }
      | { type: "text_end" | "thinking_end"; contentIndex: number; content: string }
      | { type: "toolcall_end"; contentIndex: number; toolCall: ToolCallBlock };
  }
  export interface ToolExecutionStart extends Event<"tool_execution_start"> { toolCallId: string; toolName: string; args: any }
  /** `delta` is text that was added; `withheldBytes` stands in for text that an extension may still rewrite. */
  export interface ToolExecutionUpdate extends Event<"tool_execution_update"> { toolCallId: string; toolName: string; partialResult?: ToolOutput; delta?: string; withheldBytes?: number }
  export interface ToolExecutionEnd extends Event<"tool_execution_end"> { toolCallId: string; toolName: string; result: ToolOutput; isError: boolean }
  export interface ModelSelect extends Event<"model_select"> { model: Model; previousModel?: Model; source: "set" | "cycle" | "restore" }
  export interface ThinkingLevelSelect extends Event<"thinking_level_select"> { level: ThinkingLevel; previousLevel: ThinkingLevel }
  export interface UIPrompt<Type extends string> extends Event<Type> { reason: "ui_prompt"; kind: "select" | "confirm" | "input" | "editor" | "custom"; title?: string }
  export interface UserBash extends Event<"user_bash"> { command: string; excludeFromContext: boolean; cwd: string }
  export interface Input extends Event<"input"> { text: string; images?: Image[]; source: "interactive" | "rpc" | "extension"; streamingBehavior?: "steer" | "followUp" }

  /** Input of `export function tool_execute`. */
  export interface ToolExecute { toolCallId: string; toolName: string; args: any; context: Context }
  /** What tool_execute returns. */
  export interface ToolExecuteResult { content: (Text | Image)[]; details?: unknown; isError?: boolean; terminate?: boolean }
  /** Input of `export function command_execute`; it may return `{ message }`. */
  export interface CommandExecute { name: string; args: string; context: Context }

  // ---- what events are made of ----

  export interface Text { type: "text"; text: string; textSignature?: string }
  /** `data` is base64. */
  export interface Image { type: "image"; data: string; mimeType: string }
  export interface Thinking { type: "thinking"; thinking: string; thinkingSignature?: string; redacted?: boolean }
  export interface ToolCallBlock { type: "toolCall"; id: string; name: string; arguments: any; thoughtSignature?: string; namespace?: string }
  export interface Usage {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    totalTokens: number;
    cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
    cacheWrite1h?: number;
    reasoning?: number;
  }
  export interface ToolOutput { content: (Text | Image)[]; details?: unknown; usage?: Usage; addedToolNames?: string[]; terminate?: boolean }

  export interface UserMessage { role: "user"; content: string | (Text | Image)[]; timestamp: number }
  export interface AssistantMessage {
    role: "assistant";
    content: (Text | Thinking | ToolCallBlock)[];
    api: string;
    provider: string;
    model: string;
    usage: Usage;
    stopReason: "pending" | "stop" | "length" | "toolUse" | "error" | "aborted" | "deferred";
    timestamp: number;
    errorMessage?: string;
    [more: string]: unknown;
  }
  export interface ToolResultMessage {
    role: "toolResult";
    toolCallId: string;
    toolName: string;
    content: (Text | Image)[];
    details?: unknown;
    usage?: Usage;
    addedToolNames?: string[];
    isError: boolean;
    timestamp: number;
  }
  export interface CustomMessage { role: "custom"; customType: string; content: string | (Text | Image)[]; display: boolean; details?: unknown; timestamp: number }
  export interface BashExecutionMessage {
    role: "bashExecution";
    command: string;
    output: string;
    exitCode?: number;
    cancelled: boolean;
    truncated: boolean;
    fullOutputPath?: string;
    excludeFromContext?: boolean;
    timestamp: number;
  }
  export interface BranchSummaryMessage { role: "branchSummary"; summary: string; fromId: string; timestamp: number }
  export interface CompactionSummaryMessage { role: "compactionSummary"; summary: string; tokensBefore: number; timestamp: number }
  export type Message =
    | UserMessage
    | AssistantMessage
    | ToolResultMessage
    | CustomMessage
    | BashExecutionMessage
    | BranchSummaryMessage
    | CompactionSummaryMessage;

  /** An entry of a session file. */
  export interface Entry { type: string; id: string; parentId: string | null; timestamp: string; [more: string]: unknown }
  export interface Model {
    id: string;
    name?: string;
    api: string;
    provider: string;
    baseUrl?: string;
    reasoning: boolean;
    input?: ("text" | "image")[];
    contextWindow: number;
    maxTokens: number;
  }

  // ---- what a policy can use ----

  /**
   * The settings that the set gives, `{}` without any. While the policy describes itself there are none, and that runs the
   * whole file: read settings in hooks, or with a default.
   */
  export const config: any;

  /** Reports a partial result; only while tool_execute runs. */
  export function toolUpdate(partial: ToolOutput): void;

  /** Values kept with the session: 64 KiB each, 1 MiB in all. Needs the grant `kv`. */
  export namespace kv {
    function get(key: string): string | undefined;
    function set(key: string, value: string): void;
    function list(prefix?: string): string[];
    function remove(key: string): void;
    export { get, set, list, remove as delete };
  }

  /** Requests to the origins of the grant `http`. Bodies are text. */
  export namespace http {
    function request(r: { url: string; method?: string; headers?: Record<string, string>; body?: string }): { status: number; headers: Record<string, string>; body: string };
  }

  /** Files below the folders of the grant `read`. */
  export namespace file {
    function read(path: string): string;
    function stat(path: string): FileInfo;
    function list(path: string): FileInfo[];
  }
  export interface FileInfo { name: string; dir: boolean; size: number }

  /** Questions to the person. The time of an answer does not count against the deadline. Needs the grant `ui`. */
  export namespace ui {
    function confirm(title: string, message?: string): boolean;
    function select(title: string, options: string[]): string | undefined;
    function input(title: string, placeholder?: string): string | undefined;
    function notify(message: string, level?: "info" | "warning" | "error"): void;
    function status(text: string): void;
  }

  /** Records in the journal that the set names, each on the disk when append returns. Needs the grant `journal`. */
  export namespace journal {
    function append(record: object): { seq: number; hash: string };
  }

  /**
   * The session that the policy is part of. Needs a grant `session` with the right that stands above each group; what is not granted,
   * and a place without a session, throws.
   */
  export namespace session {
    // "read"
    function state(): SessionState;
    /** Of the session's file, after the entry of that id or from the first. `limit` is 1 to 1000, 100 without it. */
    function entries(options?: { after?: string; limit?: number }): { entries: Entry[]; more: boolean };
    function entry(id: string): Entry;
    /** Of those that the model works with; `total` is how many there are. */
    function messages(options?: { from?: number; limit?: number }): { messages: Message[]; total: number };
    /** `active`: offered to the model. */
    function tools(): { name: string; description: string; active: boolean }[];

    // "append"
    /** Keeps data in the session's file and out of the conversation; returns the entry's id. */
    function append(customType: string, data?: unknown): string;
    /** "" takes the label, or the name, away. */
    function label(entryId: string, label: string): void;
    function name(name: string): void;

    // "send"; neither waits for a run
    /** A message for the model, which `trigger` has answered when no run is under way. */
    function send(message: {
      customType: string;
      content: string | (Text | Image)[];
      display?: boolean;
      details?: unknown;
      trigger?: boolean;
      deliver?: "steer" | "followUp" | "nextTurn";
    }): void;
    /** As if the user had said it. During a run it needs `deliver`. */
    function prompt(content: string | (Text | Image)[], deliver?: "steer" | "followUp"): void;

    // "control"
    /** Those that the model is offered from the next turn on. Unknown names are left out of what it returns. */
    function setTools(tools: string[]): string[];
    function setModel(provider: string, id: string): void;
    /** Returns the level that the model allows. */
    function setThinkingLevel(level: ThinkingLevel): ThinkingLevel;
    // These begin when the hook has returned.
    function abort(): void;
    function compact(instructions?: string): void;
    /** Another session in the place of this one, where the program can replace it. */
    function fresh(): void;
    function fork(entryId: string, position?: "before" | "at"): void;
    function navigate(entryId: string, options?: { summarize?: boolean; instructions?: string; replace?: boolean; label?: string }): void;
    export { state, entries, entry, messages, tools, append, label, name, send, prompt, setTools, setModel, setThinkingLevel, abort, compact, fresh as new, fork, navigate, request };

    /** Any operation by its name; the ABI's documentation lists them. */
    function request(op: string, fields?: Record<string, unknown>): any;
  }
  export interface SessionState {
    id: string;
    name?: string;
    cwd?: string;
    file?: string;
    /** Id of the last entry. */
    leaf: string | null;
    entries: number;
    messages: number;
    idle: boolean;
    streaming: boolean;
    compacting: boolean;
    retrying: boolean;
    /** null when nothing runs. */
    aborted: boolean | null;
    queued: number;
    model: { provider: string; id: string };
    thinkingLevel: ThinkingLevel;
    systemPrompt: string;
    contextUsage: { tokens: number | null; contextWindow: number; percent: number | null } | null;
  }
}

/** Lines of the extension's log. There is no other I/O, and no timer, fetch or process. */
declare const console: { debug(...args: unknown[]): void; trace(...args: unknown[]): void; log(...args: unknown[]): void; info(...args: unknown[]): void; warn(...args: unknown[]): void; error(...args: unknown[]): void };

//! What the exports that `extension!` makes do. Not for extensions to call.

use crate::context::ContextHandler;
use crate::describe::{Extension, Hooks};
use crate::{host, Change, CommandRun, Decision, Document, Event, Message, Reply, ToolCall, ToolOutput, ToolResult, ToolRun};
use std::cell::RefCell;
use std::fmt::Display;

/// Why a handler is named: to describe the extension, or because it is to run.
pub enum Phase<'a> {
    /// Its hook is added to the description.
    Describe(&'a mut Hooks),
    /// It runs on the input of the call.
    Run,
}

/// What a handler returns, and what stands for it: the answer, or a fault's text.
pub trait Outcome<T> {
    /// The answer, or why there is none.
    fn outcome(self) -> Result<T, String>;
}

macro_rules! outcomes {
    ($($t:ty),*) => {$(
        impl Outcome<$t> for $t {
            fn outcome(self) -> Result<$t, String> {
                Ok(self)
            }
        }
        impl<E: Display> Outcome<$t> for Result<$t, E> {
            fn outcome(self) -> Result<$t, String> {
                self.map_err(|e| e.to_string())
            }
        }
    )*};
}
outcomes!(Decision, Change, Reply, ToolOutput, Message, ());

/// An observer has no opinion.
impl Outcome<Reply> for () {
    fn outcome(self) -> Result<Reply, String> {
        Ok(Reply::none())
    }
}

impl<E: Display> Outcome<Reply> for Result<(), E> {
    fn outcome(self) -> Result<Reply, String> {
        self.map(|()| Reply::none()).map_err(|e| e.to_string())
    }
}

/// What is used again by the next call, so that an ordinary one allocates nothing but what its handler does.
#[derive(Default)]
struct Buffers {
    document: Document,
    table: Vec<u8>,
    out: String,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers::default());
}

/// Runs an entry point. `f` writes the answer; its error is the fault's text.
fn call(f: impl FnOnce(&mut Buffers) -> Result<(), String>) -> i32 {
    #[cfg(target_arch = "wasm32")]
    report_panics();
    let mut b = BUFFERS.with(|b| std::mem::take(&mut *b.borrow_mut()));
    b.out.clear();
    let result = f(&mut b);
    let rc = match result {
        Ok(()) => {
            host::output(b.out.as_bytes());
            0
        }
        Err(text) => {
            host::error(text.as_bytes());
            1
        }
    };
    BUFFERS.with(|cell| *cell.borrow_mut() = b);
    rc
}

/// A panic ends in a trap, and takes its message with it: this hands it to the host first.
#[cfg(target_arch = "wasm32")]
fn report_panics() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        std::panic::set_hook(Box::new(|info| host::error(info.to_string().as_bytes())));
    }
}

/// `weir_describe`.
pub fn describe(extension: impl FnOnce() -> Extension, handlers: impl FnOnce(&mut Hooks)) -> i32 {
    call(|b| {
        let mut hooks = Hooks::default();
        handlers(&mut hooks);
        extension().write(&hooks, &mut b.out)
    })
}

/// Runs a handler on the call's input, read as JSON, and writes its answer.
fn on_document<T>(f: impl FnOnce(Document) -> (Result<T, String>, Document), write: impl FnOnce(T, &mut String) -> Result<(), String>) -> i32 {
    call(|b| {
        b.document.read_event()?;
        let (answer, document) = f(std::mem::take(&mut b.document));
        b.document = document;
        write(answer?, &mut b.out)
    })
}

macro_rules! entries {
    ($($(#[$doc:meta])* $name:ident: $input:ident -> $answer:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name<O: Outcome<$answer>>(handle: impl Fn(&$input) -> O, phase: Phase) -> i32 {
            match phase {
                Phase::Describe(hooks) => hooks.add(stringify!($name), false),
                Phase::Run => on_document(
                    |d| {
                        let input = $input::new(d);
                        (handle(&input).outcome(), input.into_document())
                    },
                    |answer, out| answer.write(out),
                ),
            }
        }
    )*};
}

entries! {
    /// The gate of tool calls.
    tool_call: ToolCall -> Decision;
    /// What a tool returned.
    tool_result: ToolResult -> Change;
    /// The tools of the extension.
    tool_execute: ToolRun -> ToolOutput;
    /// The commands of the extension.
    command_execute: CommandRun -> Message;
    /// What the set decided.
    decision: Event -> Reply;
    /// See the table of events.
    project_trust: Event -> Reply;
    /// See the table of events.
    resources_discover: Event -> Reply;
    /// See the table of events.
    session_start: Event -> Reply;
    /// See the table of events.
    session_info_changed: Event -> Reply;
    /// See the table of events.
    session_before_switch: Event -> Reply;
    /// See the table of events.
    session_before_fork: Event -> Reply;
    /// See the table of events.
    session_before_compact: Event -> Reply;
    /// See the table of events.
    session_compact: Event -> Reply;
    /// See the table of events.
    session_compact_failed: Event -> Reply;
    /// See the table of events.
    session_shutdown: Event -> Reply;
    /// See the table of events.
    session_before_tree: Event -> Reply;
    /// See the table of events.
    session_tree: Event -> Reply;
    /// See the table of events.
    before_provider_headers: Event -> Reply;
    /// See the table of events.
    before_provider_request: Event -> Reply;
    /// See the table of events.
    after_provider_response: Event -> Reply;
    /// See the table of events.
    before_agent_start: Event -> Reply;
    /// See the table of events.
    agent_start: Event -> Reply;
    /// See the table of events.
    agent_end: Event -> Reply;
    /// See the table of events.
    agent_settled: Event -> Reply;
    /// See the table of events.
    turn_start: Event -> Reply;
    /// See the table of events.
    turn_end: Event -> Reply;
    /// See the table of events.
    message_start: Event -> Reply;
    /// See the table of events.
    message_update: Event -> Reply;
    /// See the table of events.
    message_end: Event -> Reply;
    /// See the table of events.
    tool_execution_start: Event -> Reply;
    /// See the table of events.
    tool_execution_update: Event -> Reply;
    /// See the table of events.
    tool_execution_end: Event -> Reply;
    /// See the table of events.
    model_select: Event -> Reply;
    /// See the table of events.
    thinking_level_select: Event -> Reply;
    /// See the table of events.
    ui_prompt_start: Event -> Reply;
    /// See the table of events.
    ui_prompt_end: Event -> Reply;
    /// See the table of events.
    user_bash: Event -> Reply;
    /// See the table of events.
    input: Event -> Reply;
}

/// What the model is about to see; the handler's type says in which view.
pub fn context<View, F: ContextHandler<View>>(handle: F, phase: Phase) -> i32 {
    match phase {
        Phase::Describe(hooks) => hooks.add("context", F::TABLE),
        Phase::Run if F::TABLE => call(|b| {
            let n = host::read_all(&mut b.table, host::input_read);
            let edits = handle.run(&b.table[..n], Document::default())?;
            edits.write(&mut b.out)
        }),
        Phase::Run => call(|b| {
            b.document.read_event()?;
            let edits = handle.run(&[], std::mem::take(&mut b.document))?;
            edits.write(&mut b.out)
        }),
    }
}

//! Extensions for weir in Rust, without dependencies.
//!
//! An extension is a crate of the type `cdylib` that names its handlers in [`extension!`]:
//!
//! ```ignore
//! use weir::{Decision, Extension, ToolCall};
//!
//! weir::extension! {
//!     Extension::new("no-push", "1.0.0").description("Stops git push.");
//!     tool_call: decide,
//! }
//!
//! fn decide(call: &ToolCall) -> Decision {
//!     if call.tool() == "bash" && call.text("command").contains("git push") {
//!         return Decision::block("push by hand, please");
//!     }
//!     Decision::Allow
//! }
//! ```
//!
//! The life of an extension:
//!
//! 1. The host asks for the description, once for each build of the module. A mistake in it ends loading, with its text.
//! 2. For each event the host calls the handler; what it returns is the answer.
//! 3. After a fault (a panic, an `Err`, a limit) the host closes the instance. The next event meets a fresh one, without the old
//!    state.
//!
//! Nothing allows by accident: there is no default [`Decision`], and a fault of a `tool_call` blocks the call.
//!
//! An instance handles one call at a time, on one thread; a `thread_local!` keeps what must last from call to call.
//!
//! Compiled natively the crate has the same API and no host: handlers are functions, to be called by `cargo test`, and
//! [`testing`] makes their arguments and stands in for the host.

#![forbid(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs)]

mod capability;
mod context;
mod describe;
mod event;
mod facts;
mod host;
mod json;
#[doc(hidden)]
pub mod run;
pub mod session;
mod tool_call;
mod tool_result;
mod tools;

#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use capability::{file, http, journal, kv, ui, var, HostError};
pub use context::{Edits, Messages, Role, Row, Table};
pub use describe::{Extension, Tool};
pub use event::{Event, Reply};
pub use facts::{Facts, HostFact, NetFacts, PathFact, PathFacts, Redirect, SecretFacts, ShellCommand, ShellFacts, Span};
pub use json::{Document, Error, Json, Kind, Value};
pub use tool_call::{Decision, ToolCall};
pub use tool_result::{Change, ToolResult};
pub use tools::{tool_update, CommandRun, Message, ToolOutput, ToolRun};

/// Declares an extension: what it says of itself, an expression of the type [`Extension`], then its handlers by the name of the event.
///
/// | name | handler |
/// |---|---|
/// | `tool_call` | `fn(&ToolCall) -> Decision` |
/// | `tool_result` | `fn(&ToolResult) -> Change` |
/// | `context` | `fn(&Table, &mut Edits)`, or `fn(&Messages, &mut Edits)` for every message in full |
/// | any other event | `fn(&Event) -> Reply`, or `fn(&Event)` for one that only looks |
/// | `decision` | `fn(&Event)`: hears what the set decided |
/// | `tool_execute` | `fn(&ToolRun) -> ToolOutput`: runs the tools of [`Extension::tool`] |
/// | `command_execute` | `fn(&CommandRun) -> Message`: runs the commands of [`Extension::command`] |
///
/// Each may return a `Result` of what is named here, whose error, anything with `Display`, is a fault of that text. A name that is no
/// event does not compile.
#[macro_export]
macro_rules! extension {
    ($describe:expr; $($hook:ident : $handler:expr),+ $(,)?) => {
        const _: () = {
            #[cfg_attr(target_arch = "wasm32", no_mangle)]
            #[allow(dead_code)]
            pub extern "C" fn weir_describe() -> i32 {
                $crate::run::describe(|| $describe, |hooks| {
                    $( $crate::run::$hook($handler, $crate::run::Phase::Describe(hooks)); )+
                })
            }
        };
        $(
            const _: () = {
                #[allow(dead_code)]
                fn weir_run() -> i32 {
                    $crate::run::$hook($handler, $crate::run::Phase::Run)
                }
                // In a scope of its own, since the handler may have the same name.
                const _: () = {
                    #[cfg_attr(target_arch = "wasm32", no_mangle)]
                    #[allow(dead_code)]
                    pub extern "C" fn $hook() -> i32 {
                        weir_run()
                    }
                };
            };
        )+
    };
}

/// The settings of the set for this extension, an object, checked by the host against [`Extension::config`]. It asks the host each time.
pub fn config() -> Document {
    let mut text = Vec::new();
    let n = host::read_all(&mut text, host::config_read);
    if n == 0 {
        text = b"{}".to_vec();
    } else {
        text.truncate(n);
    }
    match Document::from_bytes(text) {
        Ok(d) => d,
        Err(e) => panic!("the settings: {}", e),
    }
}

/// How a line of the log is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For whoever looks for an error.
    Debug = 0,
    /// The ordinary level.
    Info = 1,
    /// Something is not as it should be.
    Warn = 2,
    /// Something failed.
    Error = 3,
}

/// Writes a line to the host's log, which keeps at most 256 lines and 64 KiB of a call by default.
pub fn log(level: Level, text: &str) {
    host::log(level as i32, text.as_bytes());
}

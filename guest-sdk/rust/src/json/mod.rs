//! JSON: a strict reader that indexes a text in one pass, values that point into it, and text that is built.

mod parse;
mod value;
mod write;

pub use parse::{Document, Error};
pub use value::{Kind, Value};
pub(crate) use write::{add_json, add_quoted, add_words};
pub use write::Json;

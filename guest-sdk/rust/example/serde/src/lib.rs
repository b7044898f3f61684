//! An extension that reads arguments and settings into types of its own, with serde.

use serde::Deserialize;
use weir::{Decision, Extension, ToolCall};

weir::extension! {
    Extension::new("no-force-push", "1.0.0")
        .description("Stops git push --force to protected branches.")
        .config(r#"{"type":"object","properties":{"branches":{"type":"array","items":{"type":"string"}}}}"#)
        .tools_of("tool_call", &["bash"]);
    tool_call: decide,
}

#[derive(Deserialize)]
struct Bash {
    command: String,
}

#[derive(Deserialize)]
struct Settings {
    #[serde(default = "main_branch")]
    branches: Vec<String>,
}

fn main_branch() -> Vec<String> {
    vec!["main".to_string()]
}

/// An error is a fault, and a fault blocks the call.
fn decide(call: &ToolCall) -> Result<Decision, serde_json::Error> {
    let Bash { command } = serde_json::from_str(call.input().raw())?;
    let Settings { branches } = serde_json::from_str(weir::config().text())?;
    let words: Vec<&str> = command.split_whitespace().collect();
    if words.starts_with(&["git", "push"]) && words.contains(&"--force") {
        if let Some(branch) = branches.iter().find(|b| words.contains(&b.as_str())) {
            return Ok(Decision::block(format!("{} is protected", branch)));
        }
    }
    Ok(Decision::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir::testing::{set_config, tool_call};

    #[test]
    fn protects_the_branches_of_the_settings() {
        let call = tool_call("bash", r#"{"command":"git push --force origin main"}"#);
        assert_eq!(decide(&call).unwrap(), Decision::block("main is protected"));
        set_config(r#"{"branches":["release"]}"#);
        assert_eq!(decide(&call).unwrap(), Decision::Allow);
        assert!(decide(&tool_call("bash", r#"{"command":1}"#)).is_err());
    }
}

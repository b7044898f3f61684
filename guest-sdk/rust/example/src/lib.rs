//! An extension that stops git push.

use weir::{Decision, Extension, ToolCall};

weir::extension! {
    Extension::new("no-push", "1.0.0").description("Stops git push.");
    tool_call: decide,
}

fn decide(call: &ToolCall) -> Decision {
    if call.tool() == "bash" && call.text("command").contains("git push") {
        return Decision::block("push by hand, please");
    }
    Decision::Allow
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir::testing::tool_call;

    #[test]
    fn stops_git_push() {
        let call = tool_call("bash", r#"{"command":"git \u0070ush origin"}"#);
        assert_eq!(decide(&call), Decision::block("push by hand, please"));
    }

    #[test]
    fn lets_the_rest_pass() {
        assert_eq!(decide(&tool_call("bash", r#"{"command":"git status"}"#)), Decision::Allow);
        assert_eq!(decide(&tool_call("write", r#"{"command":"git push"}"#)), Decision::Allow);
    }
}

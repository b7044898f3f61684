//! Writes down what the set decided, one record a decision, to the journal that the set names.

mod sha256;

use weir::{config, journal, Event, Extension, HostError, Json, Value};

weir::extension! {
    Extension::new("audit-log", "1.0.0")
        .description("Writes each decision of the set to a journal.")
        .config(r#"{"type":"object","additionalProperties":false,"properties":{
            "allowed":{"type":"boolean","description":"also write down tool calls that nobody objected to (default true)"},
            "input":{"enum":["full","hash","none"],"description":"what is kept of the arguments of a tool call (default full)"}}}"#)
        .capability("journal", "to write decisions down")
        .block_on_error("decision");
    decision: write_down,
}

/// Arguments with more bytes than this are kept as a hash.
const MAX_INPUT: usize = 16 << 10;
/// Texts of others are cut here, so that a record fits its limit.
const MAX_TEXT: usize = 2 << 10;
/// Of more answers than this the rest is counted.
const MAX_ANSWERS: usize = 32;

fn write_down(event: &Event) -> Result<(), String> {
    if !event.get("event").exists() || !event.get("decision").exists() {
        return Err("this is no decision".to_string());
    }
    let settings = config();
    if event.get("decision").is("allow") && settings.get("allowed").as_bool() == Some(false) && answers(event).is_empty() {
        return Ok(());
    }
    journal::append(record(event, &settings.get("input").text())).map(|_| ()).map_err(|e: HostError| e.to_string())
}

fn record(event: &Event, input: &str) -> Json {
    let mut members: Vec<(&str, Json)> = Vec::new();
    for key in ["event", "decision"] {
        members.push((key, event.get(key).into()));
    }
    for (key, value) in [("by", event.get("by")), ("asked", event.get("asked"))] {
        if value.exists() {
            members.push((key, value.into()));
        }
    }
    for (key, of) in [("reason", "reason"), ("tool", "toolName"), ("call", "toolCallId")] {
        if event.get(of).exists() {
            members.push((key, cut(&event.text(of)).into()));
        }
    }
    let context = event.context();
    members.push(("turn", context.get("turnIndex").into()));
    if context.get("model").exists() {
        members.push(("model", context.get("model").into()));
    }
    let arguments = event.get("input");
    if arguments.exists() && input != "none" {
        let text = arguments.raw();
        if input == "hash" || text.len() > MAX_INPUT {
            members.push(("inputBytes", (text.len() as i64).into()));
            members.push(("inputSha256", sha256::hex(text.as_bytes()).into()));
        } else {
            members.push(("input", arguments.into()));
        }
    }
    let all = answers(event);
    if !all.is_empty() {
        members.push(("answers", Json::array(all.iter().take(MAX_ANSWERS).map(answer))));
        if all.len() > MAX_ANSWERS {
            members.push(("moreAnswers", ((all.len() - MAX_ANSWERS) as i64).into()));
        }
    }
    Json::object(members)
}

/// The answers that say something.
fn answers(event: &Event) -> Vec<Value> {
    event.get("answers").items().filter(|a| !a.get("outcome").is("allow")).collect()
}

fn answer(a: &Value) -> Json {
    let mut members: Vec<(&str, Json)> = vec![("extension", a.get("extension").into()), ("outcome", a.get("outcome").into())];
    if a.get("reason").exists() {
        members.push(("reason", cut(&a.get("reason").text()).into()));
    }
    for key in ["monitor", "round"] {
        if a.get(key).exists() {
            members.push((key, a.get(key).into()));
        }
    }
    Json::object(members)
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

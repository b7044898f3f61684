//! The guest that shows that the SDK does what an SDK must: guest-sdk/tck/SPEC.md says what each name in it does.

mod capability;
mod context;
mod facts;

use std::cell::{Cell, RefCell};
use weir::{CommandRun, Decision, Event, Extension, Json, Kind, Level, Message, Reply, Tool, ToolCall, ToolOutput, ToolRun, Value};

weir::extension! {
    Extension::new("tck", "1.0.0")
        .description("Does what it is told, to show what the SDK can do.")
        .config(r#"{"type":"object","properties":{"greeting":{"type":"string"},"limit":{"type":"integer"}}}"#)
        .capability("kv", "to keep a value")
        .capability("http", "to ask a server")
        .capability("read", "to read a file")
        .capability("ui", "to ask a person")
        .capability("session", "to ask the session")
        .capability("journal", "to keep a record")
        .tools_of("tool_call", &["tck_*", "bash"])
        .facts("tool_call", &["shell", "paths", "net"])
        .facts("tool_result", &["secrets"])
        .block_on_error("tool_result")
        .tool(Tool {
            name: "tck_upper",
            label: "Upper",
            description: "Returns the text in capitals.",
            parameters: r#"{"type":"object","properties":{"text":{"type":"string"},"do":{"type":"string"}},"required":["text"]}"#,
            execution_mode: "parallel",
        })
        .command("tck", "Says what it was given.");
    tool_call: tool_call,
    tool_result: tool_result,
    context: context::context,
    input: input,
    before_provider_headers: headers,
    agent_start: agent_start,
    turn_end: turn_end,
    decision: decision,
    tool_execute: upper,
    command_execute: command,
}

thread_local! {
    static COUNTED: Cell<u64> = Cell::new(0);
    static KEPT: RefCell<Vec<Vec<u8>>> = RefCell::new(Vec::new());
}

fn count() -> u64 {
    COUNTED.with(|n| {
        n.set(n.get() + 1);
        n.get()
    })
}

fn tool_call(call: &ToolCall) -> Result<Decision, String> {
    let text = call.text("text").into_owned();
    Ok(match &*call.text("do") {
        "block" => Decision::block(text),
        "terminate" => Decision::Block { reason: text, terminate: true },
        "ask" => Decision::Ask { title: text, message: call.text("message").into_owned(), input: None },
        "rewrite" => Decision::Rewrite(call.input().with("text", &*call.text("to"))),
        "fail" => return Err(text),
        "panic" => panic!("{}", text),
        "loop" => loop {
            count();
        },
        "memory" => loop {
            KEPT.with(|k| k.borrow_mut().push(vec![1; 1 << 20]));
        },
        "log" => {
            for level in [Level::Debug, Level::Info, Level::Warn, Level::Error] {
                weir::log(level, &text);
            }
            Decision::Allow
        }
        _ => match value(call).or_else(|| capability::answer(call)) {
            Some(answer) => Decision::block(answer),
            None => Decision::Allow,
        },
    })
}

/// What reads an argument or the event.
fn value(call: &ToolCall) -> Option<String> {
    let v = call.get("value");
    Some(match &*call.text("do") {
        "hex" => call.text("text").bytes().map(|b| format!("{:02x}", b)).collect(),
        "kind" => kind(v).to_string(),
        "join" => v.items().map(|e| e.text().into_owned()).collect::<Vec<_>>().join(","),
        "keys" => v.entries().map(|(k, _)| k.into_owned()).collect::<Vec<_>>().join(","),
        "depth" => depth(v).to_string(),
        "integer" => v.as_i64().map_or("none".to_string(), |n| n.to_string()),
        "number" => format!("{:016x}", v.as_f64()?.to_bits()),
        "config" => weir::config().get("greeting").as_str().map_or("none".to_string(), |s| s.into_owned()),
        "settings" => weir::config().text().to_string(),
        "count" => count().to_string(),
        "where" => {
            let c = call.context();
            let (has_ui, turn) = (c.get("hasUI").as_bool() == Some(true), c.get("turnIndex").as_i64().unwrap_or(-1));
            format!("{} {} {} {} {}", c.get("cwd").text(), c.get("mode").text(), has_ui, c.get("model").get("id").text(), turn)
        }
        "call" => format!("{} {}", call.tool(), call.id()),
        "recheck" => if call.recheck() { "yes" } else { "no" }.to_string(),
        "facts" => facts::answer(call.facts(), &call.text("of")),
        "large" => call.text("text").repeat(call.get("count").as_i64()? as usize),
        _ => return None,
    })
}

fn kind(v: Value) -> &'static str {
    match v.kind() {
        Kind::Absent => "absent",
        Kind::Null => "null",
        Kind::Bool => "bool",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    }
}

fn depth(v: Value) -> usize {
    match v.kind() {
        Kind::Array => 1 + v.items().map(depth).max().unwrap_or(0),
        Kind::Object => 1 + v.entries().map(|(_, e)| depth(e)).max().unwrap_or(0),
        _ => 0,
    }
}

fn tool_result(result: &weir::ToolResult) -> Result<weir::Change, String> {
    let none = weir::Change::none();
    let text = result.input().get("text").text().into_owned();
    Ok(match &*result.input().get("do").text() {
        "content" => none.content(Json::text_content(&text)),
        "mask" => none.content(result.map_text(|t| t.replace("secret", "******"))),
        "facts" => none.content(Json::text_content(&facts::answer(result.facts(), "secrets"))),
        "error" => none.is_error(true),
        "replace" => none
            .content(Json::text_content(&text))
            .details(Json::object([("was", result.details())]))
            .is_error(!result.is_error())
            .usage(result.input().get("usage")),
        "fail" => return Err(text),
        "panic" => panic!("{}", text),
        _ => none,
    })
}

fn input(event: &Event) -> Result<Reply, &'static str> {
    let text = event.text("text");
    match &*text {
        "handled" => Ok(Reply::handled()),
        "fail" => Err("as told"),
        _ => Ok(text.strip_prefix("transform: ").map_or(Reply::none(), Reply::transform)),
    }
}

fn headers(event: &Event) -> Reply {
    if !event.get("headers").get("x-drop").exists() {
        return Reply::none();
    }
    Reply::object([("headers", Json::object([("x-tck", Json::from("yes")), ("x-drop", Json::null())]))])
}

fn agent_start(_: &Event) {
    weir::log(Level::Info, "agent_start");
}

fn turn_end(event: &Event) {
    if event.get("message").get("do").is("panic") {
        panic!("as told");
    }
    weir::log(Level::Info, &format!("turn {}", event.get("turnIndex").as_i64().unwrap_or(-1)));
}

fn decision(event: &Event) {
    let by: Vec<_> = event.get("by").items().map(|n| n.text()).collect();
    weir::log(Level::Info, &format!("decision of {}: {} by {}", event.text("event"), event.text("decision"), by.join(",")));
}

fn upper(run: &ToolRun) -> ToolOutput {
    let text = run.args().get("text").text();
    let mut out = ToolOutput::text(&text.to_ascii_uppercase());
    match &*run.args().get("do").text() {
        "update" => weir::tool_update(&Json::object([("content", Json::text_content("half"))])),
        "details" => out.details = Some(Json::object([("tool", run.tool()), ("id", run.id())].map(|(k, v)| (k, Json::from(&*v))))),
        "error" => return ToolOutput::error(&text),
        "terminate" => out.terminate = true,
        "panic" => panic!("as told"),
        _ => {}
    }
    out
}

fn command(run: &CommandRun) -> Result<Message, &'static str> {
    match &*run.args() {
        "fail" => Err("as told"),
        "" => Ok(Message::none()),
        args => Ok(Message::text(format!("tck: {}", args))),
    }
}

//! The stand-in for the host, and what handlers make of it.

use weir::testing::{self, event, tool_call, tool_result};
use weir::{config, http, kv, ui, var, Change, Decision, Document, Edits, Json, Kind, Level, Messages, Role, Table};

#[test]
fn a_call_is_read() {
    let call = tool_call("bash", r#"{"command":"ls \"a\" \ud83d\ude00","n":-3,"f":2.5,"on":true,"none":null,"list":["a",["b"]]}"#);
    assert_eq!(call.tool(), "bash");
    assert_eq!(call.text("command"), "ls \"a\" 😀");
    assert_eq!(call.get("n").as_i64(), Some(-3));
    assert_eq!((call.get("f").as_f64(), call.get("f").as_i64()), (Some(2.5), None));
    assert_eq!(call.get("on").as_bool(), Some(true));
    assert_eq!((call.get("none").kind(), call.get("other").kind()), (Kind::Null, Kind::Absent));
    assert_eq!(call.get("list").at(1).at(0).text(), "b");
    assert_eq!(call.get("list").at(2).raw(), "");
    assert!(!call.recheck());
    assert_eq!(call.context().get("cwd").text(), "/work");
    assert_eq!(call.get("command").get("x").kind(), Kind::Absent);
}

#[test]
fn facts_that_are_not_there_are_none() {
    let call = tool_call("bash", "{}");
    assert_eq!(call.facts().shell(), None);
    assert_eq!(call.facts().paths(), None);
    assert_eq!(call.facts().net(), None);
    assert_eq!(tool_result("bash", "{}", "x").facts().secrets(), None);
}

#[test]
fn the_last_of_two_keys_counts() {
    let d = Document::parse(r#"{"a":1,"b":{"x":1,"x":2},"\u0061":3}"#).unwrap();
    assert_eq!(d.get("a").as_i64(), Some(3));
    assert_eq!(d.get("b").get("x").as_i64(), Some(2));
    let keys: Vec<_> = d.value().entries().map(|(k, v)| format!("{}={:?}", k, v)).collect();
    assert_eq!(keys, [r#"b={"x":1,"x":2}"#, "a=3"]);
    assert_eq!(d.value().with("a", "new").as_str(), r#"{"b":{"x":1,"x":2},"a":"new"}"#);
}

#[test]
fn errors_say_where() {
    for (text, want) in [
        ("", "byte 0: the text ends early"),
        (r#"{"a":1,}"#, "byte 7: a key is missing"),
        (r#"{"a" 1}"#, "byte 5: a colon is missing"),
        (r#"["a" "b"]"#, "byte 5: neither a comma nor the end of the array or object"),
        ("[1.]", "byte 3: a digit is missing"),
        ("{} x", "byte 3: text behind the value"),
        (r#""\x""#, "byte 2: an unknown escape in a string"),
        (r#""\ud83d""#, "byte 1: half a surrogate pair"),
        ("\"a\nb\"", "byte 2: a control character in a string"),
        (r#""abc"#, "byte 4: a string does not end"),
    ] {
        assert_eq!(Document::parse(text).unwrap_err().to_string(), want, "{}", text);
    }
    assert_eq!(Document::from_bytes(b"\"\xff\"".to_vec()).unwrap_err().to_string(), "byte 1: not UTF-8");
    assert!(Document::parse(&"[".repeat(65)).unwrap_err().to_string().contains("too deeply"));
}

#[test]
fn answers_are_json() {
    let odd = "a \"b\" \\ \n\t\r\u{1}\u{7f} é 😀";
    assert_eq!(Document::parse(Json::from(odd).as_str()).unwrap().value().text(), odd);
    assert_eq!(Json::float(f64::NAN), None);
    for f in [0.0, -0.0, 0.1, 1e300, 5e-324, 123456789.0] {
        let json = Json::float(f).unwrap();
        assert_eq!(Document::parse(json.as_str()).unwrap().value().as_f64().map(f64::to_bits), Some(f.to_bits()), "{:?}", json);
    }
    assert_eq!(Json::array([1, -2]).as_str(), "[1,-2]");
    assert!(Json::parse("[1,]").is_err());
}

#[test]
fn a_result_is_masked() {
    let result = tool_result("bash", "{}", "a secret");
    assert_eq!(result.text(), "a secret");
    let masked = result.map_text(|t| t.replace("secret", "******"));
    assert_eq!(masked, Json::text_content("a ******"));
    assert_eq!(Change::none().content(masked.clone()).is_error(true).is_error(false), Change::none().content(masked).is_error(false));
}

fn prune(table: &Table, edits: &mut Edits) {
    for row in table.iter().filter(|r| r.role() == Role::ToolResult && r.text_bytes() > 10 && r.index() + 1 < table.len()) {
        let message = table.message(row.index()).expect("a message");
        edits.replace(row.index(), message.value().with("content", Json::text_content(&format!("({} was here)", row.name()))));
    }
}

fn prune_in_full(messages: &Messages, edits: &mut Edits) -> Result<(), String> {
    for (i, m) in messages.iter().enumerate() {
        if m.get("role").is("custom") {
            edits.drop(i);
        }
        if m.get("role").is("bad") {
            return Err("a bad message".to_string());
        }
    }
    Ok(())
}

#[test]
fn a_context_is_pruned() {
    let history = r#"[{"role":"user","content":"go","timestamp":1},
        {"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{}}],"timestamp":2},
        {"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"a long long text"}],"isError":false,"timestamp":3},
        {"role":"custom","customType":"note","content":"n","display":true,"timestamp":4}]"#;
    let edits = testing::context(prune, history).unwrap();
    let d = Document::parse(edits.as_str()).unwrap();
    let replaced = d.get("replace").at(0);
    assert_eq!(replaced.get("at").as_i64(), Some(2));
    assert_eq!(replaced.get("message").get("content").at(0).get("text").text(), "(bash was here)");
    assert_eq!(replaced.get("message").get("toolCallId").text(), "c");
    assert_eq!(testing::context(prune_in_full, history).unwrap().as_str(), r#"{"drop":[3]}"#);
    assert_eq!(testing::context(prune_in_full, "[]").unwrap().as_str(), "{}");
    assert_eq!(testing::context(prune_in_full, r#"[{"role":"bad"}]"#).unwrap_err(), "a bad message");
    fn rows(table: &Table, _: &mut Edits) {
        let row = table.row(2);
        assert_eq!((row.name(), row.pair(), row.text_bytes(), row.unix_millis(), row.is_error()), ("bash", Some(1), 16, 3, false));
        assert!(table.row(1).has_tool_call() && !row.has_tool_call() && table.row(3).display());
        assert_eq!(table.row(0).pair(), None);
    }
    testing::context(rows, history).unwrap();
}

#[test]
fn the_host_answers() {
    assert_eq!(kv::get("a").unwrap_err().to_string(), "kv: not granted: weir::testing::answer says what is answered");
    testing::answer(|capability, request| match (capability, &*request.get("op").text()) {
        ("kv", "get") => Ok(Json::object([("value", request.get("key"))])),
        ("kv", "list") => Ok(Json::object([("keys", Json::array(["a", "b"]))])),
        ("http", _) => Ok(Json::object([("status", Json::from(200)), ("headers", Json::object([("x", "y")])), ("body", request.get("body").into())])),
        ("ui", "select") => Ok(Json::object([("answer", Json::null())])),
        _ => Err("no".to_string()),
    });
    assert_eq!(kv::get("a").unwrap().as_deref(), Some("a"));
    assert_eq!(kv::list("").unwrap(), ["a", "b"]);
    assert_eq!(kv::set("a", "b").unwrap_err().to_string(), "kv: no");
    let r = http::Request { url: "https://a.example/", body: b"hi", ..http::Request::default() }.send().unwrap();
    assert_eq!((r.status, r.header("x"), &r.body[..]), (200, Some("y"), &b"hi"[..]));
    assert_eq!(ui::select("which?", &["a"]).unwrap(), None);

    weir::log(Level::Warn, "careful");
    assert_eq!(testing::take_log(), [(Level::Warn, "careful".to_string())]);
    assert_eq!(config().text(), "{}");
    testing::set_config(r#"{"limit":3}"#);
    assert_eq!(config().get("limit").as_i64(), Some(3));
    var::set("a", b"b");
    assert_eq!((var::get("a"), var::get("b")), (Some(b"b".to_vec()), None));
}

#[test]
fn an_event_has_a_place() {
    let e = event(r#"{"text":"hi"}"#);
    assert_eq!((e.text("text"), e.context().get("mode").text()), ("hi".into(), "text".into()));
}

#[test]
fn decisions_compare() {
    assert_eq!(Decision::block("x"), Decision::Block { reason: "x".to_string(), terminate: false });
    assert_ne!(Decision::ask("x"), Decision::Allow);
}

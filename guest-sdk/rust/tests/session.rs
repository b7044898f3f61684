//! The requests of the session are those of the ABI's section 10, and their answers are read.

use std::cell::RefCell;
use std::rc::Rc;
use weir::testing;
use weir::{session, Document, HostError, Json};

/// The request that a call makes, and what it gives when it is answered so. It is also refused once.
fn asked<T: std::fmt::Debug>(response: &'static str, call: impl Fn() -> Result<T, HostError>) -> (String, T) {
    let requests = Rc::new(RefCell::new(Vec::new()));
    let seen = requests.clone();
    testing::answer(move |capability, request| {
        seen.borrow_mut().push(format!("{} {}", capability, request.text()));
        if seen.borrow().len() == 1 { Ok(Json::parse(response).unwrap()) } else { Err("not granted".to_string()) }
    });
    let got = call().unwrap();
    assert_eq!(call().unwrap_err().to_string(), "session: not granted");
    let requests = requests.borrow();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
    (requests[0].strip_prefix("session ").unwrap().to_string(), got)
}

/// A call that is answered by nothing makes this request.
fn makes(request: &str, call: impl Fn() -> Result<(), HostError>) {
    assert_eq!(asked("{}", call).0, request);
}

fn raw(page: &session::Page) -> Vec<String> {
    page.items().map(|v| v.raw().to_string()).collect()
}

#[test]
fn reading() {
    let (request, s) = asked(
        r#"{"id":"s","name":"n","cwd":"/w","file":"f","leaf":"e9","entries":9,"messages":4,"idle":true,"streaming":false,"compacting":true,"retrying":false,"aborted":true,
            "queued":2,"model":{"provider":"p","id":"m"},"thinkingLevel":"low","systemPrompt":"x","contextUsage":{"tokens":1}}"#,
        session::state,
    );
    assert_eq!(request, r#"{"op":"state"}"#);
    let texts = [&s.id, &s.name, &s.cwd, &s.file, &s.leaf, &s.provider, &s.model, &s.thinking_level, &s.system_prompt];
    assert_eq!(texts, ["s", "n", "/w", "f", "e9", "p", "m", "low", "x"]);
    assert_eq!((s.entries, s.messages, s.queued), (9, 4, 2));
    assert_eq!([s.idle, s.streaming, s.compacting, s.retrying, s.aborted], [true, false, true, false, true]);
    assert_eq!(s.context_usage.as_str(), r#"{"tokens":1}"#);
    let (_, s) = asked(r#"{"leaf":null,"streaming":true,"retrying":true,"aborted":null,"contextUsage":null}"#, session::state);
    assert_eq!([s.idle, s.streaming, s.compacting, s.retrying, s.aborted], [false, true, false, true, false]);
    assert_eq!((&*s.leaf, s.context_usage.as_str()), ("", "null"));

    let (request, page) = asked(r#"{"entries":[{"id":"a"}],"more":true}"#, || session::entries("", 0));
    assert_eq!((&*request, raw(&page), page.more()), (r#"{"op":"entries"}"#, vec![r#"{"id":"a"}"#.to_string()], true));
    let (request, page) = asked(r#"{"entries":[],"more":false}"#, || session::entries("a", 5));
    assert_eq!((&*request, raw(&page).len(), page.more()), (r#"{"op":"entries","after":"a","limit":5}"#, 0, false));
    let (request, entry) = asked(r#"{"entry":{"id":"a"}}"#, || session::entry("a"));
    assert_eq!((&*request, &*entry.get("entry").get("id").text()), (r#"{"op":"entry","id":"a"}"#, "a"));
    let (request, page) = asked(r#"{"messages":[{},1],"total":8}"#, || session::messages(2, 3));
    assert_eq!((&*request, raw(&page), page.total()), (r#"{"op":"messages","from":2,"limit":3}"#, vec!["{}".to_string(), "1".to_string()], 8));
    assert_eq!(asked(r#"{"messages":[],"total":0}"#, || session::messages(0, 0)).0, r#"{"op":"messages","from":0}"#);
    let (request, tools) = asked(r#"{"tools":[{"name":"bash","description":"d","active":true},{"name":"ls","description":"e","active":false}]}"#, session::tools);
    let tool = |name: &str, description: &str, active| session::Tool { name: name.to_string(), description: description.to_string(), active };
    assert_eq!((&*request, tools), (r#"{"op":"tools"}"#, vec![tool("bash", "d", true), tool("ls", "e", false)]));
}

#[test]
fn appending_and_sending() {
    let (request, id) = asked(r#"{"id":"b"}"#, || session::append("todo", None));
    assert_eq!((&*request, &*id), (r#"{"op":"append","customType":"todo"}"#, "b"));
    let (request, _) = asked(r#"{"id":"b"}"#, || session::append("todo", Some(Json::object([("a", 1)]))));
    assert_eq!(request, r#"{"op":"append","customType":"todo","data":{"a":1}}"#);
    makes(r#"{"op":"label","entryId":"a","label":""}"#, || session::label("a", ""));
    makes(r#"{"op":"name","name":""}"#, || session::name(""));
    makes(r#"{"op":"send","customType":"note","content":[]}"#, || session::Message::new("note", Json::parse("[]").unwrap()).send());
    let all = session::Message { display: true, details: Some(Json::array([1])), trigger: true, deliver: "steer", ..session::Message::new("note", "h\"i") };
    makes(r#"{"op":"send","customType":"note","content":"h\"i","display":true,"details":[1],"trigger":true,"deliver":"steer"}"#, || all.send());
    makes(r#"{"op":"prompt","content":"go"}"#, || session::prompt("go", ""));
    makes(r#"{"op":"prompt","content":"go","deliver":"followUp"}"#, || session::prompt("go", "followUp"));
}

#[test]
fn controlling() {
    let (request, set) = asked(r#"{"tools":["read"]}"#, || session::set_tools(&["read", "x"]));
    assert_eq!((&*request, set), (r#"{"op":"set_tools","tools":["read","x"]}"#, vec!["read".to_string()]));
    assert_eq!(asked(r#"{"tools":[]}"#, || session::set_tools(&[])).0, r#"{"op":"set_tools","tools":[]}"#);
    makes(r#"{"op":"set_model","provider":"p","id":"m"}"#, || session::set_model("p", "m"));
    let (request, level) = asked(r#"{"level":"high"}"#, || session::set_thinking_level("max"));
    assert_eq!((&*request, &*level), (r#"{"op":"set_thinking_level","level":"max"}"#, "high"));
    makes(r#"{"op":"abort"}"#, session::abort);
    makes(r#"{"op":"compact"}"#, || session::compact(""));
    makes(r#"{"op":"compact","instructions":"short"}"#, || session::compact("short"));
    makes(r#"{"op":"new"}"#, session::new);
    makes(r#"{"op":"fork","entryId":"a","position":"before"}"#, || session::fork("a", false));
    makes(r#"{"op":"fork","entryId":"a","position":"at"}"#, || session::fork("a", true));
    makes(r#"{"op":"navigate","entryId":"a"}"#, || session::navigate("a", &session::Navigation::default()));
    let how = session::Navigation { summarize: true, instructions: "i", replace: true, label: "l" };
    makes(r#"{"op":"navigate","entryId":"a","summarize":true,"instructions":"i","replace":true,"label":"l"}"#, || session::navigate("a", &how));
}

#[test]
fn any_request() {
    let (request, d) = asked(r#"{"x":1}"#, || session::request("other", &[("k", "v".into())]));
    let _: &Document = &d;
    assert_eq!((&*request, d.get("x").as_i64()), (r#"{"op":"other","k":"v"}"#, Some(1)));
}

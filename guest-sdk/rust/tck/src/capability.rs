use weir::{file, http, journal, kv, session, ui, var, HostError, Json, Level, ToolCall};

/// What an argument asks of the host; `None` when it asks nothing.
pub fn answer(call: &ToolCall) -> Option<String> {
    let text = |key: &str| call.text(key).into_owned();
    let answer = match &*call.text("do") {
        "kv" => values(call),
        "http" => request(call),
        "file" => files(call),
        "ui" => person(call),
        "session" => session::request(&text("op"), &[(&text("key"), text("value").into())]).map(|d| d.text().to_string()),
        "journal" => journal::append(Json::from(call.get("record"))).map(|e| format!("{} {}", e.seq, e.hash)),
        "var" => Ok(variable(call)),
        _ => return None,
    };
    Some(answer.unwrap_or_else(|e| format!("refused: {}", e)))
}

fn values(call: &ToolCall) -> Result<String, HostError> {
    let (key, value) = (call.text("key"), call.text("value"));
    Ok(match &*call.text("op") {
        "get" => or_none(kv::get(&key)?),
        "set" => kv::set(&key, &value).map(|()| ok())?,
        "delete" => kv::delete(&key).map(|()| ok())?,
        _ => kv::list(&call.text("prefix"))?.join(","),
    })
}

fn request(call: &ToolCall) -> Result<String, HostError> {
    let body = call.text("body");
    let request = http::Request {
        method: &call.text("method"),
        url: &call.text("url"),
        headers: &[("x-tck", &call.text("header"))],
        body: body.as_bytes(),
    };
    let r = request.send()?;
    Ok(format!("{} {} {}", r.status, r.header("x-tck").unwrap_or(""), String::from_utf8_lossy(&r.body)))
}

fn files(call: &ToolCall) -> Result<String, HostError> {
    let path = call.text("path");
    Ok(match &*call.text("op") {
        "read" => file::read(&path)?,
        "stat" => {
            let f = file::stat(&path)?;
            format!("{} {} {}", f.name, if f.dir { "dir" } else { "file" }, f.size)
        }
        _ => file::list(&path)?.into_iter().map(|f| f.name).collect::<Vec<_>>().join(","),
    })
}

fn person(call: &ToolCall) -> Result<String, HostError> {
    let title = call.text("title");
    Ok(match &*call.text("op") {
        "confirm" => ui::confirm(&title, &call.text("message"))?.to_string(),
        "select" => {
            let options: Vec<_> = call.get("options").items().map(|o| o.text()).collect();
            or_none(ui::select(&title, &options.iter().map(|o| &**o).collect::<Vec<_>>())?)
        }
        "input" => or_none(ui::input(&title, &call.text("placeholder"))?),
        "notify" => {
            let level = match &*call.text("level") {
                "warning" => Level::Warn,
                "error" => Level::Error,
                _ => Level::Info,
            };
            ui::notify(level, &call.text("message")).map(|()| ok())?
        }
        _ => ui::status(&call.text("text")).map(|()| ok())?,
    })
}

fn variable(call: &ToolCall) -> String {
    let key = call.text("key");
    if call.get("op").is("set") {
        var::set(&key, call.text("value").as_bytes());
        return ok();
    }
    or_none(var::get(&key).map(|v| String::from_utf8_lossy(&v).into_owned()))
}

fn ok() -> String {
    "ok".to_string()
}

fn or_none(value: Option<String>) -> String {
    value.unwrap_or_else(|| "none".to_string())
}

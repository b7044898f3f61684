use weir::{Edits, Error, Json, Role, Row, Table};

pub fn context(table: &Table, edits: &mut Edits) -> Result<(), String> {
    for row in table.iter().filter(|r| r.role() == Role::Custom) {
        let i = row.index();
        let mut replace = |content: &str| -> Result<(), Error> {
            edits.replace(i, table.message(i)?.value().with("content", content));
            Ok(())
        };
        match row.name() {
            "drop" => edits.drop(i),
            "twice" => {
                edits.drop(i);
                edits.drop(i);
            }
            "replace" => replace("replaced").map_err(|e| e.to_string())?,
            "roles" => replace(&list(table, ",", |r| r.role().name().to_string())).map_err(|e| e.to_string())?,
            "headers" => replace(&list(table, "\n", header)).map_err(|e| e.to_string())?,
            "insert" => edits.insert(i, user("inserted")),
            "append" => edits.insert(table.len(), user("appended")),
            "fail" => return Err("as told".to_string()),
            "panic" => panic!("as told"),
            _ => {}
        }
    }
    Ok(())
}

fn user(content: &str) -> Json {
    Json::object([("role", Json::from("user")), ("content", content.into()), ("timestamp", 0.into())])
}

fn list(table: &Table, separator: &str, show: impl Fn(Row) -> String) -> String {
    table.iter().map(show).collect::<Vec<_>>().join(separator)
}

fn header(r: Row) -> String {
    let flags = [(r.is_error(), 'e'), (r.has_image(), 'i'), (r.has_tool_call(), 'c'), (r.has_thinking(), 't'), (r.display(), 'd')];
    let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, letter)| letter).collect();
    let pair = r.pair().map_or(String::new(), |i| i.to_string());
    let or_dash = |s: &str| if s.is_empty() { "-".to_string() } else { s.to_string() };
    format!(
        "{} {} {} {} {} {} {} {}",
        r.role().name(),
        or_dash(&flags),
        or_dash(r.name()),
        r.text_bytes(),
        r.encoded_bytes(),
        or_dash(&pair),
        r.id(),
        r.unix_millis()
    )
}

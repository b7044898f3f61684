//! The guest of guest-sdk/tck/SPEC.md that has context in full.

use weir::{Edits, Extension, Json, Messages};

weir::extension! {
    Extension::new("tck-json", "1.0.0");
    context: context,
}

fn context(messages: &Messages, edits: &mut Edits) -> Result<(), &'static str> {
    for (i, m) in messages.iter().enumerate() {
        if !m.get("role").is("custom") {
            continue;
        }
        match &*m.get("customType").text() {
            "drop" => edits.drop(i),
            "twice" => {
                edits.drop(i);
                edits.drop(i);
            }
            "replace" => edits.replace(i, m.with("content", "replaced")),
            "roles" => {
                let roles: Vec<_> = messages.iter().map(|m| m.get("role").text()).collect();
                edits.replace(i, m.with("content", roles.join(",")));
            }
            "insert" => edits.insert(i, user("inserted")),
            "append" => edits.insert(messages.len(), user("appended")),
            "fail" => return Err("as told"),
            "panic" => panic!("as told"),
            _ => {}
        }
    }
    Ok(())
}

fn user(content: &str) -> Json {
    Json::object([("role", Json::from("user")), ("content", content.into()), ("timestamp", 0.into())])
}

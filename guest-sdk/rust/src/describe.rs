use crate::json::{add_json, add_quoted, add_words, Document, Json};

/// What an extension says of itself: see [`extension!`](crate::extension).
pub struct Extension {
    name: &'static str,
    version: &'static str,
    description: &'static str,
    config: Option<&'static str>,
    capabilities: Vec<(&'static str, &'static str)>,
    tools_of: Vec<(&'static str, &'static [&'static str])>,
    facts: Vec<(&'static str, &'static [&'static str])>,
    block_on_error: Vec<&'static str>,
    tools: Vec<Tool>,
    commands: Vec<(&'static str, &'static str)>,
}

/// A tool that the extension offers to the model; the handler `tool_execute` runs it.
#[derive(Clone, Copy, Default)]
pub struct Tool {
    /// The name that the model calls it by.
    pub name: &'static str,
    /// The name that people see; "" for the same.
    pub label: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// The JSON Schema of its arguments; "" for any object.
    pub parameters: &'static str,
    /// `parallel`, `sequential`, or "" for the host's default.
    pub execution_mode: &'static str,
}

impl Extension {
    /// A name is a lower-case letter followed by at most 63 lower-case letters, digits, `-` and `_`; a version is semantic,
    /// such as "1.0.0".
    pub fn new(name: &'static str, version: &'static str) -> Extension {
        Extension {
            name,
            version,
            description: "",
            config: None,
            capabilities: Vec::new(),
            tools_of: Vec::new(),
            facts: Vec::new(),
            block_on_error: Vec::new(),
            tools: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// What it does, for the person who loads it.
    pub fn description(mut self, text: &'static str) -> Extension {
        self.description = text;
        self
    }

    /// The JSON Schema of the settings.
    pub fn config(mut self, schema: &'static str) -> Extension {
        self.config = Some(schema);
        self
    }

    /// Asks for a grant (`kv`, `http`, `read`, `ui`, `session`, `journal`, `clock`, `random`), with the reason for the person who
    /// decides. Using a capability that the set does not grant is a load error.
    pub fn capability(mut self, name: &'static str, reason: &'static str) -> Extension {
        self.capabilities.push((name, reason));
        self
    }

    /// Limits the hook `tool_call` or `tool_result` to tools whose name is one of the patterns; a `*` stands for any text, as in
    /// "mcp__*". Without it the hook sees all tools.
    pub fn tools_of(mut self, hook: &'static str, patterns: &'static [&'static str]) -> Extension {
        self.tools_of.push((hook, patterns));
        self
    }

    /// Asks the host to work out, before it asks the hook `tool_call` or `tool_result`, what the call is about: `shell`, `paths`, `net`,
    /// and for `tool_result` `secrets`. The handler finds them in [`ToolCall::facts`](crate::ToolCall::facts).
    pub fn facts(mut self, hook: &'static str, kinds: &'static [&'static str]) -> Extension {
        self.facts.push((hook, kinds));
        self
    }

    /// Demands that a fault of this hook counts against the event (the result is withheld, the run ends, the input is refused) where
    /// a set would pass over it. A `tool_call` is blocked by a fault in any case.
    pub fn block_on_error(mut self, hook: &'static str) -> Extension {
        self.block_on_error.push(hook);
        self
    }

    /// Offers a tool.
    pub fn tool(mut self, tool: Tool) -> Extension {
        self.tools.push(tool);
        self
    }

    /// Offers a command, `/name`, to the person; the handler `command_execute` runs it.
    pub fn command(mut self, name: &'static str, description: &'static str) -> Extension {
        self.commands.push((name, description));
        self
    }

    /// Writes the answer of weir_describe, or says what is wrong with it.
    pub(crate) fn write(&self, hooks: &Hooks, out: &mut String) -> Result<(), String> {
        self.check(hooks)?;
        out.push_str("{\"abi\":1");
        add_text(out, "name", self.name);
        add_text(out, "version", self.version);
        if !self.description.is_empty() {
            add_text(out, "description", self.description);
        }
        add_key(out, "hooks");
        let entries = hooks.list.iter().filter(|h| h.is_event()).map(|h| (h.name, self.options(h)));
        add_json(out, &Json::object(entries));
        if let Some(decision) = hooks.find("decision") {
            add_key(out, "decisions");
            add_json(out, &self.options(decision));
        }
        if !self.tools.is_empty() {
            add_key(out, "tools");
            let mut list = Vec::new();
            for t in &self.tools {
                list.push(t.json()?);
            }
            add_json(out, &Json::array(list));
        }
        if !self.commands.is_empty() {
            add_key(out, "commands");
            let list = self.commands.iter().map(|(name, text)| Json::object([("name", *name), ("description", *text)]));
            add_json(out, &Json::array(list));
        }
        if let Some(schema) = self.config {
            add_key(out, "config");
            add_json(out, &object(schema, "the schema of the settings")?);
        }
        if !self.capabilities.is_empty() {
            add_key(out, "capabilities");
            add_json(out, &Json::object(self.capabilities.iter().copied()));
        }
        out.push('}');
        Ok(())
    }

    /// What the host could not notice, because it would see an extension without it.
    fn check(&self, hooks: &Hooks) -> Result<(), String> {
        for (hook, _) in &self.tools_of {
            if hooks.find(hook).is_none() || !matches!(*hook, "tool_call" | "tool_result") {
                return Err(["tools_of is for the hooks tool_call and tool_result that extension! names, not for ", hook].concat());
            }
        }
        for (hook, _) in &self.facts {
            if hooks.find(hook).is_none() || !matches!(*hook, "tool_call" | "tool_result") {
                return Err(["facts is for the hooks tool_call and tool_result that extension! names, not for ", hook].concat());
            }
        }
        for hook in &self.block_on_error {
            if hooks.find(hook).is_none() {
                return Err(["block_on_error: extension! names no handler for ", hook].concat());
            }
        }
        for (export, offered, what) in [("tool_execute", self.tools.len(), "tool"), ("command_execute", self.commands.len(), "command")] {
            if hooks.find(export).is_some() != (offered > 0) {
                return Err([export, " and Extension::", what, " belong together: one of them is missing"].concat());
            }
        }
        Ok(())
    }

    fn options(&self, hook: &Hook) -> Json {
        let mut options = Vec::new();
        for (_, patterns) in self.tools_of.iter().filter(|(name, _)| *name == hook.name) {
            options.push(("tools", Json::array(patterns.iter().copied())));
        }
        for (_, kinds) in self.facts.iter().filter(|(name, _)| *name == hook.name) {
            options.push(("facts", Json::array(kinds.iter().copied())));
        }
        if hook.table {
            options.push(("view", "table".into()));
        }
        if self.block_on_error.contains(&hook.name) {
            options.push(("onError", "block".into()));
        }
        Json::object(options)
    }
}

impl Tool {
    fn json(&self) -> Result<Json, String> {
        let mut members = vec![("name", Json::from(self.name)), ("description", self.description.into())];
        for (key, text) in [("label", self.label), ("executionMode", self.execution_mode)] {
            if !text.is_empty() {
                members.push((key, text.into()));
            }
        }
        let schema = if self.parameters.is_empty() { "{\"type\":\"object\"}" } else { self.parameters };
        members.push(("parameters", object(schema, "the schema of a tool's parameters")?));
        Ok(Json::object(members))
    }
}

/// The handlers that `extension!` names.
#[derive(Default)]
pub struct Hooks {
    list: Vec<Hook>,
}

struct Hook {
    name: &'static str,
    table: bool,
}

impl Hooks {
    pub(crate) fn add(&mut self, name: &'static str, table: bool) -> i32 {
        self.list.push(Hook { name, table });
        0
    }

    fn find(&self, name: &str) -> Option<&Hook> {
        self.list.iter().find(|h| h.name == name)
    }
}

impl Hook {
    fn is_event(&self) -> bool {
        !matches!(self.name, "decision" | "tool_execute" | "command_execute")
    }
}

fn object(text: &str, what: &str) -> Result<Json, String> {
    match Document::parse(text) {
        Ok(d) if d.value().raw().starts_with('{') => Ok(Json::from(d.value())),
        Ok(_) => Err([what, " is not a JSON object"].concat()),
        Err(e) => Err([what, ": ", &e.to_string()].concat()),
    }
}

fn add_key(out: &mut String, key: &str) {
    out.push(',');
    add_quoted(out, key);
    out.push(':');
}

fn add_text(out: &mut String, key: &str, text: &str) {
    add_key(out, key);
    add_words(out, text);
}

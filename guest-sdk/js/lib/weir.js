// What `import … from "weir"` gives. Only what a policy uses gets into its bundle, and with a capability's file comes the
// module import that it needs.
export * as kv from "./kv.js";
export * as http from "./http.js";
export * as file from "./file.js";
export * as ui from "./ui.js";
export * as session from "./session.js";
export * as journal from "./journal.js";

export const config = /* @__PURE__ */ (() => __weir.config)();

export const toolUpdate = (partial) => __weir.update(partial);

export const confirm = (title, message) => __weir.request("ui", "confirm", { title, message }).answer === true;
export const select = (title, options) => __weir.request("ui", "select", { title, options }).answer ?? undefined;
export const input = (title, placeholder = "") => __weir.request("ui", "input", { title, placeholder }).answer ?? undefined;
export const notify = (message, level = "info") => void __weir.request("ui", "notify", { message, level });
export const status = (text) => void __weir.request("ui", "status", { text });

export const get = (key) => __weir.request("kv", "get", { key }).value ?? undefined;
export const set = (key, value) => void __weir.request("kv", "set", { key, value });
const remove = (key) => void __weir.request("kv", "delete", { key });
export { remove as delete };
export const list = (prefix = "") => __weir.request("kv", "list", { prefix }).keys;

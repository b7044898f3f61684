export const read = (path) => __weir.request("file", "read", { path }).text;
export const stat = (path) => __weir.request("file", "stat", { path });
export const list = (path) => __weir.request("file", "list", { path }).entries;

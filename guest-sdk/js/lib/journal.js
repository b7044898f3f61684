export const append = (record) => __weir.request("journal", "append", { record });

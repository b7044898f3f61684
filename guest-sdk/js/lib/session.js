export const request = (op, fields = {}) => __weir.request("session", op, fields);

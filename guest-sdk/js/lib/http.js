// Bodies travel as base64, which the language has no function for.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const encode = (text) => {
  const bytes = [];
  for (const c of text) {
    const u = c.codePointAt(0);
    if (u < 0x80) bytes.push(u);
    else if (u < 0x800) bytes.push(0xc0 | (u >> 6), 0x80 | (u & 63));
    else if (u < 0x10000) bytes.push(0xe0 | (u >> 12), 0x80 | ((u >> 6) & 63), 0x80 | (u & 63));
    else bytes.push(0xf0 | (u >> 18), 0x80 | ((u >> 12) & 63), 0x80 | ((u >> 6) & 63), 0x80 | (u & 63));
  }
  let out = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const n = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    out += digits[n >> 18] + digits[(n >> 12) & 63] + (i + 1 < bytes.length ? digits[(n >> 6) & 63] : "=") + (i + 2 < bytes.length ? digits[n & 63] : "=");
  }
  return out;
};

// UTF-8 that is not valid becomes U+FFFD.
const decode = (base64) => {
  let escaped = "", binary = "", bits = 0, held = 0;
  for (const d of base64) {
    if (d === "=") break;
    bits = (bits << 6) | digits.indexOf(d);
    if ((held += 6) >= 8) {
      const b = (bits >> (held -= 8)) & 255;
      bits &= (1 << held) - 1;
      binary += String.fromCharCode(b);
    }
  }
  for (const c of binary) escaped += "%" + c.charCodeAt(0).toString(16).padStart(2, "0");
  try {
    return decodeURIComponent(escaped);
  } catch {
    return binary.replace(/[\x80-\xff]/g, "\ufffd");
  }
};

export const request = ({ url, method = "GET", headers = {}, body = "" }) => {
  const r = __weir.request("http", "request", { url, method, headers, body: encode(body) });
  return { status: r.status, headers: r.headers, body: decode(r.body ?? "") };
};

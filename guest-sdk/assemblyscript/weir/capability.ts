// What needs a grant in the set. A call that the host refuses is a reply with an error, not a fault: look at `ok`.

import { encode, encoded, encodedSize, read, readAll, readSize } from "./bytes";
import {
  envAlloc, envFree, envLength, envLoad64, envLoad8, envStore64, envStore8, fileCall, httpCall, journalCall, kvCall, responseRead, uiCall, varGet, varSet,
} from "./host";
import { parse, why } from "./scan";
import { ObjectWriter, quoteAll, words } from "./text";
import { Value, valueAt } from "./value";

/** What the host answers. */
export class Reply {
  constructor(
    /** The response, or the part of it that was asked for. */
    readonly value: Value,
    /** Why the host refused, "" when it did not. */
    readonly error: string = "",
  ) {}

  get ok(): bool {
    return this.error.length == 0;
  }
  /** `value` as a text. */
  get text(): string {
    return this.value.text;
  }
}

export function response(what: string, code: i32): Reply {
  readAll((_i, to, offset, size) => responseRead(to, offset, size), 0);
  if (code < 0) return new Reply(valueAt(0), what + ": " + String.UTF8.decodeUnsafe(read, readSize));
  const node = parse(read, readSize);
  if (node == 0) throw new Error(what + ": the response is no JSON: " + why);
  return new Reply(valueAt(node));
}

export function part(r: Reply, key: string): Reply {
  return r.ok ? new Reply(r.value.get(key)) : r;
}

function request(op: string): ObjectWriter {
  return new ObjectWriter().text("op", op);
}

/** Texts kept with the session, 64 KiB each: the grant `kv`. */
export namespace kv {
  function call(r: ObjectWriter): Reply {
    encode(r.json);
    return response("kv", kvCall(encoded, encodedSize));
  }
  /** The value; `value.isString` tells whether there is one. */
  export function get(key: string): Reply {
    return part(call(request("get").text("key", key)), "value");
  }
  export function set(key: string, value: string): Reply {
    return call(request("set").text("key", key).text("value", value));
  }
  export function remove(key: string): Reply {
    return call(request("delete").text("key", key));
  }
  /** The keys that start with prefix: `value.texts()`. */
  export function list(prefix: string = ""): Reply {
    return part(call(request("list").text("prefix", prefix)), "keys");
  }
}

/** Files below the folders of the grant `read`. */
export namespace file {
  function call(r: ObjectWriter): Reply {
    encode(r.json);
    return response("file", fileCall(encoded, encodedSize));
  }
  export function readText(path: string): Reply {
    return part(call(request("read").text("path", path)), "text");
  }
  /** name, dir, size. */
  export function stat(path: string): Reply {
    return call(request("stat").text("path", path));
  }
  /** An array of what stat says of each. */
  export function list(path: string): Reply {
    return part(call(request("list").text("path", path)), "entries");
  }
}

/** Questions to the person: the grant `ui`. The time of an answer does not count against the deadline. */
export namespace ui {
  function call(r: ObjectWriter): Reply {
    encode(r.json);
    return response("ui", uiCall(encoded, encodedSize));
  }
  /** `value.bool()`. */
  export function confirm(title: string, message: string = ""): Reply {
    return part(call(request("confirm").set("title", words(title)).set("message", words(message))), "answer");
  }
  /** The choice; `value.isString` tells whether there was one. */
  export function select(title: string, options: string[]): Reply {
    return part(call(request("select").set("title", words(title)).set("options", quoteAll(options))), "answer");
  }
  /** The line; `value.isString` tells whether there was one. */
  export function input(title: string, placeholder: string = ""): Reply {
    return part(call(request("input").set("title", words(title)).set("placeholder", words(placeholder))), "answer");
  }
  /** level: info, warning, error. */
  export function notify(message: string, level: string = "info"): Reply {
    return call(request("notify").set("message", words(message)).text("level", level));
  }
  /** Shows a text of this extension in the status line; "" removes it. */
  export function status(text: string): Reply {
    return call(request("status").set("text", words(text)));
  }
}

/** A file of records that nobody can change unseen: the grant `journal`. */
export namespace journal {
  /** record is a JSON object. Answers seq and hash once it is on the disk. */
  export function append(record: string): Reply {
    encode(request("append").set("record", record).json);
    return response("journal", journalCall(encoded, encodedSize));
  }
}

/** A response of any status. */
export class HTTPReply extends Reply {
  get status(): i32 {
    return <i32>this.value.get("status").int();
  }
  /** A header by its name in lower case; several values of one are joined by ", ". */
  header(name: string): string {
    return this.value.get("headers").get(name).text;
  }
  /** The body's bytes. */
  get bytes(): Uint8Array {
    return unbase64(this.value.get("body").text);
  }
  /** The body as UTF-8. */
  get body(): string {
    return String.UTF8.decode(this.bytes.buffer);
  }
}

/** Requests to what the grant `http` names. */
export namespace http {
  /** headers is a JSON object, such as `new ObjectWriter().text("accept", "*\/*").json`; body is sent as UTF-8. */
  export function send(method: string, url: string, headers: string = "{}", body: string = ""): HTTPReply {
    const r = request("request").text("method", method).text("url", url).set("headers", headers);
    encode(r.set("body", '"' + base64(String.UTF8.encode(body, false, String.UTF8.ErrorMode.REPLACE)) + '"').json);
    const reply = response("http", httpCall(encoded, encodedSize));
    return new HTTPReply(reply.value, reply.error);
  }
  export function get(url: string): HTTPReply {
    return send("GET", url);
  }
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function base64(bytes: ArrayBuffer): string {
  const b = Uint8Array.wrap(bytes);
  const n = b.length;
  const out = new Array<i32>();
  for (let i = 0; i < n; i += 3) {
    const left = n - i;
    const x = (<u32>b[i] << 16) | ((left > 1 ? <u32>b[i + 1] : 0) << 8) | (left > 2 ? <u32>b[i + 2] : 0);
    out.push(ALPHABET.charCodeAt(x >> 18));
    out.push(ALPHABET.charCodeAt((x >> 12) & 63));
    out.push(left > 1 ? ALPHABET.charCodeAt((x >> 6) & 63) : 0x3d);
    out.push(left > 2 ? ALPHABET.charCodeAt(x & 63) : 0x3d);
  }
  return String.fromCharCodes(out);
}

function sixBits(c: i32): i32 {
  if (c >= 0x41 && c <= 0x5a) return c - 0x41;
  if (c >= 0x61 && c <= 0x7a) return c - 0x61 + 26;
  if (c >= 0x30 && c <= 0x39) return c - 0x30 + 52;
  return c == 0x2b ? 62 : c == 0x2f ? 63 : -1;
}

export function unbase64(text: string): Uint8Array {
  let n = text.length;
  if (n % 4 != 0) throw new Error("base64 of " + n.toString() + " characters");
  while (n > 0 && text.charCodeAt(n - 1) == 0x3d) n--;
  const out = new Uint8Array((n * 3) >> 2);
  let bits: u32 = 0;
  for (let i = 0, o = 0; i < n; i++) {
    const v = sixBits(text.charCodeAt(i));
    if (v < 0) throw new Error("a character that base64 does not have");
    bits = (bits << 6) | v;
    if (i % 4 > 0) out[o++] = <u8>(bits >> (6 - 2 * (i % 4)));
  }
  return out;
}

/** Extism's variables: texts that live as long as the instance. They need no grant. */
export namespace vars {
  function put(text: string): u64 {
    encode(text);
    const at = envAlloc(encodedSize);
    let i: u32 = 0;
    for (; i + 8 <= encodedSize; i += 8) envStore64(at + i, load<u64>(encoded + i));
    for (; i < encodedSize; i++) envStore8(at + i, load<u8>(encoded + i));
    return at;
  }
  /** null when there is none. */
  export function get(key: string): string | null {
    const name = put(key);
    const at = varGet(name);
    envFree(name);
    if (at == 0) return null;
    const n = <i32>envLength(at);
    const bytes = new ArrayBuffer(n);
    const to = changetype<usize>(bytes);
    let i: i32 = 0;
    for (; i + 8 <= n; i += 8) store<u64>(to + i, envLoad64(at + i));
    for (; i < n; i++) store<u8>(to + i, envLoad8(at + i));
    envFree(at);
    return String.UTF8.decode(bytes);
  }
  export function set(key: string, value: string): void {
    const name = put(key), at = put(value);
    varSet(name, at);
    envFree(name);
    envFree(at);
  }
}

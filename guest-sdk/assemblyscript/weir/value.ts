// Values of a parsed document.

import { ESCAPED, Kind, NODE, TRUE, WIDE, hex4 } from "./scan";
import { Text, quote } from "./text";

/** The value that is not there. */
const absent = memory.data(16);

/**
 * A JSON value, read in place. It is valid until the handler returns: do not keep it, keep what its getters return. What is asked of
 * a value of another kind, or of one that is not there, is answered with the default. Of a key that stands twice in an object the
 * last one counts, as for the tool that will read the arguments.
 */
@unmanaged
export class Value {
  private at: u32;
  private size: u32;
  private span: u32;
  private tag: u8;
  private flags: u8;

  get kind(): Kind {
    return <Kind>this.tag;
  }
  /** Whether it is there; null is. */
  get exists(): bool {
    return this.tag != <u8>Kind.Absent;
  }
  get isString(): bool {
    return this.tag == <u8>Kind.String;
  }

  /** The decoded text of a string, otherwise "". */
  get text(): string {
    if (this.tag != <u8>Kind.String) return "";
    return decode(this.at + 1, this.at + this.size - 1, this.flags);
  }
  /** Whether it is the string s; cheaper than comparing `text`. */
  is(s: string): bool {
    return this.tag == <u8>Kind.String && same(this.at + 1, this.size - 2, this.flags, s);
  }
  /** The value of a boolean. */
  bool(or: bool = false): bool {
    return this.tag == <u8>Kind.Bool ? (this.flags & TRUE) != 0 : or;
  }
  /** The value of a number that is written as a whole one and fits 64 bits. */
  int(or: i64 = 0): i64 {
    if (this.tag != <u8>Kind.Number) return or;
    let s: usize = this.at;
    const e: usize = s + this.size;
    const negative = load<u8>(s) == 0x2d;
    if (negative) s++;
    const most: u64 = negative ? 1 << 63 : (1 << 63) - 1;
    let u: u64 = 0;
    for (; s < e; s++) {
      const d = <u64>load<u8>(s) - 0x30;
      if (d > 9 || u > (most - d) / 10) return or;
      u = u * 10 + d;
    }
    return negative ? -(<i64>u) : <i64>u;
  }
  /** The value of a number; infinite when it is too large for a double. */
  number(or: f64 = NaN): f64 {
    return this.tag == <u8>Kind.Number ? double(this.at, this.at + this.size) : or;
  }

  /** The JSON text, as it was received; "" when it is not there. */
  get json(): string {
    return decodeJSON(this.at, this.at + this.size);
  }

  /** A member of an object. */
  get(key: string): Value {
    let hit = changetype<Value>(absent);
    if (this.tag != <u8>Kind.Object) return hit;
    const e = this.after;
    for (let k = changetype<usize>(this) + NODE; k < e; ) {
      const name = changetype<Value>(k);
      const value = changetype<Value>(k + NODE);
      if (name.is(key)) hit = value;
      k = value.after;
    }
    return hit;
  }
  /** The keys of an object, each once, in the order in which they first stand there. */
  keys(): string[] {
    const list: string[] = [];
    if (this.tag != <u8>Kind.Object) return list;
    const e = this.after;
    for (let k = changetype<usize>(this) + NODE; k < e; ) {
      const name = changetype<Value>(k).text;
      if (!list.includes(name)) list.push(name);
      k = changetype<Value>(k + NODE).after;
    }
    return list;
  }
  /** The elements of an array; none of any other value. */
  elements(): Value[] {
    const list: Value[] = [];
    if (this.tag != <u8>Kind.Array) return list;
    const e = this.after;
    for (let v = changetype<usize>(this) + NODE; v < e; ) {
      const value = changetype<Value>(v);
      list.push(value);
      v = value.after;
    }
    return list;
  }
  /** The texts of an array's strings. */
  texts(): string[] {
    const list: string[] = [];
    const all = this.elements();
    for (let i = 0; i < all.length; i++) if (all[i].isString) list.push(all[i].text);
    return list;
  }

  /** The JSON text of an object with one member set to `json`: in its place, or appended. The others keep their text. */
  with(key: string, json: string): string {
    const out = new Text();
    let set = false;
    if (this.tag == <u8>Kind.Object) {
      const e = this.after;
      for (let k = changetype<usize>(this) + NODE; k < e; ) {
        const name = changetype<Value>(k);
        const value = changetype<Value>(k + NODE);
        k = value.after;
        const hit = name.is(key);
        if (hit && set) continue;
        out.comma().add(name.json).add(":").add(hit ? json : value.json);
        set = set || hit;
      }
    }
    if (!set) out.comma().add(quote(key)).add(":").add(json);
    return "{" + out.toString() + "}";
  }

  /** Where the next node is. */
  private get after(): usize {
    return changetype<usize>(this) + <usize>this.span * NODE;
  }
}

/** The value at a node, or the one that is not there. */
export function valueAt(node: usize): Value {
  return changetype<Value>(node == 0 ? absent : node);
}

/** How many bytes a document's nodes take. */
export function nodeBytes(node: usize): usize {
  return <usize>load<u32>(node, 8) * NODE;
}

function same(s: usize, n: usize, flags: u8, text: string): bool {
  if (flags & (ESCAPED | WIDE)) return decode(s, s + n, flags) == text;
  if (<usize>text.length != n) return false;
  const t = changetype<usize>(text);
  for (let i: usize = 0; i < n; i++) if (<u16>load<u8>(s + i) != load<u16>(t + (i << 1))) return false;
  return true;
}

/** JSON text as it is; it is checked already, and so valid UTF-8. */
function decodeJSON(s: usize, e: usize): string {
  for (let i = s; i < e; i++) if (load<u8>(i) >= 0x80) return String.UTF8.decodeUnsafe(s, e - s);
  return widen(s, e);
}

function widen(s: usize, e: usize): string {
  const out = changetype<usize>(__new((e - s) << 1, idof<string>()));
  let o = out;
  for (; e - s >= 4; s += 4, o += 8) {
    const x = <u64>load<u32>(s);
    store<u64>(o, (x & 0xff) | ((x & 0xff00) << 8) | ((x & 0xff0000) << 16) | ((x & 0xff000000) << 24));
  }
  for (; s < e; s++, o += 2) store<u16>(o, load<u8>(s));
  return changetype<string>(out);
}

/** The text of a checked string between s and e. */
function decode(s: usize, e: usize, flags: u8): string {
  if (!(flags & (ESCAPED | WIDE))) return widen(s, e);
  if (!(flags & ESCAPED)) return String.UTF8.decodeUnsafe(s, e - s);
  // Nothing takes up more units than bytes.
  const out = changetype<usize>(__new((e - s) << 1, idof<string>()));
  let o = out;
  while (s < e) {
    let c = <u32>load<u8>(s++);
    if (c == 0x5c) {
      c = load<u8>(s++);
      switch (c) {
        case 0x6e: c = 0x0a; break;
        case 0x74: c = 0x09; break;
        case 0x72: c = 0x0d; break;
        case 0x62: c = 0x08; break;
        case 0x66: c = 0x0c; break;
        case 0x75:
          c = hex4(s, e);
          s += 4;
          break;
      }
    } else if (c >= 0xf0) {
      c = ((c & 7) << 18) | ((<u32>load<u8>(s) & 63) << 12) | ((<u32>load<u8>(s + 1) & 63) << 6) | (<u32>load<u8>(s + 2) & 63);
      s += 3;
      c -= 0x10000;
      store<u16>(o, 0xd800 | (c >> 10));
      o += 2;
      c = 0xdc00 | (c & 0x3ff);
    } else if (c >= 0xe0) {
      c = ((c & 15) << 12) | ((<u32>load<u8>(s) & 63) << 6) | (<u32>load<u8>(s + 1) & 63);
      s += 2;
    } else if (c >= 0xc0) {
      c = ((c & 31) << 6) | (<u32>load<u8>(s) & 63);
      s++;
    }
    store<u16>(o, c);
    o += 2;
  }
  return changetype<string>(__renew(out, o - out));
}

/** Within 1e-14 of the number that the text stands for; exact for up to 15 digits and exponents up to 22. */
function double(s: usize, e: usize): f64 {
  const negative = load<u8>(s) == 0x2d;
  if (negative) s++;
  let m: u64 = 0;
  let exponent: i64 = 0;
  let point: i64 = 0;
  for (; s < e; s++) {
    const c = load<u8>(s);
    if (c == 0x2e) {
      point = 1;
    } else if (c > 0x39) {
      break;
    } else if (m < 100000000000000000) {
      m = m * 10 + (c - 0x30);
      exponent -= point;
    } else {
      exponent += 1 - point;
    }
  }
  if (s < e) {
    const down = load<u8>(++s) == 0x2d;
    let x: i64 = 0;
    for (; s < e; s++) {
      const c = load<u8>(s);
      if (c >= 0x30 && x < 100000) x = x * 10 + (c - 0x30);
    }
    exponent += down ? -x : x;
  }
  let d = <f64>m;
  if (m != 0) {
    let n = exponent < 0 ? -exponent : exponent;
    // In two steps, so that the factor itself stays in range.
    for (let rest = min<i64>(n - 300, 400); rest > 0; rest--) d = exponent < 0 ? d / 10 : d * 10;
    n = min<i64>(n, 300);
    let f: f64 = 1;
    for (let p: f64 = 10; n > 0; n >>= 1, p *= p) if (n & 1) f *= p;
    d = exponent < 0 ? d / f : d * f;
  }
  return negative ? -d : d;
}

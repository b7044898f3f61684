// The JSON reader: one pass over UTF-8 that checks and indexes. Strings are decoded when they are asked for.
//
// A document becomes nodes of 16 bytes, in the order of its text: u32 address of the node's text, u32 its length, u32 how many
// nodes it takes up (itself included), u8 kind, u8 flags. A member of an object is two nodes: its key, and its value.

import { alloc, extend } from "./arena";

export const NODE: usize = 16;

/** What a value is. */
export const enum Kind {
  /** Not there: a missing member, the element of something that is no array. */
  Absent = 0,
  Null,
  Bool,
  Number,
  String,
  Array,
  Object,
}

/** Flags of a string: it has escapes; it has bytes above 0x7f. Of a bool: it is true. */
export const ESCAPED: u8 = 1;
export const WIDE: u8 = 2;
export const TRUE: u8 = 4;

/** The deepest nesting that is read, the same as the host's. */
const DEPTH = 64;

/** Why the last `parse` returned 0, and behind how many bytes. */
export let why: string = "";
export let whyAt: usize = 0;

const ONES: u64 = 0x0101010101010101;
const HIGH: u64 = 0x8080808080808080;

/** The first byte from s on that needs attention in a string: '"', '\', below 0x20 or above 0x7f. 8 bytes behind e are readable. */
function plainRun(s: usize, e: usize): usize {
  while (s < e) {
    const x = load<u64>(s);
    // A borrow can only mark bytes above a true hit, and a byte above 0x7f is a hit itself: the lowest mark is exact.
    const hit = ((x - ONES * 0x20) | ((x ^ (ONES * 0x22)) - ONES) | ((x ^ (ONES * 0x5c)) - ONES) | x) & HIGH;
    if (hit) return min(s + <usize>(ctz(hit) >> 3), e);
    s += 8;
  }
  return e;
}

@inline
function tail(s: usize, i: usize): bool {
  return (load<u8>(s + i) & 0xc0) == 0x80;
}

/** The length of the well-formed UTF-8 sequence at s, or 0: overlong, a surrogate, too large, cut off. */
function sequence(s: usize, e: usize): usize {
  const n = e - s;
  const c = load<u8>(s);
  if (c < 0xc2 || c > 0xf4) return 0;
  if (c < 0xe0) return n >= 2 && tail(s, 1) ? 2 : 0;
  const second = n >= 2 ? load<u8>(s + 1) : 0;
  if (c < 0xf0) {
    if (n < 3 || !tail(s, 1) || !tail(s, 2)) return 0;
    return (c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ? 0 : 3;
  }
  if (n < 4 || !tail(s, 1) || !tail(s, 2) || !tail(s, 3)) return 0;
  return (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f) ? 0 : 4;
}

/** The four hexadecimal digits at s, or -1. */
export function hex4(s: usize, e: usize): i32 {
  if (e - s < 4) return -1;
  let v = 0;
  for (let i: usize = 0; i < 4; i++) {
    const c = <i32>load<u8>(s + i);
    let d = c - 0x30;
    if (<u32>d > 9) {
      d = (c | 0x20) - 0x61 + 10;
      if (d < 10 || d > 15) return -1;
    }
    v = (v << 4) | d;
  }
  return v;
}

let flags: u8 = 0;

function refuse(text: string): usize {
  why = text;
  return 0;
}

/** Checks the string behind an opening quote; what follows the closing one, or 0. Sets flags. */
function scanString(s: usize, e: usize): usize {
  flags = 0;
  while (true) {
    s = plainRun(s, e);
    whyAt = s;
    if (s >= e) return refuse("a string does not end");
    const c = load<u8>(s);
    if (c == 0x22) return s + 1;
    if (c < 0x20) return refuse("a control character in a string");
    if (c >= 0x80) {
      const n = sequence(s, e);
      if (n == 0) return refuse("invalid UTF-8");
      flags |= WIDE;
      s += n;
      continue;
    }
    flags |= ESCAPED;
    if (e - s < 2) return refuse("a string does not end");
    switch (load<u8>(s + 1)) {
      case 0x22: case 0x5c: case 0x2f: case 0x62: case 0x66: case 0x6e: case 0x72: case 0x74:
        s += 2;
        continue;
      case 0x75: {
        const u = hex4(s + 2, e);
        if (u < 0) break;
        s += 6;
        if (u < 0xd800 || u > 0xdfff) continue;
        const low = u < 0xdc00 && e - s >= 6 && load<u8>(s) == 0x5c && load<u8>(s + 1) == 0x75 ? hex4(s + 2, e) : -1;
        if (low < 0xdc00 || low > 0xdfff) return refuse("half a surrogate pair");
        s += 6;
        continue;
      }
    }
    return refuse("an unknown escape in a string");
  }
}

@inline
function digit(s: usize, e: usize): bool {
  return s < e && <u8>(load<u8>(s) - 0x30) <= 9;
}

/** What follows the number at s, or 0. */
function scanNumber(s: usize, e: usize): usize {
  if (s < e && load<u8>(s) == 0x2d) s++;
  if (!digit(s, e)) return 0;
  if (load<u8>(s) == 0x30) s++;
  else while (digit(s, e)) s++;
  if (s < e && load<u8>(s) == 0x2e) {
    if (!digit(++s, e)) return 0;
    while (digit(s, e)) s++;
  }
  if (s < e && (load<u8>(s) | 0x20) == 0x65) {
    s++;
    if (s < e && (load<u8>(s) == 0x2b || load<u8>(s) == 0x2d)) s++;
    if (!digit(s, e)) return 0;
    while (digit(s, e)) s++;
  }
  return s;
}

@inline
function white(s: usize, e: usize): usize {
  while (s < e) {
    const c = load<u8>(s);
    if (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09) break;
    s++;
  }
  return s;
}

const open = memory.data(DEPTH * 4);
let nodes: usize = 0;
let count: u32 = 0;
let room: u32 = 0;

/** Appends a node and returns its address. */
function node(at: usize, kind: Kind): usize {
  if (count == room) {
    nodes = extend(nodes, <usize>room * NODE, <usize>room * NODE * 2);
    room *= 2;
  }
  const v = nodes + <usize>count * NODE;
  count++;
  store<u32>(v, <u32>at);
  store<u32>(v, 1, 8);
  store<u32>(v, <u32>kind, 12);
  return v;
}

/** Whether the text at s begins with a word of four letters, given as a number. */
@inline
function word(s: usize, e: usize, four: u32): bool {
  return e - s >= 4 && load<u32>(s) == four;
}

/**
 * Reads one document, strictly: valid JSON, valid UTF-8, whole surrogate pairs, nothing behind it, 64 levels at most. Returns the
 * address of its first node, or 0; `why` and `whyAt` then say what is wrong. The text, with 8 readable bytes behind it, must stay as
 * it is for as long as values are used.
 */
export function parse(start: usize, size: usize): usize {
  const e = start + size;
  let s = start;
  let depth = 0;
  room = 64;
  count = 0;
  nodes = alloc(<usize>room * NODE);
  let key = false;
  while (true) {
    // A value, or the key of one.
    s = white(s, e);
    if (s >= e) return fault(start, e, "the document ends early");
    const c = load<u8>(s);
    let next: usize = 0;
    if (c == 0x22) {
      const index = count;
      node(s, Kind.String);
      next = scanString(s + 1, e);
      if (next == 0) return fault(start, whyAt, why);
      const v = nodes + <usize>index * NODE;
      store<u32>(v, <u32>(next - s), 4);
      store<u8>(v, flags, 13);
      s = next;
      if (key) {
        s = white(s, e);
        if (s >= e || load<u8>(s) != 0x3a) return fault(start, s, "no colon behind a key");
        s++;
        key = false;
        continue;
      }
    } else if (key) {
      return fault(start, s, "no key where one must be");
    } else if (c == 0x7b || c == 0x5b) {
      if (depth == DEPTH) return fault(start, s, "nested too deeply");
      store<u32>(open + (<usize>depth << 2), count);
      depth++;
      node(s, c == 0x7b ? Kind.Object : Kind.Array);
      s = white(s + 1, e);
      if (s >= e || load<u8>(s) != (c == 0x7b ? 0x7d : 0x5d)) {
        key = c == 0x7b;
        continue;
      }
    } else if (c == 0x74 || c == 0x66) {
      const v = node(s, Kind.Bool);
      if (c == 0x74 && word(s, e, 0x65757274)) {
        store<u8>(v, TRUE, 13);
        next = s + 4;
      } else if (c == 0x66 && e - s >= 5 && word(s + 1, e, 0x65736c61)) {
        next = s + 5;
      } else {
        return fault(start, s, "not JSON");
      }
      store<u32>(v, <u32>(next - s), 4);
      s = next;
    } else {
      const v = node(s, c == 0x6e ? Kind.Null : Kind.Number);
      if (c == 0x6e) next = word(s, e, 0x6c6c756e) ? s + 4 : 0;
      else next = scanNumber(s, e);
      if (next == 0) return fault(start, s, "not JSON");
      store<u32>(v, <u32>(next - s), 4);
      s = next;
    }
    // What follows it: closing brackets, then a comma or the end.
    while (true) {
      s = white(s, e);
      if (depth == 0) {
        if (s == e) return nodes;
        return fault(start, s, "text behind the document");
      }
      if (s >= e) return fault(start, e, "the document ends early");
      const index = load<u32>(open + (<usize>(depth - 1) << 2));
      const v = nodes + <usize>index * NODE;
      const object = load<u8>(v, 12) == <u8>Kind.Object;
      const f = load<u8>(s++);
      if (f == 0x2c) {
        key = object;
        break;
      }
      if (f != (object ? 0x7d : 0x5d)) return fault(start, s - 1, "not JSON");
      store<u32>(v, <u32>s - load<u32>(v), 4);
      store<u32>(v, count - index, 8);
      depth--;
    }
  }
}

function fault(start: usize, at: usize, text: string): usize {
  why = text;
  whyAt = at - start;
  return 0;
}

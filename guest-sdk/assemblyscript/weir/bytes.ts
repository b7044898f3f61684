// Bytes between the host and the guest.

import { alloc, extend, shrink } from "./arena";

/** Bytes in the arena, valid for this call. */
export let read: usize = 0;
export let readSize: usize = 0;

const FIRST: usize = 16 << 10;

/**
 * Reads all that a reader of the host has into the arena; `read` and `readSize` then say where. One call of the host when it is
 * less than 16 KiB, three otherwise. Behind it are 8 bytes more that may be read.
 */
export function readAll(reader: (index: u32, to: usize, offset: u32, size: u32) => u32, index: u32): void {
  let at = alloc(FIRST + 8);
  let size = <usize>reader(index, at, 0, <u32>FIRST);
  if (size == FIRST) {
    const all = <usize>reader(index, at, 0, 0);
    at = extend(at, FIRST + 8, all + 8);
    while (size < all) {
      const more = <usize>reader(index, at + size, <u32>size, <u32>(all - size));
      if (more == 0) break;
      size += more;
    }
  } else {
    shrink(at, size + 8);
  }
  read = at;
  readSize = size;
}

/** Where `encode` put its bytes, and how many. */
export let encoded: usize = 0;
export let encodedSize: u32 = 0;

/** Writes a text as UTF-8 into the arena; half a surrogate pair becomes U+FFFD. */
export function encode(text: string): void {
  const most = <usize>text.length * 3 + 4;
  encoded = alloc(most);
  encodedSize = <u32>String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, encoded, false, String.UTF8.ErrorMode.REPLACE);
  shrink(encoded, encodedSize);
}

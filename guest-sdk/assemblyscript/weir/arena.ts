// Memory for one call: what the host hands over, and the values of parsed documents. Strings and objects are AssemblyScript's.

/** A chunk begins with the address of the one before it, and its size. */
const HEADER: usize = 16;
const SMALLEST: usize = 64 << 10;
/** Kept between calls, so that a large event does not cost a small one its memory for ever. */
const KEPT: usize = 1 << 20;

let chunk: usize = 0;
let top: usize = 0;
let end: usize = 0;

function add(size: usize): void {
  const c = heap.alloc(size);
  store<usize>(c, chunk);
  store<usize>(c, size, sizeof<usize>());
  chunk = c;
  top = c + HEADER;
  end = c + size;
}

/** Takes back all memory: values and views of earlier calls are then void. */
export function reset(): void {
  if (chunk == 0) return;
  const before = load<usize>(chunk);
  if (before == 0 && end - chunk <= KEPT) {
    top = chunk + HEADER;
    return;
  }
  let total: usize = 0;
  for (let c = chunk; c != 0; ) {
    const next = load<usize>(c);
    total += load<usize>(c, sizeof<usize>());
    heap.free(c);
    c = next;
  }
  chunk = top = end = 0;
  add(min(total, KEPT));
}

/** `size` bytes, aligned to 8, not cleared. */
export function alloc(size: usize): usize {
  size = (size + 7) & ~7;
  if (end - top < size) add(max(max(size + HEADER, (end - chunk) << 1), SMALLEST));
  const at = top;
  top += size;
  return at;
}

/** Makes room for `size` bytes where `old` were; in place when they were the last that were taken. */
export function extend(at: usize, old: usize, size: usize): usize {
  if (at + ((old + 7) & ~7) == top && end - at >= size + 7) {
    top = at + ((size + 7) & ~7);
    return at;
  }
  const to = alloc(size);
  memory.copy(to, at, min(old, size));
  return to;
}

/** Gives back what follows the first `size` bytes of the last that were taken. */
export function shrink(at: usize, size: usize): void {
  top = at + ((size + 7) & ~7);
}

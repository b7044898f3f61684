// Writing JSON. JSON is text: what a function here is given as `json` must be that, and the caller vouches for it. The host reads
// answers strictly; what is not JSON is a fault.

/** A text as JSON. */
export function quote(text: string): string {
  const n = text.length;
  let more = 0;
  for (let i = 0; i < n; i++) {
    const c = text.charCodeAt(i);
    if (c == 0x22 || c == 0x5c || c == 0x0a || c == 0x0d || c == 0x09) more++;
    else if (c < 0x20) more += 5;
  }
  const out = changetype<usize>(__new(<usize>(n + more + 2) << 1, idof<string>()));
  store<u16>(out, 0x22);
  let o = out + 2;
  for (let i = 0; i < n; i++) {
    const c = text.charCodeAt(i);
    let short = 0;
    if (c == 0x22 || c == 0x5c) short = c;
    else if (c == 0x0a) short = 0x6e;
    else if (c == 0x0d) short = 0x72;
    else if (c == 0x09) short = 0x74;
    if (short != 0) {
      store<u16>(o, 0x5c);
      store<u16>(o, short, 2);
      o += 4;
    } else if (c < 0x20) {
      store<u64>(o, 0x0030_0030_0075_005c); // \u00
      store<u16>(o, c >> 4 ? 0x31 : 0x30, 8);
      const low = c & 15;
      store<u16>(o, low < 10 ? 0x30 + low : 0x57 + low, 10);
      o += 12;
    } else {
      store<u16>(o, c);
      o += 2;
    }
  }
  store<u16>(o, 0x22);
  return changetype<string>(out);
}

/** A text for people and models as JSON: without NUL, which the host would refuse. */
export function words(text: string): string {
  return quote(text.includes("\0") ? text.replaceAll("\0", "\u{fffd}") : text);
}

/**
 * A text that grows: `new Text().add("a").add("b").toString()`. Adding to a string in a long loop leaves a copy of it behind each
 * time, and those are collected only when the call is over.
 */
export class Text {
  private units: StaticArray<u16> = new StaticArray<u16>(64);
  /** In UTF-16 units, as of a string. */
  length: i32 = 0;

  add(text: string): Text {
    const n = this.length + text.length;
    if (n > this.units.length) {
      const more = new StaticArray<u16>(max(n, this.units.length << 1));
      memory.copy(changetype<usize>(more), changetype<usize>(this.units), <usize>this.length << 1);
      this.units = more;
    }
    memory.copy(changetype<usize>(this.units) + (<usize>this.length << 1), changetype<usize>(text), <usize>text.length << 1);
    this.length = n;
    return this;
  }
  /** Adds a comma when something stands there already. */
  comma(): Text {
    return this.length > 0 ? this.add(",") : this;
  }
  toString(): string {
    const size = <usize>this.length << 1;
    const out = changetype<string>(__new(size, idof<string>()));
    memory.copy(changetype<usize>(out), changetype<usize>(this.units), size);
    return out;
  }
}

/** An array of texts as JSON. */
export function quoteAll(texts: string[]): string {
  const out = new Text();
  for (let i = 0; i < texts.length; i++) out.comma().add(quote(texts[i]));
  return "[" + out.toString() + "]";
}

/** An object as JSON, written member by member: `new ObjectWriter().set("a", "1").text("b", "x").json`. */
export class ObjectWriter {
  private members: Text = new Text();

  /** Adds a member whose value is JSON. Keys must differ. */
  set(key: string, json: string): ObjectWriter {
    this.members.comma().add(quote(key)).add(":").add(json);
    return this;
  }
  /** Adds a member that is a text. */
  text(key: string, value: string): ObjectWriter {
    return this.set(key, quote(value));
  }
  get empty(): bool {
    return this.members.length == 0;
  }
  get json(): string {
    return "{" + this.members.toString() + "}";
  }
}

/** The content of a message or a result: one block of text. */
export function textContent(text: string): string {
  return '[{"type":"text","text":' + words(text) + "}]";
}

/**
 * Keccak-256 with the padding from before SHA-3, as Ethereum uses it. This file assembles it as a WebAssembly function,
 * because JavaScript has no 64-bit rotations: a third of the time of the native package `keccak`, a twentieth of
 * portable code.
 *
 * Thread: an instance belongs to one thread, with a memory of 64 KiB. Non-goals: other digests; browsers, whose policies
 * may forbid WebAssembly.
 */

/** No library of types that node and client share has these values. */
const { WebAssembly: wasm } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Memory: new (pages: {
      readonly initial: number;
      readonly maximum: number;
    }) => { readonly buffer: ArrayBuffer };
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (
      module: object,
      imports: object,
    ) => { readonly exports: { readonly absorb: Absorb } };
  };
};

/** Input of one permutation of the state. */
const RATE_BYTES = 136;
const DIGEST_BYTES = 32;
/** First bit of the padding; SHA-3 has another one. */
const PADDING_BEGIN = 0x01;
const PADDING_END = 0x80;

const LANES = 25;
const LANE_BYTES = 8;
const RATE_LANES = RATE_BYTES / LANE_BYTES;
const ROUNDS = 24;

/** Memory: the state, whose first bytes are the digest; constants of the rounds; a part of a message; fixed messages. */
const CONSTANTS_AT = LANES * LANE_BYTES;
const PART_AT = CONSTANTS_AT + ROUNDS * LANE_BYTES;
const PART_BLOCKS = 60;
const PART_BYTES = PART_BLOCKS * RATE_BYTES;
const MESSAGES_AT = PART_AT + PART_BYTES;

/**
 * Updates the state by blocks of padded input.
 *
 * @param at first byte in the memory
 * @param blocks at least 1
 * @param continues 0 = begins with an empty state
 */
type Absorb = (at: number, blocks: number, continues: 0 | 1) => void;

/** A message of constant length, whose bytes are written where they are hashed. */
export class FixedMessage {
  /** Zero at first. */
  readonly bytes: Uint8Array;
  readonly #digest: Uint8Array;
  readonly #absorb: () => void;

  /** @param padded zeros of whole blocks */
  constructor(padded: Uint8Array, length: number, digest: Uint8Array, absorb: () => void) {
    pad(padded, length);
    this.bytes = padded.subarray(0, length);
    this.#digest = digest;
    this.#absorb = absorb;
  }

  /** @returns the digest, which the next hash of the same instance overwrites */
  hash(): Uint8Array {
    this.#absorb();
    return this.#digest;
  }
}

export class Keccak {
  readonly #memory: Uint8Array;
  readonly #part: Uint8Array;
  readonly #digest: Uint8Array;
  readonly #absorb: Absorb;
  /** End of the fixed messages. */
  #end = MESSAGES_AT;

  constructor() {
    const memory = new wasm.Memory({ initial: 1, maximum: 1 });
    const module = new wasm.Module(assemble());
    this.#absorb = new wasm.Instance(module, { env: { memory } }).exports.absorb;
    this.#memory = new Uint8Array(memory.buffer);
    this.#part = this.#memory.subarray(PART_AT, PART_AT + PART_BYTES);
    this.#digest = this.#memory.subarray(0, DIGEST_BYTES);
    const constants = new DataView(memory.buffer, CONSTANTS_AT);
    roundConstants().forEach((value, i) => {
      constants.setBigUint64(i * LANE_BYTES, value, true);
    });
  }

  hash(data: Uint8Array): Uint8Array {
    let at = 0;
    let continues: 0 | 1 = 0;
    for (; data.length - at >= PART_BYTES; at += PART_BYTES) {
      this.#part.set(data.subarray(at, at + PART_BYTES));
      this.#absorb(PART_AT, PART_BLOCKS, continues);
      continues = 1;
    }
    const rest = at === 0 ? data : data.subarray(at);
    const blocks = blocksOf(rest.length);
    const part = this.#part.subarray(0, blocks * RATE_BYTES);
    part.set(rest);
    part.fill(0, rest.length);
    pad(part, rest.length);
    this.#absorb(PART_AT, blocks, continues);
    return this.#digest.slice();
  }

  /** Reserves memory for a message that is hashed often; it is never returned. */
  fixedMessage(length: number): FixedMessage {
    const at = this.#end;
    const blocks = blocksOf(length);
    const end = at + blocks * RATE_BYTES;
    if (end > this.#memory.length) throw new RangeError('no memory for another message');
    this.#end = end;
    const absorb = this.#absorb;
    return new FixedMessage(this.#memory.subarray(at, end), length, this.#digest, () => {
      absorb(at, blocks, 0);
    });
  }
}

/** Blocks of a message with its padding of at least one byte. */
function blocksOf(length: number): number {
  return Math.floor(length / RATE_BYTES) + 1;
}

/** Both bits are in one byte where only one is left in the block. */
function pad(padded: Uint8Array, length: number): void {
  padded[length]! |= PADDING_BEGIN;
  padded[padded.length - 1]! |= PADDING_END;
}

/** Bits of a shift register at the places 2^j - 1. */
function roundConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: ROUNDS }, () => {
    let value = 0n;
    for (let j = 0; j <= 6; j++) {
      if ((register & 1) === 1) value |= 1n << BigInt(2 ** j - 1);
      register <<= 1;
      if (register > 0xff) register ^= 0x171;
    }
    return value;
  });
}

/** Bits by which lane x + 5y is rotated. */
function rotations(): number[] {
  const bits: number[] = [0];
  let [x, y] = [1, 0];
  for (let t = 1; t < LANES; t++) {
    bits[x + 5 * y] = ((t * (t + 1)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return bits;
}

/** Instructions of a WebAssembly function on 64-bit lanes, and on 32-bit numbers for its loops. */
class Code {
  readonly bytes: number[] = [];

  get(local: number): this {
    return this.#put(0x20, local);
  }

  set(local: number): this {
    return this.#put(0x21, local);
  }

  /** Sets a local and leaves its value. */
  tee(local: number): this {
    return this.#put(0x22, local);
  }

  /** Loads a lane from the address on the stack and an offset. */
  load(offset: number): this {
    this.#put(0x29, ALIGNED_TO_8);
    return this.unsigned(offset);
  }

  store(offset: number): this {
    this.#put(0x37, ALIGNED_TO_8);
    return this.unsigned(offset);
  }

  i32(value: number): this {
    return this.#put(0x41).#signed(value);
  }

  i64(value: number): this {
    return this.#put(0x42).#signed(value);
  }

  add32(): this {
    return this.#put(0x6a);
  }

  isLess32(): this {
    return this.#put(0x48);
  }

  and(): this {
    return this.#put(0x83);
  }

  xor(): this {
    return this.#put(0x85);
  }

  rotateLeft(): this {
    return this.#put(0x89);
  }

  if(): this {
    return this.#put(0x04, NO_VALUE);
  }

  loop(): this {
    return this.#put(0x03, NO_VALUE);
  }

  /** Begins the innermost loop again if the value on the stack is not 0. */
  repeatIf(): this {
    return this.#put(0x0d, 0);
  }

  end(): this {
    return this.#put(0x0b);
  }

  /** LEB128. */
  unsigned(value: number): this {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#put((rest & 0x7f) | 0x80);
    return this.#put(rest);
  }

  /** LEB128 whose last byte has the sign in bit 6. */
  #signed(value: number): this {
    let rest = value;
    for (; rest < -0x40 || rest > 0x3f; rest >>= 7) this.#put((rest & 0x7f) | 0x80);
    return this.#put(rest & 0x7f);
  }

  #put(...bytes: readonly number[]): this {
    this.bytes.push(...bytes);
    return this;
  }
}

const ALIGNED_TO_8 = 3;
const NO_VALUE = 0x40;
const I32 = 0x7f;
const I64 = 0x7e;

/** Parameters and locals of the function. */
const AT = 0;
const BLOCKS = 1;
const CONTINUES = 2;
/** Bytes of the constants that are used. */
const ROUND = 3;
const STATE = 4;
const PARITY = STATE + LANES;
const MIXED = PARITY + 5;
const MOVED = MIXED + 5;
const LOCALS_END = MOVED + LANES;

function absorbCode(): Code {
  const code = new Code();
  code.get(CONTINUES).if();
  for (let i = 0; i < LANES; i++)
    code
      .i32(0)
      .load(i * LANE_BYTES)
      .set(STATE + i);
  code.end().loop();
  for (let i = 0; i < RATE_LANES; i++) {
    code
      .get(STATE + i)
      .get(AT)
      .load(i * LANE_BYTES)
      .xor()
      .set(STATE + i);
  }
  code.i32(0).set(ROUND).loop();
  writeRound(code);
  code.get(ROUND).i32(LANE_BYTES).add32().tee(ROUND);
  code
    .i32(ROUNDS * LANE_BYTES)
    .isLess32()
    .repeatIf()
    .end();
  code.get(AT).i32(RATE_BYTES).add32().set(AT);
  code.get(BLOCKS).i32(-1).add32().tee(BLOCKS).repeatIf().end();
  for (let i = 0; i < LANES; i++)
    code
      .i32(0)
      .get(STATE + i)
      .store(i * LANE_BYTES);
  return code.end();
}

/** One round on the locals: theta, rho and pi, chi, iota. */
function writeRound(code: Code): void {
  for (let x = 0; x < 5; x++) {
    code.get(STATE + x);
    for (let lane = x + 5; lane < LANES; lane += 5) code.get(STATE + lane).xor();
    code.set(PARITY + x);
  }
  for (let x = 0; x < 5; x++) {
    code
      .get(PARITY + ((x + 4) % 5))
      .get(PARITY + ((x + 1) % 5))
      .i64(1)
      .rotateLeft()
      .xor();
    code.set(MIXED + x);
  }
  const bits = rotations();
  for (let lane = 0; lane < LANES; lane++) {
    const x = lane % 5;
    const y = (lane - x) / 5;
    code
      .get(STATE + lane)
      .get(MIXED + x)
      .xor()
      .i64(bits[lane]!)
      .rotateLeft();
    code.set(MOVED + y + 5 * ((2 * x + 3 * y) % 5));
  }
  for (let lane = 0; lane < LANES; lane++) {
    const row = MOVED + lane - (lane % 5);
    code
      .get(row + ((lane + 1) % 5))
      .i64(-1)
      .xor()
      .get(row + ((lane + 2) % 5))
      .and();
    code
      .get(MOVED + lane)
      .xor()
      .set(STATE + lane);
  }
  code.get(STATE).get(ROUND).load(CONSTANTS_AT).xor().set(STATE);
}

/** The WebAssembly module: an imported memory and the exported function `absorb`. */
function assemble(): Uint8Array {
  const sized = (bytes: readonly number[]): number[] => [
    ...new Code().unsigned(bytes.length).bytes,
    ...bytes,
  ];
  const letters = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));
  const name = (text: string): number[] => sized(letters(text));
  const locals = [2, 1, I32, LOCALS_END - STATE, I64];
  const sections: readonly (readonly [id: number, content: readonly number[]])[] = [
    [1, [1, 0x60, ...sized([I32, I32, I32]), 0]],
    [2, [1, ...name('env'), ...name('memory'), 0x02, 1, 1, 1]],
    [3, [1, 0]],
    [7, [1, ...name('absorb'), 0x00, 0]],
    [10, [1, ...sized([...locals, ...absorbCode().bytes])]],
  ];
  const version = [1, 0, 0, 0];
  const content = sections.flatMap(([id, bytes]) => [id, ...sized(bytes)]);
  return Uint8Array.from([...letters('\0asm'), ...version, ...content]);
}

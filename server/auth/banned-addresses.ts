/**
 * The addresses that are banned, in memory that the I/O thread writes and every thread reads: a hash table of
 * fixed size whose places are never moved. A lifted ban leaves its place behind, for the same address.
 *
 *   count | places: state, five words of the address
 *
 * Thread: any; written by one.
 */
import assert from 'node:assert/strict';

const ADDRESS_WORDS = 5;
const PLACE_WORDS = 1 + ADDRESS_WORDS;
const PLACES = 2 ** 16;
/** Half of the places stay free, so a search ends soon. */
const USED_MAX = PLACES / 2;
const HEAD_WORDS = 2;
const USED = 1;

const State = { free: 0, banned: 1, lifted: 2 } as const;

export class BannedAddresses {
  readonly memory: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(
    memory = new SharedArrayBuffer(
      Int32Array.BYTES_PER_ELEMENT * (HEAD_WORDS + PLACES * PLACE_WORDS),
    ),
  ) {
    this.memory = memory;
    this.words = new Int32Array(memory);
  }

  /** Looks up an address of five words; one read where no wallet is banned. */
  has(address: Int32Array): boolean {
    if (Atomics.load(this.words, 0) === 0) return false;
    return Atomics.load(this.words, this.placeOf(address)) === State.banned;
  }

  hasRoom(): boolean {
    return this.words[USED]! < USED_MAX;
  }

  set(address: Int32Array, isBanned: boolean): void {
    const place = this.placeOf(address);
    const before = this.words[place]!;
    if ((before === State.banned) === isBanned) return;
    if (before === State.free) {
      assert(this.hasRoom(), 'the caller has looked for room');
      this.words.set(address, place + 1);
      this.words[USED]! += 1;
    }
    Atomics.store(this.words, place, isBanned ? State.banned : State.lifted);
    Atomics.add(this.words, 0, isBanned ? 1 : -1);
  }

  private placeOf(address: Int32Array): number {
    const { words } = this;
    // An address is a hash already.
    for (let at = (address[4]! ^ address[0]!) & (PLACES - 1); ; at = (at + 1) & (PLACES - 1)) {
      const place = HEAD_WORDS + at * PLACE_WORDS;
      if (Atomics.load(words, place) === State.free || isAt(words, place + 1, address))
        return place;
    }
  }
}

function isAt(words: Int32Array, at: number, address: Int32Array): boolean {
  for (let i = 0; i < ADDRESS_WORDS; i++) if (words[at + i] !== address[i]) return false;
  return true;
}

/**
 * Patch that makes the Linux files of uWebSockets.js 20.57.0 load on glibc 2.36 and 2.37 (Debian 12).
 *
 * They require glibc 2.38 only because their compiler renames strtol, strtoul and sscanf to their C23 forms.
 * Those differ only in reading binary literals (`0b1`). A copy that requires the plain names, at the version
 * every glibc of that processor has, does the same work.
 *
 * Pure functions: bytes in, bytes out. Loading is uws.ts. Not a general ELF tool: every file is pinned by the
 * SHA-256 of its source and of its result, and anything else is refused.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

interface Pin {
  readonly source: string;
  readonly result: string;
}

/** SHA-256 of each file as published and as patched, by file name (the number is Node's ABI). */
export const PINS: ReadonlyMap<string, Pin> = new Map([
  [
    'uws_linux_x64_115.node',
    {
      source: '5b126ee00bf754b02e97e4c27090365a8562c5820c93f93918ac2212d4503e91',
      result: '0fdb9722352c4e0f519b42ad8b0c2bd4544b2c27484c1d49ddf143bfd1637cbb',
    },
  ],
  [
    'uws_linux_x64_127.node',
    {
      source: '4b55b1f2cb7a7913febbb65a89496412b96af77e838552980092ba6b33723aac',
      result: '4ea0943df7d3202b3ada5eb01c40c37c63bb192fd9c7b1abae5082c5cc1f2803',
    },
  ],
  [
    'uws_linux_x64_137.node',
    {
      source: '98128405dba2fb608448e921a979530f70c946a2cc9889c15f2fa70c2d00ab05',
      result: '8d5817f3a52803cb69a0e3d54f6487b533fda603aa63dab8ea09f9762d992e0b',
    },
  ],
  [
    'uws_linux_arm64_115.node',
    {
      source: '6bdbc8ff976b4371af1906175e9025804bacc38a414969f4f02314e6b99f206c',
      result: '68016401b908e59200b227ade8fe6b36bc9f8e30892e54cefd590a960612d7a6',
    },
  ],
  [
    'uws_linux_arm64_127.node',
    {
      source: '82b79bd18d1e3563de336156005bd01b7f39fc387b65173d69a29da4ee79f895',
      result: 'b28ee349e8a15aa5fd30988fc3935eb1b8898e44f27f2ae903ad9e959567c1e6',
    },
  ],
  [
    'uws_linux_arm64_137.node',
    {
      source: '88618b30ddf6b2b62310db89f40a701616676352aac5e0f6184dd8ef876199ce',
      result: '84c03ca18de632e52cce378f073f8b008c0817c957d2e475284ce08f75c88a77',
    },
  ],
]);

const NEW_VERSION = 'GLIBC_2.38';
const NEW_PREFIX = '__isoc23_';
const NEW_NAMES = ['__isoc23_strtol', '__isoc23_strtoul', '__isoc23_sscanf'];

/** ELF machine number to the first glibc version of that processor, which all old names carry. */
const BASE_VERSIONS: ReadonlyMap<number, string> = new Map([
  [62, 'GLIBC_2.2.5'], // x86-64
  [183, 'GLIBC_2.17'], // aarch64
]);

const SECTION_STRING_TABLE = 3;
const SECTION_DYNAMIC_SYMBOLS = 11;
const SYMBOL_BYTES = 24;
const SECTION_VERSION_NEEDS = 0x6ffffffe;

type Patched =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly detail: string };

/**
 * Patched copy of a published file, checked before and after. For a file that is not pinned, `detail` names
 * it and the difference.
 */
export function patchedBinary(name: string, source: Uint8Array): Patched {
  const pin = PINS.get(name);
  if (pin === undefined) return { ok: false, detail: `there is no known patch for ${name}` };
  const found = sha256(source);
  if (found !== pin.source) {
    return { ok: false, detail: `${name} has SHA-256 ${found}, expected ${pin.source}` };
  }
  const bytes = retarget(source);
  assert.equal(sha256(bytes), pin.result, 'a pinned source gives the pinned result');
  return { ok: true, bytes };
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Copy of an ELF file that requires the old names instead of the C23 ones. */
function retarget(source: Uint8Array): Buffer {
  const file = Buffer.from(source);
  assert(file.toString('latin1', 0, 4) === '\x7fELF', 'an ELF file');
  assert(file[4] === 2 && file[5] === 1, '64 bits, little endian');
  const all = sections(file);
  const needs = all.find((section) => section.type === SECTION_VERSION_NEEDS);
  const symbols = all.find((section) => section.type === SECTION_DYNAMIC_SYMBOLS);
  assert(needs !== undefined && symbols !== undefined, 'the file imports versioned symbols');
  const strings = all[needs.link];
  assert(strings?.type === SECTION_STRING_TABLE, 'version names lie in a string table');
  assert(symbols.link === needs.link, 'symbol names lie in the same table');

  const baseVersion = BASE_VERSIONS.get(file.readUInt16LE(18));
  assert(baseVersion !== undefined, 'a processor with a known first glibc version');
  replaceVersion(file, needs, strings, baseVersion);
  renameSymbols(file, symbols, strings);
  return file;
}

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  /** Index of the section with the names of this one. */
  readonly link: number;
}

function sections(file: Buffer): Section[] {
  const table = Number(file.readBigUInt64LE(40));
  const entryBytes = file.readUInt16LE(58);
  const count = file.readUInt16LE(60);
  return Array.from({ length: count }, (_, index) => {
    const entry = table + index * entryBytes;
    return {
      type: file.readUInt32LE(entry + 4),
      offset: Number(file.readBigUInt64LE(entry + 24)),
      size: Number(file.readBigUInt64LE(entry + 32)),
      link: file.readUInt32LE(entry + 40),
    };
  });
}

function stringOffset(file: Buffer, table: Section, text: string): number | undefined {
  const strings = file.subarray(table.offset, table.offset + table.size);
  const at = strings.indexOf(`\0${text}\0`, 0, 'latin1');
  return at < 0 ? undefined : at + 1;
}

/**
 * Walks the version-needs section (a list of libraries, each with a list of versions) and points the entry of
 * the new version at the old one. The loader compares hash and name.
 */
function replaceVersion(file: Buffer, needs: Section, strings: Section, baseVersion: string): void {
  const newName = stringOffset(file, strings, NEW_VERSION);
  const baseName = stringOffset(file, strings, baseVersion);
  assert(newName !== undefined && baseName !== undefined, 'both version names are there');
  let replaced = 0;
  let library = needs.offset;
  for (;;) {
    const versionCount = file.readUInt16LE(library + 2);
    let version = library + file.readUInt32LE(library + 8);
    for (let index = 0; index < versionCount; index += 1) {
      if (file.readUInt32LE(version + 8) === newName) {
        assert(file.readUInt32LE(version) === elfHash(NEW_VERSION), 'hash and name agree');
        file.writeUInt32LE(elfHash(baseVersion), version);
        file.writeUInt32LE(baseName, version + 8);
        replaced += 1;
      }
      version += file.readUInt32LE(version + 12);
    }
    const next = file.readUInt32LE(library + 12);
    if (next === 0) break;
    library += next;
  }
  assert(replaced === 1, 'one library asks for the new version');
}

/**
 * Lets the imports of the new names start behind their prefix, where the old names stand. The
 * strings themselves must stay: the linker shares tails, and in these files the `strtol` inside
 * `__isoc23_strtol` is also the name of another import.
 */
function renameSymbols(file: Buffer, symbols: Section, strings: Section): void {
  const newNames = NEW_NAMES.map((name) => stringOffset(file, strings, name));
  let renamed = 0;
  for (let at = symbols.offset; at < symbols.offset + symbols.size; at += SYMBOL_BYTES) {
    const name = file.readUInt32LE(at);
    if (name === 0 || !newNames.includes(name)) continue;
    assert(file.readUInt16LE(at + 6) === 0, 'an import, which no hash table of the file lists');
    file.writeUInt32LE(name + NEW_PREFIX.length, at);
    renamed += 1;
  }
  assert(renamed === newNames.filter((name) => name !== undefined).length, 'each name once');
}

/** The hash of the System V ABI, by which a loader compares version names. */
function elfHash(text: string): number {
  let hash = 0;
  for (const byte of Buffer.from(text, 'latin1')) {
    hash = (hash << 4) + byte;
    const top = hash & 0xf0000000;
    hash = (hash ^ (top >>> 24)) & ~top;
  }
  return hash >>> 0;
}

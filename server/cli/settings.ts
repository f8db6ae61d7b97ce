/** Settings from environment and options. All problems are reported together. */

import { availableParallelism } from 'node:os';
import { conditionKey } from '../../storage/catalog/condition-ids.ts';
import { isAddressText } from '../auth/checksum.ts';
import { decimalToSafe, hexToBytes, isUint256 } from '../common/uint256.ts';
import { type Config, readConfig } from '../config/config.ts';
import { type Context, type Options, Refused } from './context.ts';

const ADDRESS_BYTES = 20;
const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** Configuration of the node that would start here. Throws Refused with every problem. */
export function configOf({ dataDir, env }: Context): Config {
  const read = readConfig({ ...env, DATA_DIR: dataDir }, [], availableParallelism());
  if (!read.ok) throw new Refused(read.problems.join('\n'));
  return read.config;
}

export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Parses an option; `undefined` without it. `parse` gets the flag for its messages. */
export function optionOf<T>(
  options: Options,
  name: string,
  parse: (text: string, flag: string) => T,
): T | undefined {
  const text = textOf(options, name);
  return text === undefined ? undefined : parse(text, `--${name}`);
}

/** Parses a whole number below 2^53, at least `min`. */
export function numberOf(text: string, what: string, min = 0): number {
  const number = decimalToSafe(text);
  if (number < min) throw new Refused(`${what} must be a whole number from ${min}, not "${text}"`);
  return number;
}

export function addressOf(text: string, what: string): Uint8Array {
  const bytes = new Uint8Array(ADDRESS_BYTES);
  if (!isAddressText(text) || !hexToBytes(text, ADDRESS_BYTES, bytes, 0)) {
    throw new Refused(`${what} must be an address, 0x and 40 hexadecimal digits, not "${text}"`);
  }
  return bytes;
}

export function tokenOf(text: string): string {
  if (!isUint256(text)) throw new Refused(`a token id is a decimal number, not "${text}"`);
  return text;
}

/** Checks a market: condition id (returned in lower case), number or slug. */
export function marketOf(text: string): string {
  if (text === '') throw new Refused('which market? Its number, slug or condition id is empty');
  if (!/^0x/i.test(text)) return text;
  const condition = conditionKey(text);
  if (condition !== undefined) return condition;
  throw new Refused(`a condition id is 0x and 64 hexadecimal digits, not "${text}"`);
}

/** Unix milliseconds of unix seconds, or of an ISO 8601 time. */
export function timeOf(text: string, what: string): number {
  const ms = /^\d{1,11}(\.\d{1,3})?$/.test(text)
    ? Math.round(Number(text) * 1_000)
    : Date.parse(text);
  if (Number.isNaN(ms)) {
    throw new Refused(
      `${what} must be unix seconds or a time such as 2026-11-22T12:00:00Z, not "${text}"`,
    );
  }
  return ms;
}

/** Seconds of a length of time such as 90m, 24h or 7d. */
export function secondsOf(text: string, what: string): number {
  const [, count, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  if (count === undefined) {
    throw new Refused(`${what} must be a time such as 90m, 24h or 7d, not "${text}"`);
  }
  return Number(count) * SECONDS[unit as keyof typeof SECONDS];
}

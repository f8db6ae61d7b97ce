/**
 * Replaces names in the input of an operation by addresses, condition ids and event numbers, before the input
 * enters the audit log.
 *
 * Thread: I/O, or that of a command on a stopped directory.
 */
import { conditionKey } from '../../storage/catalog/condition-ids.ts';
import { bytesToHex } from '../common/uint256.ts';
import { OperationRefused, refused } from './operation-row.ts';
import { WALLET_REF } from './operation-schemas.ts';
import { type OperationKey, operationRows } from './operation-table.ts';
import { EVENT_REF, MARKET_REF } from './venue-schemas.ts';

/** Result of looking a number or a slug up; `many`: several have the slug. */
type Named = { readonly found: string } | 'none' | 'many';

interface InputNames {
  /** 20 bytes; undefined where no wallet has the name. */
  readonly wallet: (name: string) => Uint8Array | undefined;
  /** A market's condition id, and an event's number; each by its number or its slug. */
  readonly market: (text: string) => Named;
  readonly event: (text: string) => Named;
}

export type ResolveNames = (key: OperationKey, input: object) => object | OperationRefused;

const NO_WALLET = refused('UNKNOWN_WALLET', 'no wallet has this name');
const NO_MARKET = refused('UNKNOWN_MARKET', 'no market has this condition id, number or slug');
const NO_EVENT = refused('UNKNOWN_EVENT', 'no event has this number or slug');
const MANY = refused(
  'SLUG_OF_SEVERAL',
  'name it by its number, which `market list` and `event list` show',
);

const KINDS = { [WALLET_REF]: wallet, [MARKET_REF]: market, [EVENT_REF]: event } as const;
type Resolve = (text: string, names: InputNames) => string | OperationRefused;

export function resolverOf(names: InputNames): ResolveNames {
  return (key, input) => {
    const texts = input as Readonly<Record<string, unknown>>;
    const resolved: Record<string, string> = {};
    for (const [member, resolve] of MEMBERS.get(key)!) {
      const text = texts[member];
      if (typeof text !== 'string') continue;
      const found = resolve(text, names);
      if (found instanceof OperationRefused) return found;
      resolved[member] = found;
    }
    return { ...input, ...resolved };
  };
}

function wallet(text: string, names: InputNames): string | OperationRefused {
  if (/^0x/i.test(text)) return text;
  const address = names.wallet(text);
  return address === undefined ? NO_WALLET : bytesToHex(address, 0, address.length);
}

function market(text: string, names: InputNames): string | OperationRefused {
  return conditionKey(text) ?? foundOf(names.market(text), NO_MARKET);
}

function event(text: string, names: InputNames): string | OperationRefused {
  return foundOf(names.event(text), NO_EVENT);
}

function foundOf(named: Named, none: OperationRefused): string | OperationRefused {
  if (named === 'none') return none;
  return named === 'many' ? MANY : named.found;
}

/** Members of each input that may be names. */
const MEMBERS: ReadonlyMap<OperationKey, readonly (readonly [string, Resolve])[]> = new Map(
  operationRows().map(([key, { input }]) => {
    const members = Object.entries(input.properties).flatMap(([name, { pattern }]) => {
      const resolve = (KINDS as Readonly<Record<string, Resolve>>)[String(pattern)];
      return resolve === undefined ? [] : [[name, resolve] as const];
    });
    return [key, members];
  }),
);

/**
 * Kinds of settings: each checks and parses the text of a variable, and prints its value.
 *
 * Pure; any thread. Not here: the settings (settings.ts).
 */
import { isIP } from 'node:net';
import { type EtcdAddress, parseEtcdAddress } from '../../storage/replicated-log/etcd-address.ts';
import { unprintableIn } from '../../storage/texts/printable.ts';
import { DEPOSIT_FACTORY_TEXT, FACTORY_TEXT } from '../auth/wallet-factory.ts';
import { CHOICE_RULE, type MarketChoice, parseChoice } from '../common/market-choice.ts';
import { sourceUrlProblem } from '../common/source-url.ts';
import { type Allowlist, parseAllowlist } from '../http/address.ts';
import { type CorsOrigins, corsOriginsText, parseCorsOrigins } from '../http/cors.ts';
import { overridesText, parseOverrides, type RateOverrides } from '../http/limits/rate-limits.ts';

type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `detail` names the entry of a list that is wrong. */
  | { readonly ok: false; readonly detail?: string };

export interface Kind<T> {
  /** Rule for problems and for docs/reference/configuration.md. */
  readonly rule: string;
  parse(text: string): Parsed<T>;
  print(value: T): string;
  /** No log line or problem may repeat it. */
  readonly isSecret?: true;
}

export const PROFILES = ['spec', 'polymarket'] as const;
export type Profile = (typeof PROFILES)[number];

export interface Given {
  readonly cores: number;
  readonly profile: Profile;
}

export interface Setting<T> {
  readonly variable: string;
  readonly kind: Kind<T>;
  /** Default, as the text of the variable. */
  readonly unset: (given: Given) => string;
  readonly meaning: string;
  /** `undefined`: the setting holds for one run. */
  readonly kept: Kept | undefined;
}

/** Retention of a setting between runs; texts for docs/reference/configuration.md. */
export interface Kept {
  /** `directory`, `cluster`: compared at each start; `log`: a difference becomes a command. */
  readonly by: 'directory' | 'cluster' | 'log';
  readonly unset: string;
  /** Effect of a value that differs from the retained one. */
  readonly changed: string;
}

export const SIGNING: Kept = {
  by: 'cluster',
  unset: 'the default',
  changed: 'as given; in a cluster refused where it differs',
};
export function setting<T>(
  variable: string,
  kind: Kind<T>,
  unset: string | number | ((given: Given) => string | number),
): { readonly describe: (meaning: string, kept?: Kept) => Setting<T> } {
  const text = (given: Given) => String(typeof unset === 'function' ? unset(given) : unset);
  return { describe: (meaning, kept) => ({ variable, kind, unset: text, meaning, kept }) };
}

const BROKEN: Parsed<never> = { ok: false };

export function whole(min: number, max: number): Kind<number> {
  return {
    rule: `a whole number from ${min} to ${max}`,
    parse(text) {
      const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
      // A NaN fails both comparisons.
      return value >= min && value <= max ? { ok: true, value } : BROKEN;
    },
    print: String,
  };
}

/** Speed of market time; 0 = it stands until it is stepped. */
export const SPEED: Kind<number> = {
  rule: 'max, or a whole number from 1 to 1000',
  parse: (text) => (text === 'max' ? { ok: true, value: 0 } : whole(1, 1_000).parse(text)),
  print: (speed) => (speed === 0 ? 'max' : String(speed)),
};

export function words<const Word extends string>(options: readonly Word[]): Kind<Word> {
  return {
    rule: `one of ${options.join(', ')}`,
    parse(text) {
      const value = options.find((option) => option === text);
      return value === undefined ? BROKEN : { ok: true, value };
    },
    print: (word) => word,
  };
}

function onOrOff(options: readonly ['on' | 'off', 'on' | 'off']): Kind<boolean> {
  const { rule, parse } = words(options);
  return {
    rule,
    parse(text) {
      const word = parse(text);
      return word.ok ? { ok: true, value: word.value === 'on' } : word;
    },
    print: (isOn) => (isOn ? 'on' : 'off'),
  };
}

export const ON_UNLESS_SET = onOrOff(['on', 'off']);
export const OFF_UNLESS_SET = onOrOff(['off', 'on']);

function text(rule: string, fits: (text: string) => boolean, none = ''): Kind<string> {
  return {
    rule,
    parse: (value) => (fits(value) ? { ok: true, value } : BROKEN),
    print: (value) => value || none,
  };
}

export const HOST = text('an IP address or a host name', isHost);
export const PATH = text('a path', (path) => !path.includes('\0'));
export const PRINTABLE = text(
  'at most 100 printable characters',
  (value) => value.length <= 100 && unprintableIn(value) === undefined,
);
export const PASSWORD: Kind<string> = {
  ...PRINTABLE,
  print: (password) => (password === '' ? '' : '(set)'),
  isSecret: true,
};
export const HEADER_PREFIX = text(
  'a capital letter, then capital letters, digits and underscores',
  (value) => /^[A-Z][A-Z0-9_]*$/.test(value),
);
export const ADDRESS = text('an address, 0x and 40 hexadecimal digits', (value) =>
  /^0x[0-9a-fA-F]{40}$/.test(value),
);
export const WALLET_FACTORY = text(
  'none, or an address and a digest of 32 bytes, 0x in front of each and a colon between them',
  (value) => value === 'none' || FACTORY_TEXT.test(value),
);
export const DEPOSIT_FACTORY = text(
  'none, or two addresses, 0x in front of each and a colon between them',
  (value) => value === 'none' || DEPOSIT_FACTORY_TEXT.test(value),
);
export const CONTRACT_3 = text(
  'none, published, or an address, 0x and 40 hexadecimal digits',
  (value) => value === 'none' || value === 'published' || /^0x[0-9a-fA-F]{40}$/.test(value),
);
const HTTP_URL_RULE = 'an http or https address without credentials, query or fragment';
const isHttpUrl = (value: string): boolean => value === '' || sourceUrlProblem(value) === undefined;
export const SOURCE_URL = text(HTTP_URL_RULE, isHttpUrl, '(none)');
export const VENUE_URL = text(HTTP_URL_RULE, isHttpUrl);
export const STREAM_URL = text(
  'a ws or wss address without credentials, query or fragment',
  (value) => value === '' || (/^wss?:/.test(value) && isHttpUrl(value.replace('ws', 'http'))),
);
export const MARKET_CHOICE: Kind<MarketChoice> = {
  rule: CHOICE_RULE,
  parse(value) {
    const choice = parseChoice(value);
    return choice === undefined ? BROKEN : { ok: true, value: choice };
  },
  print: (choice) => choice.text,
};

/** The letters of a bearer token (RFC 6750). */
export const TOKEN: Kind<string> = {
  ...text(
    '16 to 200 letters, digits or any of -._~+/=',
    (value) => value === '' || /^[A-Za-z0-9._~+/=-]{16,200}$/.test(value),
  ),
  print: (token) => (token === '' ? '' : '(set)'),
  isSecret: true,
};

export const SECRET: Kind<string> = {
  ...TOKEN,
  ...text(
    '32 to 200 letters, digits or any of -._~+/=',
    (value) => value === '' || /^[A-Za-z0-9._~+/=-]{32,200}$/.test(value),
  ),
  print: TOKEN.print,
};

export const NODE_NAME = text(
  '1 to 64 letters, digits, dots, dashes and underscores',
  (value) => value === '' || /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value),
);
export const ORIGIN = text(
  'an http or https address of a host and its port alone',
  (value) => value === '' || (URL.canParse(value) && /^https?:\/\/[^/?#@\s]+$/.test(value)),
);
export const CLUSTER_ADDRESS: Kind<EtcdAddress | undefined> = {
  rule: 'an address such as etcd://host:2379,host:2379,host:2379/NAME',
  parse(value) {
    if (value === '') return { ok: true, value: undefined };
    const address = parseEtcdAddress(value);
    if (typeof address === 'string') return { ok: false, detail: address };
    return { ok: true, value: address };
  },
  print(address) {
    if (address === undefined) return '';
    return `etcd${address.isSecure ? 's' : ''}://${address.members.join(',')}/${address.name}`;
  },
};

export const ALLOWLIST: Kind<Allowlist> = {
  rule: 'a comma-separated list of IP addresses and CIDR ranges',
  parse: parseAllowlist,
  print: ({ entries }) => entries.join(',') || '(everyone)',
};
export const RATE_OVERRIDES: Kind<RateOverrides> = {
  rule: 'a comma-separated list of row=requests/seconds',
  parse: parseOverrides,
  print: (overrides) => overridesText(overrides) || '(none)',
};
export const CORS_ORIGINS: Kind<CorsOrigins> = {
  rule: '*, none or a comma-separated list of origins',
  parse: parseCorsOrigins,
  print: corsOriginsText,
};

/** RFC 1123: labels of letters, digits and inner hyphens. */
function isHost(name: string): boolean {
  const label = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
  if (isIP(name) !== 0) return true;
  // Digits and dots alone are a mistyped address.
  return (
    name.length <= 253 && !/^[\d.]*$/.test(name) && name.split('.').every((l) => label.test(l))
  );
}

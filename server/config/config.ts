/**
 * The configuration: reads every setting of the table (settings.ts) and the flags once, before anything else starts,
 * and prints the values in force. No text repeats a secret.
 *
 * Pure; any thread.
 */
import assert from 'node:assert/strict';
import type { Capacities } from '../../engine/tables/capacities.ts';
import { isLoopback } from '../http/address.ts';
import { unknownNames } from './config-names.ts';
import { PROFILES, type Setting, TOKEN } from './kinds.ts';
import { type Config, isSetting, type Rows, SETTINGS } from './settings.ts';

export type { Config } from './settings.ts';

const NO_DEMO = '--no-demo';

/**
 * Reads and checks all settings. Each problem and each warning is one line.
 *
 * @param env an empty string counts as unset
 * @param argv arguments behind the script's name
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[],
  cores: number,
):
  | {
      ok: true;
      config: Config;
      /** Variables that are set, also by a flag: they must not contradict the settings that a directory retains. */
      set: ReadonlySet<string>;
      warnings: string[];
    }
  | {
      ok: false;
      problems: string[];
      /** Settings of the log; the default of one that is refused. */
      log: Pick<Config, 'logFormat' | 'logLevel'>;
    } {
  const problems = argv
    .filter((flag) => flag !== NO_DEMO)
    .map((flag) => `unknown argument ${quoted(flag)}; known: ${NO_DEMO}`);
  const given = {
    cores,
    profile: PROFILES.find((name) => name === env.CLIENT_PROFILE) ?? PROFILES[0],
  };
  const known: string[] = [];
  const read = ({ kind, unset, variable }: Setting<unknown>): unknown => {
    known.push(variable);
    const text = env[variable] || unset(given);
    const parsed = kind.parse(text);
    if (parsed.ok) return parsed.value;
    const detail = parsed.detail === undefined ? '' : ` (${parsed.detail})`;
    const found = kind.isSecret === true ? '' : `, not ${quoted(text)}`;
    problems.push(`${variable} must be ${kind.rule}${detail}${found}`);
    return undefined;
  };
  const readAll = (rows: Rows): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(rows).map(([member, row]) => [
        member,
        isSetting(row) ? read(row) : readAll(row),
      ]),
    );
  const values = readAll(SETTINGS);
  const set = new Set(known.filter((name) => Boolean(env[name])));
  if (argv.includes(NO_DEMO)) set.add(SETTINGS.demo.variable);
  for (const problemsOf of [adminProblems, clusterProblems, mirrorProblems, playProblems])
    problems.push(...problemsOf(values));
  if (set.has(SETTINGS.ledger.variable)) problems.push(...ledgerProblems(values));
  const config = values as Config;
  const { logFormat = 'auto', logLevel = 'info' } = config as Partial<Config>;
  if (problems.length > 0) return { ok: false, problems, log: { logFormat, logLevel } };
  const demo = config.demo && !argv.includes(NO_DEMO);
  const catalogSyncUrl = config.catalogSyncUrl || config.mirrorUrl;
  const whole = { ...config, demo, catalogSyncUrl };
  return { ok: true, config: whole, set, warnings: unknownNames(env, known) };
}

/** Returns the settings by variable that differ from the defaults of their profile. */
export function changedSettings(config: Config, cores: number): Readonly<Record<string, string>> {
  const usual = readConfig({ CLIENT_PROFILE: config.clientProfile }, [], cores);
  assert(usual.ok, 'the defaults of a profile are a configuration');
  const unset: Readonly<Record<string, string>> = {
    ...settingsOf(usual.config),
    CLIENT_PROFILE: PROFILES[0],
  };
  const isChanged = ([variable, value]: readonly [string, string]): boolean =>
    unset[variable] !== value;
  return Object.fromEntries(Object.entries(settingsOf(config)).filter(isChanged));
}

export function settingsOf(config: Config): Readonly<Record<string, string>> {
  return Object.fromEntries(printed(SETTINGS, config));
}

/** Returns the settings that all nodes of a cluster share, as signatures depend on them; addresses in lower case. */
export function signingSettings(config: Config): Readonly<Record<string, string>> {
  const shared = new Set([SETTINGS.chainId.variable, ...sharedIn(SETTINGS)]);
  const values = printed(SETTINGS, config).filter(([variable]) => shared.has(variable));
  return Object.fromEntries(
    values.map(([variable, text]) => [variable, text.startsWith('0x') ? text.toLowerCase() : text]),
  );
}

/** Returns the settings that are set, in the order of the table; the text of a secret is `undefined`. */
export function repeatable(
  config: Config,
  set: ReadonlySet<string>,
): (readonly [variable: string, text: string | undefined])[] {
  const secrets = new Set(secretsIn(SETTINGS));
  return printed(SETTINGS, config)
    .filter(([variable]) => set.has(variable))
    .map(([variable, text]) => [variable, secrets.has(variable) ? undefined : text]);
}

export function unsetCapacities(set: ReadonlySet<string> = new Set()): (keyof Capacities)[] {
  const names = Object.keys(SETTINGS.capacities) as (keyof Capacities)[];
  return names.filter((name) => !set.has(SETTINGS.capacities[name].variable));
}

function sharedIn(rows: Rows): string[] {
  return Object.values(rows).flatMap((row) => {
    if (!isSetting(row)) return sharedIn(row);
    return row.kept?.by === 'cluster' ? [row.variable] : [];
  });
}

function secretsIn(rows: Rows): string[] {
  return Object.values(rows).flatMap((row) => {
    if (!isSetting(row)) return secretsIn(row);
    return row.kind.isSecret === true ? [row.variable] : [];
  });
}

function printed(rows: Rows, values: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(rows).flatMap(([member, row]) => {
    const value = values[member];
    return isSetting(row)
      ? [[row.variable, row.kind.print(value)]]
      : printed(row, value as Readonly<Record<string, unknown>>);
  });
}

/** Values are `undefined` where the text was refused, here and below. */
function adminProblems(values: Partial<Config>): string[] {
  const { adminHost, adminPort, adminToken, resolverToken } = values;
  if (adminToken !== '' && adminToken !== undefined && adminToken === resolverToken) {
    return ['RESOLVER_TOKEN must be another one than ADMIN_TOKEN'];
  }
  if (adminPort === 0 || adminToken !== '') return [];
  if (adminHost !== undefined && isLoopback(adminHost)) return [];
  return [
    `ADMIN_TOKEN must be set where ADMIN_HOST is no loopback address: ${TOKEN.rule} (or ADMIN_PORT=0)`,
  ];
}

function clusterProblems(values: Partial<Config>): string[] {
  const { cluster, clusterCert, clusterKey, clusterPassword, clusterSecretPrevious, clusterUser } =
    values;
  if (cluster === undefined) return [];
  const { advertise, clusterSecret, nodeId } = SETTINGS;
  const missing = Object.entries({ nodeId, advertise, clusterSecret })
    .filter(([member]) => values[member as 'nodeId'] === '')
    .map(([, { kind, variable }]) => `CLUSTER needs ${variable}: ${kind.rule}`);
  if ((clusterCert === '') !== (clusterKey === '')) {
    missing.push('CLUSTER_CERT and CLUSTER_KEY belong together');
  }
  if ((clusterUser === '') !== (clusterPassword === '')) {
    missing.push('CLUSTER_USER and CLUSTER_PASSWORD belong together');
  }
  if (clusterSecretPrevious !== '' && clusterSecretPrevious === values.clusterSecret) {
    missing.push('CLUSTER_SECRET_PREVIOUS must be another secret than CLUSTER_SECRET');
  }
  return missing;
}

export function needsLedger(config: Partial<Config>): string[] {
  const { exposurePerWallet = 0, faucet = 0, mirrorUrl = '', play = '' } = config;
  const variables = {
    EXPOSURE_PER_WALLET: exposurePerWallet > 0,
    FAUCET: faucet > 0,
    MIRROR_URL: mirrorUrl !== '',
    PLAY: play !== '',
  };
  return Object.entries(variables).flatMap(([variable, isUsed]) => (isUsed ? [variable] : []));
}

function ledgerProblems(values: Partial<Config>): string[] {
  if (values.ledger !== false) return [];
  return needsLedger(values).map((variable) => `${variable} needs LEDGER=on: it is about cash`);
}

function playProblems({ cluster, mirrorUrl, play }: Partial<Config>): string[] {
  if (play === '' || play === undefined) return [];
  return [
    ...(cluster === undefined ? [] : ['PLAY is for a node that is alone, without CLUSTER']),
    ...(mirrorUrl === '' ? [] : ['PLAY and MIRROR_URL exclude each other']),
  ];
}

function mirrorProblems({ cluster, mirrorStreamUrl, mirrorUrl }: Partial<Config>): string[] {
  if (mirrorUrl === '' || mirrorUrl === undefined) {
    return mirrorStreamUrl === '' || mirrorUrl === undefined
      ? []
      : ['MIRROR_STREAM_URL is of no use without MIRROR_URL'];
  }
  return cluster === undefined ? [] : ['MIRROR_URL is for a node that is alone, without CLUSTER'];
}

function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}...` : value);
}

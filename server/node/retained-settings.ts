/**
 * Compares the settings of a start with those that its directory or its cluster retains. A contradiction ends the
 * start; a setting that is not set takes the retained value.
 * Rules: docs/reference/configuration.md#what-a-directory-keeps
 *
 * Thread: I/O, before the port opens.
 */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import {
  accountCount,
  engineTime,
  lastBatch,
  marketCount,
  marketFlags,
} from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { type Config, needsLedger, repeatable } from '../config/config.ts';
import { SettingsRefused } from '../config/settings-refused.ts';
import { DEMO_CONDITIONS } from '../demo/demo-catalog.ts';
import { marketByCondition } from '../market-data/find.ts';
import type { NodeMode } from '../routes/node-mode.ts';
import { type ShellSettings, shellLine } from './start-line.ts';

export interface RetainedFacts {
  /** Name of the directory or cluster for errors: `DATA_DIR ./data`. */
  readonly holder: string;
  /** No batch yet: the settings decide. */
  readonly isNew: boolean;
  readonly hasLedger: boolean;
  readonly hasDemo: boolean;
  readonly hasMarkets: boolean;
  /** No market and no account: the demo may still be loaded. */
  readonly isUntouched: boolean;
  /** Chain of the issued API keys; `undefined` = there are none, or it is unknown. */
  readonly chainId: number | undefined;
  /** Time of the newest batch in unix milliseconds. */
  readonly time: number;
}

export interface GivenSettings {
  readonly config: Config;
  readonly set: ReadonlySet<string>;
}

export function factsOf(t: Tables, holder: string, chainId: number | undefined): RetainedFacts {
  return {
    holder,
    chainId,
    isNew: lastBatch(t) === 0,
    hasLedger: ledgerIsOn(t),
    hasDemo: hasDemo(t),
    hasMarkets: marketCount(t) > 0,
    isUntouched: marketCount(t) === 0 && accountCount(t) === 0,
    time: engineTime(t),
  };
}

export function holderOf({ cluster, dataDir }: Config): string {
  return cluster === undefined ? `DATA_DIR ${dataDir}` : `the cluster ${cluster.name}`;
}

export function modeOf(config: Config, t: Tables): NodeMode {
  const { catalogSyncUrl, cluster, invites, mirrorUrl, play } = config;
  return {
    ledger: ledgerIsOn(t),
    // Markets of a mirrored catalog may be those of its demo.
    demo: catalogSyncUrl === '' && hasDemo(t),
    mirror: mirrorUrl !== '',
    play: play !== '',
    invites,
    cluster: cluster !== undefined,
  };
}

/** Returns true while a market of the demo is open. */
function hasDemo(t: Tables): boolean {
  for (const condition of DEMO_CONDITIONS) {
    const market = marketByCondition(t, condition);
    if (market !== 0 && (marketFlags(t, market) & MarketFlag.ended) === 0) return true;
  }
  return false;
}

/**
 * Returns the settings with retained values in place of those that are not set.
 * Throws SettingsRefused with the lines that start a node.
 * @param begins market time of a play, in unix milliseconds
 */
export function settleSettings(
  given: GivenSettings,
  retained: RetainedFacts,
  begins?: number,
): Config {
  const { config, set } = given;
  const wrong = contradictions(given, retained, begins);
  if (wrong.length > 0) throw new SettingsRefused(refusal(given, retained, wrong));
  if (retained.isNew) return config;
  const { hasDemo, hasLedger: ledger, isUntouched } = retained;
  const chainId = retained.chainId ?? config.chainId;
  const demo = config.demo && (set.has('DEMO') || hasDemo || isUntouched);
  return { ...config, chainId, demo, ledger };
}

interface Contradiction {
  readonly variable: string;
  readonly why: string;
}

function contradictions(
  { config, set }: GivenSettings,
  retained: RetainedFacts,
  begins: number | undefined,
): Contradiction[] {
  const { isNew, holder } = retained;
  const found: Contradiction[] = [];
  const refuse = (variable: string, why: string): void => void found.push({ variable, why });
  const hasLedger = isNew ? config.ledger : retained.hasLedger;
  if (set.has('LEDGER') && config.ledger !== hasLedger) {
    refuse('LEDGER', `${holder} was begun ${retained.hasLedger ? 'with' : 'without'} a ledger`);
  }
  for (const variable of hasLedger || set.has('LEDGER') ? [] : needsLedger(config)) {
    refuse(variable, isNew ? 'it needs LEDGER=on' : `${holder} was begun without a ledger`);
  }
  if (isNew) return found;
  // A synced catalog may be that of another node with its demo.
  if (set.has('DEMO') && config.catalogSyncUrl === '' && config.demo !== retained.hasDemo) {
    if (retained.hasDemo) refuse('DEMO', `${holder} has the demo`);
    else if (retained.hasMarkets) refuse('DEMO', `${holder} has other markets than the demo`);
  }
  if (set.has('CHAIN_ID') && config.chainId !== (retained.chainId ?? config.chainId)) {
    refuse('CHAIN_ID', `the API keys of ${holder} were issued under CHAIN_ID=${retained.chainId}`);
  }
  if (begins !== undefined && begins < retained.time) {
    const [from, to] = [begins, retained.time].map((time) => new Date(time).toISOString());
    refuse('PLAY', `it begins at ${from}, and ${holder} has batches up to ${to}`);
  }
  return found;
}

function refusal(
  given: GivenSettings,
  retained: RetainedFacts,
  wrong: readonly Contradiction[],
): string {
  const { config, set } = given;
  const settings = repeatable(config, set).filter(([name]) => name !== 'DATA_DIR');
  const texts = new Map(settings);
  const why = wrong.map(({ variable, why }) => `${variable}=${texts.get(variable)}: ${why}`);
  const isAlone = config.cluster === undefined;
  const asked = isAlone ? [`to start that: ${askedLine(given, retained, settings)}`] : [];
  if (retained.isNew) return [...why, ...asked].join('\n');
  const dropped = new Set(wrong.map(({ variable }) => variable));
  if (!retained.hasLedger) for (const variable of needsLedger(config)) dropped.add(variable);
  // Settings of a mirror or of a play have no effect without it.
  const rest = settings.filter(
    ([name]) =>
      !dropped.has(name) &&
      !(dropped.has('MIRROR_URL') && name.startsWith('MIRROR_')) &&
      !(dropped.has('PLAY') && name.startsWith('PLAY_')),
  );
  const own = config.dataDir === DATA_DIR ? [] : [['DATA_DIR', config.dataDir] as const];
  return [...why, ...asked, `to start what is there: ${shellLine([...own, ...rest])}`].join('\n');
}

function askedLine(
  { config, set }: GivenSettings,
  retained: RetainedFacts,
  settings: ShellSettings,
): string {
  const directory = retained.isNew ? config.dataDir : freshDirectory(config);
  const lacksLedger = needsLedger(config).length > 0 && !set.has('LEDGER');
  const ledger = lacksLedger ? [['LEDGER', 'on'] as const] : [];
  return shellLine([['DATA_DIR', directory], ...ledger, ...settings]);
}

const DATA_DIR = './data';
const TRIES = 100;

function freshDirectory({ dataDir, mirrorUrl, play }: Config): string {
  const name = mirrorUrl === '' && play === '' ? 'venue' : 'paper';
  const parent = dirname(dataDir);
  const inside = parent === '.' ? './' : `${parent.replace(/\/$/, '')}/`;
  for (let number = 1; number < TRIES; number++) {
    const path = `${inside}${name}${number === 1 ? '' : number}`;
    if (basename(path) !== basename(dataDir) && !existsSync(path)) return path;
  }
  return `${inside}another`;
}

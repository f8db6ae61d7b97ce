/**
 * Conditions under which a node may lead: it has the secret of its cluster, the settings that decide whose signature
 * counts, and a name of its own. They are compared with the shared log periodically. Where that does not answer, the
 * newest answer counts.
 *
 * Thread: I/O. Not here: the name (storage/replicated-log/announcer.ts).
 */
import { BadValues } from '../../storage/replicated-log/bad-values.ts';
import type { ReplicatedLog, SharedName } from '../../storage/replicated-log/replicated-log.ts';
import type { Log } from '../common/logger.ts';
import { type Config, signingSettings } from '../config/config.ts';
import { SettingsRefused } from '../config/settings-refused.ts';
import type { Pause } from '../orders/intake/pauses.ts';
import type { PeerSecrets } from './peers/secure.ts';
import {
  decodeSecretRecord,
  encodeSecretRecord,
  hasSecretOf,
  nextSecretRecord,
  type SecretRecord,
  WRONG_SECRET,
} from './secret-record.ts';

type Shared = Pick<ReplicatedLog, 'shared' | 'share' | 'isFull'>;
type Settings = Readonly<Record<string, string>>;

export interface MembershipOptions {
  readonly replicated: Shared;
  /** Name of the cluster, with which its keys begin. */
  readonly venue: string;
  readonly secrets: PeerSecrets;
  readonly leads: () => boolean;
  /** This node must not run: its settings differ from those of its cluster. May be called again. */
  readonly onRefused: (error: Error) => void;
  readonly print: Log;
}

const LOOK_MS = 1_000;
const CALL_MS = 1_000;
/** A start waits no longer for the settings of its cluster. */
const START_MS = 3_000;
const FULL = 'the log of the cluster is full';
const ADVICE = 'the node that leads replaces it';

export class Membership {
  private readonly options: MembershipOptions;
  private readonly badValues: BadValues;
  private settings: Settings | undefined;
  private isKnown = false;
  private isStranger = false;
  private isFull = false;
  private isClosed = false;
  private looking: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: MembershipOptions) {
    this.options = options;
    this.badValues = new BadValues((line) => options.print('warn', line));
  }

  /**
   * Compares with the cluster, once before this resolves, where it answers in time, and from then on.
   * Throws SettingsRefused where they differ.
   * @param config whose settings are settled
   */
  async begin(config: Config): Promise<void> {
    const settings = signingSettings(config);
    const read = await this.read('settings', START_MS, settingsOf).catch(() => undefined);
    const differing = read?.found && differenceOf(settings, read.found, this.options.venue);
    if (differing !== undefined) throw new SettingsRefused(differing);
    this.settings = settings;
    await this.look();
    this.timer = setInterval(() => void this.look(), LOOK_MS);
  }

  readonly mayLead = (): boolean => this.isKnown && !this.isStranger;

  /** Reasons of this node why orders are not accepted. A leader's sequencer has its own reason for a full log. */
  pauses(): readonly Pause[] {
    const pauses: Pause[] = [];
    if (this.isStranger) pauses.push({ reason: 'secret', detail: `cluster: ${WRONG_SECRET}` });
    if (this.isFull && !this.options.leads())
      pauses.push({ reason: 'etcd', detail: `etcd: ${FULL}` });
    return pauses;
  }

  /** Looks now: this node has begun to lead. */
  look(): Promise<void> {
    this.looking ??= this.compare().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    await this.looking;
  }

  private async compare(): Promise<void> {
    const { replicated } = this.options;
    const compared = [this.compareSecret(), this.compareSettings()];
    const room = replicated.isFull(CALL_MS).then((isFull) => this.reportRoom(isFull));
    const results = await Promise.allSettled([...compared, room]);
    this.isKnown ||= results.slice(0, compared.length).every((it) => it.status === 'fulfilled');
  }

  private async compareSecret(): Promise<void> {
    const { leads, replicated, secrets } = this.options;
    const { found: record, value } = await this.read('secret', CALL_MS, secretRecordOf);
    // A value that cannot be read accuses nobody.
    if (value === undefined || record !== undefined) {
      this.reportSecret(record === undefined || hasSecretOf(record, secrets));
    }
    if (!leads() || this.isClosed) return;
    const next = nextSecretRecord(record, secrets);
    if (next !== undefined)
      await replicated.share('secret', value, encodeSecretRecord(next), CALL_MS);
  }

  private reportSecret(isOurs: boolean): void {
    if (isOurs === !this.isStranger || this.isClosed) return;
    this.isStranger = !isOurs;
    const { print } = this.options;
    if (isOurs) print('info', 'CLUSTER_SECRET is that of the cluster');
    else print('warn', WRONG_SECRET);
  }

  private reportRoom(isFull: boolean): void {
    if (isFull === this.isFull || this.isClosed) return;
    this.isFull = isFull;
    // A leader says it by itself.
    if (this.options.leads()) return;
    const { print } = this.options;
    if (isFull) print('warn', `etcd: ${FULL}: no node takes orders until an operator makes room`);
    else print('info', 'etcd: the log of the cluster has room again');
  }

  private async compareSettings(): Promise<void> {
    const { leads, onRefused, replicated, venue } = this.options;
    const { settings } = this;
    const { found: shared, value } = await this.read('settings', CALL_MS, settingsOf);
    if (settings === undefined || this.isClosed) return;
    const differing = shared && differenceOf(settings, shared, venue);
    if (differing !== undefined) return onRefused(new Error(differing));
    // A setting of a newer version is added by the first leader that knows it.
    const isWhole = Object.keys(settings).every((variable) => shared?.[variable] !== undefined);
    if (!leads() || isWhole) return;
    const next = Buffer.from(JSON.stringify({ ...shared, ...settings }));
    await replicated.share('settings', value, next, CALL_MS);
  }

  private async read<T>(
    name: SharedName,
    msMax: number,
    decode: (value: Buffer) => T,
  ): Promise<{ readonly value: Buffer | undefined; readonly found: T | undefined }> {
    const { replicated, venue } = this.options;
    const value = await replicated.shared(name, msMax);
    if (value === undefined) return { value, found: undefined };
    try {
      const found = this.badValues.read(`${venue}/${name}`, ADVICE, () => decode(value));
      return { value, found };
    } catch {
      return { value, found: undefined };
    }
  }
}

function secretRecordOf(value: Buffer): SecretRecord {
  const record = decodeSecretRecord(value);
  if (record === undefined) throw new Error('it has no digests');
  return record;
}

function settingsOf(value: Buffer): Settings {
  const found: unknown = JSON.parse(value.toString());
  const isTable = typeof found === 'object' && found !== null;
  if (!isTable || Object.values(found).some((text) => typeof text !== 'string')) {
    throw new Error('it has no settings');
  }
  return found as Settings;
}

function differenceOf(own: Settings, shared: Settings, venue: string): string | undefined {
  const lines = Object.keys(own)
    .filter((variable) => shared[variable] !== undefined && shared[variable] !== own[variable])
    .map((variable) => `${variable} is ${own[variable]}, that of the cluster ${shared[variable]}`);
  if (lines.length === 0) return undefined;
  const advice = `to change it on all nodes: docs/guides/a-cluster.md#settings-that-all-nodes-share`;
  return [...lines.map((line) => `${line} (${venue}/settings)`), advice].join('\n');
}

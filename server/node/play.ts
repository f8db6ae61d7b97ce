/**
 * Composition of a played recording. Loaded only with PLAY.
 *
 * Thread: I/O. Not here: reading and timing of the recording (server/paper).
 */
import { earliestDue } from '../../engine/due.ts';
import type { SteppedClock } from '../admin/play-operations.ts';
import type { Contradictions } from '../common/contradictions.ts';
import type { NodeBroker } from '../paper/node-broker.ts';
import type { OpenedPlay } from '../paper/open-play.ts';
import type { PlayFacts } from '../paper/play-facts.ts';
import { Player, type PlayTarget } from '../paper/player.ts';
import { Timeline } from '../paper/timeline.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import { brokerOf, resolving } from './book-mirror.ts';
import type { NodeParts } from './node-parts.ts';
import type { Start } from './start.ts';

export interface Play extends SteppedClock {
  /** Starts market time, unless each step is requested. */
  start(): void;
  after: Timeline['after'];
  facts(): PlayFacts;
  contradictions(): Contradictions;
}

/** Brings the books to the time at which the play begins, before the port opens. */
export async function beginPlay(
  start: Start,
  parts: NodeParts,
  { clock, recording }: OpenedPlay,
): Promise<Play> {
  const { config, log, onFatal } = start.options;
  const { tables, writer } = parts;
  const { play, playFrom: from, playTo: to } = config;
  const { ledger } = writer;
  if (ledger === undefined) throw new Error('PLAY needs a DATA_DIR that can be written');
  const warn = (line: string): void => log('warn', `play: ${line}`);
  const inferred = new Set(recording.header.inferred);
  const broker = brokerOf(start, parts, { name: 'play', inferred });
  await broker.fund(ledger, config.mirrorFunds, clock.now());
  const player = new Player({
    recording,
    from,
    to,
    node: playedVenue(start, parts, broker, ledger),
    log: warn,
  });
  const timeline = new Timeline({
    clock,
    message: player.next,
    expiry: () => earliestDue(tables),
    expire: () => writer.expireDue(),
    onError: (error) => onFatal(new Error(`the recording cannot be played on: ${error.message}`)),
  });
  start.onClose(() => timeline.stop());
  await player.begin();
  const { marketCount } = player;
  const { leftOut } = recording;
  const others = leftOut > 0 ? `; ${leftOut} without two outcomes are left out` : '';
  log(
    'info',
    `play: ${play}, ${marketCount} ${marketCount === 1 ? 'market' : 'markets'}${others}`,
    {
      from: new Date(clock.now()).toISOString(),
      speed: clock.speed === 0 ? 'max' : clock.speed,
    },
  );
  const next = async (): Promise<number | null> => (await timeline.nextMessage()) ?? null;
  return {
    runs: clock.speed > 0,
    now: clock.now,
    start: () => timeline.start(),
    after: (ms, run) => timeline.after(ms, run),
    async step(to) {
      const until = to ?? (await next());
      if (until !== null) await timeline.advance(until);
      return { time: clock.now(), next: await next() };
    },
    contradictions: () => broker.contradictions(),
    facts: () => ({ time: clock.now(), speed: clock.speed, hasEnded: timeline.ended }),
  };
}

function playedVenue(
  start: Start,
  parts: NodeParts,
  broker: NodeBroker,
  ledger: LedgerCommands,
): PlayTarget {
  const { log } = start.options;
  const { clock, edits } = parts;
  const resolve = resolving(parts, ledger);
  const failed = (condition: string, what: string, why: string): void =>
    log('warn', `play: ${condition} ${what}, and not here: ${why}`);
  return {
    async apply(named, steps) {
      const market = broker.aligned(named);
      if (market !== undefined && broker.isTradable(market)) await broker.apply(market, steps);
    },
    clear: () => broker.clear(),
    async setTick({ condition }, tick) {
      const changes = { orderPriceMinTickSize: tick };
      const at = new Date(clock.now()).toISOString();
      const result = await edits.make({ kind: 'change', condition, changes, fixed: {}, at });
      if ('failure' in result) failed(condition, `has another tick, ${tick}`, result.failure);
      else if ('error' in result) failed(condition, `has another tick, ${tick}`, result.error);
    },
    async changed(named) {
      const market = broker.aligned(named);
      const payout = market?.payout;
      if (market === undefined || payout === undefined || broker.isSettled(market.condition))
        return;
      const problem = await resolve(market, payout);
      if (problem !== undefined) failed(market.condition, 'has resolved', problem);
    },
  };
}

/**
 * Operations on the venue: its pause and its message, which survive a restart, and its rate limits, which a restart
 * sets back to the settings.
 *
 * Thread: I/O; pause and message also on a stopped directory.
 */

import type { Decision } from '../../storage/control-records/control-records.ts';
import type { RateControl } from '../http/limits/rate-control.ts';
import { operation, refused } from './operation-row.ts';
import {
  LimitInput,
  LimitsAnswer,
  MessageAnswer,
  MessageInput,
  NoInput,
  PauseAnswer,
  PausedAnswer,
  PauseInput,
  SaidAnswer,
} from './operation-schemas.ts';
import { shownMessage } from './progress.ts';

const OFF = refused('RATE_LIMITS_OFF', 'start the node with RATE_LIMITS=on');

export interface VenuePause {
  readonly pause: Decision | undefined;
  /** Resolves once it is durable and in force; undefined resumes it. */
  putPause(decision: Decision | undefined): Promise<void>;
}

export const PAUSE_OPERATIONS = [
  operation(
    'GET /admin/pause',
    {
      does: 'whether an operator has paused the venue',
      input: NoInput,
      answer: PauseAnswer,
    },
    ({ venue }: PauseOperationParts) =>
      () => {
        const { pause } = venue;
        if (pause === undefined) return { paused: false };
        return { paused: true, since: new Date(pause.since).toISOString(), reason: pause.reason };
      },
  ),
  operation(
    'POST /admin/pause',
    {
      does: 'pauses the venue, also over a restart: orders are refused; cancels, splits and merges are taken',
      input: PauseInput,
      answer: PausedAnswer,
    },
    ({ venue, now }: PauseOperationParts) =>
      async ({ reason = 'paused by the operator' }) => {
        return { paused: true, changed: await put(venue, { since: now(), reason }) };
      },
  ),
  operation(
    'POST /admin/resume',
    {
      does: 'resumes the venue',
      input: NoInput,
      answer: PausedAnswer,
    },
    ({ venue }: PauseOperationParts) =>
      async () => {
        return { paused: false, changed: await put(venue, undefined) };
      },
  ),
];

interface PauseOperationParts {
  readonly venue: VenuePause;
  readonly now: () => number;
}

async function put(venue: VenuePause, decision: Decision | undefined): Promise<boolean> {
  const changed = (venue.pause === undefined) !== (decision === undefined);
  await venue.putPause(decision);
  return changed;
}

export interface VenueMessage {
  readonly message: Decision | undefined;
  /** Resolves once it is durable and shown; undefined takes it away. */
  putMessage(decision: Decision | undefined): Promise<void>;
}

export const MESSAGE_OPERATIONS = [
  operation(
    'GET /admin/message',
    { does: 'the message to everybody', input: NoInput, answer: MessageAnswer },
    ({ venue }: MessageOperationParts) =>
      () =>
        shownMessage(venue.message) ?? { text: '' },
  ),
  operation(
    'POST /admin/message',
    {
      does: 'shows a message to everybody, on the page and in `GET /status`; without `text` takes it away',
      input: MessageInput,
      answer: SaidAnswer,
    },
    ({ venue, now }: MessageOperationParts) =>
      async ({ text }) => {
        const changed = venue.message?.reason !== text;
        if (changed) {
          await venue.putMessage(text === undefined ? text : { since: now(), reason: text });
        }
        return { text: text ?? '', changed };
      },
  ),
];

interface MessageOperationParts {
  readonly venue: VenueMessage;
  readonly now: () => number;
}

/** `undefined` with RATE_LIMITS=off. */
type Rates = RateControl | undefined;

export const LIMIT_OPERATIONS = [
  operation(
    'GET /admin/rate-limits',
    {
      does: 'the rate limits that apply',
      input: NoInput,
      answer: LimitsAnswer,
    },
    (rates: Rates) => () => (rates === undefined ? OFF : rates.shown()),
  ),
  operation(
    'POST /admin/rate-limits',
    {
      does: 'changes one rate limit until the node restarts: `limit` is requests/seconds, or off',
      input: LimitInput,
      answer: LimitsAnswer,
      ofNode: true,
    },
    (rates: Rates) =>
      ({ limit, name }) => {
        if (rates === undefined) return OFF;
        const problem = rates.change(`${name}=${limit}`);
        return problem === undefined ? rates.shown() : refused('INVALID_LIMIT', problem);
      },
  ),
];

/** `event` and `market`: what an operator makes, halts and ends. Payouts: resolve-commands.ts. */
import type { OperationInput } from '../admin/operation-table.ts';
import { type Options, Refused, type Run } from './context.ts';
import { again } from './ledger-commands.ts';
import { command } from './operator-commands.ts';
import { marketOf, textOf } from './settings.ts';

type MarketInput = OperationInput<'POST /admin/markets'>;

/** The texts of options, by the names of the members that they become. */
function textsOf<Names extends string>(
  options: Options,
  names: Readonly<Record<Names, string>>,
): Partial<Record<Names, string>> {
  const texts: Partial<Record<Names, string>> = {};
  for (const name of Object.keys(names) as Names[]) {
    const text = textOf(options, names[name]);
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

const SHOWN = { description: 'description', startDate: 'start', endDate: 'end' } as const;
const keepOpenOf = ({ keepOpen }: Options) => (keepOpen === true ? { keepOpen } : {});
const negRiskOf = ({ negRisk }: Options) => (negRisk === true ? { negRisk } : {});
/** The admin listener refuses a tick or a fee that is none. */
const termsOf = (options: Options) => {
  const tick = textOf(options, 'tick') as MarketInput['tick'];
  const fee = textOf(options, 'fee');
  return {
    ...(tick === undefined ? {} : { tick }),
    ...(fee === undefined ? {} : { fee: Number(fee) }),
  };
};

function needed(options: Options, name: string): string {
  const text = textOf(options, name);
  if (text === undefined) throw new Refused(`--${name} is missing`);
  return text;
}

function manyOf(options: Options, name: string): string[] {
  const texts = options[name];
  return Array.isArray(texts) ? texts.map(String) : [];
}

export const createEvent = command(
  'POST /admin/events',
  (_, options) => ({
    title: needed(options, 'title'),
    ...textsOf(options, { ...SHOWN, key: 'key', id: 'id' }),
    ...(options.tag === undefined ? {} : { tags: manyOf(options, 'tag') }),
    ...negRiskOf(options),
  }),
  ({ changed, event, slug }) => `event ${event} (${slug})${again(!changed)}`,
);

export const editEvent = command(
  'POST /admin/events/edit',
  ([event = ''], options) => ({
    event,
    ...textsOf(options, { ...SHOWN, title: 'title' }),
    ...(options.tag === undefined ? {} : { tags: manyOf(options, 'tag') }),
  }),
  ({ changed, event }) => `event ${event} ${changed ? 'is changed' : 'was so before'}`,
);

export const createMarket = command(
  'POST /admin/markets',
  (_, options) => ({
    question: needed(options, 'question'),
    outcomes: manyOf(options, 'outcome'),
    ...textsOf(options, { ...SHOWN, key: 'key', id: 'id', event: 'event', minimum: 'minimum' }),
    ...termsOf(options),
    ...keepOpenOf(options),
    ...negRiskOf(options),
  }),
  ({ changed, condition, end, event, outcomes, slug, tokens }) => [
    `condition ${condition}`,
    ...tokens.map((token, i) => `token ${token} ${outcomes[i] ?? ''}`.trimEnd()),
    `slug ${slug}`,
    `ends ${end ?? 'never'}`,
    `event ${event}${again(!changed)}`,
  ],
);

export const editMarket = command(
  'POST /admin/markets/edit',
  ([condition = ''], options) => ({
    condition: marketOf(condition),
    ...textsOf(options, { ...SHOWN, question: 'question', minimum: 'minimum' }),
    ...termsOf(options),
    ...keepOpenOf(options),
  }),
  ({ changed, condition, end }) =>
    `${condition} ${changed ? 'is changed' : 'was so before'}${end === null ? '' : `; ends ${end}`}`,
);

function stateCommand(
  key: 'POST /admin/markets/halt' | 'POST /admin/markets/resume' | 'POST /admin/markets/close',
  state: string,
): Run {
  return command(
    key,
    ([condition = '']) => ({ condition: marketOf(condition) }),
    ({ changed, condition }) => `${condition} ${changed ? 'is' : 'was already'} ${state}`,
  );
}
export const halt = stateCommand('POST /admin/markets/halt', 'halted');
export const resume = stateCommand('POST /admin/markets/resume', 'taking orders');
export const close = stateCommand('POST /admin/markets/close', 'closed');

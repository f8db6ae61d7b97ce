/** `event` and `market`: what an operator makes, halts, ends and resolves. */
import type { OperationInput, OperationOutput } from '../admin/operation-table.ts';
import { type Options, Refused, type Run } from './context.ts';
import { again, idOf } from './ledger-commands.ts';
import { command } from './operator-commands.ts';
import { marketOf, textOf } from './settings.ts';

type MarketInput = OperationInput<'POST /admin/markets'>;
type ResolveInput = OperationInput<'POST /admin/markets/resolve'>;

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
    ...negRiskOf(options),
  }),
  ({ changed, condition, event, outcomes, slug, tokens }) => [
    `condition ${condition}`,
    ...tokens.map((token, i) => `token ${token} ${outcomes[i] ?? ''}`.trimEnd()),
    `slug ${slug}`,
    `event ${event}${again(!changed)}`,
  ],
);

export const editMarket = command(
  'POST /admin/markets/edit',
  ([condition = ''], options) => ({
    condition: marketOf(condition),
    ...textsOf(options, { ...SHOWN, question: 'question', minimum: 'minimum' }),
    ...termsOf(options),
  }),
  ({ changed, condition }) => `${condition} ${changed ? 'is changed' : 'was so before'}`,
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

function payoutOf(text: string): number[] {
  if (!/^(?:0|[1-9]\d{0,4})(?:,(?:0|[1-9]\d{0,4}))+$/.test(text)) {
    throw new Refused(
      `--payout must be whole numbers without leading zeros, such as 1,0, not "${text}"`,
    );
  }
  return text.split(',').map(Number);
}

/** One of two ways. */
function paysOf(options: Options): Pick<ResolveInput, 'payout' | 'payouts'> {
  const winner = textOf(options, 'winner');
  const payout = textOf(options, 'payout');
  if ((winner === undefined) === (payout === undefined)) {
    throw new Refused('one of --winner and --payout says what the outcomes pay');
  }
  return winner === undefined ? { payout: payoutOf(payout!) } : { payouts: { [winner]: 1 } };
}

const resolvedText = (answer: OperationOutput<'POST /admin/markets/resolve'>): string => {
  const { condition, id, outcomes, payout, repeated, state } = answer;
  const named = payout.map((weight, i) => `${outcomes[i]} ${weight}`).join(', ');
  const weights = outcomes.length === 0 ? payout.join(',') : `${payout.join(',')} (${named})`;
  const what = answer.void ? 'void' : weights;
  return `${id}: ${condition} pays ${what} and is ${state}${again(repeated)}`;
};

export const resolve = command(
  'POST /admin/markets/resolve',
  ([condition = ''], options) => ({
    condition: marketOf(condition),
    ...paysOf(options),
    ...idOf(options),
  }),
  resolvedText,
);

export const voidMarket = command(
  'POST /admin/markets/void',
  ([condition = ''], options) => ({ condition: marketOf(condition), ...idOf(options) }),
  resolvedText,
);

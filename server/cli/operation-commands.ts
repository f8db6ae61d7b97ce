/** Commands that are one operation of the admin listener (operate.ts), by name: operation, input, printed answer. */
import type { OperationInput, OperationKey, OperationOutput } from '../admin/operation-table.ts';
import { isUint256 } from '../common/uint256.ts';
import { FAULT_KINDS, isFaultKind } from '../faults/kinds.ts';
import { again, command, given, idOf, tableLines, walletOf } from './command.ts';
import { type Options, Refused, type Run } from './context.ts';
import { weightsText } from './payout-text.ts';
import { marketOf, optionOf, textOf } from './settings.ts';

type Tick = OperationInput<'POST /admin/markets'>['tick'];
type Output<K extends OperationKey> = OperationOutput<K>;
type MarketState = 'halt' | 'resume' | 'close';

const MIB = 2 ** 20;

export const OPERATION_COMMANDS: Readonly<Record<string, Run>> = {
  'keys revoke': command(
    'POST /admin/keys/revoke',
    ([key = '']) => ({ key }),
    ({ changed, key, wallet }) =>
      changed ? `${key} of ${wallet} is revoked` : `${key} was revoked already`,
  ),
  'keys issue': command(
    'POST /admin/keys',
    ([wallet = ''], options) => {
      const nonce = textOf(options, 'nonce') ?? '0';
      if (!isUint256(nonce)) throw new Refused(`--nonce must be a whole number, not "${nonce}"`);
      return { wallet: walletOf(wallet), nonce };
    },
    (issued) => JSON.stringify(issued),
  ),
  'orders cancel': command(
    'POST /admin/orders/cancel',
    ([wallet = '', id]) => given({ wallet: walletOf(wallet), id }),
    ({ canceled }) => `${canceled} orders are canceled`,
  ),
  'wallet name': command(
    'POST /admin/wallets/name',
    ([wallet = '', name]) => {
      if (name === '') throw new Refused('NAME is empty: leave it out to take the name away');
      return given({ wallet: walletOf(wallet), name });
    },
    ({ changed, name, wallet }) => {
      if (name === '') return `${wallet} ${changed ? 'has no name any more' : 'had no name'}`;
      return `${wallet} is ${name}${changed ? '' : ', as before'}`;
    },
  ),
  'wallet ban': command(
    'POST /admin/bans',
    ([wallet = ''], options) =>
      given({ wallet: walletOf(wallet), reason: textOf(options, 'reason') }),
    ({ canceled, changed, wallet }) =>
      `${wallet} ${changed ? 'is' : 'was already'} banned; ${canceled} of its orders ended`,
  ),
  'wallet unban': command(
    'POST /admin/bans/lift',
    ([wallet = '']) => ({ wallet: walletOf(wallet) }),
    ({ changed, wallet }) => `${wallet} ${changed ? 'is not banned any more' : 'was not banned'}`,
  ),
  'wallet bans': command(
    'GET /admin/bans',
    () => ({}),
    ({ bans }) =>
      tableLines(bans, {
        wallet: 'wallet',
        name: 'name',
        since: 'since',
        reason: 'reason',
      }),
  ),
  'venue pause': command(
    'POST /admin/pause',
    (_, options) => given({ reason: textOf(options, 'reason') }),
    ({ changed }) => (changed ? 'the venue is paused: cancels are taken' : 'it was paused already'),
  ),
  'venue resume': command(
    'POST /admin/resume',
    () => ({}),
    ({ changed }) => (changed ? 'the venue is resumed' : 'it was not paused'),
  ),
  'venue message': command(
    'POST /admin/message',
    ([text]) => {
      if (text === '') throw new Refused('TEXT is empty: leave it out to take the message away');
      return given({ text });
    },
    ({ changed, text }) => {
      if (text === '') return changed ? 'there is no message any more' : 'there was no message';
      return `${changed ? 'everybody reads' : 'everybody reads already'}: ${text}`;
    },
  ),
  'limits list': command('GET /admin/rate-limits', () => ({}), limitLines),
  'limits set': command(
    'POST /admin/rate-limits',
    ([name = '', limit = '']) => ({ name, limit }),
    (answer) => [...limitLines(answer), `until the node restarts; to keep it: ${answer.setting}`],
  ),
  'fault add': command(
    'POST /admin/faults',
    ([kind = ''], options) => {
      if (!isFaultKind(kind)) {
        throw new Refused(`KIND must be one of ${FAULT_KINDS.join(', ')}, not "${kind}"`);
      }
      return given({
        kind,
        key: textOf(options, 'key'),
        wallet: optionOf(options, 'wallet', walletOf),
        market: optionOf(options, 'market', marketOf),
        count: optionOf(options, 'count', Number),
        seconds: optionOf(options, 'seconds', Number),
        probability: optionOf(options, 'probability', Number),
        seed: optionOf(options, 'seed', Number),
        ms: optionOf(options, 'ms', Number),
      });
    },
    (fault) => faultLines([fault]),
  ),
  'fault list': command(
    'GET /admin/faults',
    () => ({}),
    ({ faults }) => faultLines(faults),
  ),
  'fault clear': command(
    'POST /admin/faults/clear',
    ([id]) => given({ id }),
    ({ cleared }) => `${cleared} faults are cleared`,
  ),
  'ledger withdraw': command(
    'POST /admin/ledger/withdraw',
    amountInput,
    ({ amount, cash, id, repeated, wallet }) =>
      `${id}: ${amount} is paid out of ${wallet}, which has ${cash}${again(repeated)}`,
  ),
  'ledger declare': command(
    'POST /admin/ledger/declare',
    ([wallet = '', signer = ''], options) => ({
      wallet: walletOf(wallet),
      signer: walletOf(signer, 'SIGNER'),
      id: idOf(options),
    }),
    ({ id, repeated, signer, wallet }) =>
      `${id}: ${signer} may sign for ${wallet}${again(repeated)}`,
  ),
  'ledger pay-fees': command(
    'POST /admin/ledger/fees/pay',
    amountInput,
    ({ amount, cash, id, repeated, wallet }) =>
      `${id}: ${amount} of the fees is paid to ${wallet}, which has ${cash}${again(repeated)}`,
  ),
  'ledger pay-rebates': command(
    'POST /admin/ledger/rebates/pay',
    (_, options) => given({ date: textOf(options, 'date') }),
    ({ amount, date, paid, repeated }) =>
      `rebates of ${date}: ${amount} paid to ${paid} wallets, ${repeated} were paid before`,
  ),
  'ledger draw-fees': command(
    'POST /admin/ledger/fees/draw',
    ([amount = ''], options) => ({ amount, id: idOf(options) }),
    ({ amount, fees, id, repeated }) =>
      `${id}: ${amount} of the fees is drawn, ${fees} is left${again(repeated)}`,
  ),
  'season end': command(
    'POST /admin/seasons/end',
    (_, options) =>
      given({
        startSum: needed(options, 'startSum'),
        name: textOf(options, 'name'),
        id: idOf(options),
      }),
    ({ id, repeated, season, start_sum, state }) =>
      `${id}: season ${season} ${state === 'ended' ? 'has ended' : 'ends'}, wallets begin the next one with ${start_sum}${again(repeated)}`,
  ),
  'event create': command(
    'POST /admin/events',
    (_, options) =>
      given({
        title: needed(options, 'title'),
        ...shownInput(options),
        key: textOf(options, 'key'),
        id: textOf(options, 'id'),
        tags: tagsOf(options),
        negRisk: flagOf(options, 'negRisk'),
      }),
    ({ changed, event, slug }) => `event ${event} (${slug})${again(!changed)}`,
  ),
  'event edit': command(
    'POST /admin/events/edit',
    ([event = ''], options) =>
      given({
        event,
        ...shownInput(options),
        title: textOf(options, 'title'),
        tags: tagsOf(options),
      }),
    ({ changed, event }) => `event ${event} ${changed ? 'is changed' : 'was so before'}`,
  ),
  'market create': command(
    'POST /admin/markets',
    (_, options) =>
      given({
        question: needed(options, 'question'),
        outcomes: manyOf(options, 'outcome'),
        ...shownInput(options),
        key: textOf(options, 'key'),
        id: textOf(options, 'id'),
        event: textOf(options, 'event'),
        ...termsInput(options),
        negRisk: flagOf(options, 'negRisk'),
        protocol: optionOf(options, 'protocol', Number),
        liquidity: textOf(options, 'liquidity'),
      }),
    ({ changed, condition, end, event, liquidity, outcomes, slug, tokens }) => [
      `condition ${condition}`,
      ...tokens.map((token, i) => `token ${token} ${outcomes[i] ?? ''}`.trimEnd()),
      `slug ${slug}`,
      `ends ${end ?? 'never'}`,
      `event ${event}${again(!changed)}`,
      ...(liquidity === undefined ? [] : [`liquidity ${liquidity}`]),
    ],
  ),
  'market edit': command(
    'POST /admin/markets/edit',
    ([condition = ''], options) =>
      given({
        condition: marketOf(condition),
        ...shownInput(options),
        question: textOf(options, 'question'),
        ...termsInput(options),
      }),
    ({ changed, condition, end }) =>
      `${condition} ${changed ? 'is changed' : 'was so before'}${end === null ? '' : `; ends ${end}`}`,
  ),
  'market halt': stateCommand('halt', 'halted'),
  'market resume': stateCommand('resume', 'taking orders'),
  'market close': stateCommand('close', 'closed'),
  'market withdraw-proposal': command(
    'POST /admin/markets/withdraw-proposal',
    ([market = ''], options) => ({ condition: marketOf(market), id: idOf(options) }),
    ({ condition, id, repeated }) =>
      `${id}: the proposal for ${condition} is withdrawn${again(repeated)}`,
  ),
  'market proposals': command(
    'GET /admin/markets/proposals',
    () => ({}),
    ({ proposals }) =>
      tableLines(proposals, {
        market: ({ condition, slug }) => (slug === '' ? condition : slug),
        pays: weightsText,
        from: 'deadline',
      }),
  ),
  'liquidity add': command(
    'POST /admin/liquidity/add',
    ([market = '', amount = ''], options) =>
      given({
        condition: marketOf(market),
        amount,
        price: textOf(options, 'price'),
        id: idOf(options),
      }),
    ({ amount, id, repeated, wallet }) =>
      `${id}: ${amount} is paid in to ${wallet}${again(repeated)}`,
  ),
  'liquidity remove': command(
    'POST /admin/liquidity/remove',
    ([market = '', amount], options) =>
      given({ condition: marketOf(market), amount, id: idOf(options) }),
    ({ amount, id, repeated, wallet }) =>
      `${id}: ${amount} is paid out of ${wallet}${again(repeated)}`,
  ),
  'liquidity list': command(
    'GET /admin/liquidity',
    () => ({}),
    ({ markets }) =>
      tableLines(markets, {
        market: ({ condition, slug }) => (slug === '' ? condition : slug),
        state: 'state',
        'paid in': 'paid_in',
        'paid out': 'paid_out',
        cash: 'cash',
        orders: ({ orders }) => String(orders),
        price: ({ outcomes }) => outcomes[0]?.price ?? '-',
        result: ({ outcomes }) =>
          outcomes.map(({ outcome, result }) => `${outcome} ${result}`).join(', '),
        wallet: 'wallet',
      }),
  ),
  'cluster status': command('GET /admin/cluster', () => ({}), clusterLines),
  'cluster handover': command(
    'POST /admin/cluster/handover',
    ([to]) => given({ to }),
    ({ from, ms, to }) => `${to} leads, ${ms} ms after ${from}`,
  ),
  'cluster defrag': command(
    'POST /admin/cluster/defrag',
    ([member = '']) => ({ member }),
    ({ after_bytes: after, before_bytes: before, member }) =>
      `${member}: ${mebibytes(before)} before, ${mebibytes(after)} after`,
  ),
};

function amountInput([wallet = '', amount = '']: readonly string[], options: Options) {
  return { wallet: walletOf(wallet), amount, id: idOf(options) };
}

function shownInput(options: Options) {
  return {
    description: textOf(options, 'description'),
    startDate: textOf(options, 'start'),
    endDate: textOf(options, 'end'),
  };
}

function termsInput(options: Options) {
  return {
    minimum: textOf(options, 'minimum'),
    tick: textOf(options, 'tick') as Tick,
    fee: optionOf(options, 'fee', Number),
    takerDelay: optionOf(options, 'takerDelay', Number),
    feeRate: textOf(options, 'feeRate'),
    feeExponent: optionOf(options, 'feeExponent', Number),
    feeRebate: textOf(options, 'feeRebate'),
    keepOpen: flagOf(options, 'keepOpen'),
  };
}

function flagOf(options: Options, name: string): true | undefined {
  return options[name] === true ? true : undefined;
}

function needed(options: Options, name: string): string {
  const text = textOf(options, name);
  if (text === undefined) throw new Refused(`--${name} is missing`);
  return text;
}

function manyOf(options: Options, name: string): string[] {
  const texts = options[name];
  return Array.isArray(texts) ? texts.map(String) : [];
}

function tagsOf(options: Options): string[] | undefined {
  return options.tag === undefined ? undefined : manyOf(options, 'tag');
}

function stateCommand(state: MarketState, text: string): Run {
  return command(
    `POST /admin/markets/${state}`,
    ([condition = '']) => ({ condition: marketOf(condition) }),
    ({ changed, condition }) => `${condition} ${changed ? 'is' : 'was already'} ${text}`,
  );
}

function limitLines({ limits }: Output<'GET /admin/rate-limits'>): string[] {
  return tableLines(limits, {
    name: 'name',
    limit: 'limit',
    covers: 'covers',
  });
}

function faultLines(faults: Output<'GET /admin/faults'>['faults']): string[] {
  return tableLines(faults, {
    id: 'id',
    kind: 'kind',
    phase: 'phase',
    of: ({ key, market, wallet }) => [key, wallet, market].filter(Boolean).join(' ') || 'all',
    uses: ({ count, uses }) => (count === null ? String(uses) : `${uses} of ${count}`),
    probability: 'probability',
    seed: 'seed',
    ms: 'ms',
    ends: ({ ends }) => ends ?? '-',
  });
}

function clusterLines({ etcd, nodes }: Output<'GET /admin/cluster'>): string[] {
  return [
    ...tableLines(nodes, {
      node: 'node',
      role: ({ role }) => role ?? '-',
      epoch: ({ epoch }) => String(epoch ?? '-'),
      applied: ({ applied }) => String(applied ?? '-'),
      behind: (node) => (node.behind_ms === undefined ? '-' : `${node.behind_ms} ms`),
      log: ({ digest, sequence }) =>
        sequence === undefined ? '-' : `${sequence} ${(digest! >>> 0).toString(16)}`,
      kind: (node) => (node.may_lead ? 'member' : 'replica'),
      state: 'state',
      address: 'address',
    }),
    '',
    ...tableLines(etcd, {
      etcd: 'member',
      role: ({ leads }) => (leads ? 'leader' : 'follower'),
      file: (member) => mebibytes(member.used_bytes),
      'in use': (member) => mebibytes(member.live_bytes),
    }),
  ];
}

function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}

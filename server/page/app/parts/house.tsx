/** Account from which the house quotes a market, and what it costs; nothing where the house has never quoted it. */
import type { LiquidityMarket } from '../../../../client/types.ts';
import { moneyText } from '../format.ts';
import { publicClient } from '../node/api.ts';
import { useLoaded } from '../node/load.ts';
import type { Market } from '../node/markets.ts';
import { Fact } from './fact.tsx';

const READ_AGAIN_MS = 30_000;
const STATES: Readonly<Record<LiquidityMarket['state'], string>> = {
  quoted: 'The venue itself offers both outcomes of this market, from an account of its own.',
  halted: 'The venue itself offers both outcomes of this market once it is traded again.',
  removed: 'The venue itself offered both outcomes of this market, and does so no more.',
  ended: 'The venue itself offered both outcomes of this market until it ended.',
  resolved: 'The venue itself offered both outcomes of this market until its result.',
};

interface Shown {
  readonly market: Market;
  /** Rises when the account has to be read again. */
  readonly version?: number;
}

export function House({ market: { conditionId }, version = 0 }: Shown) {
  const account = useLoaded(
    `house:${conditionId}:${version}`,
    () => readAccount(conditionId),
    READ_AGAIN_MS,
  );
  const shown = account.value;
  if (shown === undefined || shown === null) return null;
  return (
    <div class="house">
      <h2>Liquidity of the house</h2>
      <p class="muted">{STATES[shown.state]}</p>
      <dl class="facts tabular">
        <Fact name="Paid in" value={moneyText(Number(shown.paid_in))} />
        <Fact name="Paid out" value={moneyText(Number(shown.paid_out))} />
        <Fact name="Balance" value={moneyText(Number(shown.cash))} />
        {resultsOf(shown).map(({ name, text }) => (
          <Fact key={name} name={name} value={text} />
        ))}
      </dl>
    </div>
  );
}

/** Cost or gain of the house by outcome, or the one that is final. */
export function resultsOf({ outcomes, state }: LiquidityMarket) {
  const isFinal = state === 'resolved';
  return outcomes.slice(0, isFinal ? 1 : undefined).map(({ outcome, result }) => {
    const gain = Number(result);
    const word = gain > 0 ? 'Gain' : 'Cost';
    return { name: isFinal ? word : `${word} if ${outcome}`, text: moneyText(Math.abs(gain)) };
  });
}

/** Null where the house has never quoted the market, also without a ledger. */
async function readAccount(condition: string): Promise<LiquidityMarket | null> {
  const client = await publicClient();
  if (!client.info.mode.ledger) return null;
  const { data } = await client.call('GET /liquidity', { query: { condition } });
  return data[0] ?? null;
}

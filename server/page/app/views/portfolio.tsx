/** The wallet's own view: cash, positions with profit and what they pay, open orders, history, statement. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Position } from '../../../../client/client.ts';
import {
  momentText,
  moneyText,
  NONE,
  priceText,
  sharesText,
  signedMoneyText,
  timeText,
} from '../format.ts';
import { cash, freeCashText, ownTrades, positions, positionsValue } from '../node/account.ts';
import { publicClient } from '../node/api.ts';
import { useLoaded } from '../node/load.ts';
import { type Market, useMarkets } from '../node/markets.ts';
import { type Session, session } from '../node/session.ts';
import { statementCsv } from '../node/statement.ts';
import { notify } from '../notices.ts';
import {
  axis,
  Chart,
  type ChartData,
  type ChartOptions,
  type Colors,
  faint,
  steps,
} from '../parts/chart.tsx';
import { DisplayName } from '../parts/display-name.tsx';
import { Fact } from '../parts/fact.tsx';
import { GetWallet } from '../parts/get-wallet.tsx';
import { MarketCell, Nothing, SideCell } from '../parts/market-cell.tsx';
import { OpenOrders } from '../parts/open-orders.tsx';
import { Table } from '../parts/table.tsx';
import { textOf } from '../refusal-words.ts';

const DECIMALS = 3;
const READ_AGAIN_MS = 30_000;
const POSITION_COLUMNS = [
  'Market',
  'Shares',
  'Bought at',
  'Now',
  'Value',
  'Profit',
  'If right',
  'If wrong',
];
const TRADE_COLUMNS = ['Market', 'Time', 'Side', 'Price', 'Shares'];

export function PortfolioView() {
  const own = session.value;
  return (
    <div class="portfolio">
      <h1>Portfolio</h1>
      {own === undefined ? (
        <p class="muted">
          <GetWallet /> Your positions and orders are then here.
        </p>
      ) : (
        <Own own={own} />
      )}
    </div>
  );
}

function Own({ own }: { readonly own: Session }) {
  return (
    <>
      <Sums />
      {cash.value === 'unlimited' && (
        <p class="muted">
          This venue keeps no accounts: nobody’s money is limited, and nothing is paid out.
        </p>
      )}
      <section class="card">
        <Positions />
      </section>
      <OpenOrders own={own} />
      <section class="card" aria-label="Profit over time">
        <h2>Profit</h2>
        <ProfitChart address={own.address} />
      </section>
      <section class="card">
        <Trades own={own} />
        <button type="button" class="plain" onClick={() => download(own)}>
          Statement as CSV
        </button>
        <span class="muted small"> Every change of your cash and shares, payouts too.</span>
      </section>
      <DisplayName own={own} />
    </>
  );
}

function Sums() {
  const funds = cash.value;
  const profit = positions.value.reduce((sum, { cashPnl }) => sum + Number(cashPnl), 0);
  const hasFunds = funds !== undefined && funds !== 'unlimited';
  return (
    <dl class="facts tabular card">
      <Fact name="Free cash" value={freeCashText.value} />
      <Fact name="Reserved by orders" value={hasFunds ? moneyText(funds.reserved) : NONE} />
      <Fact name="Positions at the last price" value={moneyText(positionsValue.value)} />
      <Fact name="Profit of open positions" value={signedMoneyText(profit)} />
    </dl>
  );
}

function Positions() {
  const rows = positions.value.filter(({ size }) => Number(size) > 0);
  const markets = useMarkets(rows.map(({ conditionId }) => conditionId));
  return (
    <Table label="Positions, table" caption="Positions" columns={POSITION_COLUMNS}>
      {rows.map((position) => (
        <PositionRow
          key={position.asset}
          position={position}
          market={markets.get(position.conditionId)}
        />
      ))}
      {rows.length === 0 && (
        <Nothing
          columns={POSITION_COLUMNS.length}
          text="You hold nothing yet: buy shares of an outcome in a market"
        />
      )}
    </Table>
  );
}

function PositionRow({
  market,
  position,
}: {
  readonly market: Market | undefined;
  readonly position: Position;
}) {
  const { avgPrice, cashPnl, curPrice, currentValue, initialValue, outcome, size, title } =
    position;
  const cost = Number(initialValue);
  const profit = Number(cashPnl);
  return (
    <tr>
      <MarketCell market={market} title={title} outcome={outcome} />
      <td>{sharesText(Number(size))}</td>
      <td>{priceText(Number(avgPrice), DECIMALS)}</td>
      <td>{priceText(Number(curPrice), DECIMALS)}</td>
      <td>{moneyText(Number(currentValue))}</td>
      <td class={profit < 0 ? 'is-sell' : 'is-buy'}>{signedMoneyText(profit)}</td>
      <td>{signedMoneyText(Number(size) - cost)}</td>
      <td>{signedMoneyText(-cost)}</td>
    </tr>
  );
}

function Trades({ own }: { readonly own: Session }) {
  const history = useLoaded(`trades:${own.address}`, () => readTrades(own), READ_AGAIN_MS);
  useEffect(() => {
    if (ownTrades.value === 0) return;
    const timer = setTimeout(history.reload, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [ownTrades.value]);
  const rows = history.value;
  const markets = useMarkets((rows ?? []).map(({ conditionId }) => conditionId));
  return (
    <Table label="History, table" caption="History" columns={TRADE_COLUMNS}>
      {rows?.map(({ conditionId, outcome, price, side, size, timestamp, title }, i) => (
        <tr key={`${timestamp}/${rows.length - i}`}>
          <MarketCell market={markets.get(conditionId)} title={title} outcome={outcome} />
          <td>{momentText(Number(timestamp) * 1_000)}</td>
          <SideCell side={side} />
          <td>{priceText(Number(price), DECIMALS)}</td>
          <td>{sharesText(Number(size))}</td>
        </tr>
      ))}
      {rows === undefined && <Nothing columns={TRADE_COLUMNS.length} text="Loading…" />}
      {rows?.length === 0 && <Nothing columns={TRADE_COLUMNS.length} text="No trade yet" />}
    </Table>
  );
}

const HISTORY_MAX = 100;
/** Trades are in the list a moment after their message. */
const SETTLE_MS = 1_000;

/** Trades of the wallet as it made them, as taker or as maker. */
function readTrades({ address, client }: Session) {
  return client.marketData.trades({ user: address, takerOnly: false, limit: HISTORY_MAX });
}

function ProfitChart({ address }: { readonly address: string }) {
  const found = useLoaded(`profit:${address}`, () => readProfit(address), READ_AGAIN_MS);
  const points = found.value ?? [];
  const data = useMemo<ChartData>(
    () => [points.map(({ t }) => t), points.map(({ p }) => p)],
    [found.value],
  );
  const last = points.at(-1)?.p ?? 0;
  return (
    <Chart
      data={data}
      label={`Realised profit until now: ${signedMoneyText(last)}`}
      emptyText="No profit or loss yet"
      optionsKey="profit"
      options={profitOptions}
    />
  );
}

async function readProfit(user: string) {
  const client = await publicClient();
  const { data } = await client.call('GET /v2/user-pnl', { query: { user, interval: 'all' } });
  return data.points.map(({ realized_pnl, timestamp }) => ({ t: timestamp, p: realized_pnl }));
}

function profitOptions(colors: Colors): ChartOptions {
  return {
    padding: [8, 4, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    axes: [
      axis(colors, {
        grid: { show: false },
        size: 24,
        space: 72,
        values: (_plot, splits, _index, _space, step) => splits.map((t) => timeText(t, step)),
      }),
      axis(colors, {
        side: 1,
        size: 64,
        space: 32,
        values: (_plot, splits) => splits.map((split) => moneyText(split)),
      }),
    ],
    series: [{}, steps(colors.accent, 1, { fill: faint(colors.accent) })],
  };
}

function download(own: Session): void {
  statementCsv(own.client).then(
    (text) => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
      link.download = 'statement.csv';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
    },
    (error: unknown) => notify('warning', `No statement: ${textOf(error)}`),
  );
}

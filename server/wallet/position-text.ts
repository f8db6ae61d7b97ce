/**
 * Positions and holders as JSON, in pieces of about a millisecond with pauses between them.
 *
 * Thread: I/O.
 */

import { marketFlags, tokenComplement, tokenMarket, tokenOutcome } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import type { AccountRow, Pips, TokenRow } from '../../engine/tables/units.ts';
import type { WalletPosition } from '../../storage/projection/positions.ts';
import { pipsText } from '../common/decimal.ts';
import { nextIteration } from '../common/event-loop.ts';
import type { AccountTexts } from '../market-data/account-texts.ts';
import type { TokenTexts } from '../market-data/texts.ts';
import type { Holdings } from './holdings.ts';
import { averagePrice, gain, microsText, percentGain, percentRealised, worth } from './money.ts';

const ROWS_PER_TURN = 64;
const MS = 1_000;
const NO_PROFILE =
  '"name":"","pseudonym":"","bio":"","profileImage":"","profileImageOptimized":"",' +
  '"displayUsernamePublic":false';

export class PositionTexts {
  private readonly names: AccountTexts;
  private readonly tokens: TokenTexts;
  private readonly holdings: Holdings;

  constructor(names: AccountTexts, tokens: TokenTexts, holdings: Holdings) {
    this.names = names;
    this.tokens = tokens;
    this.holdings = holdings;
  }

  positions(rows: readonly WalletPosition[]): Promise<string> {
    return listOf(rows, (row) => this.position(row));
  }

  async holders(token: TokenRow, rows: readonly WalletPosition[]): Promise<string> {
    const asset = this.tokens.assetOf(token);
    const outcome = tokenOutcome(this.names.tables, token);
    const holders = await listOf(rows, ({ account, net }) => {
      const wallet = this.names.wallet(account as AccountRow);
      return (
        `{"proxyWallet":"${wallet}","asset":"${asset}","amount":${microsText(net)},` +
        `"outcomeIndex":${outcome},${NO_PROFILE}}`
      );
    });
    return `{"token":"${this.names.token(token).asset_id}","holders":${holders}}`;
  }

  private position(row: WalletPosition): string {
    const { holdings, names, tokens } = this;
    const token = row.token as TokenRow;
    const pips = holdings.price(token);
    return (
      `{"proxyWallet":"${names.wallet(row.account as AccountRow)}",${tokens.assetMembers(token)},` +
      `"conditionId":"${names.token(token).market}","size":${microsText(row.net)},` +
      `"avgPrice":${microsText(averagePrice(row))},"initialValue":${microsText(row.cost)},` +
      `"currentValue":${microsText(worth(row.net, pips))},` +
      `"cashPnl":${microsText(gain(row, pips))},` +
      `"percentPnl":${microsText(percentGain(row, pips))},` +
      `"totalBought":${microsText(row.bought)},"realizedPnl":${microsText(row.realised)},` +
      `"percentRealizedPnl":${microsText(percentRealised(row))},` +
      `"curPrice":${pipsText(pips as Pips)},"redeemable":false,` +
      `"mergeable":${holdings.isMergeable(row)},"timestamp":${Math.floor(row.time / MS)},` +
      `${this.ofToken(token)}}`
    );
  }

  private ofToken(token: TokenRow): string {
    const { names, tokens } = this;
    const { tables } = names;
    const market = tokenMarket(tables, token);
    const info = tokens.info(market);
    const other = tokenComplement(tables, token);
    const members = {
      title: info?.question ?? '',
      slug: info?.slug ?? '',
      icon: info?.icon ?? '',
      eventSlug: info?.eventSlug ?? '',
      outcome: names.token(token).outcome,
      outcomeIndex: tokenOutcome(tables, token),
      oppositeOutcome: other === 0 ? '' : names.token(other).outcome,
      oppositeAsset: other === 0 ? '' : tokens.assetOf(other),
      endDate: info?.endDate ?? '',
      negativeRisk: (marketFlags(tables, market) & MarketFlag.negRisk) !== 0,
    };
    return JSON.stringify(members).slice(1, -1);
  }
}

async function listOf<T>(rows: readonly T[], textOf: (row: T) => string): Promise<string> {
  const texts: string[] = [];
  for (const [i, row] of rows.entries()) {
    if (i > 0 && i % ROWS_PER_TURN === 0) await nextIteration();
    texts.push(textOf(row));
  }
  return `[${texts.join(',')}]`;
}

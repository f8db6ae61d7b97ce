import assert from 'node:assert/strict';
import type { Profile } from '../../server/config/kinds.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { order2DigestByEthers } from '../common/ethers.ts';
import { get, TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { CHAIN_ID, type Result, type SigningRules, type Terms, Trader } from '../common/traders.ts';

/** A node of one profile: a plain market with a bid at 0.4 and an offer at 0.6, and an idle one. */
export interface Venue {
  readonly node: TestNode;
  readonly rules: SigningRules;
  readonly alice: Trader;
  readonly plain: CatalogMarket;
  readonly risky: CatalogMarket;
  readonly idle: CatalogMarket;
}

function rulesOf(profile: Profile): SigningRules {
  const { credentialPrefix, domainName, exchangeAddress, negRiskExchangeAddress } = PROFILE_TABLE;
  const domain = { name: domainName[profile], version: '1', chainId: CHAIN_ID };
  return {
    prefix: credentialPrefix[profile],
    normal: { ...domain, verifyingContract: exchangeAddress[profile] },
    negRisk: { ...domain, verifyingContract: negRiskExchangeAddress[profile] },
  };
}

async function openVenue(profile: Profile): Promise<Venue> {
  const dataDir = temporaryDirectory();
  const [plain, risky, idle] = await withMarkets(dataDir, [
    {
      id: 1,
      metadata: { version: 7 },
      feeSchedule: { rate: 0.04, exponent: 1, rebateRate: 0.25, takerOnly: true },
    },
    { id: 2, negRisk: true, secondsDelay: 3 },
    { id: 3 },
  ]);
  assert(plain && risky && idle);
  const node = await TestNode.start(dataDir, { CLIENT_PROFILE: profile });
  const rules = rulesOf(profile);
  const alice = await Trader.join(node, 'alice', rules);
  const venue = { node, rules, alice, plain, risky, idle };
  for (const [side, ticks] of [
    ['BUY', 40],
    ['SELL', 60],
    ['BUY', 60],
  ] as const) {
    await alice.place(node, { market: plain, side, ticks, shares: 10 });
  }
  await alice.place(node, { market: plain, side: 'SELL', ticks: 60, shares: 10 });
  await until(async () => ((await get(node, '/trades')).json as unknown[]).length > 0);
  return venue;
}

export const venues: Readonly<Record<Profile, Venue>> = {
  spec: await openVenue('spec'),
  polymarket: await openVenue('polymarket'),
};

export async function json(venue: Venue, path: string): Promise<unknown> {
  return (await get(venue.node, path)).json;
}

export async function own({ alice, node }: Venue, path: string): Promise<unknown> {
  const [plain = '', query] = path.split('?');
  return (await alice.call(node, 'GET', plain, query === undefined ? '' : `?${query}`)).json;
}

/** The text of a refusal, or ''. */
export async function refusal(venue: Venue, terms: Partial<Terms>): Promise<string> {
  const { alice, plain } = venue;
  const usual: Terms = { market: plain, side: 'BUY', ticks: 1, shares: 5 };
  const { error, errorMsg } = await post(venue, alice.sign({ ...usual, ...terms }).item);
  return error ?? errorMsg;
}

const BYTES32 = `0x${'0'.repeat(64)}`;
export const NEG_RISK_2 = '0xe2222d279d744050d28e00520010520000310F59';
let salts = Date.now();

/** An item of version 2, of the first outcome by default, and its digest by ethers. */
export function signed2(
  { alice, plain, rules }: Venue,
  changes: Readonly<Record<string, unknown>> = {},
  outer: Readonly<Record<string, unknown>> = {},
  verifyingContract = '0xE111180000d2663C0091e4f400237545B87B996B',
) {
  salts += 1;
  const order = {
    salt: String(salts),
    maker: alice.address,
    signer: alice.address,
    tokenId: plain.tokenIds[0]!,
    makerAmount: '500000',
    takerAmount: '5000000',
    side: 0 as const,
    signatureType: 0,
    timestamp: String(Date.now()),
    metadata: BYTES32,
    builder: BYTES32,
    ...changes,
  };
  const domain = { ...rules.normal, version: '2', verifyingContract };
  const { signature } = alice.wallet.signOrder(domain, order);
  const side = order.side === 0 ? 'BUY' : 'SELL';
  const sent = { ...order, salt: salts, side, expiration: '0', signature, ...outer };
  const item = { order: sent, orderType: 'GTC', owner: alice.trio.apiKey, deferExec: false };
  return { item, id: order2DigestByEthers(domain, order) };
}

export async function post(
  venue: Venue,
  item: object,
): Promise<Result & { readonly error?: string }> {
  const reply = await venue.alice.ask(venue.node, 'POST', '/order', JSON.stringify(item));
  return reply.json as Result & { readonly error?: string };
}

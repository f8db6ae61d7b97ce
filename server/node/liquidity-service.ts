/**
 * Liquidity of the house as a service of the node: its makers quote where this node leads.
 *
 * Thread: I/O. Not here: the makers (server/liquidity).
 */
import { ledgerIsOn } from '../../engine/ledger/reads.ts';
import { openNodeKey } from '../auth/credentials.ts';
import { domainsOf } from '../config/signing-domains.ts';
import type { Liquidity, LiquidityParts } from '../liquidity/liquidity.ts';
import type { LedgerCommands } from '../wallet/ledger-commands.ts';
import type { NodeParts } from './node-parts.ts';
import type { Start } from './start.ts';

/** Returns `undefined` without a ledger. */
export async function openLiquidity(
  start: Start,
  { authority, clock, committed, control, tables, writer }: NodeParts,
  ledger: LedgerCommands,
): Promise<Liquidity | undefined> {
  const { config } = start.options;
  const nodeKey = openNodeKey(config.dataDir);
  if (!ledgerIsOn(tables) || !nodeKey.ok) return undefined;
  // Loads the client, too, which a node without a ledger does not need.
  const { Liquidity } = await import('../liquidity/liquidity.ts');
  const { intake, sequenceLock } = writer;
  const { liquidityLevels: levels, maxBatchOrders } = config;
  const liquidity = new Liquidity({
    tables,
    sequenceLock,
    intake,
    signing: signingOf(config),
    secret: nodeKey.key,
    levels,
    maxBatchOrders,
    ledger,
    terms: control.liquidity,
    put: (condition, terms) => control.putLiquidity(condition, terms),
    leads: () => authority.leads(),
    now: clock.now,
  });
  committed.add(() => liquidity.committed());
  start.onClose(() => start.wait('the quotes of the house', liquidity.end()));
  await authority.whenLeading(() => liquidity.begin());
  authority.whenFollowing(() => void liquidity.end());
  return liquidity;
}

function signingOf(config: Start['options']['config']): LiquidityParts['signing'] {
  const domains = domainsOf(config);
  const version = config.orderVersion === '2' ? 2 : 1;
  const third = domains[3];
  return {
    version,
    ...contractsOf(domains[version]),
    ...(third !== undefined && { position: contractsOf(third).normal }),
  };
}

function contractsOf({ contract, negRiskContract, ...domain }: ReturnType<typeof domainsOf>[1]) {
  return {
    normal: { ...domain, verifyingContract: contract },
    negRisk: { ...domain, verifyingContract: negRiskContract },
  };
}

/**
 * The checking mode of `npm run load`: sends real signed GTC and FOK orders to a node over HTTP,
 * keeps its own books, and holds what /books, /last-trades-prices, /trades and, with LEDGER=on, balances say
 * against them, also across kill -9.
 * Thread: this one only.
 * Non-goals: measuring (bench/measure does: here a connection waits for each answer before its next
 * batch), and self-trade policies other than the default, allow.
 */
import { readConfig } from '../../server/config/config.ts';
import { playMoney } from './load-money.ts';
import { parseOptions, USAGE } from './load-options.ts';
import { LoadRun } from './load-run.ts';
import { targetMarkets, withTarget } from './load-target.ts';

/** Exit codes of the load tool. */
export const Exit = { well: 0, failed: 1, wrongUsage: 2 } as const;

/** Runs one check; the exit code: `well` when everything agrees. */
export async function checkNode(
  argv: readonly string[],
  write: (text: string) => void,
): Promise<number> {
  const print = (line: string): void => write(`${line}\n`);
  const parsed = parseOptions(argv, Date.now());
  if (!parsed.ok) {
    print(parsed.problem === 'help' ? USAGE : `${parsed.problem}\n${USAGE}`);
    return parsed.problem === 'help' ? Exit.well : Exit.wrongUsage;
  }
  const configured = readConfig(process.env, [], 1);
  if (!configured.ok) {
    print(configured.problems.join('\n'));
    return Exit.wrongUsage;
  }
  const { options } = parsed;
  const { config } = configured;
  if (config.selfTrade !== 'allow') {
    print(`the load tool's books know SELF_TRADE=allow only, it is "${config.selfTrade}"`);
    return Exit.wrongUsage;
  }
  const { ledger } = config;
  const faucet = config.faucet || (options.spawn ? playMoney(options.wallets) : 0);
  if (ledger && faucet === 0) {
    print('with LEDGER=on, FAUCET has to say what the node gives to a wallet');
    return Exit.wrongUsage;
  }
  const money = ledger ? { environment: { FAUCET: String(faucet) }, hasAdmin: true } : {};
  const agrees = await withTarget(options, money, print, async (node) => {
    const markets = await targetMarkets(options, options.markets);
    return new LoadRun(options, { ...config, faucet }, markets, node, write).run();
  });
  return agrees ? Exit.well : Exit.failed;
}

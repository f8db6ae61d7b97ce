import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { get, TestNode, temporaryDirectory } from '../common/node-harness.ts';

export interface DemoMarket {
  readonly id: string;
  readonly conditionId: string;
  readonly slug: string;
  readonly tokens: readonly [string, string];
}

export interface Venue {
  readonly host: string;
  readonly port: number;
  /** Markets of the first protocol with resting orders of the demo; the second is a neg-risk one. */
  readonly market: DemoMarket;
  readonly risky: DemoMarket;
  /** Markets of the second protocol, whose tokens are positions. */
  readonly later: readonly DemoMarket[];
  readonly eventId: string;
  readonly eventSlug: string;
  readonly tagId: string;
  readonly load: Loader;
}

/** Loads an installed package like a script beside it. */
export interface Loader {
  readonly directory: string;
  require<Exports>(name: string): Exports;
  import<Exports>(name: string): Promise<Exports>;
}

export const CHAIN_ID = 137;
const USUAL_TICKS: readonly number[] = [0.01, 0.001];

interface MarketJson {
  readonly id: string;
  readonly conditionId: string;
  readonly slug: string;
  readonly clobTokenIds: string;
  readonly positionIds?: readonly [string, string];
  readonly negRisk: boolean;
  readonly orderPriceMinTickSize: number;
  readonly acceptingOrders: boolean;
  readonly lastTradePrice: number;
  readonly events: readonly { readonly id: string; readonly slug: string }[];
}

interface EventJson {
  readonly tags: readonly { readonly id: string }[];
}

export async function openVenue(): Promise<Venue> {
  const node = await TestNode.start(temporaryDirectory(), {
    CLIENT_PROFILE: 'polymarket',
    DEMO: 'on',
    DEMO_TRADERS: 'off',
  });
  const query = '/gamma/markets?active=true&closed=false&limit=500&order=volume';
  const markets = (await get(node, query)).json as readonly MarketJson[];
  const known = markets.filter(
    ({ clobTokenIds, orderPriceMinTickSize: tick }) =>
      // Older clients know the powers of ten alone.
      USUAL_TICKS.includes(tick) && (JSON.parse(clobTokenIds) as unknown[]).length === 2,
  );
  const market = known.find(({ lastTradePrice, negRisk }) => !negRisk && lastTradePrice > 0);
  const risky = known.find(({ negRisk }) => negRisk);
  const later = markets.filter(({ positionIds }) => positionIds !== undefined);
  assert(market && risky, 'the demo has markets of both kinds');
  assert.deepEqual(new Set(later.map(({ negRisk }) => negRisk)), new Set([true, false]));
  const [event] = market.events;
  const { tags } = (await get(node, `/gamma/events/${event?.id}`)).json as EventJson;
  const [tag] = tags;
  assert(event && tag, 'its markets are of events, which have tags');
  return {
    host: `http://127.0.0.1:${node.port}`,
    port: node.port,
    market: demoMarket(market),
    risky: demoMarket(risky),
    later: later.map(demoMarket),
    eventId: event.id,
    eventSlug: event.slug,
    tagId: tag.id,
    load: install(),
  };
}

function demoMarket({ clobTokenIds, conditionId, id, positionIds, slug }: MarketJson): DemoMarket {
  const tokens = positionIds ?? (JSON.parse(clobTokenIds) as readonly [string, string]);
  return { id, conditionId, slug, tokens };
}

/** `npm ci` of packages/ in a temporary directory, or the contents of CLIENTS_DIR. */
function install(): Loader {
  const known = process.env.CLIENTS_DIR;
  const directory = known ?? temporaryDirectory();
  if (known === undefined) {
    cpSync(new URL('./packages', import.meta.url), directory, { recursive: true });
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
    const options = { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] } as const;
    execFileSync('npm', ['ci', ...flags], { ...options, stdio: [...options.stdio] });
  }
  const require = createRequire(join(directory, 'index.js'));
  return {
    directory,
    require: <Exports>(name: string) => require(name) as Exports,
    import: async <Exports>(name: string) => {
      const parent = pathToFileURL(join(directory, 'node_modules', name)).href;
      return (await import(parent)) as Exports;
    },
  };
}

/**
 * A node for a fault. Its orders and cancels (cancel-books.ts) are checked against its answers, and
 * another process on the same directory may replace it.
 */
import assert from 'node:assert/strict';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import {
  type Settings,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { Random } from '../common/random.ts';
import { FAUCET, verified, WITH_LEDGER } from '../common/verified.ts';
import { CancelBooks } from './cancel-books.ts';

const ROUNDS_BEFORE = 4;
/** Snapshots and segments change within a few rounds. */
const SETTINGS = { IMAGE_BATCHES: '5', LOG_SEGMENT_BYTES: '65536' };

/** Far longer than any fault takes to show. */
const TRADE_MS_MAX = 180_000;

export class FaultStage {
  readonly dataDir: string;
  readonly random: Random;
  node: TestNode;
  private readonly market: CatalogMarket;
  /** Half of the nodes have a ledger. */
  private readonly settings: Settings;
  private books: CancelBooks | undefined;

  private constructor(
    dataDir: string,
    random: Random,
    market: CatalogMarket,
    node: TestNode,
    settings: Settings,
  ) {
    this.dataDir = dataDir;
    this.random = random;
    this.market = market;
    this.node = node;
    this.settings = settings;
  }

  static async open(
    seed: number,
    settings: Settings = {},
    dataDir = temporaryDirectory(),
  ): Promise<FaultStage> {
    const random = new Random(seed);
    const hasLedger = random.chance(50);
    const own = hasLedger ? { ...SETTINGS, ...WITH_LEDGER } : SETTINGS;
    const [market] = await withMarkets(dataDir, [{ id: 1 }]);
    const node = await TestNode.start(dataDir, { ...own, ...settings });
    const stage = new FaultStage(dataDir, random, market!, node, own);
    const place = {
      get port() {
        return stage.node.port;
      },
      ready: () => until(() => !stage.node.hasEnded),
    };
    stage.books = await CancelBooks.open(place, stage.market, random, hasLedger ? FAUCET : 0);
    await stage.trade(ROUNDS_BEFORE);
    return stage;
  }

  /**
   * Runs so many rounds of placing and cancelling; each request is repeated until it is answered.
   */
  async trade(rounds: number): Promise<void> {
    for (let i = 0; i < rounds; i++) await this.books!.round();
  }

  async restart(settings: Settings = {}): Promise<void> {
    if (!this.node.hasEnded) await this.node.end('SIGKILL');
    this.node = await TestNode.start(this.dataDir, { ...this.settings, ...settings });
  }

  async check(): Promise<void> {
    await this.books!.check();
  }

  /**
   * Trades on, kills the node and starts it without any fault, checks all, and ends it with a
   * verified directory.
   */
  async prove(): Promise<void> {
    await this.restart();
    await this.check();
    await this.trade(1);
    await this.check();
    await this.node.stop();
    await verified(this.dataDir, this.settings);
  }

  /**
   * Trades during a fault, until the node has ended or `isOver`. A request in flight at its end is
   * answered by the next node, which `after` starts.
   */
  async tradeThrough(isOver: () => boolean, after: Settings = {}): Promise<void> {
    let trading = true;
    const restarts = (async () => {
      while (trading) {
        if (this.node.hasEnded) await this.restart(after);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    try {
      const deadline = performance.now() + TRADE_MS_MAX;
      while (!isOver()) {
        assert(performance.now() < deadline, 'what was to go wrong has not');
        await this.trade(1);
      }
    } finally {
      trading = false;
      await restarts;
    }
  }
}

/** Checks that the log of an ending node has a line. */
export async function assertSays(node: TestNode, line: RegExp): Promise<void> {
  // The last of its log may come after its end.
  await node.exit();
  assert.match(node.log, line);
}

/**
 * A node for a fault: it has orders and cancels in its books (cancel-books.ts) which know what it was told,
 * and it may be replaced by another process on the same directory.
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
/** Images and segments change within a few rounds. */
const SETTINGS = { IMAGE_BATCHES: '5', LOG_SEGMENT_BYTES: '65536' };

/** Far above what any fault takes to show. */
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

  /** So many requests that place, and that cancel; each is repeated until it is answered. */
  async trade(rounds: number): Promise<void> {
    for (let i = 0; i < rounds; i++) await this.books!.round();
  }

  /** Another process on the same directory. */
  async restart(settings: Settings = {}): Promise<void> {
    if (!this.node.hasEnded) await this.node.end('SIGKILL');
    this.node = await TestNode.start(this.dataDir, { ...this.settings, ...settings });
  }

  /** What was told is so. */
  async check(): Promise<void> {
    await this.books!.check();
  }

  /** Trades on, is killed and started without any fault, and has all; ends well, and leaves a directory that is whole. */
  async prove(): Promise<void> {
    await this.restart();
    await this.check();
    await this.trade(1);
    await this.check();
    await this.node.stop();
    await verified(this.dataDir, this.settings);
  }

  /**
   * Trades while something is wrong, until the node has ended or `isOver`; a request that is under way
   * when it ends is answered by the node after it, which `after` starts.
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

/** A line of the log of a node that ends, which must be there. */
export async function assertSays(node: TestNode, line: RegExp): Promise<void> {
  // The last of its log may come after its end.
  await node.exit();
  assert.match(node.log, line);
}

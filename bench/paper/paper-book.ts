/** A recording of one market, and an engine whose book mirrors it: messages in, positions of traders out. */
import { CommandBuffer, commandWords } from '../../engine/commands.ts';
import { MirroredBook, type MirroredBookOptions } from '../../engine/paper/mirrored-book.ts';
import { MirroredMarket } from '../../engine/paper/mirrored-market.ts';
import { EngineOrders } from '../../engine/paper/paper-orders.ts';
import { closedCount } from '../../engine/reads.ts';
import { Simulator } from '../../engine/simulator.ts';
import type { TicksPerUnit, TokenRow } from '../../engine/tables/units.ts';
import { readCatalog } from '../../storage/catalog/catalog-file.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import { openRecording } from '../../storage/recordings/recording.ts';
import { readEvents } from '../../storage/recordings/source-message.ts';

export const SHARE = 1_000_000;

export interface RecordedMarket {
  readonly name: string;
  readonly tokenIds: readonly string[];
  readonly ticksPerUnit: TicksPerUnit;
  readonly infersTrades: boolean;
  readonly messages: readonly JsonObject[];
}

/** The first market of a recording, and all messages. */
export async function readMarket(path: string): Promise<RecordedMarket> {
  const recording = await openRecording(path);
  const read = readCatalog(recording.catalog);
  if (!read.ok) throw new Error(`${path}: ${read.error}`);
  const { question, ticksPerUnit, tokenIds } = read.catalog.markets[0]!;
  const messages: JsonObject[] = [];
  for await (const entry of recording) if (entry.kind === 'message') messages.push(entry.message);
  const infersTrades = recording.header.inferred.includes(tokenIds[0]!);
  return { name: question, tokenIds, ticksPerUnit, infersTrades, messages };
}

const CAPACITIES = {
  markets: 2,
  tokens: 8,
  accounts: 16,
  orders: 8_192,
  levels: 1 << 15,
  trades: 1 << 16,
  history: 4_096,
  positions: 64,
  operatorIds: 0,
};

export class PaperBook {
  readonly sim = new Simulator(CAPACITIES, { ledger: true });
  readonly book: MirroredBook;
  readonly token: TokenRow;
  readonly ticksPerUnit: TicksPerUnit;
  private readonly tokens: readonly string[];
  private readonly model: MirroredMarket;
  private readonly out = new CommandBuffer();
  private time = 1;

  constructor(market: RecordedMarket, options: Pick<MirroredBookOptions, 'impact' | 'queue'>) {
    const { sim } = this;
    this.ticksPerUnit = market.ticksPerUnit;
    this.token = sim.addMarket({ ticksPerUnit: market.ticksPerUnit })[0]!;
    const paper = new EngineOrders(sim.engine.t, this.token);
    this.book = new MirroredBook({ ...options, token: this.token, paper });
    this.tokens = market.tokenIds;
    this.model = new MirroredMarket(this.book, this.tokens[0]!, market.infersTrades);
    sim.deposit('source', 1e9 * SHARE);
  }

  play(message: JsonObject): void {
    const { out } = this;
    const { engine } = this.sim;
    this.time = Math.max(this.time, Number(message.timestamp));
    this.sim.at(this.time);
    out.clear();
    for (const event of readEvents(message)) {
      if ('token' in event && this.tokens.includes(event.token)) this.model.apply(event, out);
    }
    if (out.words === 0) return;
    engine.begin(this.time, closedCount(engine.t));
    for (let at = 0; at < out.words; at += commandWords(out.i32, at)) {
      engine.apply(out.i32, out.f64, at);
    }
    engine.end();
  }
}

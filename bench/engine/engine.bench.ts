/**
 * The engine alone: no parsing, no signatures, no journal. Orders come encoded, with 32-byte ids,
 * accounts and owners' lists, and leave records, fills and a digest, as in a node.
 *
 * Not measured: reading books, rendering, threads.
 */
import { audit } from '../../engine/audit.ts';
import { stateHash } from '../../engine/state-hash.ts';
import { type Measured, measure } from '../harness.ts';
import { EngineLoad, type Shape } from './engine-stream.ts';

const SEED = 'engine';

export async function engineSuite(messages: number, blocks: number): Promise<Measured[]> {
  const shapes: Shape[] = [
    { books: 1, grid: 10_000 },
    { books: 1_000, grid: 100 },
  ];
  const measured: Measured[] = [];
  for (const shape of shapes) {
    const capacities = {
      markets: shape.books,
      tokens: 2 * shape.books,
      accounts: 2_000,
      orders: messages + 1,
      levels: shape.books * (shape.grid + 512),
      trades: 65_536,
      history: 32_768,
    };
    const load = new EngineLoad(shape, capacities, SEED);
    const label = (what: string): string =>
      `${what}, ${shape.books} books of ${shape.grid - 1} ticks`;
    const adds = load.adds(messages);
    const cancels = load.cancels(adds);
    load.clear();
    const deep = load.adds(messages);
    const foks = load.foks(messages / 2);
    load.clear();
    const mixed = load.mixed(messages);
    const fresh = (): void => {
      load.clear();
      load.reset(adds);
    };
    measured.push(
      ...(await measure(
        [
          {
            name: label('mixed'),
            messages: mixed.messages,
            before: () => {
              load.clear();
              load.reset(mixed);
            },
            run: () => load.apply(mixed.commands),
          },
          {
            name: label('add'),
            messages: adds.messages,
            before: fresh,
            run: () => load.apply(adds.commands),
          },
          {
            name: label('cancel'),
            messages: cancels.messages,
            before: () => {
              fresh();
              load.follow(cancels);
              load.apply(adds.commands);
            },
            run: () => load.apply(cancels.commands),
          },
          {
            name: label('fok'),
            messages: foks.messages,
            before: () => {
              load.clear();
              load.reset(deep);
              load.apply(deep.commands);
              load.reset(foks);
            },
            run: () => load.apply(foks.commands),
          },
        ],
        blocks,
      )),
    );
    audit(load.engine.t);
    process.stdout.write(`  state hash ${stateHash(load.engine.t)}\n`);
  }
  return measured;
}

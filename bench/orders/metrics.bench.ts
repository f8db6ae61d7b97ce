/**
 * `npm run bench -- metrics`: what counting costs. Two nodes take turns, one of them with an admin listener
 * that is scraped every five seconds, one without, which counts nothing (server/admin/README.md).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ratio } from '../common/figures.ts';
import { freePort } from '../common/free-port.ts';
import { openSide, type Side, sideRatios, takeTurns } from './node-sides.ts';

export interface MetricsShape {
  /** Bursts of each node, by turns. */
  readonly rounds: number;
  /** Orders of a burst. */
  readonly orders: number;
  /** Settings of the nodes, beside those of the suite. */
  readonly environment?: NodeJS.ProcessEnv;
}

export const METRICS_FULL: MetricsShape = { rounds: 15, orders: 9_000 };

/** Three times as often as Prometheus does by itself. */
const SCRAPE_MS = 5_000;
const AIM = 0.98;

/** Single orders, because a request then costs the most beside an order: signed ones, and not. */
export async function metricsSuite(shape: MetricsShape): Promise<readonly Ratio[]> {
  return [...(await compare(shape, false)), ...(await compare(shape, true))];
}

async function compare(shape: MetricsShape, unsigned: boolean): Promise<readonly Ratio[]> {
  const directory = mkdtempSync(join(tmpdir(), 'metrics-bench-'));
  const port = await freePort();
  const turns = { ...shape, batch: 1, unsigned };
  const what = `${unsigned ? 'unsigned' : 'signed'} single orders`;
  const sides: Side[] = [];
  let scraping: NodeJS.Timeout | undefined;
  try {
    for (const [name, adminPort] of [
      [`${what}, nothing counted`, 0],
      ['  counted and scraped', port],
    ] as const) {
      const environment = { ...shape.environment, ADMIN_PORT: String(adminPort) };
      sides.push(await openSide(directory, { name, environment }, turns));
    }
    scraping = setInterval(() => void scrape(port), SCRAPE_MS);
    const both = sides as [Side, Side];
    await takeTurns(both, turns);
    return sideRatios(both, AIM);
  } finally {
    clearInterval(scraping);
    for (const { node } of sides) await node.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Scrapes as Prometheus does. A failed scrape makes the figures wrong. */
async function scrape(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  await response.text();
}

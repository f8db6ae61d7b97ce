/**
 * Every tool, by name: what models are told, and what runs. The table of docs/guides/agents.md equals it.
 *
 * Thread: any.
 */
import { ACCOUNT_TOOLS } from './account-tools.ts';
import { MARKET_TOOLS } from './market-tools.ts';
import { ORDER_TOOLS } from './order-tools.ts';
import type { Rights, Tool } from './tool.ts';

export const TOOLS: Readonly<Record<string, Tool>> = {
  ...MARKET_TOOLS,
  ...ORDER_TOOLS,
  ...ACCOUNT_TOOLS,
};

const RANKS: Readonly<Record<Rights, number>> = { none: 0, read: 1, trade: 2 };

export function mayUse(rights: Rights, { needs }: Pick<Tool, 'needs'>): boolean {
  return RANKS[rights] >= RANKS[needs];
}

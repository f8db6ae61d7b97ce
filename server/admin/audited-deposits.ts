/**
 * Audit-log summary of a request for many deposits: the file, its range of lines, and their sum. The log of
 * batches has each deposit with its id.
 *
 * Pure.
 */
import { createHash } from 'node:crypto';
import { microText, parseMicroUp } from '../common/decimal.ts';

interface Deposits {
  readonly id: string;
  readonly lines: readonly { readonly line: number; readonly amount: string }[];
}

export function auditedDeposits({ id, lines }: Deposits): object {
  const micro = lines.reduce((sum, { amount }) => sum + parseMicroUp(amount), 0);
  const numbers = lines.map(({ line }) => line);
  const most = Number.MAX_SAFE_INTEGER;
  return {
    id,
    lines: lines.length,
    from: Math.min(...numbers),
    to: Math.max(...numbers),
    amount: micro > most ? `above ${microText(most)}` : microText(micro),
    sha256: createHash('sha256').update(JSON.stringify(lines)).digest('hex'),
  };
}

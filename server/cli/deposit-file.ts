/**
 * File of deposits: CSV lines `wallet,amount` with an optional `signer`, with or without a line of names. It is
 * checked whole before anything is sent. Rules: docs/ledger.md#a-file-of-deposits
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { DEPOSITED_MAX } from '../../engine/tables/capacities.ts';
import { csvCells } from '../../storage/texts/csv.ts';
import { AMOUNT_PATTERN, AMOUNT_RULE } from '../admin/venue-schemas.ts';
import { isAddressText } from '../auth/checksum.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import { isOperatorId, OPERATOR_ID_RULE } from '../wallet/request-id.ts';
import { Refused } from './context.ts';

export interface Deposit {
  /** Line number in the file, from 1; the line of names counts. */
  readonly line: number;
  readonly wallet: string;
  readonly amount: string;
  readonly signer?: string;
}

export interface DepositFile {
  readonly deposits: readonly Deposit[];
  /** Micro-units of all deposits. */
  readonly sum: number;
}

/** Ten times the expected maximum: 100,000 lines are 6 MB. */
const FILE_BYTES_MAX = 64 * 2 ** 20;
const COLUMNS = ['wallet', 'amount', 'signer'] as const;
type Column = (typeof COLUMNS)[number];
const AMOUNT = new RegExp(AMOUNT_PATTERN);
const ADDRESS_RULE =
  'an address, 0x and 40 hexadecimal digits, whose letters are of one case or as its checksum';
const SHOWN_MAX = 60;

/** Reads a file. Throws Refused, which names every wrong line. */
export function readDeposits(path: string, id: string): DepositFile {
  const lines = textOf(path)
    .replace(/^\ufeff/, '')
    .split(/\r?\n/);
  const problems: string[] = [];
  const deposits: Deposit[] = [];
  let columns: readonly Column[] | undefined;
  let sum = 0;
  for (const [i, text] of lines.entries()) {
    const cells = csvCells(text);
    if (typeof cells === 'number') {
      problems.push(`${path}:${i + 1}: cell ${cells}: its quotes are not closed`);
      continue;
    }
    while (cells.at(-1) === '') cells.pop();
    if (cells.length === 0) continue;
    if (columns === undefined) {
      const named = columnsOf(cells);
      columns = named ?? COLUMNS;
      if (named !== undefined) continue;
    }
    const read = depositOf(i + 1, cells, columns);
    if (typeof read === 'string') problems.push(`${path}:${i + 1}: ${read}`);
    else {
      deposits.push(read);
      sum += parseMicroUp(read.amount);
    }
  }
  if (deposits.length === 0 && problems.length === 0) problems.push(`${path}: it has no deposit`);
  if (sum > DEPOSITED_MAX) {
    problems.push(`${path}: its sum is above what a ledger may have, ${microText(DEPOSITED_MAX)}`);
  }
  if (!isOperatorId(`${id}:${lines.length}`)) {
    problems.push(
      `--id: the id of the file, with ":" and the number of a line behind it, must be ${OPERATOR_ID_RULE}`,
    );
  }
  if (problems.length > 0) {
    throw new Refused([...problems, 'nothing was paid in'].join('\n'));
  }
  return { deposits, sum };
}

function textOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new Refused(`--file: ${(error as Error).message}`);
  }
  try {
    const { size } = fstatSync(file);
    if (size > FILE_BYTES_MAX) throw new Refused(`--file: ${path} has more than 64 MiB: split it`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function shown(cell: string): string {
  return cell.length > SHOWN_MAX ? `"${cell.slice(0, SHOWN_MAX)}.."` : `"${cell}"`;
}

/** Columns of a line of names; `undefined` when the line is a deposit. Throws Refused at an unknown name. */
function columnsOf(cells: readonly string[]): readonly Column[] | undefined {
  if (cells.some((cell) => /^0x/i.test(cell) || /^[\d.]+$/.test(cell))) return undefined;
  const names = cells.map((cell) => cell.toLowerCase());
  for (const [i, name] of names.entries()) {
    const isKnown = COLUMNS.some((column) => column === name);
    if (isKnown && names.indexOf(name) === i) continue;
    const what = isKnown ? `"${name}" comes twice` : `there is no column ${shown(cells[i]!)}`;
    throw new Refused(
      `--file: ${what}: wallet, amount and, where it is wanted, signer are between commas`,
    );
  }
  for (const column of ['wallet', 'amount']) {
    if (!names.includes(column)) throw new Refused(`--file: its line of names has no "${column}"`);
  }
  return names as Column[];
}

/** Returns the deposit of a line, or a text with its problem. */
function depositOf(
  line: number,
  cells: readonly string[],
  columns: readonly Column[],
): Deposit | string {
  if (cells.length > columns.length) return `it has ${cells.length} cells, not ${columns.length}`;
  const cell = (name: Column): string => cells[columns.indexOf(name)] ?? '';
  const [wallet, amount, signer] = COLUMNS.map(cell) as [string, string, string];
  if (!isAddressText(wallet)) return `wallet must be ${ADDRESS_RULE}, not ${shown(wallet)}`;
  if (!AMOUNT.test(amount) || parseMicroUp(amount) === 0) {
    return `amount must be ${AMOUNT_RULE}, not ${shown(amount)}`;
  }
  if (signer !== '' && !isAddressText(signer)) {
    return `signer must be ${ADDRESS_RULE}, not ${shown(signer)}`;
  }
  const deposit = { line, wallet, amount };
  return signer === '' ? deposit : { ...deposit, signer };
}

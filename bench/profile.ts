/**
 * `npm run profile`: the command line of bench/profile.
 * Exit codes: 0 well, 1 something failed, 2 wrong usage.
 */
import { type OptionTable, optionHelp, readOptions } from './load/option-table.ts';
import { type ProfileOptions, profileNode } from './profile/profile-node.ts';

const TABLE: OptionTable = {
  rate: { kind: 'text', value: 'N|max', help: 'orders a second (max: a closed loop)' },
  orders: {
    kind: 'count',
    value: 'N',
    help: 'orders of the run',
    default: 20_000,
    max: 10_000_000,
  },
  batch: { kind: 'count', value: 'N', help: 'orders in a request', default: 1, max: 1_000 },
  connections: { kind: 'count', value: 'N', help: 'connections', default: 32, max: 1_000 },
  interval: {
    kind: 'count',
    value: 'US',
    help: 'microseconds between samples',
    default: 200,
    min: 50,
    max: 100_000,
  },
  unsigned: { kind: 'switch', help: 'without signatures' },
  perf: { kind: 'switch', help: 'records with perf, too: native code, system calls' },
  out: { kind: 'text', value: 'DIR', help: 'where everything is left (profile-result)' },
};
const USAGE = `usage: npm run profile -- [options]
${optionHelp(TABLE)}
WORKERS and all else of the node come from the environment.`;

function optionsOf(argv: readonly string[]): ProfileOptions | string {
  const read = readOptions(TABLE, argv);
  if (!read.ok) return read.problem;
  const { values } = read;
  const rate = values.text('rate') ?? 'max';
  if (rate !== 'max' && !/^[1-9]\d{0,6}$/.test(rate)) {
    values.problems.push('--rate must be max or a whole number');
  }
  const options = {
    rate: rate === 'max' ? undefined : Number(rate),
    orders: values.count('orders'),
    batch: values.count('batch'),
    connections: values.count('connections'),
    unsigned: values.isOn('unsigned'),
    interval: values.count('interval'),
    perf: values.isOn('perf'),
    out: values.text('out') ?? 'profile-result',
  };
  return values.problems.length === 0 ? options : values.problems.join('\n');
}

const options = optionsOf(process.argv.slice(2));
if (typeof options === 'string') {
  process.stderr.write(`${options === 'help' ? '' : `${options}\n`}${USAGE}\n`);
  process.exit(options === 'help' ? 0 : 2);
}
for (const line of await profileNode(options)) process.stdout.write(`${line}\n`);
process.exit(0);

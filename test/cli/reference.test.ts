import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { COMMANDS, GROUPS, NODE_TEXTS } from '../../server/cli/commands.ts';
import { EXIT_CODES } from '../../server/cli/context.ts';
import { OPERATION_COMMANDS } from '../../server/cli/operation-commands.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';

const readme = join(ROOT, 'server/cli/README.md');
const NOWHERE = '/nowhere';

/** Marks of README around the reference of the commands. */
const REFERENCE_BEGIN = '<!-- reference: made from commands.ts -->';
const REFERENCE_END = '<!-- end of reference -->';

/** The intro of the README names these and the exceptions. */
const REMOTE_FLAGS = ['--json', '--url'];
const WITHOUT_JSON = ['book', 'clock accept'];

const OPTIONS = `## Options

Where an option has several meanings, the line without commands holds for all others.`;

function reference(): string {
  return [nodeTable(), commandList(), OPTIONS, optionList(), exitTable()].join('\n\n');
}

function commandList(): string {
  const lines = Object.entries(COMMANDS).map(([name, { args = [], does, node, options = {} }]) => {
    const flags = Object.keys(options).map((flag) => flag.split(' <')[0]!);
    const shown = node === 'remote' ? flags.filter((flag) => !REMOTE_FLAGS.includes(flag)) : flags;
    return `- \`${[name, ...args, ...shown].join(' ')}\` (${node}): ${does}`;
  });
  return lines.join('\n');
}

function nodeTable(): string {
  const rows = Object.entries(NODE_TEXTS).map(([node, text]) => `| ${node} | ${text} |`);
  return ['| word | runs |', '| --- | --- |', ...rows].join('\n');
}

/** Most commands that the line of an option names. */
const NAMED_MAX = 5;

/** A line for each meaning of an option; where it has several, that of most commands names none. */
function optionList(): string {
  const meanings = new Map<string, Map<string, string[]>>();
  for (const [name, { options = {} }] of Object.entries(COMMANDS)) {
    for (const [flags, does] of Object.entries(options)) {
      const byText = meanings.get(flags) ?? new Map<string, string[]>();
      meanings.set(flags, byText.set(does, [...(byText.get(does) ?? []), `\`${name}\``]));
    }
  }
  const lines = [...meanings].flatMap(([flags, byText]) =>
    [...byText]
      .toSorted(([, one], [, other]) => other.length - one.length)
      .map(([does, commands], i) => {
        const isOfOthers = byText.size === 1 || (i === 0 && commands.length > NAMED_MAX);
        const of = isOfOthers ? '' : `; ${commands.join(', ')}`;
        return `- \`${flags}\`${of}: ${does}`;
      }),
  );
  return lines
    .toSorted((one, other) => compare(one.split('`')[1]!, other.split('`')[1]!))
    .join('\n');
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function exitTable(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, means }) => `| ${code} | ${means} |`);
  return ['| exit code | |', '| --- | --- |', ...rows].join('\n');
}

test('the README of the command line has the text that the table gives', () => {
  const text = readFileSync(readme, 'utf8');
  const held = text.slice(
    text.indexOf(REFERENCE_BEGIN) + REFERENCE_BEGIN.length,
    text.indexOf(REFERENCE_END),
  );
  assert.equal(held.trim(), reference(), 'paste what is expected between the marks');
});

test('every command that sends requests to a node takes its address, and all but two answer as JSON', () => {
  for (const [name, { node, options = {} }] of Object.entries(COMMANDS)) {
    if (node !== 'remote') continue;
    assert('--url <url>' in options, name);
    assert.equal('--json' in options, !WITHOUT_JSON.includes(name), name);
  }
});

test('every command of the table has code of its own or is one operation of the admin listener', () => {
  const operations = Object.entries(COMMANDS).flatMap(([name, { run }]) => (run ? [] : [name]));
  assert.deepEqual(operations.sort(), Object.keys(OPERATION_COMMANDS).sort());
});

test('--help of the program lists every command and exit code, and --help of a command all its arguments', async () => {
  const { code, stderr, stdout } = await cli(NOWHERE, ['--help']);
  assert.deepEqual([code, stderr], [0, '']);
  for (const name of Object.keys(COMMANDS))
    assert.match(stdout, new RegExp(`^ {2}${name.split(' ')[0]}`, 'm'));
  for (const { code: exit, means } of Object.values(EXIT_CODES)) {
    assert(stdout.includes(`  ${exit}  ${means}\n`), means);
  }
  for (const [name, { args = [], options = {} }] of Object.entries(COMMANDS)) {
    const help = await cli(NOWHERE, [...name.split(' '), '--help']);
    assert.equal(help.code, 0);
    assert.match(help.stdout, /^It runs (?:while no|also while a|whether a|alone|against a)/m);
    for (const word of [...args, ...Object.keys(options), '--data-dir']) {
      assert(help.stdout.includes(word), `${name}: ${word}`);
    }
  }
  for (const group of Object.keys(GROUPS)) {
    // Its own name is a command too.
    if (Object.hasOwn(COMMANDS, group)) continue;
    const { code: exit, stderr: help } = await cli(NOWHERE, [group]);
    assert.equal(exit, 2);
    assert.match(help, new RegExp(`^Usage: prediction-market-node ${group} `));
  }
});

test('wrong usage has its own exit code, and changes nothing', async () => {
  const wrong: readonly [args: string[], message: RegExp][] = [
    [['replya'], /^error: unknown command 'replya'\n\(Did you mean replay\?\)/],
    [['replay', 'x'], /^SEQUENCE must be a whole number from 0, not "x"\n$/],
    [['replay', '1', '2'], /^error: too many arguments/],
    [['backup'], /^error: missing required argument 'DIRECTORY'/],
    [['book', '0x1'], /^a condition id is 0x and 64 hexadecimal digits, not "0x1"\n$/],
    [['book', '1', '--levels', '0'], /^--levels must be a whole number from 1, not "0"\n$/],
    [
      ['trades', 'export', '--format', 'xml'],
      /^--format must be csv, jsonl or parquet, not "xml"\n$/,
    ],
    [['trades', 'export', '--since', 'noon'], /^--since must be unix seconds or a time such as /],
    [['keys', 'list', '--wallet'], /^error: option '--wallet <wallet>' argument missing/],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr, stdout } = await cli(NOWHERE, args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, message);
  }
  for (const args of [['replay'], ['backup', '/tmp'], ['keys', 'list'], ['trades', 'export']]) {
    const { code, stderr } = await cli(NOWHERE, args);
    assert.equal(code, 1, args.join(' '));
    assert.doesNotMatch(stderr, /^\s+at /m, 'no stack trace');
  }
});

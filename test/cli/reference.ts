/**
 * The reference of the commands as Markdown: the text between the marks in README.md of
 * server/cli.
 */
import { BESIDE_NODE, COMMANDS } from '../../server/cli/commands.ts';
import { EXIT_CODES } from '../../server/cli/exit-codes.ts';

export const REFERENCE_BEGIN = '<!-- reference: made from commands.ts -->';
export const REFERENCE_END = '<!-- end of reference -->';

export function reference(): string {
  return [commandTable(), ...optionTables(), exitTable()].join('\n\n');
}

function commandTable(): string {
  const rows = Object.entries(COMMANDS).map(([name, { args = [], does, node }]) => {
    return `| \`${[name, ...args].join(' ')}\` | ${does} | ${BESIDE_NODE[node]} |`;
  });
  return ['| command | what it does | runs |', '| --- | --- | --- |', ...rows].join('\n');
}

function optionTables(): string[] {
  return Object.entries(COMMANDS).flatMap(([name, { options }]) => {
    if (options === undefined) return [];
    const rows = Object.entries(options).map(([flags, does]) => `| \`${flags}\` | ${does} |`);
    return [[`| \`${name}\` | |`, '| --- | --- |', ...rows].join('\n')];
  });
}

function exitTable(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, means }) => `| ${code} | ${means} |`);
  return ['| exit code | |', '| --- | --- |', ...rows].join('\n');
}

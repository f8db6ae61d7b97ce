/**
 * Options of lists by pages (list-command.ts). Separate, because the table of commands is loaded with each command.
 */

export const LIST_OPTIONS = {
  '--limit <number>': 'so many of them, or all (100)',
  '--after <place>': 'those behind a place, which the list before has named',
  '--csv': 'as CSV',
  '--json': 'a line of JSON each',
} as const;

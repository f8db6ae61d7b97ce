/** The exit codes of commands, for scripts: help and README come from this table. */
export const EXIT_CODES = {
  done: { code: 0, means: 'done' },
  failed: { code: 1, means: 'it failed; what was there before stays' },
  usage: { code: 2, means: 'wrong usage, or a setting that is refused' },
  inUse: { code: 3, means: 'a node runs on DATA_DIR, and the command needs it stopped' },
  differs: { code: 4, means: 'what was looked at is damaged, or differs, or needs attention' },
} as const;

export type Exit = keyof typeof EXIT_CODES;

/** A command cannot continue; the message is for the user. */
export class Refused extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = 'usage') {
    super(message);
    this.exit = exit;
  }
}

/**
 * Command line that starts a node with given settings, in the form in which this process was started.
 *
 * Thread: I/O, at the end of a failed start.
 */

/** Texts by variable; `undefined` = a secret, which stays in the environment. */
export type ShellSettings = readonly (readonly [variable: string, text: string | undefined])[];

/** Flags of the program by variable. Every shell takes them; `npm start` takes variables alone. */
const FLAGS: Readonly<Record<string, string>> = {
  PORT: '--port',
  ADMIN_PORT: '--admin-port',
  DATA_DIR: '--data-dir',
};

export function shellLine(settings: ShellSettings): string {
  const script = scriptOf(process.env.npm_lifecycle_event);
  const flags: string[] = [];
  const variables: string[] = [];
  for (const [name, text] of settings) {
    const flag = FLAGS[name];
    if (text === undefined) variables.push(`${name}="$${name}"`);
    else if (flag === undefined || script !== undefined) variables.push(`${name}=${quoted(text)}`);
    else flags.push(flag, quoted(text));
  }
  return [...variables, script ?? 'prediction-market-node start', ...flags].join(' ');
}

function scriptOf(event: string | undefined): string | undefined {
  if (event === 'start') return 'npm start';
  return event === 'start:windows' ? 'npm run start:windows' : undefined;
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

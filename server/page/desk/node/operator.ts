/** Operations of the admin listener, with the token of who uses the desk. It is kept until the tab is closed. */
import { signal } from '@preact/signals';

export interface Role {
  readonly role: 'operator' | 'resolver';
  /** Keys of operations that the token allows, such as `POST /admin/bans`. */
  readonly operations: readonly string[];
}

/** Refusal of an operation; the message is that of the node. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TOKEN = 'admin token';
const NAME = 'operator name';
const ANSWER_MS_MAX = 60_000;
const WRONG = 'This token is wrong.';

/** Undefined before the node has taken a token. */
export const role = signal<Role | undefined>(undefined);
/** '' unless the last token was refused. */
export const tokenProblem = signal('');

export function may(key: string): boolean {
  return role.value?.operations.includes(key) === true;
}

export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN) !== null;
}

export function bearer(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN);
  const name = sessionStorage.getItem(NAME) ?? '';
  return {
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    ...(name === '' ? {} : { 'X-Operator': name }),
  };
}

/** @param name in the audit log; '' = none */
export async function signIn(token: string, name: string): Promise<void> {
  sessionStorage.setItem(TOKEN, token);
  sessionStorage.setItem(NAME, name);
  await readRole();
}

export function signOut(): void {
  sessionStorage.removeItem(TOKEN);
  role.value = undefined;
  tokenProblem.value = '';
}

/** Asks the node what the kept token allows. */
export async function readRole(): Promise<void> {
  try {
    role.value = await call<Role>('GET /admin/role');
    tokenProblem.value = '';
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return;
    tokenProblem.value = error instanceof Error ? error.message : String(error);
  }
}

/** @param input query of a GET, body of a POST */
export async function call<T>(key: string, input: object = {}): Promise<T> {
  if (key.startsWith('POST ')) return send(key, '', JSON.stringify(input));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) query.set(name, String(value));
  return send(key, query.size === 0 ? '' : `?${query}`);
}

/** @param query with its question mark, or '' */
export async function send<T>(key: string, query: string, body?: string | Blob): Promise<T> {
  const [method = '', path = ''] = key.split(' ');
  const answer = await fetch(`${path.slice(1)}${query}`, {
    method,
    cache: 'no-store',
    credentials: 'omit',
    headers: bearer(),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    ...(body === undefined ? {} : { body }),
  });
  if (answer.ok) return (await answer.json()) as T;
  const { detail, error } = (await answer.json().catch(() => ({}))) as {
    readonly error?: string;
    readonly detail?: string;
  };
  if (answer.status === 401) {
    signOut();
    tokenProblem.value = WRONG;
  }
  throw new Refused(answer.status, textOf(answer, error, detail));
}

function textOf({ headers, status }: Response, error = '', detail = ''): string {
  if (status === 401) return WRONG;
  if (status === 429) return `Too many wrong tokens: try again in ${headers.get('Retry-After')} s.`;
  return detail === '' ? error || `The node answers ${status}` : `${error}: ${detail}`;
}

/**
 * Issues, lists and revokes the API keys and read-only keys of a caller. A change is answered once it is durable; 503
 * if it cannot be written. Rules: docs/protocol.md#api-keys
 *
 * Thread: I/O.
 */

import {
  type Auth,
  deriveKey,
  issueKey,
  type KeyAnswer,
  type KeyOwner,
  type WalletOwner,
} from '../auth/auth.ts';
import { KEYS_MAX, READ_ONLY_KEYS_MAX } from '../auth/key-registry.ts';
import { TrioAnswer } from '../auth/schemas.ts';
import { errorBody, JOURNAL_UNAVAILABLE, refusalCode } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { compileShape, Type } from '../common/schema.ts';
import { FAUCET_HEADER } from '../http/faucet-header.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import { callerOf } from '../http/limits/callers.ts';
import type { HandlerLimits } from '../http/limits/handler-limits.ts';
import { type RouteSettings, route, SAME } from '../http/route.ts';
import {
  ApiKeysAnswer,
  ClosedOnlyAnswer,
  KEY_BOUNDS,
  REVOKE_QUERY,
  ReadOnlyKeyAnswer,
  ReadOnlyKeyBody,
  ReadOnlyKeysAnswer,
  RevokedAnswer,
  type RevokeQuery,
  VALIDATE_QUERY,
  ValidAnswer,
} from './account-schemas.ts';
import type { Faucet } from './faucet.ts';

const NOT_INVITED: KeyAnswer = { status: 403, body: errorBody('INVITATION_REQUIRED') };
const KEY_NOT_FOUND = errorBody('UNKNOWN_API_KEY');
const TOO_MANY_KEYS = errorBody(
  'TOO_MANY_API_KEYS',
  `an address may have ${READ_ONLY_KEYS_MAX}, and ${KEYS_MAX} with those deleted`,
  { text: 'too many read-only keys' },
);
const INVALID_KEY = errorBody('INVALID_KEY', 'the body must be {"key": a read-only key}');
const REVOKED = { object: JSON.stringify({ revoked: true }), text: '"OK"' } as const;
/** Constant answer, because the node cannot bar an address from opening positions. */
const NOT_CLOSED_ONLY = JSON.stringify({ closed_only: false, closedOnly: false });

const readOnlyKeyBody = compileShape(ReadOnlyKeyBody);

/** Differences between existing clients (the rows of the same names in profile.ts). */
interface KeyDialect {
  readonly apiKeysAnswer: 'array' | 'object';
  readonly revokedAnswer: keyof typeof REVOKED;
}

export interface KeyRouteParts {
  readonly auth: Auth;
  readonly config: KeyDialect;
  readonly limits: HandlerLimits | undefined;
  readonly faucet: Pick<Faucet, 'give'> | undefined;
  /** False where a wallet may not have its first key. */
  readonly admits: (address: Uint8Array) => boolean;
}

const revocation = {
  access: 'level2',
  query: REVOKE_QUERY,
  answer: RevokedAnswer,
  configured: ({ revokedAnswer }: RouteSettings) =>
    revokedAnswer === 'object' ? {} : { answer: Type.Literal('OK') },
} as const;

export const KEY_ROUTES = [
  route(
    'POST /auth/api-key',
    {
      access: 'level1',
      bodyMax: 'mebibyte',
      answer: TrioAnswer,
      does: "issues the API key of a wallet and nonce (level 1: a wallet's signature)",
    },
    (parts: KeyRouteParts) => (context, _query, caller) => issue(parts, context, caller),
  ),
  route(
    'GET /auth/derive-api-key',
    { access: 'level1', answer: TrioAnswer, repeats: true, does: 'the same key again' },
    ({ auth }: KeyRouteParts) =>
      (context, _query, caller) =>
        answer(context, deriveKey(auth, caller)),
  ),
  route(
    'GET /auth/api-keys',
    {
      access: 'level2',
      answer: ApiKeysAnswer,
      does: 'active API keys of the caller',
      configured: ({ apiKeysAnswer }) =>
        apiKeysAnswer === 'array' ? {} : { answer: Type.Object({ apiKeys: ApiKeysAnswer }) },
    },
    ({ auth, config }: KeyRouteParts) =>
      (context, _query, { address }) => {
        const apiKeys = auth.registry.apiKeysOf(address);
        const shown = config.apiKeysAnswer === 'array' ? apiKeys : { apiKeys };
        context.reply(200, JSON.stringify(shown));
      },
  ),
  route(
    'DELETE /auth/api-key',
    { ...revocation, does: 'revokes the calling key, or another one of the caller: `apiKey`' },
    revoking,
  ),
  route('DELETE /auth/derive-api-key', { ...revocation, repeats: true, does: SAME }, revoking),
  route(
    'GET /auth/ban-status/closed-only',
    {
      access: 'level2',
      answer: ClosedOnlyAnswer,
      does: 'whether the caller may only close positions: never',
    },
    () => (context) => context.reply(200, NOT_CLOSED_ONLY),
  ),
  route(
    'POST /auth/readonly-api-key',
    {
      access: 'level2',
      answer: ReadOnlyKeyAnswer,
      does: 'issues a key that reads own orders and trades, and nothing else',
    },
    (parts: KeyRouteParts) =>
      (context, _query, { address }) =>
        change(context, async () => {
          const { registry } = parts.auth;
          const refused = registry.mayHaveReadOnly(address) ? keyLimit(parts, context) : undefined;
          if (refused !== undefined) return refused;
          const key = await registry.createReadOnly(address);
          if (key === undefined) return { status: 400, body: TOO_MANY_KEYS };
          return { status: 200, body: JSON.stringify({ apiKey: key }) };
        }),
  ),
  route(
    'GET /auth/readonly-api-keys',
    {
      access: 'level2',
      answer: ReadOnlyKeysAnswer,
      does: 'active read-only keys of the caller',
    },
    ({ auth }: KeyRouteParts) =>
      (context, _query, { address }) => {
        const readonlyApiKeys = auth.registry.readOnlyKeysOf(address);
        context.reply(200, JSON.stringify({ readonlyApiKeys }));
      },
  ),
  route(
    'DELETE /auth/readonly-api-key',
    {
      access: 'level2',
      body: ReadOnlyKeyBody,
      bodyBounds: KEY_BOUNDS,
      answer: Type.Literal('OK'),
      does: 'revokes a read-only key: `{"key"}`',
    },
    ({ auth }: KeyRouteParts) =>
      (context, _query, { address }) =>
        readJson(context, KEY_BOUNDS, (sent) =>
          change(context, async () => {
            const key = keyOf(sent);
            if (key === '') return { status: 400, body: INVALID_KEY };
            const isRevoked = await auth.registry.revokeReadOnly(address, key);
            return isRevoked ? { status: 200, body: '"OK"' } : { status: 404, body: KEY_NOT_FOUND };
          }),
        ),
  ),
  route(
    'GET /auth/validate-readonly-api-key',
    {
      query: VALIDATE_QUERY,
      answer: ValidAnswer,
      does: 'whether a read-only key is active: `address key`',
    },
    ({ auth }: KeyRouteParts) =>
      (context, { address, key }) => {
        const found = auth.registry.lookupReadOnly(key.toLowerCase());
        const isValid = found?.addressText === address.toLowerCase();
        context.reply(isValid ? 200 : 404, isValid ? '"valid"' : KEY_NOT_FOUND);
      },
  ),
];

async function issue(
  { admits, auth, faucet, limits }: KeyRouteParts,
  context: RequestContext,
  caller: WalletOwner,
): Promise<void> {
  const isFirst = !auth.registry.hasKeys(caller.address);
  if (isFirst && !admits(caller.address)) return answer(context, NOT_INVITED);
  const issued = await issueKey(auth, caller, () => keyLimit({ limits }, context));
  if (faucet === undefined || issued.status !== 200) return answer(context, issued);
  const given = await faucet.give(caller.address, isFirst);
  // A repeated request gets the same key, and the money that is missing.
  if (given?.kind === 'failed') answer(context, given);
  else if (given?.kind !== 'refused') answer(context, issued);
  else {
    const why = [FAUCET_HEADER, refusalCode(given.text) ?? given.text] as const;
    answer(context, { ...issued, headers: [...(issued.headers ?? []), why] });
  }
}

/** Refusal of one more key of a caller, or undefined. */
export function keyLimit({ limits }: Pick<KeyRouteParts, 'limits'>, context: RequestContext) {
  return limits?.refusal('keysIssued', callerOf(context.address), 1, context);
}

function revoking({ auth, config }: KeyRouteParts): Handler<RevokeQuery, KeyOwner> {
  return (context, query, { address, apiKey }) =>
    change(context, async () => {
      const key = query.apiKey?.toLowerCase() ?? apiKey;
      const isRevoked = await auth.registry.revoke(address, key);
      if (!isRevoked) return { status: 404, body: KEY_NOT_FOUND };
      return { status: 200, body: REVOKED[config.revokedAnswer] };
    });
}

function answer(context: RequestContext, { body, headers, status }: KeyAnswer): void {
  context.reply(status, body, headers);
}

/** Answers with the result of a change. A failed write has already been reported. */
async function change(context: RequestContext, run: () => Promise<KeyAnswer>): Promise<void> {
  const unavailable: KeyAnswer = { status: 503, body: JOURNAL_UNAVAILABLE };
  answer(context, await run().catch(() => unavailable));
}

/** Key of a body in lower case; '' if absent. */
function keyOf(sent: unknown): string {
  return readOnlyKeyBody.matches(sent) ? sent.key.toLowerCase() : '';
}

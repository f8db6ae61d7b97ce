/**
 * Issues, lists and revokes the API keys and read-only keys of a caller. A change is answered once
 * it is durable; 503 when it cannot be written. Rules: docs/protocol.md#api-keys
 *
 * Thread: I/O.
 */
import { errorBody, JOURNAL_UNAVAILABLE, refusalCode } from '../common/error-bodies.ts';
import { readJson } from '../common/json.ts';
import { compileShape } from '../common/schema.ts';
import { callerOf } from '../http/callers.ts';
import { FAUCET_HEADER } from '../http/faucet-header.ts';
import type { Handler, RequestContext } from '../http/http.ts';
import type { LateLimits } from '../http/late-limits.ts';
import {
  type Auth,
  deriveKey,
  issueKey,
  type KeyAnswer,
  type KeyOwner,
  type WalletOwner,
} from '../identity/auth.ts';
import { KEYS_MAX, READ_ONLY_KEYS_MAX } from '../identity/key-registry.ts';
import type { Faucet } from '../ledger/faucet.ts';
import {
  KEY_BOUNDS,
  ReadOnlyKeyBody,
  type RevokeQuery,
  type ValidateQuery,
} from './account-schemas.ts';

const KEY_NOT_FOUND = errorBody('API key not found');
const TOO_MANY_KEYS = errorBody(
  'too many read-only keys',
  `an address may have ${READ_ONLY_KEYS_MAX}, and ${KEYS_MAX} with those deleted`,
);
const INVALID_KEY = errorBody('invalid key', 'the body must be {"key": a read-only key}');
const REVOKED = { object: JSON.stringify({ revoked: true }), text: '"OK"' } as const;
/** The node has no way to bar an address from opening positions, so the answer is constant. */
const NOT_CLOSED_ONLY = JSON.stringify({ closed_only: false, closedOnly: false });

const readOnlyKeyBody = compileShape(ReadOnlyKeyBody);

/** Differences between existing clients (the rows of the same names in profile.ts). */
interface KeyDialect {
  readonly apiKeysAnswer: 'array' | 'object';
  readonly revokedAnswer: keyof typeof REVOKED;
}

type Refusal = (context: RequestContext) => KeyAnswer | undefined;

function issuing(
  auth: Auth,
  overKeys: Refusal,
  faucet: Pick<Faucet, 'give'> | undefined,
): Handler<unknown, WalletOwner> {
  return async (context, _query, caller) => {
    const isFirst = !auth.registry.hasKeys(caller.address);
    const issued = await issueKey(auth, caller, () => overKeys(context));
    if (faucet === undefined || issued.status !== 200) return answer(context, issued);
    const given = await faucet.give(caller.address, isFirst);
    // Who asks again gets the same key, and the money that is missing.
    if (given?.kind === 'failed') answer(context, given);
    else if (given?.kind !== 'refused') answer(context, issued);
    else {
      const why = [FAUCET_HEADER, refusalCode(given.text) ?? given.text] as const;
      answer(context, { ...issued, headers: [...(issued.headers ?? []), why] });
    }
  };
}

/** @param limits undefined when keys are not limited @param faucet undefined when no key brings money */
export function keyHandlers(
  auth: Auth,
  { apiKeysAnswer, revokedAnswer }: KeyDialect,
  limits: LateLimits | undefined,
  faucet: Pick<Faucet, 'give'> | undefined,
) {
  const { registry } = auth;

  const overKeys = (context: RequestContext) =>
    limits?.refusal('keysIssued', callerOf(context.address), 1, context);
  const issue = issuing(auth, overKeys, faucet);
  const derive: Handler<unknown, WalletOwner> = (context, _query, caller) =>
    answer(context, deriveKey(auth, caller));
  const list: Handler<unknown, KeyOwner> = (context, _query, { address }) => {
    const apiKeys = registry.apiKeysOf(address);
    context.reply(200, JSON.stringify(apiKeysAnswer === 'array' ? apiKeys : { apiKeys }));
  };
  const revoke: Handler<RevokeQuery, KeyOwner> = (context, query, { address, apiKey }) =>
    change(context, async () => {
      const isRevoked = await registry.revoke(address, query.apiKey?.toLowerCase() ?? apiKey);
      if (!isRevoked) return { status: 404, body: KEY_NOT_FOUND };
      return { status: 200, body: REVOKED[revokedAnswer] };
    });
  const closedOnly: Handler<unknown, KeyOwner> = (context) => context.reply(200, NOT_CLOSED_ONLY);

  const issueReadOnly: Handler<unknown, KeyOwner> = (context, _query, { address }) =>
    change(context, async () => {
      const refused = registry.mayHaveReadOnly(address) ? overKeys(context) : undefined;
      if (refused !== undefined) return refused;
      const key = await registry.createReadOnly(address);
      if (key === undefined) return { status: 400, body: TOO_MANY_KEYS };
      return { status: 200, body: JSON.stringify({ apiKey: key }) };
    });
  const listReadOnly: Handler<unknown, KeyOwner> = (context, _query, { address }) =>
    context.reply(200, JSON.stringify({ readonlyApiKeys: registry.readOnlyKeysOf(address) }));
  const revokeReadOnly: Handler<unknown, KeyOwner> = (context, _query, { address }) =>
    readJson(context, KEY_BOUNDS, (sent) =>
      change(context, async () => {
        const key = keyOf(sent);
        if (key === '') return { status: 400, body: INVALID_KEY };
        const isRevoked = await registry.revokeReadOnly(address, key);
        return isRevoked ? { status: 200, body: '"OK"' } : { status: 404, body: KEY_NOT_FOUND };
      }),
    );
  const validate: Handler<ValidateQuery> = (context, { address, key }) => {
    const found = registry.lookupReadOnly(key.toLowerCase());
    const isValid = found?.addressText === address.toLowerCase();
    context.reply(isValid ? 200 : 404, isValid ? '"valid"' : KEY_NOT_FOUND);
  };

  return {
    'POST /auth/api-key': issue,
    'GET /auth/derive-api-key': derive,
    'GET /auth/api-keys': list,
    'DELETE /auth/api-key': revoke,
    'DELETE /auth/derive-api-key': revoke,
    'GET /auth/ban-status/closed-only': closedOnly,
    'POST /auth/readonly-api-key': issueReadOnly,
    'GET /auth/readonly-api-keys': listReadOnly,
    'DELETE /auth/readonly-api-key': revokeReadOnly,
    'GET /auth/validate-readonly-api-key': validate,
  };
}

function answer(context: RequestContext, { body, headers, status }: KeyAnswer): void {
  context.reply(status, body, headers);
}

/** Answers with the result of a change. A failed write has already been reported. */
async function change(context: RequestContext, run: () => Promise<KeyAnswer>): Promise<void> {
  const unavailable: KeyAnswer = { status: 503, body: JOURNAL_UNAVAILABLE };
  answer(context, await run().catch(() => unavailable));
}

/** The key that a body names, in lower case; '' when it names none. */
function keyOf(sent: unknown): string {
  return readOnlyKeyBody.matches(sent) ? sent.key.toLowerCase() : '';
}

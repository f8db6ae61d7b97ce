import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { backtest } from '../../server/backtest/backtest.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import { messageSchema } from '../../storage/recordings/message-schema.ts';
import { understoodEvents } from '../../storage/recordings/source-message.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { cli } from '../common/run-cli.ts';
import { sharedPaths } from './recorded.ts';

const SCHEMA = messageSchema();
const matches = new Ajv2020({ strict: false }).compile(SCHEMA);
const EXAMPLES = SCHEMA.examples as readonly JsonObject[];
const EXAMPLE = join(ROOT, 'docs/recording-messages.example.jsonl');

/** Returns the reason for which the reader leaves a message out; `undefined` when it reads it. */
function damageOf(message: JsonObject): string | undefined {
  let damage: string | undefined;
  const events = understoodEvents(message, (why) => {
    damage = why;
  });
  return damage ?? (events.length === 0 ? 'it says nothing' : undefined);
}

test('the command prints the schema that the documents have, with its examples', async () => {
  const { code, stdout } = await cli(temporaryDirectory(), ['record', 'schema']);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), SCHEMA);
  const written = readFileSync(join(ROOT, 'docs/recording-messages.schema.json'), 'utf8');
  assert.deepEqual(JSON.parse(written), SCHEMA);
  const lines = readFileSync(EXAMPLE, 'utf8').trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    EXAMPLES,
  );
});

test('the example matches, and is a recording on which a strategy trades and is paid', async () => {
  for (const message of EXAMPLES) {
    assert(matches(message), JSON.stringify([message, matches.errors]));
    assert.equal(damageOf(message), undefined);
  }
  const result = await backtest(EXAMPLE, {
    onTrade({ token }, venue) {
      venue.place({ token, side: 'BUY', price: 0.6, size: 10 });
    },
  });
  assert.equal(result.messagesDamaged, 0);
  const [market] = result.markets;
  assert.deepEqual(market?.outcomes, ['Yes', 'No']);
  assert.deepEqual([market?.fills, market?.payout], [2, [1, 0]]);
});

/** Copies of a value with one member replaced or left out, at every depth. */
function* variants(value: unknown, others: readonly unknown[]): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries())
      for (const other of variants(item, others)) yield value.with(i, other);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _, ...rest } = value as Record<string, unknown>;
      yield rest;
      for (const other of others) yield { ...rest, [name]: other };
      for (const other of variants(member, others)) yield { ...rest, [name]: other };
    }
  }
}

test('the reader accepts what the schema accepts, with any value in place of a member', () => {
  const others = [
    ...[null, true, 0, 7, -1, 0.5, 1e300, [], {}, [null], [{}], ''],
    ...[
      'x',
      '0',
      '1',
      '5',
      '0.5',
      '.5',
      '0.00001',
      '0.0001',
      '0.99994',
      '0.9999',
      '0.99990',
      '1.0',
    ],
    ...['BUY', 'SELL', 'HOLD', '1e3', '-1', '9'.repeat(13), '3999999999999', '123456789.5'],
    ...['1234567890', '0.5.0', '1.', '.', '9007199254740991', ['1', '2'], [1, 3], [0, 0]],
  ];
  let accepted = 0;
  let refused = 0;
  for (const example of EXAMPLES) {
    for (const variant of variants(example, others)) {
      const message = variant as JsonObject;
      if (!matches(message)) {
        refused += 1;
        continue;
      }
      accepted += 1;
      assert.equal(damageOf(message), undefined, JSON.stringify(message));
    }
  }
  assert(accepted > 200 && refused > 1_000, `${accepted} accepted, ${refused} refused`);
});

test('recorded streams match the schema', { skip: sharedPaths().length === 0 }, () => {
  for (const path of sharedPaths()) {
    assert(existsSync(path));
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      if (line === '') continue;
      for (const message of [JSON.parse(line)].flat())
        assert(matches(message), `${path}: ${JSON.stringify(matches.errors)}`);
    }
  }
});

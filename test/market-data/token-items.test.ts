import assert from 'node:assert/strict';
import test from 'node:test';
import { parseTokenItems } from './parse-tokens.ts';

function tokens(value: unknown) {
  return parseTokenItems(Buffer.from(JSON.stringify(value)));
}

test('a token list has its order, its repetitions and its sides', () => {
  assert.deepEqual(
    tokens([
      { token_id: '2' },
      { token_id: '1', side: 'BUY' },
      { token_id: '2', side: 'SELL', extra: 1 },
      { token_id: 'no number', side: '' },
      { token_id: '', side: null },
    ]),
    { ok: true, tokens: ['2', '1', '2', 'no number', ''], sides: ['', 'BUY', 'SELL', '', ''] },
  );
  assert.deepEqual(tokens([]), { ok: true, tokens: [], sides: [] });
});

test('a token list of another shape is refused', () => {
  const shapes = [
    null,
    {},
    'x',
    1,
    [null],
    ['1'],
    [[]],
    [{}],
    [{ token_id: 1 }],
    [{ tokenId: '1' }],
  ];
  for (const value of shapes) {
    assert.deepEqual(tokens(value), { ok: false, error: 'Invalid payload' });
  }
  for (const body of ['', '[', '\ufffe', Buffer.from([0xff])]) {
    const parsed = parseTokenItems(Buffer.from(body));
    assert.deepEqual(parsed, { ok: false, error: 'Invalid payload' });
  }
});

test('a bad side is named unless the shape is wrong as well', () => {
  for (const side of ['buy', 'BOTH', 0, true, [], {}]) {
    const bad = { token_id: '1', side };
    assert.deepEqual(tokens([bad]), { ok: false, error: 'Invalid side' });
    assert.deepEqual(tokens([bad, {}]), { ok: false, error: 'Invalid payload' });
  }
});

test('a token list over the limit is refused', () => {
  const list = Array.from({ length: 501 }, (_, i) => ({ token_id: String(i) }));
  assert.deepEqual(tokens(list), { ok: false, error: 'Payload exceeds the limit' });
  assert.ok(tokens(list.slice(1)).ok);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { type BookRead, History, type StatusRead } from './cluster/history.ts';

function withOrders(): History {
  const history = new History();
  history.open('book', 'empty');
  for (const state of ['one', 'two', 'one', 'three']) {
    history.sends('book');
    history.acknowledges('book', state);
  }
  return history;
}

const READ: BookRead = { node: 'n0', book: 'book', state: 'one', sent: 4, atLeast: 0 };
const STATUS: StatusRead = {
  node: 'n0',
  askedAt: 1,
  answeredAt: 2,
  sequence: 5,
  digest: 7,
  epoch: 1,
  leads: false,
};

function problems(...reads: readonly Partial<BookRead>[]): readonly string[] {
  const history = withOrders();
  for (const read of reads) history.read({ ...READ, ...read });
  history.check();
  return history.problems;
}

function claims(...reads: readonly Partial<StatusRead>[]): readonly string[] {
  const history = new History();
  for (const read of reads) history.status({ ...STATUS, ...read });
  return history.problems;
}

test('reads in the order of orders are accepted, also of nodes that are behind', () => {
  const states = ['empty', 'one', 'two', 'one', 'one', 'three'].map((state) => ({ state }));
  assert.deepEqual(problems(...states, { node: 'n1', state: 'empty' }), []);
  assert.deepEqual(problems({ state: 'three', atLeast: 4 }), []);
});

test('a read that no order of events explains is found', () => {
  assert.match(problems({ state: 'four' })[0]!, /nowhere/, 'never there');
  assert.match(problems({ state: 'three' }, { state: 'two' })[0]!, /has shown 4/, 'goes back');
  assert.match(problems({ state: 'two', sent: 1 })[0]!, /1 sent/, 'before its order was sent');
  assert.match(problems({ state: 'two', atLeast: 4 })[0]!, /4 were/, 'less than acknowledged');
});

test('digests, sequences and leaders that contradict each other are found', () => {
  const later = { askedAt: 3, answeredAt: 4 };
  assert.deepEqual(claims({}, { node: 'n1' }, { ...later, sequence: 6, digest: 8 }), []);
  assert.match(claims({}, { node: 'n1', digest: 8 })[0]!, /digest 8 on n1/);
  assert.match(claims({}, { ...later, sequence: 4 })[0]!, /goes back/);
  const other = { node: 'n1', leads: true, epoch: 2 };
  assert.match(claims({ leads: true }, { node: 'n1', leads: true })[0]!, /lead in epoch 1/);
  assert.match(claims(other, { ...later, leads: true })[0]!, /after n1 led in epoch 2/);
  assert.deepEqual(claims({ leads: true }, { ...other, ...later }), []);
  assert.deepEqual(claims(other, { leads: true }), [], 'at the same time as far as is known');
});

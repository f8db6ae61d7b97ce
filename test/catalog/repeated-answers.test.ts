/** Bytes of repeated answers: copied when asked for again, bounded, dropped together. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { RepeatedAnswers } from '../../server/catalog/repeated-answers.ts';

test('an answer is retained from its second request on, as it was then', () => {
  const answers = new RepeatedAnswers();
  const shared = Buffer.from('first');
  answers.add('q', shared, false);
  assert.equal(answers.get('q'), undefined);
  answers.add('q', shared, false);
  shared.write('other');
  assert.equal(String(Buffer.from(answers.get('q')!)), 'first');
  answers.clear();
  assert.equal(answers.get('q'), undefined);
  answers.add('q', shared, false);
  assert.equal(answers.get('q'), undefined, 'a question counts anew after a change');
});

test('answers beyond the bound of bytes are not retained, and none is removed for them', () => {
  const answers = new RepeatedAnswers(10);
  const add = (question: string, length: number): void => {
    for (let times = 0; times < 2; times++) answers.add(question, new Uint8Array(length), true);
  };
  add('a', 6);
  add('b', 6);
  add('c', 4);
  const lengths = ['a', 'b', 'c'].map((question) => answers.get(question)?.length);
  assert.deepEqual(lengths, [6, undefined, 4]);
});

test('a walk over many questions does not hinder one that is asked again', () => {
  const answers = new RepeatedAnswers();
  for (let page = 0; page < 10_000; page++) answers.add(`page ${page}`, new Uint8Array(1), true);
  for (let times = 0; times < 2; times++) answers.add('often', new Uint8Array(2), true);
  assert.equal(answers.get('often')?.length, 2);
  assert.equal(answers.get('page 9999'), undefined);
});

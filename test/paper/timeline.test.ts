import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlayClock } from '../../server/paper/play-clock.ts';
import { type Due, Timeline } from '../../server/paper/timeline.ts';

/** Event times by name. */
class Stage {
  readonly happened: string[] = [];
  readonly clock: PlayClock;
  readonly timeline: Timeline;
  steady = 0;
  expires = 0;
  readonly failed: Error[] = [];

  constructor(times: readonly number[], speed = 0) {
    this.clock = new PlayClock(1_000, speed, () => this.steady);
    const messages = times.map(
      (at): Due => ({
        at,
        run: async () => {
          messages.shift();
          this.record('message');
        },
      }),
    );
    this.timeline = new Timeline({
      clock: this.clock,
      message: async () => messages[0],
      expiry: () => this.expires,
      expire: async () => {
        this.expires = 0;
        this.record('expiry');
      },
      onError: (error) => void this.failed.push(error),
    });
  }

  record(what: string): void {
    this.happened.push(`${this.clock.now()} ${what}`);
  }

  after(ms: number, what: string): Promise<void> {
    return this.timeline.after(ms, async () => this.record(what));
  }
}

test('time stands still between steps, and a step ends after everything due by then', async () => {
  const { clock, happened, timeline } = new Stage([1_000, 1_500, 2_500]);
  assert.equal(clock.now(), 1_000);
  await timeline.advance(2_000);
  assert.deepEqual(happened, ['1000 message', '1500 message']);
  assert.equal(clock.now(), 2_000);
  await timeline.advance(1_000);
  assert.equal(clock.now(), 2_000);
  assert.equal(await timeline.nextMessage(), 2_500);
  assert.equal(timeline.ended, false);
  await timeline.advance(3_000);
  assert.deepEqual(happened.slice(2), ['2500 message']);
  assert.equal(await timeline.nextMessage(), undefined);
  assert.equal(timeline.ended, true);
});

test('standing time advances to the arrival of a delayed order', async () => {
  const stage = new Stage([1_050, 1_200]);
  const sent = [stage.after(100, 'first'), stage.after(100, 'second'), stage.after(10, 'cancel')];
  await Promise.all(sent);
  assert.deepEqual(stage.happened, ['1010 cancel', '1050 message', '1100 first', '1100 second']);
  assert.equal(stage.clock.now(), 1_100);
});

test('messages precede expiries, and expiries precede orders, at equal times', async () => {
  const stage = new Stage([1_100]);
  stage.expires = 1_100;
  await stage.after(100, 'order');
  assert.deepEqual(stage.happened, ['1100 message', '1100 expiry', '1100 order']);
});

test('a step waits for the step before it', async () => {
  const stage = new Stage([1_100, 1_200, 1_300]);
  await Promise.all([stage.timeline.advance(1_150), stage.timeline.advance(1_250)]);
  assert.deepEqual(stage.happened, ['1100 message', '1200 message']);
  assert.equal(stage.clock.now(), 1_250);
});

test('a clock with a speed never passes unfinished entries that are due', () => {
  let steady = 0;
  const clock = new PlayClock(1_000, 20, () => steady);
  assert.equal(clock.now(), 1_000);
  clock.release(1_500);
  steady = 10;
  assert.equal(clock.now(), 1_200);
  assert.equal(clock.until(1_500), 15);
  steady = 1_000;
  assert.equal(clock.now(), 1_500);
  clock.set(1_500);
  clock.release(9_000);
  assert.equal(clock.now(), 1_500, 'what was late does not make time jump');
  steady = 1_001;
  assert.equal(clock.now(), 1_520);
});

test('a running recording is played in order, with delayed orders among its entries', async () => {
  const stage = new Stage([1_001, 1_002, 1_010], 1_000);
  const began = performance.now();
  const running = setInterval(() => {
    stage.steady = performance.now() - began;
  }, 1);
  stage.timeline.start();
  await stage.after(5, 'order');
  while (!stage.timeline.ended) await new Promise((resolve) => setTimeout(resolve, 1));
  clearInterval(running);
  await stage.timeline.stop();
  const names = stage.happened.map((text) => text.split(' ')[1]);
  assert.equal(names.filter((name) => name === 'message').length, 3);
  assert.equal(names.filter((name) => name === 'order').length, 1);
  const times = stage.happened.map((text) => Number(text.split(' ')[0]));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
});

test('a message that cannot be played is reported, and the next step continues', async () => {
  const stage = new Stage([]);
  await assert.rejects(stage.timeline.after(1, () => Promise.reject(new Error('refused'))));
  assert.deepEqual(stage.failed, []);
  assert.equal(stage.clock.now(), 1_001);
});

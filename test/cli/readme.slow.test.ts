/** README and the guides work from top to bottom: each command runs in its order, or is left out for a reason. */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { commandsOfReadme, FOLLOWED, FOLLOWED_BY_FORM } from '../common/readme-commands.ts';
import { type Command, Walk } from './readme-walk.ts';

const WALLET = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const MS_OF_A_RECORDING = 2_000;

/** Replaces the address of the guide's venue by that of a local node. */
const ofNodeHere = (text: string): string =>
  text
    .replace(/ (?:CATALOG_SYNC_URL|MIRROR_STREAM_URL)=\S+/g, '')
    .replace(/ --(?:catalog|stream) \S+/g, '')
    .replace('https://clob.polymarket.com', 'http://127.0.0.1:3000');

async function recorded(command: Command, file: string): Promise<void> {
  await until(() => command.hasEnded || (existsSync(file) && statSync(file).size > 0));
  await sleep(MS_OF_A_RECORDING);
  assert(!command.hasEnded, command.log);
  await command.interrupt();
  assert.match(command.log, /messages/, command.log);
}

test('every command of README and of the guides gives the described result', async (t) => {
  const walk = await Walk.begin();
  t.after(() => walk.end());
  const run = new Set<string>();
  const node = async (text: string, change?: (text: string) => string): Promise<Command> => {
    run.add(text);
    return walk.node(text, change);
  };
  const done = (text: string, change?: (text: string) => string): Promise<string> => {
    run.add(text);
    return walk.done(text, change);
  };
  const modeOf = ({ log }: Command): string => /\n {2}mode=(.*)\n/.exec(log)![1]!;

  const demo = await node('npm ci && npm start', () => 'npm start');
  assert.equal(modeOf(demo), 'ledger off, demo on');
  for (const curl of commandsOfReadme().filter((line) => /^curl .*:3000\//.test(line))) {
    assert(Array.isArray(JSON.parse(await done(curl))), curl);
  }
  assert.match(demo.log, /\n {2}stop=.*\n$/, 'the node has ended with how to stop it');
  await demo.interrupt();

  const profile = await node('npm ci && CLIENT_PROFILE=polymarket npm start', (text) =>
    text.replace('npm ci && ', ''),
  );
  const maker = walk.begin('npm run example -- maker');
  run.add('npm run example -- maker');
  await until(() => maker.log.split('\n').length > 5 || maker.hasEnded);
  await maker.interrupt();
  assert.match(await done('npm run example -- taker'), /matched|live/);
  const load = 'npm run load -- --kill --orders 2000 --batch 15';
  const measure = 'npm run load -- measure --spawn --rate 1000 --duration 30';
  for (const text of [load, measure]) {
    if (SHORT) run.add(text);
    else await done(text, (whole) => whole.replace(/2000|1000/, '100').replace('30', '2'));
  }
  const second = await node('PORT=3100 ADMIN_PORT=3101 DATA_DIR=./data2 npm start');
  await second.interrupt();

  const mirror = commandsOfReadme().find((line) => line.includes('MIRROR_URL'))!;
  const paper = await node(mirror, ofNodeHere);
  assert.equal(modeOf(paper), 'ledger on, mirror on');
  const status = JSON.parse(await done('curl -s http://127.0.0.1:3100/status'));
  assert.equal(status.mode.mirror, true);
  const recording = commandsOfReadme().find((line) => line.includes('day.rec.gz'))!;
  run.add(recording);
  await recorded(walk.begin(recording, ofNodeHere), join(walk.place, 'day.rec.gz'));
  await paper.interrupt();
  await profile.interrupt();

  const play = await node('npm start -- --play', (text) => `DATA_DIR=./play ${text}`);
  assert.equal(modeOf(play), 'ledger on, demo on');
  const rec = 'npm run cli -- record http://127.0.0.1:3000 demo.rec --markets top:20';
  run.add(rec);
  await recorded(walk.begin(rec), join(walk.place, 'demo.rec'));
  await done(commandsOfReadme().find((line) => line.includes(' backtest '))!);
  assert(statSync(join(walk.place, 'demo.html')).size > 10_000);
  await play.interrupt();

  walk.read('export DATA_DIR=./venue');
  walk.env.DATA_DIR = './venue';
  const venue = await node('LEDGER=on npm start -- --no-demo');
  assert.equal(modeOf(venue), 'ledger on');
  run.add('npm start -- --no-demo');
  const five = commandsOfReadme().filter((line) => /^(?:market|ledger|wallet) /.test(line));
  assert.equal(five.length, 5);
  for (const line of five) {
    await done(line, (text) => `npm run cli -- ${text.replace('0xYourWallet', WALLET)}`);
  }
  await venue.interrupt();
  delete walk.env.DATA_DIR;

  const followed = commandsOfReadme().filter(
    (line) => FOLLOWED.includes(line) || FOLLOWED_BY_FORM.some((form) => form.test(line)),
  );
  assert.deepEqual(
    followed.filter((line) => !run.has(line)),
    [],
    'each of them has run',
  );
});

test('a start in a directory of another mode prints the line that works', async (t) => {
  const walk = await Walk.begin();
  t.after(() => walk.end());
  const demo = await walk.started(walk.run('npm start'));
  await demo.interrupt();
  for (const [asked, mode] of [
    ['LEDGER=on npm start', 'ledger on, demo on'],
    ['npm start -- --no-demo', 'ledger off'],
  ] as const) {
    const refused = walk.run(asked);
    assert.equal(await refused.ended(), 2, refused.log);
    assert.doesNotMatch(refused.log, /listening on/);
    const line = /^to start that: (DATA_DIR=\.\/venue2? .*npm start)$/m.exec(refused.log)?.[1];
    assert(line !== undefined, refused.log);
    const begun = await walk.started(walk.run(line));
    assert.match(begun.log, new RegExp(`\\n {2}mode=${mode}\\n`));
    await begun.interrupt();
    const kept = /^to start what is there: (.*npm start)$/m.exec(refused.log)![1]!;
    const again = await walk.started(walk.run(kept));
    assert.match(again.log, /\n {2}mode=ledger off, demo on\n/);
    await again.interrupt();
  }
});

/**
 * Files of every kind in a data directory: cut, emptied, changed or unreadable. The node starts
 * with everything that it acknowledged, or refuses, ends by itself and names the bad file.
 */
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { TestNode } from '../common/node-harness.ts';
import type { Random } from '../common/random.ts';
import { FaultStage } from './fault-stage.ts';

const DAMAGES: Readonly<Record<string, (path: string, random: Random) => void>> = {
  halved: (path) => truncateSync(path, statSync(path).size >> 1),
  emptied: (path) => truncateSync(path, 0),
  'cut by a byte': (path) => truncateSync(path, Math.max(0, statSync(path).size - 1)),
  'with a flipped bit': (path, random) => {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return;
    const at = random.below(bytes.length);
    bytes[at] = bytes[at]! ^ (1 << random.below(8));
    writeFileSync(path, bytes);
  },
  'full of noise': (path, random) => {
    const bytes = readFileSync(path);
    for (let i = 0; i < bytes.length; i++) bytes[i] = random.next();
    writeFileSync(path, bytes);
  },
  // Whoever runs as root may read everything: a directory cannot be read as a file by anybody.
  'not to be read': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  gone: (path) => rmSync(path),
};

/**
 * Files whose damage loses acknowledged data; the node must say so, unless all of it was removed.
 */
const WITHOUT_SPARE = /^(log|keys|catalog)\/|^node\.key$/;
const DAMAGES_SHORT = 3;

export async function damagedFiles(
  seed: number,
  isLong: boolean,
  say: (line: string) => void,
): Promise<string> {
  const stage = await FaultStage.open(seed);
  const { dataDir, random } = stage;
  await stage.trade(6);
  if (random.chance(50)) await stage.node.stop();
  else await stage.node.end('SIGKILL');
  const kept = `${dataDir}-kept`;
  cpSync(dataDir, kept, { recursive: true });
  const outcomes = { started: 0, refused: 0 };
  const problems: string[] = [];
  try {
    for (const [file, damage] of cases(dataDir, random, isLong)) {
      rmSync(dataDir, { recursive: true });
      cpSync(kept, dataDir, { recursive: true });
      DAMAGES[damage]!(join(dataDir, file), random);
      try {
        const hasStarted = await tryStart(stage, file, damage === 'gone');
        outcomes[hasStarted ? 'started' : 'refused'] += 1;
      } catch (error) {
        problems.push(`${file} ${damage}: ${(error as Error).message}`);
        say(problems.at(-1)!);
        if (!stage.node.hasEnded) await stage.node.end('SIGKILL');
      }
    }
    rmSync(dataDir, { recursive: true });
    cpSync(kept, dataDir, { recursive: true });
    await stage.restart();
    await stage.check();
    await stage.node.stop();
  } finally {
    rmSync(kept, { recursive: true, force: true });
  }
  assert(problems.length === 0, `${problems.length} problems; ${problems.join('\n')}`);
  return `${outcomes.started} borne, ${outcomes.refused} refused by name`;
}

/** A file of each kind with each damage, or a few of them. */
function cases(dataDir: string, random: Random, isLong: boolean): (readonly [string, string])[] {
  const kinds = new Map<string, string>();
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).sort()) {
    if (statSync(join(dataDir, name)).isDirectory()) continue;
    kinds.set(`${dirname(name)} ${basename(name).replaceAll(/\d+/g, '')}`, name);
  }
  const all = [...kinds.values()].flatMap((name) =>
    Object.keys(DAMAGES).map((damage) => [name, damage] as const),
  );
  if (isLong) return all;
  return Array.from({ length: DAMAGES_SHORT }, () => random.pick(all));
}

/** True when it serves with all acknowledged data; false when it refused and named the fault. */
async function tryStart(stage: FaultStage, file: string, isGone: boolean): Promise<boolean> {
  let node: TestNode;
  try {
    node = await TestNode.start(stage.dataDir);
  } catch (error) {
    const { message } = error as Error;
    assert(!/\n\s+at .*\.js:\d+/.test(message), `a stack in place of a reason: ${tail(message)}`);
    const place = file.split('/')[0]!.replace(/\..*/, '');
    const last = message.trimEnd().split('\n').slice(-3).join(' ');
    assert(last.includes(place), `the reason does not name it: ${tail(message)}`);
    return false;
  }
  stage.node = node;
  try {
    await stage.check();
  } catch (error) {
    const isSaid = (isGone || /warn|error/.test(node.log)) && WITHOUT_SPARE.test(file);
    assert(isSaid, `${(error as Error).message}\n${tail(node.log)}`);
  }
  assert(!node.hasEnded, `it ended: ${tail(node.log)}`);
  await node.end('SIGKILL');
  return true;
}

function tail(log: string): string {
  return log.trimEnd().split('\n').slice(-3).join(' | ');
}

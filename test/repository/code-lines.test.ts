/** Lines that `npm run coverage` counts: those with code, and those that V8 has seen running in any process or thread. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CodeLines, type FunctionCoverage } from '../../build/code-lines.ts';

const folder = mkdtempSync(join(tmpdir(), 'code-lines-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** `+` runs with the argument 1, `-` with 2 alone, `0` never; lines without a mark have no code. */
const MARKED = `
 import { Worker } from 'node:worker_threads';
 import {
   join,
   resolve as other,
 } from 'node:path';
 export * from 'node:path';
 export { join, other };
 /** A comment.
  * if (code) in(it);
  */
 // run();
+const TEXT = \`
+  a text\`;
+const [, , argument = ''] = process.argv;
+export function first(value) {
+  if (value === '1') {
+    return TEXT;
   }
-  return inner();
-  function inner() {
-    return value === '3'
0      ? () => TEXT
-      : undefined;
   }
 }
+if (argument === '1')
+  first(argument);
 else {
-  for (const each of [argument])
-    first(each);
 }
0async function never() {
0  await Worker;
   try {
0    other();
   }
0  catch (error) {
0    throw error;
   }
   finally {
0    console.log('never');
   }
 }
`.slice(1);

const lines = MARKED.split('\n').slice(0, -1);
const TEXT = `${lines.map((line) => line.slice(1)).join('\n')}\n`;

function coverageOf(argument: string): FunctionCoverage[] {
  const file = join(folder, 'program.mjs');
  writeFileSync(file, TEXT);
  const raw = join(folder, `raw-${argument}`);
  const env = { ...process.env, NODE_V8_COVERAGE: raw };
  const { status, stderr } = spawnSync(process.execPath, [file, argument], { env });
  assert.equal(status, 0, String(stderr));
  const [name = ''] = readdirSync(raw);
  const { result } = JSON.parse(readFileSync(join(raw, name), 'utf8')) as {
    readonly result: readonly { readonly url: string; readonly functions: FunctionCoverage[] }[];
  };
  return result.find(({ url }) => url === pathToFileURL(file).href)!.functions;
}

/** The text with its expected marks after these runs. */
function marked(code: CodeLines): string {
  const at = new Map(code.lines.map((line, i) => [line, code.ran[i] === 1]));
  const shown = lines.map((line, i) => {
    const ran = at.get(i);
    return `${ran === undefined ? ' ' : ran ? '+' : '0'}${line.slice(1)}`;
  });
  return shown.join('\n');
}

test('a line counts when it has code, and has run when any process has run its first word', () => {
  const expected = (marks: string): string =>
    lines.map((line) => (marks.includes(line[0]!) ? `0${line.slice(1)}` : line)).join('\n');
  const code = new CodeLines(TEXT);
  assert.equal(marked(code), expected('+-').replaceAll(/^-/gm, '0'));
  code.add(coverageOf('1'));
  assert.equal(marked(code), expected('-'));
  code.add(coverageOf('2'));
  assert.equal(marked(code), lines.join('\n').replaceAll(/^-/gm, '+'));
  // Nothing that ran is forgotten.
  code.add(coverageOf('1'));
  assert.equal(marked(code), lines.join('\n').replaceAll(/^-/gm, '+'));
  const again = new CodeLines(TEXT);
  for (const line of again.lines) again.mark(line);
  again.mark(0);
  assert(again.ran.every((each) => each === 1));
});

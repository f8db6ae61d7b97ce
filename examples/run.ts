/** `npm run example -- maker|taker|recorder|sets [token]`. */
const EXAMPLES: Readonly<Record<string, () => Promise<unknown>>> = {
  maker: () => import('./market-maker.ts'),
  taker: () => import('./taker.ts'),
  recorder: () => import('./recorder.ts'),
  sets: () => import('./sets.ts'),
};

const [name = ''] = process.argv.splice(2, 1);
const example = EXAMPLES[name];
if (example === undefined) {
  console.error(`npm run example -- ${Object.keys(EXAMPLES).join('|')} [token]`);
  process.exitCode = 2;
} else {
  await example();
}

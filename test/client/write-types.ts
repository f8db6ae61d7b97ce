/** Writes the client's types: `npm run client:types`, after a change of the table of routes. */
import { writeFileSync } from 'node:fs';
import { clientTypes } from './types-text.ts';

writeFileSync(new URL('../../client/types.ts', import.meta.url), clientTypes());

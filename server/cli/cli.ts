#!/usr/bin/env node
/** The one binary: `prediction-market-node COMMAND` (commands.ts), in a checkout `npm run cli -- COMMAND`. */
import { runCli } from './program.ts';

// The reader of a pipe may disconnect.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await runCli(process.argv.slice(2), process.env, process);

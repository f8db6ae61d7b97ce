/** `npm run catalog -- ...`: see catalog-command.ts. */
import { runCatalogCommand } from './catalog-command.ts';

process.exitCode = await runCatalogCommand(process.argv.slice(2), process.env, process);

import { importRoom } from '../common/import-room.ts';

await importRoom('routes');
await importRoom('config');

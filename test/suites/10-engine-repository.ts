import { importRoom } from '../common/import-room.ts';

await importRoom('engine');
await importRoom('repository');

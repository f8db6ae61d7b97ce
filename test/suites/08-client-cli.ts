import { importRoom } from '../common/import-room.ts';

await importRoom('client');
await importRoom('cli');

import { importRoom } from '../common/import-room.ts';

await importRoom('http');
await importRoom('auth');

import { importRoom } from '../common/import-room.ts';

await importRoom('page');
await importRoom('bench');

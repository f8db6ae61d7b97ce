import { importRoom } from '../common/import-room.ts';

await importRoom('node', 2, 2);
await importRoom('fixtures');

import { importRoom } from '../common/import-room.ts';

await importRoom('app', 2, 2);
await importRoom('fixtures');

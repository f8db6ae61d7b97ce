import { importRoom } from '../common/import-room.ts';

await importRoom('node', 1, 2);

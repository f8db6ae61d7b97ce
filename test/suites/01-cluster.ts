import { importRoom } from '../common/import-room.ts';

await importRoom('cluster', 1, 2);

import { importRoom } from '../common/import-room.ts';

await importRoom('cluster', 2, 2);

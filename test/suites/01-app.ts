import { importRoom } from '../common/import-room.ts';

await importRoom('app', 1, 2);

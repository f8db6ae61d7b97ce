import { importRoom } from '../common/import-room.ts';

await importRoom('catalog', 1, 2);

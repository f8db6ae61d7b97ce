import { importRoom } from '../common/import-room.ts';

await importRoom('storage', 2, 2);

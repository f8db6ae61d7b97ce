import { importRoom } from '../common/import-room.ts';

await importRoom('server', 2, 2);

import { importRoom } from '../common/import-room.ts';

await importRoom('orders', 1, 2);

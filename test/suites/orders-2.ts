import { importRoom } from '../common/import-room.ts';

await importRoom('orders', 2, 2);

import { importRoom } from '../common/import-room.ts';

await importRoom('orders');
await importRoom('server-common');

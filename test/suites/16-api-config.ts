import { importRoom } from '../common/import-room.ts';

await importRoom('api');
await importRoom('config');

import { importRoom } from '../common/import-room.ts';

await importRoom('admin');
await importRoom('portfolio');

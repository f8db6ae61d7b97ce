import { importRoom } from '../common/import-room.ts';

await importRoom('http');
await importRoom('identity');
await importRoom('documents');

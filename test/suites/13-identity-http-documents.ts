import { importRoom } from '../common/import-room.ts';

await importRoom('identity');
await importRoom('http');
await importRoom('documents');

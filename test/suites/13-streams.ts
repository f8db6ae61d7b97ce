import { importRoom } from '../common/import-room.ts';

await importRoom('streams');

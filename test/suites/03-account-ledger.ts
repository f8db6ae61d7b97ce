import { importRoom } from '../common/import-room.ts';

await importRoom('account');
await importRoom('ledger');

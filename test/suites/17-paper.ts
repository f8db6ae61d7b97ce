import { importRoom } from '../common/import-room.ts';

await importRoom('paper');
await importRoom('backtest');

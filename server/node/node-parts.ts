/** All services of a node before its port opens. Types only. */
import type { Progress } from '../admin/progress.ts';
import type { Heartbeats } from '../orders/cancel/heartbeats.ts';
import type { NodeMode } from '../routes/node-mode.ts';
import type { CatalogParts } from './catalog-parts.ts';
import type { MemoryViews } from './memory-views.ts';
import type { Ports } from './ports.ts';
import type { Recovered } from './recovered.ts';
import type { Writer } from './writer.ts';

export interface NodeParts extends Ports, Recovered, MemoryViews, CatalogParts {
  readonly writer: Writer;
  readonly heartbeats: Pick<Heartbeats, 'take' | 'stop'>;
  readonly mode: () => NodeMode;
  readonly progress: () => Progress;
}

/** Nodes that load a file of test/torture before their own code, for faults of the machine. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { useCompiledNodes } from './forms.ts';
import type { Settings } from './node-harness.ts';

/** NODE_OPTIONS that load the faults of fault-preload.ts, or of another such file. */
export function preloaded(faults: Settings, file = 'fault-preload'): Settings {
  const path = join(useCompiledNodes(), `test/torture/${file}.js`);
  const options = `${process.env.NODE_OPTIONS ?? ''} --import=${pathToFileURL(path)}`;
  return { ...faults, NODE_OPTIONS: options };
}

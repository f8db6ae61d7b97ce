import { basename } from 'node:path';

/** Name of the market of a file whose rows name none: that of the file, without its ends. */
export function marketNameOf(path: string): string {
  return basename(path).replace(/(\.(csv|parquet|npz))?(\.gz)?$/i, '');
}

/**
 * Error for stored bytes of another format, thrown at start: only another version of the node, or another directory,
 * helps. Thread: any.
 */

export class OtherFormat extends Error {}

export function otherFormat(found: number, read: number): string {
  return (
    `its format is ${found}, this node reads ${read}; it has no way from one to the other: run the ` +
    'version that wrote it, or begin with another DATA_DIR'
  );
}

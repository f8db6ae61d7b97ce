/** Keys of rows that are of one account, or of one market. Thread: any; pure. */
export function numberKey(row: number): Buffer {
  const key = Buffer.allocUnsafeSlow(4);
  key.writeUInt32BE(row, 0);
  return key;
}

/** Commands of the fill model in a buffer, as lines for comparisons. */
import {
  type CommandBuffer,
  CommandKind,
  commandKind,
  commandWords,
  FillCommand,
  LevelCommand,
} from '../../engine/commands.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';

/**
 * Lines such as `level buy 0.40 100`, `print sell 0.40 5`, `fill #3 5`: sizes in shares. Empties
 * the buffer.
 */
export function said(out: CommandBuffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < out.words; at += commandWords(out.i32, at)) {
    const kind = commandKind(out.i32, at);
    const isFill = kind === CommandKind.fill;
    const size = out.f64[at / 2 + (isFill ? FillCommand.size : LevelCommand.size)]! / 1_000_000;
    if (isFill) {
      lines.push(`fill #${out.i32[at + FillCommand.id + ID_WORDS - 1]} ${size}`);
      continue;
    }
    const name = kind === CommandKind.level ? 'level' : 'print';
    const side = out.i32[at + LevelCommand.side] === 0 ? 'buy' : 'sell';
    const price = (out.i32[at + LevelCommand.pips]! / 10_000).toFixed(2);
    lines.push(`${name} ${side} ${price} ${size}`);
  }
  out.clear();
  return lines;
}

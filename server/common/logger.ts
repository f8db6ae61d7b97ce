/**
 * Single entry point to the package pino: one line for each decision that an operator should know,
 * as JSON or as text for people. Details are in the fields of a line. Secrets are never logged.
 *
 * Thread: I/O; other threads send their lines to it.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { LogSink, type SinkOptions } from './log-sink.ts';
import { terminalText } from './terminal.ts';

export type LogFields = Readonly<Record<string, unknown>>;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type Log = (level: LogLevel, line: string, fields?: LogFields) => void;

export interface LoggerOptions {
  readonly level: LogLevel | 'silent';
  /** `auto`: pretty on a terminal, otherwise JSON. */
  readonly format: 'auto' | 'pretty' | 'json';
  readonly write?: SinkOptions['write'];
}

export interface Logger {
  readonly log: Log;
  /** Lines that a slow reader left no room for. */
  dropped(): number;
  flushed(): Promise<void>;
  finish(): void;
}

const STDERR = 2;

export function openLogger({ format, level, write }: LoggerOptions): Logger {
  const isPretty = format === 'pretty' || (format === 'auto' && isatty(STDERR));
  // JSON has no control character, but marks of direction and others that a terminal obeys.
  const shown = (line: string): string => (isPretty ? prettyLine(line) : terminalText(line, '\n'));
  const sink = new LogSink({
    fd: STDERR,
    dropped: (lines) => shown(droppedLine(lines)),
    ...(write === undefined ? {} : { write }),
  });
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => sink.write(shown(line)) },
  );
  return {
    log: (at, line, fields) => logger[at](fields ?? {}, line),
    dropped: () => sink.droppedInAll,
    flushed: () => sink.flushed(),
    finish: () => sink.finish(),
  };
}

function droppedLine(lines: number): string {
  const msg = `${lines} lines of the log were dropped: whoever reads it is too slow`;
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg })}\n`;
}

/** Time, level and text, then the fields; each member of an object gets a line. */
function prettyLine(json: string): string {
  const { level, msg, time, ...fields } = JSON.parse(json) as Record<string, unknown>;
  let text = terminalText(`${time} ${level} ${msg}`, '\n');
  let below = '';
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        below += `\n  ${terminalText(`${key}=${member}`)}`;
      }
    } else if (!String(msg).includes(String(value))) text += terminalText(` ${name}=${value}`);
  }
  return `${text}${below}\n`;
}

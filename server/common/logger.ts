/**
 * Single entry point to the package pino: one line a decision worth knowing, as JSON or as text for people.
 * What a line is about stands in its fields; nothing secret is ever given to it.
 *
 * Thread: I/O; others send their lines there.
 */
import { isatty } from 'node:tty';
import pino from 'pino';
import { LogSink, type SinkOptions } from './log-sink.ts';

export type LogFields = Readonly<Record<string, unknown>>;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type Log = (level: LogLevel, line: string, fields?: LogFields) => void;

export interface LoggerOptions {
  readonly level: LogLevel | 'silent';
  /** `auto`: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'pretty' | 'json';
  readonly write?: SinkOptions['write'];
}

export interface Logger {
  readonly log: Log;
  /** Resolves when every line is out, or nobody takes it. */
  flushed(): Promise<void>;
  /** The same at once, when the process ends. */
  finish(): void;
}

const STDERR = 2;

export function openLogger({ format, level, write }: LoggerOptions): Logger {
  const isPretty = format === 'pretty' || (format === 'auto' && isatty(STDERR));
  const shown = (line: string): string => (isPretty ? prettyLine(line) : line);
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
    flushed: () => sink.flushed(),
    finish: () => sink.finish(),
  };
}

function droppedLine(lines: number): string {
  const msg = `${lines} lines of the log were dropped: whoever reads it is too slow`;
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg })}\n`;
}

/** Time, level and text; then fields, and the members of objects a line each. */
function prettyLine(json: string): string {
  const { level, msg, time, ...fields } = JSON.parse(json) as Record<string, unknown>;
  let text = `${time} ${level} ${msg}`;
  let below = '';
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) below += `\n  ${key}=${member}`;
    } else if (!String(msg).includes(String(value))) text += ` ${name}=${value}`;
  }
  return `${text}${below}\n`;
}

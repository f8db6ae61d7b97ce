/**
 * A strategy that is a program: a line for each event, and the lines of its reaction until `done`. Its first line is
 * `{"type": "strategy"}` with name, parameters and events.
 *
 * Thread: the caller's, which waits for the program.
 */
import { declaredParameters, type ParameterValues } from '../parameters.ts';
import type { Market, Order, Strategy, Venue } from '../strategy.ts';
import {
  ACTIONS,
  type Acting,
  actionValues,
  EVENTS,
  type EventName,
  parsedLine,
} from './messages.ts';
import { Program } from './program.ts';

const HELLO = ['type', 'name', 'parameters', 'events', 'everyMs'];

interface EventLine {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Hello {
  readonly name: string | undefined;
  readonly declared: ParameterValues;
  readonly events: readonly EventName[];
  readonly everyMs: number | undefined;
}

export class CommandStrategy {
  private readonly program: Program;
  private readonly hello: Hello;
  private readonly orders = new Map<number, Order>();
  private readonly markets = new Map<string, Market>();

  private constructor(program: Program) {
    this.program = program;
    this.hello = this.checked(helloOf);
  }

  /** Starts a program, and waits for its first line. */
  static async start(command: string): Promise<CommandStrategy> {
    const program = await Program.start(command);
    try {
      return new CommandStrategy(program);
    } catch (error) {
      await program.close();
      throw error;
    }
  }

  get declared(): ParameterValues {
    return this.hello.declared;
  }

  /** Returns the strategy for one run. A program makes one run. */
  strategy(values: ParameterValues): Strategy {
    const { events, everyMs, name } = this.hello;
    const strategy: Record<string, unknown> = {
      onStart: (venue: Venue) => this.react(venue, { type: 'start', parameters: values }),
      onMarket: (market: Market) => void this.markets.set(market.id, market),
    };
    if (name !== undefined) strategy.name = name;
    if (everyMs !== undefined) strategy.everyMs = everyMs;
    for (const type of events) {
      const { calls, of } = EVENTS[type];
      const members = of as (value: unknown) => object;
      strategy[calls] =
        type === 'time' || type === 'end'
          ? (venue: Venue) => this.react(venue, { type })
          : (value: unknown, venue: Venue) => {
              if (type === 'market') this.markets.set((value as Market).id, value as Market);
              this.react(venue, { type, ...members(value) });
            };
    }
    return strategy as Strategy;
  }

  close(): Promise<void> {
    return this.program.close();
  }

  /** Sends an event, and does what the program says until it is done. */
  private react(venue: Venue, event: EventLine): void {
    const { program } = this;
    program.send({ time: venue.now, ...event });
    const acting: Acting = {
      venue,
      orders: this.orders,
      markets: this.markets,
      timer: (id) => this.react(venue, { type: 'timer', id }),
    };
    while (this.checked((line) => isDone(line) || this.act(acting, line)) !== true);
  }

  private act(acting: Acting, line: string): boolean {
    const message = parsedLine(line);
    const type = String(message.type);
    if (type === 'done') return true;
    const values = actionValues(type, message);
    const answer = ACTIONS[type]!.act(acting, values);
    if (answer !== undefined) this.program.send({ type, ...answer });
    return false;
  }

  /** Reads a line. An error names its number and its text. */
  private checked<T>(read: (line: string) => T): T {
    const line = this.program.next();
    try {
      return read(line);
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      const shown = line.length > 200 ? `${line.slice(0, 200)}...` : line;
      throw this.program.error(`line ${this.program.line} of the program: ${what}: ${shown}`);
    }
  }
}

/** The two spellings that encoders write need no parsing. */
function isDone(line: string): boolean {
  return line === '{"type": "done"}' || line === '{"type":"done"}';
}

function helloOf(line: string): Hello {
  const { events = [], everyMs, name, parameters, type, ...others } = parsedLine(line);
  const [unknown] = Object.keys(others);
  if (type !== 'strategy') throw new Error('the first line has the type strategy');
  if (unknown !== undefined)
    throw new Error(`the first line has ${HELLO.join(', ')}, not ${unknown}`);
  if (name !== undefined && typeof name !== 'string') throw new Error('name is a text');
  if (everyMs !== undefined && !(typeof everyMs === 'number' && everyMs >= 1))
    throw new Error('everyMs is 1 or more');
  if (!Array.isArray(events)) throw new Error('events is a list');
  for (const event of events) {
    if (typeof event !== 'string' || !Object.hasOwn(EVENTS, event))
      throw new Error(`events are ${Object.keys(EVENTS).join(', ')}, not ${String(event)}`);
  }
  return { name, declared: declaredParameters(parameters), events, everyMs };
}

/**
 * Reads single variables of the configuration, each checked against its rule; which there are stands in
 * config.ts.
 *
 * Pure: the environment is handed in.
 */
import { type Allowlist, parseAllowlist } from '../http/address.ts';
import { type CorsOrigins, parseCorsOrigins } from '../http/cors.ts';
import { parseOverrides, type RateOverrides } from '../http/rate-limits.ts';

/** Reads single values and collects what is wrong with them, so that one start tells it all. */
export class ConfigReader {
  readonly problems: string[] = [];
  /** Every variable that was looked for: all that there are. */
  readonly asked = new Set<string>();
  private readonly env: Readonly<Record<string, string | undefined>>;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.env = new Proxy(env, {
      get: (target, name) => {
        this.asked.add(String(name));
        return target[String(name)];
      },
    });
  }

  text(name: string, unset: string, fits: (text: string) => boolean, rule: string): string {
    const value = this.env[name] || unset;
    if (!fits(value)) this.problem(name, rule, value);
    return value;
  }

  /** As text(), '' when unset, for a value that no problem may repeat. */
  secret(name: string, fits: (text: string) => boolean, rule: string): string {
    const value = this.env[name] || '';
    if (value !== '' && !fits(value)) this.problems.push(`${name} must be ${rule}`);
    return value;
  }

  integer(name: string, unset: number, min: number, max: number): number {
    const text = this.env[name];
    if (!text) return unset;
    const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
    // A NaN fails both comparisons.
    if (!(value >= min && value <= max)) {
      this.problem(name, `a whole number from ${min} to ${max}`, text);
    }
    return value;
  }

  choice<Option extends string>(name: string, options: readonly Option[], unset: Option): Option {
    const text = this.env[name];
    if (!text) return unset;
    const found = options.find((option) => option === text);
    if (found === undefined) this.problem(name, `one of ${options.join(', ')}`, text);
    return found ?? unset;
  }

  allowlist(name: string): Allowlist {
    const text = this.env[name] ?? '';
    const parsed = parseAllowlist(text);
    if (parsed.ok) return parsed.list;
    const rule = `a comma-separated list of IP addresses and CIDR ranges (${parsed.detail})`;
    this.problem(name, rule, text);
    return { entries: [], allows: () => false };
  }

  rateOverrides(name: string): RateOverrides {
    const text = this.env[name] ?? '';
    const parsed = parseOverrides(text);
    if (parsed.ok) return parsed.overrides;
    this.problem(name, `a comma-separated list of row=requests/seconds (${parsed.detail})`, text);
    return {};
  }

  corsOrigins(name: string): CorsOrigins {
    const text = this.env[name] || '*';
    const parsed = parseCorsOrigins(text);
    if (parsed.ok) return parsed.origins;
    this.problem(name, `*, none or a comma-separated list of origins (${parsed.detail})`, text);
    return [];
  }

  flags(argv: readonly string[], known: readonly string[]): ReadonlySet<string> {
    for (const flag of argv) {
      if (!known.includes(flag)) {
        this.problems.push(`unknown argument ${quoted(flag)}; known: ${known.join(', ')}`);
      }
    }
    return new Set(argv);
  }

  private problem(name: string, rule: string, value: string): void {
    this.problems.push(`${name} must be ${rule}, not ${quoted(value)}`);
  }
}

/** A value as one short printable line. */
function quoted(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}...` : value);
}

/**
 * Choice of markets of a source, as MIRROR_MARKETS and `record` take it: ids, slugs, condition ids, tags,
 * and a number of markets of the largest volume.
 *
 * Thread: any; pure. Not here: what the source knows of them.
 */
import { CONDITION_PATTERN, conditionKey } from '../../storage/catalog/condition-ids.ts';

export interface MarketChoice {
  readonly ids: readonly string[];
  readonly slugs: readonly string[];
  readonly conditions: readonly string[];
  readonly tags: readonly string[];
  readonly top: number;
  readonly text: string;
}

export const CHOICE_RULE =
  'a comma-separated list of market ids, slugs, condition ids, tag:SLUG and top:NUMBER (1 to 2000)';
const TOP_MAX = 2_000;

export function parseChoice(text: string): MarketChoice | undefined {
  const choice = { ids: [], slugs: [], conditions: [], tags: [] } as Record<string, string[]>;
  let top = 0;
  for (const item of text.split(',').map((part) => part.trim())) {
    const [, count = ''] = /^top:(\d{1,4})$/.exec(item) ?? [];
    if (count !== '') top = Number(count);
    else if (/^tag:[A-Za-z0-9-]+$/.test(item)) choice.tags!.push(item.slice('tag:'.length));
    else if (/^\d{1,15}$/.test(item)) choice.ids!.push(item);
    else if (CONDITION_PATTERN.test(item)) choice.conditions!.push(conditionKey(item)!);
    else if (/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(item)) choice.slugs!.push(item);
    else return undefined;
    if (count !== '' && (top < 1 || top > TOP_MAX)) return undefined;
  }
  return { ...(choice as unknown as Omit<MarketChoice, 'top' | 'text'>), top, text };
}

/** Previews of an event or a market as the trading page will show it. */
import { momentText, NONE } from '../../app/format.ts';

interface Shown {
  readonly input: Readonly<Record<string, unknown>>;
}

export function MarketPreview({ input }: Shown) {
  const { description, endDate, event, fee, outcomes, question } = input;
  const names = Array.isArray(outcomes) ? outcomes.map(String) : [];
  return (
    <div class="card preview">
      <p class="muted foot">Preview</p>
      {event !== undefined && <p class="muted">In the event {String(event)}</p>}
      <h3>{textOf(question, 'Its question')}</h3>
      <ul class="chances">
        {names.map((name, i) => (
          <li key={`${i}/${name}`}>
            <span class="clip">{name}</span>
            <strong>{NONE}</strong>
          </li>
        ))}
      </ul>
      <p class="muted foot">
        {endsText(endDate)}
        {fee !== undefined && ` · fee of takers ${Number(fee) / 100} %`}
      </p>
      <p class="rules">{textOf(description, 'Without rules of its own.')}</p>
    </div>
  );
}

export function EventPreview({ input }: Shown) {
  const { description, endDate, tags, title } = input;
  const labels = Array.isArray(tags) ? tags.map(String) : [];
  return (
    <div class="card preview">
      <p class="muted foot">Preview</p>
      <h3>{textOf(title, 'Its title')}</h3>
      <p class="muted foot">{[endsText(endDate), ...labels].join(' · ')}</p>
      <p class="rules">{textOf(description, 'Without rules of its own.')}</p>
    </div>
  );
}

function endsText(endDate: unknown): string {
  return endDate === undefined ? 'no end date' : `ends ${momentText(String(endDate))}`;
}

function textOf(value: unknown, none: string): string {
  return typeof value === 'string' && value !== '' ? value : none;
}

/**
 * Place that the address names, in its parts: `#<market>/<outcome>`, `#resolve/<market>`, `#wallet/<address>`, or the name
 * of a view.
 */
import { signal } from '@preact/signals';

export const place = signal(parse());

addEventListener('hashchange', () => {
  place.value = parse();
  scrollTo(0, 0);
});

function parse(): readonly string[] {
  try {
    return decodeURIComponent(location.hash.slice(1)).split('/');
  } catch {
    return [''];
  }
}

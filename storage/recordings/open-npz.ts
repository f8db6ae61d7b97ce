/** Opens an array of hftbacktest (npz-form.ts), of this project or of others. Thread: any. */
import { isObject } from '../catalog/catalog-json.ts';
import { npzRecords, npzText } from '../columns/npz.ts';
import { derivedId } from './derived-ids.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';
import { marketNameOf } from './market-name.ts';
import { NPZ_ABOUT, NPZ_FIELDS, type NpzAbout, npzEntries } from './npz-form.ts';
import {
  checkedHeader,
  damageOf,
  namingDamage,
  type OnRead,
  ownRecording,
  type Recording,
  surveyedRecording,
} from './opened.ts';

export async function openNpzRecording(path: string, onRead: OnRead): Promise<Recording> {
  const text = await npzText(path, NPZ_ABOUT).catch((error: unknown) => {
    throw damageOf(path, error);
  });
  if (text === undefined) {
    const market = marketNameOf(path);
    const token = /^\d{1,77}$/.test(market) ? market : derivedId(market);
    const entries = () => entriesOf(path, { market, token });
    return surveyedRecording(path, entries, (messages) => onRead(messages, 0));
  }
  const about = aboutOf(text, path);
  return ownRecording({
    path,
    header: checkedHeader(about.header, path),
    events: [about.event],
    entries: () => entriesOf(path, about),
    cutAt: () => undefined,
  });
}

function entriesOf(
  path: string,
  of: Pick<NpzAbout, 'market' | 'token'>,
): AsyncGenerator<readonly RecordingEntry[]> {
  return namingDamage(path, npzEntries(npzRecords(path, NPZ_FIELDS), of, path));
}

function aboutOf(text: string, path: string): NpzAbout {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Reported below.
  }
  if (isObject(json)) {
    const { event, header, market, token } = json;
    const isNamed = typeof market === 'string' && typeof token === 'string';
    if (isObject(header) && isObject(event) && isNamed) return { event, header, market, token };
  }
  throw new RecordingDamaged(`${path}: ${NPZ_ABOUT} is none of a recording`);
}

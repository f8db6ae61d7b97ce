/**
 * Files of the admin listener that show its operations: /openapi.json, and the page /docs of the public API's
 * viewer. They describe routes only and need no token.
 *
 * Thread: I/O; files are read at their first request.
 */
import { VIEWER_FILES, VIEWER_POLICY } from '../routes/viewer.ts';
import { operationsDocument } from './operation-document.ts';
import type { PageFile } from './page-files.ts';

const DOCS = '/docs';

export function documentFile(path: string): Promise<PageFile> | undefined {
  if (path === '/openapi.json') {
    const bytes = Buffer.from(JSON.stringify(operationsDocument()));
    return Promise.resolve({ type: 'application/json', bytes });
  }
  if (path !== DOCS && !path.startsWith(`${DOCS}/`)) return undefined;
  const file = VIEWER_FILES.get(path.slice(DOCS.length + 1));
  return file?.read().then((content) => ({
    type: file.type,
    bytes: Buffer.from(content),
    policy: VIEWER_POLICY,
  }));
}

/** Single entry point to esbuild: text that a browser loads is made short. */
import { transform } from 'esbuild';

/** Older browsers lack the CSS of the page. */
const TARGET = ['chrome120', 'firefox121', 'safari17.2'];

/** Licenses stand in a file of their own (page-files.ts). */
export async function minified(text: string, loader: 'css' | 'js'): Promise<string> {
  const { code } = await transform(text, {
    loader,
    minify: true,
    legalComments: 'none',
    target: TARGET,
  });
  return code;
}

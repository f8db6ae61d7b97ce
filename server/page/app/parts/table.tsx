/** A table with the names of its columns, in a region that scrolls where it is too wide. */
import type { ComponentChildren } from 'preact';
import { Scroll } from './scroll.tsx';

interface Shown {
  /** Name of the region, for screen readers. */
  readonly label: string;
  /** Title; absent: the table has none of its own. */
  readonly caption?: string;
  /** True for a title that only screen readers need. */
  readonly isCaptionHidden?: boolean;
  readonly columns: readonly ComponentChildren[];
  /** Rows. */
  readonly children: ComponentChildren;
}

export function Table({ caption, children, columns, isCaptionHidden, label }: Shown) {
  return (
    <Scroll label={label}>
      <table class="tabular">
        {caption !== undefined && (
          <caption class={isCaptionHidden === true ? 'hidden' : undefined}>{caption}</caption>
        )}
        <thead>
          <tr>
            {columns.map((name, i) => (
              <th key={i} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Scroll>
  );
}

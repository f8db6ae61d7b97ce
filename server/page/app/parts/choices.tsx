/** A choice of one of a few values, as radio buttons that look like one control. */
interface Shown<T> {
  /** Name of the group, for screen readers. */
  readonly legend: string;
  /** Unique on the page. */
  readonly name: string;
  readonly value: T;
  readonly options: readonly {
    readonly value: T;
    readonly text: string;
    readonly label?: string;
  }[];
  choose(value: T): void;
}

export function Choices<T extends string | number>({
  choose,
  legend,
  name,
  options,
  value,
}: Shown<T>) {
  return (
    <fieldset class="choices">
      <legend class="hidden">{legend}</legend>
      {options.map((option) => (
        <label key={option.value} data-value={option.value}>
          <input
            type="radio"
            id={`${name}-${option.value}`}
            name={name}
            aria-label={option.label}
            checked={option.value === value}
            onChange={() => choose(option.value)}
          />
          <span>{option.text}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A form for an operation, made from the schema of its input; what is sent is checked by the node alone. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useLoaded } from '../../app/node/load.ts';
import { Problem, Waiting } from '../../app/parts/problem.tsx';
import { textOf } from '../../app/refusal-words.ts';
import type { FormRow } from '../forms.ts';
import { inputOf, isRequestId, kindOf, labelOf, newRequestId, type Texts } from '../node/form.ts';
import { type Field, type Operation, readOperations } from '../node/operations.ts';
import { call, may } from '../node/operator.ts';
import { Answer } from './answer.tsx';

interface Shown extends FormRow {
  /** Members of the input that have no field; those that the operation does not have are not sent. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** Texts of fields at the beginning. */
  readonly first?: Texts;
  /** Draws the result of the input. */
  readonly preview?: (input: Readonly<Record<string, unknown>>) => ComponentChildren;
  done?(answer: unknown): void;
}

/**
 * Nothing where the token does not allow the operation, or the node does not have it. A reading operation is sent at once,
 * unless it needs an input.
 */
export function OperationForm(shown: Shown) {
  const operations = useLoaded('operations', readOperations);
  if (!may(shown.of)) return null;
  if (operations.value === undefined) return <Waiting of={operations} />;
  const operation = operations.value.get(shown.of);
  return operation === undefined ? null : <Form operation={operation} {...shown} />;
}

function Form({ operation, ...shown }: Shown & { readonly operation: Operation }) {
  const { title } = shown;
  const fixed = Object.fromEntries(
    Object.entries(shown.fixed ?? {}).filter(([name]) => hasField(operation, name)),
  );
  const isRead = operation.key.startsWith('GET ');
  const main = shown.main ?? (isRead ? [] : undefined);
  const texts = useSignal<Texts>(shown.first ?? {});
  const problem = useSignal('');
  const answer = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  const requestId = useRef(newRequestId());
  const fields = operation.fields.filter((field) => !(field.name in fixed) && !isRequestId(field));
  const first = main?.flatMap((name) => fields.filter((field) => field.name === name)) ?? fields;
  const rest = fields.filter((field) => !first.includes(field));
  const write = (name: string, text: string): void => {
    texts.value = { ...texts.value, [name]: text };
    requestId.current = newRequestId();
    answer.value = undefined;
  };
  const input = (): Record<string, unknown> => ({ ...fixed, ...inputOf(operation, texts.value) });
  const send = async (): Promise<void> => {
    isSending.value = true;
    problem.value = '';
    try {
      const withId = operation.fields.some(isRequestId) ? { id: requestId.current } : {};
      answer.value = await call(operation.key, { ...withId, ...input() });
      requestId.current = newRequestId();
      shown.done?.(answer.value);
    } catch (error) {
      problem.value = textOf(error);
    } finally {
      isSending.value = false;
    }
  };
  useEffect(() => {
    if (isRead && !fields.some(({ isRequired }) => isRequired)) void send();
  }, []);
  const control = (field: Field) => (
    <Control
      key={field.name}
      field={field}
      text={texts.value[field.name] ?? ''}
      write={(text) => write(field.name, text)}
    />
  );
  return (
    <form
      class="card desk-form"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        if (shown.sure === undefined || confirm(shown.sure)) void send();
      }}
    >
      <h2>{title}</h2>
      <p class="muted">{operation.does}</p>
      {first.map(control)}
      {rest.length > 0 && (
        <details>
          <summary>More</summary>
          {rest.map(control)}
        </details>
      )}
      {shown.preview?.(readable(input))}
      <Problem text={problem.value} />
      <button type="submit" class={isRead ? 'plain' : 'main'} disabled={isSending.value}>
        {shown.button ?? (isRead ? 'Read again' : title)}
      </button>
      {answer.value !== undefined && (
        <div class="answer" role="status">
          <Answer label={title} value={answer.value} />
        </div>
      )}
    </form>
  );
}

function hasField({ fields }: Operation, name: string): boolean {
  return fields.some((field) => field.name === name);
}

/** Input that is still being written may be none. */
function readable(input: () => Record<string, unknown>): Readonly<Record<string, unknown>> {
  try {
    return input();
  } catch {
    return {};
  }
}

interface Controlled {
  readonly field: Field;
  readonly text: string;
  write(text: string): void;
}

function Control({ field, text, write }: Controlled) {
  const { isRequired: required, name, schema } = field;
  const { description = '' } = schema;
  const kind = kindOf(schema);
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }): void =>
    write(currentTarget.value);
  const id = useId();
  const shared = { id, name, required, value: text, onInput };
  if (kind === 'flag') {
    return (
      <label class="flag">
        <input
          type="checkbox"
          checked={text !== ''}
          onChange={({ currentTarget }) => write(currentTarget.checked ? 'true' : '')}
        />
        <span>
          {labelOf(name)} <small>{description.replace(/^true: /, '')}</small>
        </span>
      </label>
    );
  }
  const input =
    kind === 'time' ? (
      <input {...shared} type="datetime-local" />
    ) : kind === 'number' ? (
      <input {...shared} type="number" step="any" />
    ) : (
      <input {...shared} type="text" autocomplete="off" />
    );
  return (
    <label class="field" htmlFor={id}>
      <span>
        {labelOf(name)}
        {!required && <small> (optional)</small>}
      </span>
      {kind === 'choice' ? (
        <select {...shared}>
          <option value="" />
          {schema.enum?.map((value) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      ) : kind === 'lines' || kind === 'json' || kind === 'prose' ? (
        <textarea {...shared} rows={3} />
      ) : (
        input
      )}
      {kind !== 'time' && (
        <small>
          {description}
          {kind === 'lines' && ', each in a line of its own'}
        </small>
      )}
    </label>
  );
}

/** Entry point of the operator's desk. */
import { render } from 'preact';
import { Desk } from './desk.tsx';

render(<Desk />, document.getElementById('app')!);

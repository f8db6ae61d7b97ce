/** Entry point of the trading page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { resume } from './node/session.ts';

render(<App />, document.getElementById('app')!);
void resume();

/** Weights of a payout as text, for commands that print one. */

export interface Weights {
  readonly outcomes: readonly string[];
  readonly payout: readonly number[];
  readonly void: boolean;
}

export function weightsText(of: Weights): string {
  if (of.void) return 'void';
  const named = of.payout.map((weight, i) => `${of.outcomes[i]} ${weight}`).join(', ');
  return of.outcomes.length === 0 ? of.payout.join(',') : `${of.payout.join(',')} (${named})`;
}

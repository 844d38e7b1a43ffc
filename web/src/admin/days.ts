/** Days as the API has them, `2026-11-23`, counted in UTC. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

export function daysBefore(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) - days * 86_400_000));
}

/** Each day from the first to the last. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += 86_400_000) days.push(dayOf(new Date(at)));
  return days;
}

/** The last moment of a day where the user is. */
export function endOf(day: string): Date {
  return new Date(`${day}T23:59:59`);
}

const LONGEST_DAYS = 366;

/** Whether usage can be reported of these days. */
export function isRange(first: string, last: string): boolean {
  const days = (Date.parse(last) - Date.parse(first)) / 86_400_000;
  return days >= 0 && days < LONGEST_DAYS;
}

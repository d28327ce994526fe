export interface Line {
  sku: string;
  quantity: number;
  unitPrice: number;
}

export interface Order {
  id: string;
  lines: Line[];
  discount: number;
  total: number;
  currency: string;
}

export function total(lines: Line[]): number {
  return round(lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0));
}

export function round(amount: number): number {
  return Math.round(amount * 100) / 100;
}

const COUPONS: Record<string, number> = { WELCOME10: 0.1, HALF: 0.5 };

export function discount(lines: Line[], coupon?: string): number | undefined {
  if (coupon === undefined) return 0;
  const rate = COUPONS[coupon];
  return rate === undefined ? undefined : round(total(lines) * rate);
}

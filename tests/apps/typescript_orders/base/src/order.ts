export interface Line {
  sku: string;
  quantity: number;
  unitPrice: number;
}

export interface Order {
  id: string;
  lines: Line[];
  total: number;
  currency: string;
}

export function total(lines: Line[]): number {
  return round(lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0));
}

export function round(amount: number): number {
  return Math.round(amount * 100) / 100;
}

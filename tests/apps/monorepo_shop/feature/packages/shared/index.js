const products = [
  { sku: 'mug', name: 'Mug', cents: 950 },
  { sku: 'shirt', name: 'Shirt', cents: 2400 },
  { sku: 'poster', name: 'Poster', cents: 1325 },
];

function format(cents) {
  return `€${(cents / 100).toFixed(2)}`;
}

function sum(lines) {
  return lines.reduce((cents, { sku, quantity }) => {
    const product = products.find((one) => one.sku === sku);
    if (!product) throw new RangeError(`unknown product ${sku}`);
    return cents + product.cents * quantity;
  }, 0);
}

module.exports = { format, products, sum };

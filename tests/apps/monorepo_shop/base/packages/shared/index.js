const products = [
  { sku: 'mug', name: 'Mug', cents: 950 },
  { sku: 'shirt', name: 'Shirt', cents: 2400 },
  { sku: 'poster', name: 'Poster', cents: 1325 },
];

function format(cents) {
  return `€${(cents / 100).toFixed(2)}`;
}

module.exports = { format, products };

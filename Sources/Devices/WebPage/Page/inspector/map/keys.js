// The keyboard on a picture: it goes along the arrows. Of all cards and arrows, one can be reached with the Tab key.

/** The item to which a key leads from an item; undefined if it leads nowhere. */
export function nextItem(key, item, { cards, front }) {
  if (key === 'Home') return front ?? cards[0]
  const isArrow = !!item.points
  switch (key) {
  case 'ArrowRight': return isArrow ? item.to : byHeight(item.outgoing)[0]
  case 'ArrowLeft': return isArrow ? item.from : byHeight(item.incoming)[0]
  case 'ArrowUp': return sibling(item, isArrow, cards, -1)
  case 'ArrowDown': return sibling(item, isArrow, cards, 1)
  default: return undefined
  }
}

/** The other arrows of the card from which an arrow leads, or the other cards, from top to bottom. */
function sibling(item, isArrow, cards, step) {
  const all = isArrow ? byHeight(item.from.outgoing)
    : cards.toSorted((one, other) => column(one) - column(other) || one.y - other.y)
  return all[all.indexOf(item) + step]
}

function byHeight(arrows) { return arrows.toSorted((one, other) => one.label.y - other.label.y) }

/** Cards that were laid out below each other differ a little in their left edges. */
function column({ x, width }) { return Math.round((x + width / 2) / 40) }

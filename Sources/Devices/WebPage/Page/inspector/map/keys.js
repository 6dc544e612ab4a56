// The keyboard on a picture: it goes along the arrows.

export function nextItem(key, item, { cards, front }) {
  const arrows = card => card.toSorted((one, other) => one.label.y - other.label.y)
  const sibling = step => {
    // The middles of cards below each other differ a little.
    const column = ({ x, width }) => Math.round((x + width / 2) / 40)
    const all = item.points ? arrows(item.from.outgoing)
      : cards.toSorted((one, other) => column(one) - column(other) || one.y - other.y)
    return all[all.indexOf(item) + step]
  }
  return {
    Home: () => front ?? cards[0], ArrowUp: () => sibling(-1), ArrowDown: () => sibling(1),
    ArrowRight: () => item.points ? item.to : arrows(item.outgoing)[0],
    ArrowLeft: () => item.points ? item.from : arrows(item.incoming)[0],
  }[key]?.()
}

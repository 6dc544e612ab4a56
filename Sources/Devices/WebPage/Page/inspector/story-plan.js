// The layout of a story: its order, the times with the pauses folded, and the critical path.

/** A stretch of so many milliseconds, and many times the usual length, is folded. */
const PAUSE = 300, TIMES = 10
/** The share of the width for a pause, and for all pauses at most. */
const SHARE = 0.05, SHARES = 0.35

export function planStory(rows) {
  const steps = rows.map(row => {
    const sent = Date.parse(row.time)
    const handled = row.handledBy.map(({ at }) => Date.parse(at)).filter(at => at >= sent)
    return {
      row, depth: 0, sent, end: Math.max(sent, ...handled),
      known: handled.length > 0,
      critical: false, parent: null, children: [],
    }
  })
  const byID = new Map(steps.map(step => [step.row.id, step]))
  for (const step of steps) {
    const parent = byID.get(step.row.cause)
    // A circle of causes is an error or an attack, and is cut.
    if (!parent || trail(parent).includes(step)) continue
    step.parent = parent
    parent.children.push(step)
    // Without a report, the cause was handled when its effect was published, or before.
    if (!parent.known) parent.end = Math.max(parent.end, step.sent)
  }
  const last = steps.findLast(step => step.row.type === 'document.NavigationState')
    ?? steps.findLast(step => step.row.kind === 'document') ?? steps.at(-1)
  const path = trail(last)
  for (const step of path) step.critical = true
  return { steps: inOrder(steps), path, scale: makeScale(steps), sums: sumsOf(steps) }
}

function trail(last) {
  const steps = []
  for (let step = last; step; step = step.parent) steps.unshift(step)
  return steps
}

function inOrder(steps) {
  const ordered = []
  for (const stack = steps.filter(step => !step.parent).reverse(); stack.length;) {
    const step = stack.pop()
    step.depth = step.parent ? step.parent.depth + 1 : 0
    ordered.push(step)
    stack.push(...step.children.toSorted((one, other) => other.sent - one.sent))
  }
  return ordered
}

/** All pauses have the same share. */
function makeScale(steps) {
  const ascending = (one, other) => one - other
  const instants = [...new Set(steps.flatMap(step => [step.sent, step.end]))].sort(ascending)
  const lengths = instants.slice(1).map((instant, index) => instant - instants[index])
  // The zero makes the shorter of two lengths the usual one.
  const usual = [0, ...lengths].toSorted(ascending)[Math.floor(lengths.length / 2)]
  const isPause = length => length > Math.max(PAUSE, TIMES * usual)
  const folded = lengths.filter(isPause).length
  const active = lengths.reduce((sum, length) => sum + (isPause(length) ? 0 : length), 0)
  const share = active ? Math.min(SHARE, SHARES / folded) : 1 / folded
  const places = new Map([[instants[0], 0]]), pauses = []
  lengths.forEach((length, index) => {
    const from = places.get(instants[index])
    const to = from + (isPause(length) ? share : length / active * (1 - folded * share))
    places.set(instants[index + 1], to)
    if (isPause(length)) pauses.push({ from, to, length })
  })
  return { start: instants[0], end: instants.at(-1), pauses, at: instant => places.get(instant) }
}

function sumsOf(steps) {
  const sums = new Map()
  for (const { row, critical, parent, sent } of steps) {
    const name = row.source.split('/')[0]
    const sum = sums.get(name) ?? { name, messages: 0, time: 0 }
    sums.set(name, sum)
    sum.messages++
    if (critical && parent) sum.time += Math.max(0, sent - parent.sent)
  }
  return [...sums.values()].sort((one, other) => other.time - one.time || other.messages - one.messages)
}

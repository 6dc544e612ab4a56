// The layout of a story: the order of its messages, the times with the pauses folded, and the critical path.

/**
 * @typedef {import('./message-buffer.js').Row & {handledBy?: {source: string, at: string}[]}} StoryRow
 * @typedef {{row: StoryRow, depth: number, sent: number, end: number, known: boolean, critical: boolean,
 *   parent: Step | null, children: Step[]}} Step `known`: the end is reported, not derived from the effects
 */

/** A stretch without an instant is folded if it has this length in milliseconds, and many times the usual one. */
const PAUSE = 300, TIMES = 10
/** The share of the width that a pause has, and that all pauses have at most. */
const SHARE = 0.05, SHARES = 0.35

/** @param {StoryRow[]} rows oldest first */
export function planStory(rows) {
    let sent = Date.parse(rows.find(row => Date.parse(row.time))?.time) || 0
    const steps = rows.map(row => {
        // A time that cannot be read is taken from the message before: one wrong time must not stretch the scale.
        sent = Date.parse(row.time) || sent
        const handled = (row.handledBy ?? []).map(({ at }) => Date.parse(at)).filter(at => at >= sent)
        return { row, depth: 0, sent, end: Math.max(sent, ...handled), known: handled.length > 0, critical: false,
            parent: null, children: [] }
    })
    const byID = new Map(steps.map(step => [step.row.id, step]))
    for (const step of steps) {
        const parent = step.row.cause ? byID.get(step.row.cause) : undefined
        // Causes that form a circle can only be an error or an attack; the circle is cut.
        if (!parent || trail(parent).includes(step)) continue
        step.parent = parent
        parent.children.push(step)
        // Without a report, the cause was handled when its effect was published, or before.
        if (!parent.known) parent.end = Math.max(parent.end, step.sent)
    }
    const ordered = []
    const stack = steps.filter(step => !step.parent).reverse()
    while (stack.length) {
        const step = stack.pop()
        step.depth = step.parent ? step.parent.depth + 1 : 0
        ordered.push(step)
        stack.push(...step.children.toSorted((one, other) => other.sent - one.sent))
    }
    const last = steps.findLast(step => step.row.type === 'document.NavigationState')
        ?? steps.findLast(step => step.row.kind === 'document') ?? steps.at(-1)
    const path = trail(last)
    for (const step of path) step.critical = true
    return { steps: ordered, path, scale: makeScale(steps), sums: sumsOf(steps) }
}

/** A step and its causes, the first cause first. */
function trail(step) {
    const steps = []
    for (let one = step; one; one = one.parent) steps.unshift(one)
    return steps
}

/** Maps times to shares of the width. A pause has the same share, however long it is. */
function makeScale(steps) {
    const instants = [...new Set(steps.flatMap(step => [step.sent, step.end]))].sort((one, other) => one - other)
    const stretches = instants.slice(1).map((end, index) => ({ start: instants[index], end,
        length: end - instants[index] }))
    const usual = stretches.map(stretch => stretch.length).sort((one,
        other) => one - other)[Math.floor(stretches.length / 2)] ?? 0
    const pauses = stretches.filter(stretch => stretch.length > Math.max(PAUSE, TIMES * usual))
    const share = Math.min(SHARE, SHARES / pauses.length)
    const active = stretches.reduce((sum, stretch) => sum + (pauses.includes(stretch) ? 0 : stretch.length), 0)
    let place = 0
    for (const stretch of stretches) {
        stretch.from = place
        place = stretch.to = place + (pauses.includes(stretch) ? share
            : stretch.length / active * (1 - pauses.length * share))
    }
    const at = new Map(stretches.map(stretch => [stretch.end, stretch.to]))
    return { start: instants[0], end: instants.at(-1), pauses, at: instant => at.get(instant) ?? 0 }
}

/** What each process has published, and the time from the causes to its effects on the critical path. */
function sumsOf(steps) {
    const sums = new Map()
    for (const step of steps) {
        const name = String(step.row.source ?? '').split('/')[0]
        const sum = sums.get(name) ?? { name, messages: 0, time: 0 }
        sums.set(name, sum)
        sum.messages++
        if (step.critical && step.parent) sum.time += Math.max(0, step.sent - step.parent.sent)
    }
    return [...sums.values()].sort((one, other) => other.time - one.time || other.messages - one.messages)
}

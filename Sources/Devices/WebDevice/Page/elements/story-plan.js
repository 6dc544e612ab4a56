// How a story is laid out: the order of its messages, the times with the pauses folded, and the critical path.

/**
 * @typedef {import('./message-buffer.js').Row & {handledBy?: {source: string, at: string}[]}} StoryRow
 * @typedef {{row: StoryRow, depth: number, sent: number, end: number, known: boolean, critical: boolean,
 *   parent: Step | null, children: Step[]}} Step `known`: the end is reported, not derived from the effects
 * @typedef {{start: number, end: number, from: number, to: number}} Pause in milliseconds, and as shares of the width
 */

/** A stretch is a pause if nothing happens in it for this long, and for so many times the usual distance. */
const PAUSE = 300
const TIMES = 10
/** The share of the width that one pause has, and that all pauses have at most. */
const PAUSE_SHARE = 0.05
const PAUSES_SHARE = 0.35

/** @param {StoryRow[]} rows */
export function planStory(rows) {
    /** @type {Map<string, Step>} */
    const byID = new Map()
    const steps = rows.map(row => {
        const sent = Date.parse(row.time ?? '') || 0
        const handled = (row.handledBy ?? []).map(({ at }) => Date.parse(at)).filter(at => at >= sent)
        const step = { row, depth: 0, sent, end: handled.length ? Math.max(...handled) : sent, known: handled.length > 0, critical: false, parent: null, children: [] }
        if (row.id && !byID.has(row.id)) byID.set(row.id, step)
        return step
    })
    for (const step of steps) {
        const parent = step.row.cause ? byID.get(step.row.cause) : undefined
        if (!parent || leadsTo(parent, step)) continue
        step.parent = parent
        parent.children.push(step)
        // Without a report the process has handled the cause, at the latest, when it published the effect.
        if (!parent.known) parent.end = Math.max(parent.end, step.sent)
    }
    const ordered = []
    const stack = steps.filter(step => !step.parent).reverse()
    for (let step = stack.pop(); step; step = stack.pop()) {
        step.depth = step.parent ? step.parent.depth + 1 : 0
        ordered.push(step)
        stack.push(...step.children.slice().sort((one, other) => other.sent - one.sent))
    }
    const path = criticalPath(steps)
    return { steps: ordered, path, scale: makeScale(steps), sums: sumsOf(steps, path) }
}

/** Causes that form a circle can only be an error or an attack; the circle is cut. */
function leadsTo(step, descendant) {
    for (let one = step; one; one = one.parent) if (one === descendant) return true
    return false
}

/** The chain of causes that leads to the last visible change: a navigation state, or else another document. */
function criticalPath(steps) {
    const last = steps.findLast(step => step.row.type === 'document.NavigationState')
        ?? steps.findLast(step => step.row.kind === 'document') ?? steps.at(-1)
    const path = []
    for (let step = last; step; step = step.parent) {
        step.critical = true
        path.unshift(step)
    }
    return path
}

/** Maps times to shares of the width, with every pause as a short mark. */
function makeScale(steps) {
    const instants = [...new Set(steps.flatMap(step => [step.sent, step.end]))].sort((one, other) => one - other)
    const gaps = instants.slice(1).map((instant, index) => ({ start: instants[index], end: instant, length: instant - instants[index] }))
    const sorted = gaps.map(gap => gap.length).sort((one, other) => one - other)
    const limit = Math.max(PAUSE, TIMES * (sorted[Math.floor(sorted.length / 2)] ?? 0))
    const folded = gaps.filter(gap => gap.length > limit && gaps.length > 1)
    const share = folded.length ? Math.min(PAUSE_SHARE, PAUSES_SHARE / folded.length) : 0
    const active = gaps.reduce((sum, gap) => sum + (folded.includes(gap) ? 0 : gap.length), 0) || 1
    const rate = (1 - share * folded.length) / active
    /** @type {Pause[]} */
    const pauses = []
    const marks = []
    let place = 0
    for (const gap of gaps) {
        const width = folded.includes(gap) ? share : gap.length * rate
        marks.push({ ...gap, place, width })
        if (folded.includes(gap)) pauses.push({ start: gap.start, end: gap.end, from: place, to: place + width })
        place += width
    }
    const start = instants[0] ?? 0
    const at = time => {
        let low = 0, high = marks.length - 1
        while (low < high) {
            const middle = (low + high) >> 1
            if (marks[middle].end < time) low = middle + 1
            else high = middle
        }
        const mark = marks[low]
        return mark ? mark.place + mark.width * Math.min(Math.max((time - mark.start) / mark.length, 0), 1) : 0
    }
    return { start, end: instants.at(-1) ?? 0, active, pauses, at }
}

/** What each process published, and the time on the critical path until it published its part. */
function sumsOf(steps, path) {
    const sums = new Map()
    const sum = step => {
        const name = String(step.row.source ?? '').split('/')[0]
        if (!sums.has(name)) sums.set(name, { name, messages: 0, critical: 0 })
        return sums.get(name)
    }
    for (const step of steps) sum(step).messages++
    for (const step of path) if (step.parent) sum(step).critical += Math.max(0, step.sent - step.parent.sent)
    return [...sums.values()].sort((one, other) => other.critical - one.critical || other.messages - one.messages)
}

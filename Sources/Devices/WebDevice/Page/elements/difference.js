// @ts-check
// The difference of two JSON values, as a list of changed paths.

/** @typedef {{path: string, kind: 'added' | 'removed' | 'changed', before?: any, after?: any}} Change */

/** @returns {{changes: Change[], complete: boolean}} */
export function difference(/** @type {any} */ before, /** @type {any} */ after, limit = 300) {
    /** @type {Change[]} */
    const changes = []
    /** @type {{path: string, before: any, after: any}[]} */
    const stack = [{ path: '', before, after }]
    for (let pair = stack.pop(); pair && changes.length < limit; pair = stack.pop()) {
        if (pair.before === undefined) changes.push({ path: pair.path, kind: 'added', after: pair.after })
        else if (pair.after === undefined) changes.push({ path: pair.path, kind: 'removed', before: pair.before })
        else if (isContainer(pair.before) && isContainer(pair.after) && Array.isArray(pair.before) === Array.isArray(pair.after)) {
            const parts = Array.isArray(pair.before) ? elements(pair) : members(pair)
            stack.push(...parts.reverse())
        } else if (pair.before !== pair.after) changes.push({ path: pair.path, kind: 'changed', before: pair.before, after: pair.after })
    }
    return { changes, complete: changes.length < limit }
}

function isContainer(/** @type {any} */ value) {
    return typeof value === 'object' && value !== null
}

/** @param {{path: string, before: any, after: any}} pair */
function members({ path, before, after }) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...keys].map(key => ({
        path: path ? `${path}.${key}` : key,
        before: Object.hasOwn(before, key) ? before[key] : undefined,
        after: Object.hasOwn(after, key) ? after[key] : undefined,
    }))
}

/**
 * Pairs the elements of two arrays: by their `id` if each has one, so that a removed first element is one change;
 * otherwise by place, after the equal beginning and the equal end.
 * @param {{path: string, before: any[], after: any[]}} pair
 */
function elements({ path, before, after }) {
    const ids = identities(before), others = identities(after)
    if (ids && others) {
        const all = new Set([...others.keys(), ...ids.keys()])
        return [...all].map(id => ({
            path: `${path}[${others.get(id) ?? ids.get(id)}]`,
            before: ids.has(id) ? before[/** @type {number} */ (ids.get(id))] : undefined,
            after: others.has(id) ? after[/** @type {number} */ (others.get(id))] : undefined,
        }))
    }
    let start = 0
    while (start < before.length && start < after.length && equal(before[start], after[start])) start++
    let end = 0
    while (end < before.length - start && end < after.length - start && equal(before.at(-1 - end), after.at(-1 - end))) end++
    const length = Math.max(before.length, after.length) - end - start
    return Array.from({ length: Math.max(length, 0) }, (_, index) => ({
        path: `${path}[${start + index}]`,
        before: start + index < before.length - end ? before[start + index] : undefined,
        after: start + index < after.length - end ? after[start + index] : undefined,
    }))
}

/** @param {any[]} list @returns {Map<string, number> | null} */
function identities(list) {
    const places = new Map()
    for (const [index, element] of list.entries()) {
        const id = isContainer(element) ? element.id : undefined
        if (typeof id !== 'string' && typeof id !== 'number' || places.has(id)) return null
        places.set(id, index)
    }
    return places
}

function equal(/** @type {any} */ one, /** @type {any} */ other) {
    return one === other || JSON.stringify(one) === JSON.stringify(other)
}

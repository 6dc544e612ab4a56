// The difference of two JSON values, as a list of changed paths.

/** @typedef {{path: string, before?: any, after?: any}} Change without `before` added, without `after` removed */

/** @returns {Change[]} at most `limit` */
export function difference(before, after, limit) {
    const changes = []
    const stack = [{ path: '', before, after }]
    while (stack.length && changes.length < limit) {
        const pair = stack.pop()
        const list = Array.isArray(pair.before)
        if (isContainer(pair.before) && isContainer(pair.after) && list === Array.isArray(pair.after)) {
            stack.push(...(list ? elements(pair) : members(pair)).reverse())
        } else if (pair.before !== pair.after) changes.push(pair)
    }
    return changes
}

function isContainer(value) {
    return typeof value === 'object' && value !== null
}

function members({ path, before, after }) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].map(key => ({
        path: path ? `${path}.${key}` : key,
        before: Object.hasOwn(before, key) ? before[key] : undefined,
        after: Object.hasOwn(after, key) ? after[key] : undefined,
    }))
}

/** Pairs elements by their `id` if each has one, so that a removed first element is one change; otherwise by place. */
function elements({ path, before, after }) {
    const places = identities(before), others = identities(after)
    const keys = places && others ? new Set([...others.keys(), ...places.keys()])
        : Array(Math.max(before.length, after.length)).keys()
    return [...keys].map(key => {
        const place = places && others ? places.get(key) : key, other = places && others ? others.get(key) : key
        return { path: `${path}[${other ?? place}]`, before: before[place], after: after[other] }
    })
}

/** @returns {Map<string, number> | null} */
function identities(list) {
    const places = new Map(list.map((element, index) => [element?.id, index]))
    return places.size === list.length && !places.has(undefined) ? places : null
}

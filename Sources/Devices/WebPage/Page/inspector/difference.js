// The difference of two JSON values.

import { isContainer, plain } from '../elements/json-text.js'

/** At most `limit` of `{ path, before, after }`; without `before` a value is added, without `after` removed. */
export function difference(before, after, limit) {
  const changes = []
  const stack = [{ path: '', before, after }]
  while (stack.length && changes.length < limit) {
    const pair = stack.pop()
    const list = Array.isArray(pair.before)
    if (isContainer(pair.before) && isContainer(pair.after) && list === Array.isArray(pair.after)) {
      stack.push(...(list ? elements(pair) : members(pair)).reverse())
    } else if (plain(pair.before) !== plain(pair.after)) changes.push(pair)
  }
  return changes
}

function members({ path, before, after }) {
  const member = (value, key) => Object.hasOwn(value, key) ? value[key] : undefined
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].map(key => (
    { path: path ? `${path}.${key}` : key, before: member(before, key), after: member(after, key) }))
}

/** Pairs by `id` if each has one, so that a removed first element is one change; otherwise by place. */
function elements({ path, before, after }) {
  const ids = list => new Set(list.map(element => element?.id))
  const hasIDs = [before, after].every(list => ids(list).size === list.length && !ids(list).has(undefined))
  const [former, places] = [before, after].map(list =>
    new Map(list.map((element, index) => [hasIDs ? element.id : index, index])))
  const pairs = [...new Set([...places.keys(), ...former.keys()])].map(key => {
    const old = former.get(key), place = places.get(key)
    return { path: `${path}[${place ?? old}]`, before: before[old], after: after[place] }
  })
  // An element that has only moved is equal to itself, but the list is not.
  const order = (one, other) => [...one.keys()].filter(key => other.has(key)).join(', ')
  return [...pairs, { path: `${path || 'data'}: order`, before: order(former, places), after: order(places, former) }]
}

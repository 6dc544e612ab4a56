// The text of JSON, which is published: parsing changes 1.10, and an object with two members of one name.

/** For the eyes. A number that JavaScript would change stays as it is written, if the browser can do so. */
export function parsed(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === 'number' && context?.source && JSON.rawJSON && String(value) !== context.source
      ? JSON.rawJSON(context.source) : value)
}

export function isContainer(value) { return typeof value === 'object' && value !== null && !isNumeral(value) }

function isNumeral(value) { return JSON.isRawJSON?.(value) === true }

/** A number that `parsed` has kept becomes its text. */
export function plain(value) { return isNumeral(value) ? value.rawJSON : value }

/** Gives `[name, text of the value]`. Throws a `SyntaxError` for other text than JSON, an `Error` for no object. */
export function membersOf(text) {
  const value = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a JSON object')
  const members = []
  const begin = text.indexOf('{') + 1
  let start = begin, name = null, depth = 0
  // Brackets, commas and colons in strings do not count.
  for (const { 0: token, index } of text.slice(begin).matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/gs)) {
    const place = begin + index
    if (depth === 0 && name === null && token[0] === '"') {
      name = JSON.parse(token)
    } else if (depth === 0 && token === ':') {
      start = place + 1
    } else if (depth === 0 && (token === ',' || token === '}')) {
      if (name !== null) members.push([name, text.slice(start, place).trim()])
      name = null
      if (token === '}') break
    } else if (token === '{' || token === '[') {
      depth++
    } else if (token === '}' || token === ']') {
      depth--
    }
  }
  return members
}

export function objectOf(members) {
  if (!members.length) return '{}'
  return `{\n${members.map(([name, text]) => `  ${JSON.stringify(name)}: ${text}`).join(',\n')}\n}`
}

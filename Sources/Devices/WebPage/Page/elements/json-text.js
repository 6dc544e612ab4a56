// The text of JSON. Numbers such as 12345678901234567890 or 1.10 change when they are parsed and written again, and so
// does an object with two members of one name: what is published is the text.

/** Parses JSON for the eyes. A number that JavaScript would change is kept as it is written, if the browser can do so. */
export function parsed(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === 'number' && context?.source && JSON.rawJSON && String(value) !== context.source
      ? JSON.rawJSON(context.source) : value)
}

/** True for an object or an array that `parsed` has read. */
export function isContainer(value) { return typeof value === 'object' && value !== null && !isNumeral(value) }

/** True for a number that `parsed` has kept as it is written. */
function isNumeral(value) { return JSON.isRawJSON?.(value) === true }

/** The value, and for a number that `parsed` has kept, its text. */
export function plain(value) { return isNumeral(value) ? value.rawJSON : value }

/**
 * The members of the text of an object, as `[name, text of the value]`, in order.
 * Throws a `SyntaxError` if the text is not JSON, and an `Error` if it is not an object.
 */
export function membersOf(text) {
  const value = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a JSON object')
  const members = []
  const begin = text.indexOf('{') + 1
  let start = begin, name = null, depth = 0
  // Strings are tokens, so that the brackets, commas and colons in them do not count.
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

/** The text of an object with these members, on one line for each. */
export function objectOf(members) {
  if (!members.length) return '{}'
  return `{\n${members.map(([name, text]) => `  ${JSON.stringify(name)}: ${text}`).join(',\n')}\n}`
}

// What a view of messages selects, for the gateway and in an address.

import { decoded } from '../address.js'

const NAMES = Object.entries({
  kinds: 'kind', types: 'type', exclude: 'exclude', session: 'session', source: 'source', story: 'story',
  where: 'where',
})
const SINGLE = ['session', 'story']

export function replacing(selection, member, values) {
  const { [member]: _, ...others } = selection
  return values.length ? { ...others, [member]: SINGLE.includes(member) ? values[0] : values } : others
}

export function valuesOf(selection, member) { return [selection[member] ?? []].flat() }

/** For example `#/messages?type=command.*&exclude=event.X&text=calm`. */
export function readAddress(address) {
  const [path, query] = address.replace(/^#\//, '').split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  let selection = {}
  for (const [member, name] of NAMES) {
    selection = replacing(selection, member, parameters.getAll(name).filter(Boolean))
  }
  const text = parameters.get('text') ?? '', send = parameters.get('send')
  return { path: path.split('/').map(decoded), selection, text, send, untaken: parameters.get('untaken') }
}

export function messagesAddress(selection, text = '', send = null) {
  const parameters = new URLSearchParams()
  for (const [member, name] of NAMES) {
    for (const value of valuesOf(selection, member)) parameters.append(name, value)
  }
  if (text) parameters.set('text', text)
  if (send !== null) parameters.set('send', send)
  return '#/messages' + (parameters.size ? `?${parameters}` : '')
}

/** A colon is allowed in a path and in a fragment, so it stays readable. */
export function encoded(position) { return encodeURIComponent(position).replaceAll('%3A', ':') }

export function messageAddress(place) { return '#/message/' + encoded(place) }

export function placeOfRow(row) { return row.position ?? `transient:${row.id}` }

export function storyAddress(id) { return '#/story/' + encodeURIComponent(id) }

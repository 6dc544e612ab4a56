// What a view of messages selects, as the gateway takes it and as it is written in an address.

import { kindOf } from './text.js'

/**
 * The members of a selection, and their names in an address. `session` and `story` have one value.
 * @typedef {{kinds?: string[], types?: string[], exclude?: string[], session?: string, source?: string[],
 *   story?: string, where?: string[]}} Selection
 */
const NAMES = { kinds: 'kind', types: 'type', exclude: 'exclude', session: 'session', source: 'source', story: 'story',
    where: 'where' }

export function isSingle(member) {
    return member === 'session' || member === 'story'
}

/** Reads an address such as `#/messages?type=command.*&exclude=event.X&text=calm`. */
export function readAddress(address) {
    const [path, query] = String(address ?? '').replace(/^#?\/?/, '').split(/\?(.*)/s)
    const parameters = new URLSearchParams(query ?? '')
    const selection = {}
    for (const [member, name] of Object.entries(NAMES)) {
        const values = parameters.getAll(name).filter(Boolean)
        if (values.length) selection[member] = isSingle(member) ? values[0] : values
    }
    return { path: path.split('/').map(decode), selection, text: parameters.get('text') ?? '',
        send: parameters.get('send') }
}

function decode(part) {
    try {
        return decodeURIComponent(part)
    } catch {
        return part
    }
}

/** @param {Selection} selection */
export function messagesAddress(selection, text = '', send = null) {
    const parameters = new URLSearchParams()
    for (const [member, name] of Object.entries(NAMES)) {
        for (const value of [selection[member] ?? []].flat()) parameters.append(name, value)
    }
    if (text) parameters.set('text', text)
    if (send != null) parameters.set('send', send)
    return '#/messages' + (parameters.size ? '?' + parameters : '')
}

/** The part of a path for a position. A colon is allowed in a path and in a fragment, so it stays readable. */
export function encoded(position) {
    return encodeURIComponent(position ?? '').replaceAll('%3A', ':')
}

export function messageAddress(position) {
    return '#/message/' + encoded(position)
}

export function storyAddress(id) {
    return '#/story/' + encodeURIComponent(id)
}

/** Matches a pattern with `*` and `?`. */
function matches(pattern, text) {
    const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*').replaceAll('?', '.')
    return new RegExp(`^${source}$`, 'su').test(text)
}

/**
 * A test of the rows that the page already has against a new selection, so that the list reacts at once. Expressions
 * in `where` need the data, which only the gateway has: no row passes them.
 */
export function passes({ kinds, types, exclude = [], session, source, story, where }) {
    const ofType = (pattern, type) => matches(pattern, type) || !pattern.includes('.') && matches('*.' + pattern, type)
    return row => {
        const type = row.type ?? '', sender = row.source ?? ''
        return !where && (!kinds || kinds.includes(row.kind ?? kindOf(type)))
            && (!types || types.some(pattern => ofType(pattern, type)))
                && !exclude.some(pattern => ofType(pattern, type))
            && (!session || row.session === session) && (!story || row.story === story)
            && (!source || source.some(pattern => matches(pattern, sender) || matches(pattern, sender.split('/')[0])))
    }
}

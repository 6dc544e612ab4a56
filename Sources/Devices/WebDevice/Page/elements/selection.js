// @ts-check
// What a view of messages selects, as the gateway takes it and as it is written in an address.

import { kindOf } from './text.js'

/**
 * @typedef {{kinds?: string[], types?: string[], exclude?: string[], session?: string, source?: string[],
 *   story?: string, where?: string[]}} Selection
 * @typedef {import('./message-buffer.js').Row} Row
 */

/** The names of the list members in an address. */
const LISTS = { kinds: 'kind', types: 'type', exclude: 'exclude', source: 'source', where: 'where' }
const SINGLES = /** @type {const} */ (['session', 'story'])

/**
 * Reads `#/messages?type=command.*&exclude=event.X&text=calm`.
 * @param {string} address
 * @returns {{path: string[], selection: Selection, text: string, send: string | null}}
 */
export function readAddress(address) {
    const [path, query = ''] = String(address ?? '').replace(/^#?\/?/, '').split(/\?(.*)/s)
    const parameters = new URLSearchParams(query)
    /** @type {Selection} */
    const selection = {}
    for (const [member, name] of Object.entries(LISTS)) {
        const values = parameters.getAll(name).filter(Boolean)
        if (values.length) /** @type {any} */ (selection)[member] = values
    }
    for (const name of SINGLES) {
        const value = parameters.get(name)
        if (value) selection[name] = value
    }
    return {
        path: path.split('/').map(decode), selection,
        text: parameters.get('text') ?? '', send: parameters.get('send'),
    }
}

function decode(/** @type {string} */ part) {
    try {
        return decodeURIComponent(part)
    } catch {
        return part
    }
}

/** @param {Selection} selection @param {{text?: string, send?: string | null}} [more] */
export function messagesAddress(selection, more = {}) {
    const parameters = new URLSearchParams()
    for (const [member, name] of Object.entries(LISTS)) {
        for (const value of /** @type {any} */ (selection)[member] ?? []) parameters.append(name, value)
    }
    for (const name of SINGLES) if (selection[name]) parameters.set(name, selection[name])
    if (more.text) parameters.set('text', more.text)
    if (more.send != null) parameters.set('send', more.send)
    const query = String(parameters)
    return '#/messages' + (query ? '?' + query : '')
}

/** The address of one message. The colon of a position is allowed in a fragment, so it stays readable. */
export function messageAddress(/** @type {string | undefined} */ position) {
    return '#/message/' + encodeURIComponent(position ?? '').replaceAll('%3A', ':')
}

export function storyAddress(/** @type {string} */ id) {
    return '#/story/' + encodeURIComponent(id)
}

/** Matches a pattern with `*` and `?`. */
export function matches(/** @type {string} */ pattern, /** @type {string} */ text) {
    const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*').replace(/\?/g, '.')
    return new RegExp(`^${source}$`, 'su').test(text)
}

/**
 * Decides which of the rows that the page already has pass a new selection, so that the list reacts at once. The
 * gateway decides about the expressions in `where`, which need the data; without an answer of it no row passes them.
 * @param {Selection} selection
 * @returns {(row: Row) => boolean}
 */
export function passes(selection) {
    const list = (/** @type {string[] | undefined} */ patterns, /** @type {(pattern: string) => boolean} */ test) =>
        !patterns?.length || patterns.some(test)
    const type = (/** @type {string} */ pattern, /** @type {Row} */ row) =>
        matches(pattern, row.type ?? '') || !pattern.includes('.') && matches('*.' + pattern, row.type ?? '')
    return row => !selection.where?.length
        && list(selection.kinds, kind => (row.kind ?? kindOf(row.type ?? '')) === kind)
        && list(selection.types, pattern => type(pattern, row))
        && !(selection.exclude ?? []).some(pattern => type(pattern, row))
        && (!selection.session || row.session === selection.session)
        && (!selection.story || row.story === selection.story)
        && list(selection.source, pattern =>
            matches(pattern, row.source ?? '') || matches(pattern, String(row.source ?? '').split('/')[0]))
}

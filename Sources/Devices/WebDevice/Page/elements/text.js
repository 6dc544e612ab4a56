// @ts-check
// How figures, times and the strings of messages are written in the inspector.

/** The kinds of messages, each with the letter that marks it beside its colour. */
export const KINDS = { command: 'C', event: 'E', document: 'D', query: 'Q', error: '!' }

/** The kind of a type such as `command.PlaylistSelected`. */
export function kindOf(/** @type {string} */ type) {
    return String(type ?? '').split('.', 1)[0]
}

/** A type without its kind, which a badge shows. */
export function nameOf(/** @type {string} */ type) {
    const text = String(type ?? '')
    const dot = text.indexOf('.')
    return printable(dot < 0 ? text || '(no type)' : text.slice(dot + 1))
}

// Control characters, and those that change the direction of the text around them: a message could use them to make
// the page display something else than it says. Lone surrogates cannot be displayed.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** A string with its control characters written as `\u202e`. */
export function printable(/** @type {unknown} */ value) {
    return String(value ?? '').replace(UNPRINTABLE, character => {
        if (character === '\n') return '\\n'
        if (character === '\t') return '\\t'
        return '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0')
    })
}

const clockFormat = new Intl.DateTimeFormat('en-GB',
    { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 })
const dateFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** The time of day in the local time zone, with milliseconds. */
export function clock(/** @type {unknown} */ time) {
    const date = new Date(/** @type {any} */ (time))
    return isNaN(+date) ? '--:--:--.---' : clockFormat.format(date)
}

export function dateAndClock(/** @type {unknown} */ time) {
    const date = new Date(/** @type {any} */ (time))
    return isNaN(+date) ? 'unknown time' : `${dateFormat.format(date)}, ${clockFormat.format(date)}`
}

/** A duration in milliseconds, such as `12 ms`, `4.2 s`, `3 min` or `5 h`. */
export function duration(/** @type {number} */ milliseconds) {
    if (!isFinite(milliseconds)) return '–'
    const value = Math.abs(milliseconds)
    if (value < 10 && value % 1) return `${milliseconds.toFixed(1)} ms`
    if (value < 1000) return `${Math.round(milliseconds)} ms`
    if (value < 60_000) return `${(milliseconds / 1000).toFixed(value < 10_000 ? 1 : 0)} s`
    if (value < 3_600_000) return `${Math.floor(milliseconds / 60_000)} min`
    if (value < 172_800_000) return `${Math.floor(milliseconds / 3_600_000)} h`
    return `${Math.floor(milliseconds / 86_400_000)} days`
}

const numberFormat = new Intl.NumberFormat('en-GB')

export function count(/** @type {unknown} */ value) {
    return typeof value === 'number' && isFinite(value) ? numberFormat.format(value) : '–'
}

/** `1 message`, `1,234 messages`. */
export function plural(/** @type {number} */ value, /** @type {string} */ noun) {
    return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

export function bytes(/** @type {number} */ value) {
    if (!isFinite(value)) return '–'
    if (value < 1024) return `${value} B`
    if (value < 1024 * 1024) return `${(value / 1024).toFixed(value < 10240 ? 1 : 0)} KiB`
    return `${(value / 1024 / 1024).toFixed(1)} MiB`
}

/** The name of a process in a source such as `music-service/1f3a`. */
export function processOf(/** @type {unknown} */ source) {
    return printable(String(source ?? '').split('/', 1)[0]) || '(no source)'
}

/** The epoch and the offset in a position such as `812:17`. Transient messages have the offset 0, or no position. */
export function placeOf(/** @type {unknown} */ position) {
    const text = typeof position === 'string' ? position : ''
    const colon = text.lastIndexOf(':')
    const offset = Number(text.slice(colon + 1))
    return { epoch: text.slice(0, Math.max(colon, 0)), offset: colon > 0 && Number.isSafeInteger(offset) ? offset : 0 }
}

/** The line for a person in a failure of the gateway. */
export function problemOf(/** @type {any} */ failure) {
    return printable(failure?.error?.message ?? failure?.message ?? failure ?? 'unknown error')
}

// How figures, times and the strings of messages are written in the inspector.

/** The kinds of messages, each with the letter that marks it beside its colour. */
export const KINDS = { command: 'C', event: 'E', document: 'D', query: 'Q', error: '!' }

/** The kind of a type such as `command.PlaylistSelected`. */
export function kindOf(type) {
    return String(type ?? '').split('.', 1)[0]
}

/** A type without its kind, which a badge shows. */
export function nameOf(type) {
    return printable(String(type ?? '').replace(/^[^.]*\./, '')) || '(no type)'
}

// Control characters, and those that change the direction of the text around them: with these a message could make the
// page say something else. Lone surrogates cannot be displayed.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const ESCAPES = { '\n': '\\n', '\t': '\\t' }

/** A string with its control characters written as `\u202e`. */
export function printable(value) {
    return String(value ?? '').replace(UNPRINTABLE, character =>
        ESCAPES[character] ?? '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'))
}

/** A printable string of at most `length` characters. */
export function shortened(value, length) {
    const text = printable(String(value ?? '').slice(0, length + 1))
    return text.length > length ? text.slice(0, length - 1) + '…' : text
}

const clockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit',
    fractionalSecondDigits: 3 })
const dateFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** The time of day in the local time zone, with milliseconds. */
export function clock(time) {
    const date = new Date(time ?? NaN)
    return isNaN(date) ? '--:--:--.---' : clockFormat.format(date)
}

export function dateAndClock(time) {
    const date = new Date(time ?? NaN)
    return isNaN(date) ? 'unknown time' : `${dateFormat.format(date)}, ${clockFormat.format(date)}`
}

/** A duration in milliseconds, such as `12 ms`, `4.2 s`, `3 min` or `5 h`. */
export function duration(milliseconds) {
    if (milliseconds < 1000) return `${milliseconds < 10 && milliseconds % 1 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
    if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`
    if (milliseconds < 3_600_000) return `${Math.floor(milliseconds / 60_000)} min`
    if (milliseconds < 172_800_000) return `${Math.floor(milliseconds / 3_600_000)} h`
    return `${Math.floor(milliseconds / 86_400_000)} days`
}

export function count(value) {
    return Number.isFinite(value) ? value.toLocaleString('en-GB') : '–'
}

/** `1 message`, `1,234 messages`. */
export function plural(value, noun, nouns = noun + 's') {
    return `${count(value)} ${value === 1 ? noun : nouns}`
}

export function bytes(value) {
    if (value < 1024) return `${value} B`
    return value < 1024 * 1024 ? `${(value / 1024).toFixed(value < 10240 ? 1 : 0)} KiB`
        : `${(value / 1024 / 1024).toFixed(1)} MiB`
}

/** The name of a process in a source such as `music-service/1f3a`. */
export function processOf(source) {
    return printable(String(source ?? '').split('/', 1)[0]) || '(no source)'
}

/** The epoch and the offset in a position such as `812:17`. Transient messages have the offset 0, or no position. */
export function placeOf(position) {
    const [, epoch = '', digits = ''] = /^(.*):(\d{1,15})$/s.exec(position ?? '') ?? []
    return { epoch, offset: Number(digits) }
}

/** The line for a person in a failure of the gateway. */
export function problemOf(failure) {
    return printable(failure?.error?.message ?? failure?.message ?? failure ?? 'unknown error')
}

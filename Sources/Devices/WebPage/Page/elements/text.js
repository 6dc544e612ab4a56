// How figures, times and the strings of messages are written.

export const KINDS = { __proto__: null, command: 'C', event: 'E', document: 'D', error: '!' }

export function kindOf(type) { return type.split('.', 1)[0] }

export function nameOf(type) { return printable(type).replace(/^[^.]*\./, '') }

// Control and direction characters could make the page say something else. Lone surrogates cannot be displayed.
const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu
const ESCAPES = { '\n': '\\n', '\t': '\\t' }

/** Writes control characters as `\u202e`. */
export function printable(value) {
  return String(value ?? '').replace(UNPRINTABLE, character =>
    ESCAPES[character] ?? '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'))
}

export function printableLines(text) { return text.split('\n').map(printable).join('\n') }

export function shortened(value, length = 200) {
  const text = printable(String(value ?? '').slice(0, length + 1))
  return text.length > length ? text.slice(0, length - 1) + '…' : text
}

export function joined(...parts) { return parts.filter(Boolean).map(printable).join(' · ') }

const clockFormat = new Intl.DateTimeFormat('en-GB',
  { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 })
const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })

export function clock(time) { return clockFormat.format(new Date(time)) }

export function dateAndClock(time) { return `${dateFormat.format(new Date(time))}, ${clock(time)}` }

/** For example `12 ms`, `4.2 s`, `3 min` or `5 h`. */
export function duration(milliseconds) {
  const seconds = milliseconds / 1000
  if (seconds < 1) return `${figure(milliseconds)} ms`
  if (seconds < 60) return `${figure(seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`
}

export function bytes(value) {
  if (value < 1024) return `${value} B`
  return value < 1024 ** 2 ? `${figure(value / 1024)} KiB` : `${figure(value / 1024 ** 2)} MiB`
}

function figure(value) { return value < 10 && value % 1 ? value.toFixed(1) : Math.round(value) }

export function count(value) { return value.toLocaleString('en-GB') }

export function plural(value, noun, nouns = noun + 's') { return `${count(value)} ${value === 1 ? noun : nouns}` }

export function processOf(source) { return printable(source).split('/', 1)[0] }

export function problemOf(failure) { return printable(failure.error?.message ?? failure.message) }

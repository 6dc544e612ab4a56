import { h } from '../elements/dom.js'
import { clock, dateAndClock, duration, joined, plural, printable } from '../elements/text.js'
import { spoken } from './inspector-element.js'

/** An element of the list of happenings. */
export function happeningRow({ row, isEffect, notice, hidden }, id) {
  const make = (spec, title, kind, ...parts) =>
    h(spec, { role: 'row', id, title, 'data-kind': kind }, h('div', { role: 'gridcell' }, ...parts))
  if (notice) return make('div.entry.notice', notice, null, printable(notice))
  if (hidden) {
    const note = `Not shown: ${plural(hidden, 'message')} that only processes need`
    return make('div.entry', note, null, h('span.words.quiet', note))
  }
  const { kind, manner, time, after, session, rule } = row
  const words = printable(row.words), actor = joined(row.actor, session !== 'default' && `@${session}`)
  const isBefore = isEffect && after < 0
  const since = !isEffect || after === null ? clock(time) : isBefore ? 'clock' : `+${duration(after)}`
  const tip = isBefore ? `${dateAndClock(time)}; the clocks of two machines differ` : dateAndClock(time)
  return make(isEffect ? 'div.entry.effect' : 'div.entry', joined(row.actor, row.words, rule), kind,
    isEffect && spoken('effect '), h('span.time', { title: tip }, since),
    h('span.who', manner && h('span.manner', printable(manner) + ' '), h('bdi', actor)),
    h('bdi.words', words), rule && h('bdi.rule.code', printable(rule)))
}

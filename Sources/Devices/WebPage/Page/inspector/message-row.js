import { h } from '../elements/dom.js'
import { clock, count, dateAndClock, nameOf, plural, printable, processOf, shortened } from '../elements/text.js'
import { badge, smallButton } from './inspector-element.js'

/** An element of the list of messages. */
export function messageRow({ row, notice, skipped, loading, problem }, id, load) {
  const make = (spec, title, ...parts) =>
    h(spec, { role: 'row', id, title }, h('div', { role: 'gridcell' }, ...parts))
  if (notice) return make('div.entry.notice', notice, printable(notice))
  if (skipped) {
    const { count } = skipped
    return make('div.entry.gap', problem,
      problem || (count === null ? 'Messages may be missing here' : `${plural(count, 'message')} skipped`),
      smallButton(loading ? 'Loading…' : 'Load', load, { tabindex: -1, disabled: loading }))
  }
  const { type, source, key, time, size, tombstone } = row
  const summary = tombstone ? 'withdrawn' : shortened(row.summary, 400)
  return make('div.entry', `${shortened(type)} from ${shortened(source, 200)}, ${count(size)} bytes`,
    badge(row.kind), h('bdi.type', nameOf(type) + (key ? ` [${shortened(key, 100)}]` : '')),
    h('bdi.source', processOf(source)), h('span.time', { title: dateAndClock(time) }, clock(time)),
    h(tombstone ? 'bdi.summary.withdrawn' : 'bdi.summary', { title: summary }, summary))
}

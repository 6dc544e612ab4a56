import { fill, h, unspoken } from '../elements/dom.js'
import { addStyles } from '../elements/styles.js'
import { count, dateAndClock, duration, joined, nameOf, plural, printable, processOf } from '../elements/text.js'
import { badge, failureOf, InspectorElement, spoken } from './inspector-element.js'
import { messageAddress, readAddress } from './selection.js'
import { planStory } from './story-plan.js'

await addStyles('story', import.meta.url)

const AGAIN = 500
const INDENTED = 12
const COLUMNS = ['Message', 'Process', 'After', 'Took']

/** The messages that one message has caused, as a waterfall. `address`: `#/story/ID`. */
class SegueStory extends InspectorElement {
  #id = ''
  #timer = 0

  set address(address) {
    const id = readAddress(address).path[1] ?? ''
    // Without an id, the last story stays.
    if (!id || id === this.#id) return
    this.#id = id
    fill(this)
    if (this.isConnected) this.start()
  }

  start() {
    if (!this.#id) return fill(this, h('p.quiet.padded', 'Choose a message, then “Story”.'))
    if (!this.querySelector('.waterfall')) fill(this, h('p.quiet.padded.late', 'Reading the story…'))
    this.openView({ kind: 'messages', selection: { story: this.#id }, from: 'now' }, update => {
      if (update.rows) this.#timer ||= setTimeout(() => this.#read(), AGAIN)
    })
    this.#read()
  }

  stop() {
    clearTimeout(this.#timer)
    this.#timer = 0
  }

  async #read() {
    this.#timer = 0
    const id = this.#id
    try {
      const story = await this.connection.get('/api/story/' + encodeURIComponent(id))
      if (id === this.#id) this.#draw(story)
    } catch (failure) {
      if (id === this.#id) fill(this, failureOf(failure, () => this.#read()))
    }
  }

  #draw({ messages, complete }) {
    if (!messages.length) return fill(this, h('p.quiet.padded', 'The journal has no message of this story.'))
    const focused = this.contains(document.activeElement) && document.activeElement.getAttribute('href')
    const { steps, path, scale, sums } = planStory(messages)
    const paused = scale.pauses.reduce((sum, pause) => sum + pause.length, 0)
    const facts = joined(dateAndClock(messages[0].time), plural(messages.length, 'message'),
      plural(sums.length, 'process', 'processes'),
      duration(scale.end - scale.start) + (paused ? `, of which ${duration(paused)} are pauses` : ''))
    fill(this,
      h('div.padded', h('h2', 'Story of ', h('bdi', nameOf(steps[0].row.type))), h('p.quiet', facts)),
      !complete && h('p.banner', `The story is longer; its first ${count(messages.length)} messages are shown.`),
      h('div.waterfall', { role: 'table', 'aria-label': 'Messages of the story' }, headOf(scale),
        ...steps.map(step => rowOf(step, scale))),
      sumsOf(sums, path))
    if (focused) this.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus()
  }
}

function headOf({ pauses }) {
  return h('div.step.head', { role: 'row' },
    ...COLUMNS.map(name => h(`span.at-${name.toLowerCase()}`, { role: 'columnheader' }, name)),
    h('span.at-track', { role: 'columnheader' }, spoken('Timeline'), ...pauses.map(pause =>
      place('span.fold', pause, h('span.pause-label', { title: 'Pause' }, duration(pause.length))))))
}

function rowOf({ row, sent, end, known, critical, depth }, scale) {
  const cell = (name, ...children) => h(`span.at-${name}`, { role: 'cell' }, ...children)
  const handlers = row.handledBy.map(({ source, at }) =>
    `${processOf(source)} after ${duration(Date.parse(at) - sent)}`)
  const handled = handlers.length ? `handled by ${handlers.join(', ')}` : 'no report of a process that handled it'
  const message = cell('message', badge(row.kind),
    h('a', { href: messageAddress(row.position) }, h('bdi', nameOf(row.type))),
    critical && h('span.critical-mark', { title: 'On the critical path' },
      unspoken('span', '◆'), spoken('on the critical path, ')), depth > 0 && spoken(`level ${depth + 1}`))
  message.style.setProperty('--depth', String(Math.min(depth, INDENTED)))
  return h(critical ? 'div.step.critical' : 'div.step',
    { role: 'row', 'data-kind': row.kind, title: `${printable(row.type)}: ${handled}` }, message,
    cell('process', h('bdi', processOf(row.source))), cell('after', `+${duration(sent - scale.start)}`),
    cell('took', end > sent ? duration(end - sent) : '–'),
    cell('track', spoken(handled),
      place(`span.duration-bar${known ? '' : '.derived'}`, { from: scale.at(sent), to: scale.at(end) }),
      ...scale.pauses.map(pause => place('span.fold', pause))))
}

function sumsOf(sums, path) {
  const total = path.at(-1).sent - path[0].sent
  return h('section.padded', { 'aria-label': 'Critical path' },
    h('h3.heading', `Critical path: ${plural(path.length, 'message')}, ${duration(total)}`),
    h('p.quiet', 'The chain of causes to the last visible change (◆). ',
      'A process has the time from a cause to its effect.'),
    h('ul', ...sums.map(({ name, messages, time }) => h('li',
      joined(processOf(name), time && duration(time), plural(messages, 'message'))))))
}

function place(spec, { from, to }, ...children) {
  const element = h(spec, ...children)
  // The last message takes no time, but has to be seen.
  element.style.left = `min(${from * 100}%, 100% - 4px)`
  element.style.width = `${(to - from) * 100}%`
  return element
}

customElements.define('segue-story', SegueStory)

import { button, fill, h, uniqueID, unspoken } from '../elements/dom.js'
import { parsed } from '../elements/json-text.js'
import { bytes, dateAndClock, joined, nameOf, printable, processOf, shortened } from '../elements/text.js'
import { confirming } from './confirm.js'
import { difference } from './difference.js'
import { badge, copy, failureOf, paneHeader, smallButton } from './inspector-element.js'
import { SegueTree } from './segue-tree.js'
import { encoded, storyAddress } from './selection.js'

const CHANGES = 200

export class SegueMessage extends HTMLElement {
  connection
  #place = ''
  #close
  #only

  constructor({ close, only }) {
    super()
    this.className = 'beside'
    this.hidden = true
    this.#close = close
    this.#only = only
    this.role = 'region'
    this.ariaLabel = 'Message'
  }

  async show(place, row, full = false) {
    this.#place = place
    if (!full) this.#draw(row, h('p.quiet.padded.late', 'Reading the message…'))
    const [, id] = place.match(/^transient:(.*)/s) ?? []
    const path = id ? `/api/transient/${encodeURIComponent(id)}` : `/api/messages/${encoded(place)}`
    try {
      const message = await this.connection.get(full ? `${path}?full=1` : path, parsed)
      if (this.#place === place) this.#draw(message.row, this.#actions(message), ...this.#sections(message))
    } catch (failure) {
      if (this.#place !== place) return
      this.#draw(row, failureOf(failure, () => this.show(place, row, full)))
    }
  }

  #draw(row, ...parts) {
    const focused = this.querySelector('h2') === document.activeElement
    const facts = row ? [row.kind, dateAndClock(row.time), bytes(row.size)] : []
    fill(this, paneHeader('message', this.#close, row && badge(row.kind), h('div.pane-title',
      h('h2', { tabindex: -1 }, h('bdi', row ? nameOf(row.type) : 'Message')),
      h('p.quiet', joined(...facts, row?.position === null ? 'transient' : `at ${this.#place}`)))), ...parts)
    if (focused) this.querySelector('h2').focus()
  }

  #actions({ row, command, json, text, cut }) {
    const only = (text, member, value) => smallButton(text, () => this.#only(member, value))
    const copying = button('Copy command', () => copy(command, copying), { title: shortened(command, 1000) })
    return h('div.padded',
      h('div.wrapping', h('a.button', { href: storyAddress(row.story) }, 'Story'),
        // Data that is cut or is not JSON would be missing.
        !cut && text === null && copying,
        row.kind !== 'error' && !row.tombstone && text === null && !this.connection.readOnly
          && this.#again(row, json ?? '{}')),
      h('div.wrapping', { role: 'group', 'aria-label': 'Filter by this message' },
        only('Only this type', 'types', row.type), only('Hide this type', 'exclude', row.type),
        only('Only this session', 'session', row.session),
        only('Only this process', 'source', processOf(row.source)),
        only('Only this story', 'story', row.story)))
  }

  /** Rules ask for the screen that sent the message. */
  #again({ type, session, key, platform, device, instance }, json) {
    return confirming({
      text: 'Send again…', verb: 'Send',
      question: `Publish ${nameOf(type)} again, in the session ${printable(session)}?`,
      action: async () => {
        const message = { type, session, key, platform, device, instance, check: true }
        return `Published as ${printable((await this.connection.publish(message, json)).id)}.`
      },
    })
  }

  #sections({ row, data, text, cut, before, attributes }) {
    const value = data ?? (text || null), sections = []
    if (before !== null && data !== null) {
      const changes = difference(before, data, CHANGES)
      sections.push(section('Changes', changes.length ? changeList(changes)
        : h('p.quiet', 'Equal to the version before.'),
      changes.length === CHANGES && h('p.quiet', `The first ${CHANGES} changes.`)))
    }
    const load = smallButton('Load all', () => {
      load.disabled = true
      this.show(this.#place, row, true)
    })
    sections.push(section('Data', cut && h('p.banner', 'The data is cut after 256 KiB. ', load),
      value !== null ? new SegueTree('Data', value)
        : h('p.quiet', row.tombstone ? 'The document was withdrawn; it has no data.'
          : 'The message has no data.')))
    return [...sections, section('Attributes', new SegueTree('Attributes', attributes))]
  }
}

function section(title, ...children) {
  const id = uniqueID()
  return h('section.padded', { 'aria-labelledby': id }, h('h3.heading', { id }, title), ...children)
}

function changeList(changes) {
  const brief = value => JSON.stringify(typeof value === 'string' ? value.slice(0, 300) : value, null, 1)
    .slice(0, 2000).replace(/\s+/g, ' ')
  const value = (tag, sign, value) => value !== undefined
    && h(tag, unspoken('span', sign), h('bdi', shortened(brief(value), 240)))
  return h('ul.changes', ...changes.map(({ path, before, after }) => h('li',
    h('bdi.path', shortened(path || 'data', 300)), value('del', '− ', before), value('ins', '+ ', after))))
}

customElements.define('segue-message', SegueMessage)

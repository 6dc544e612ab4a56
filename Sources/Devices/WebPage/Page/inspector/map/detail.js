// What is known of one arrow or one screen of a flow.

import { button, fill, h } from '../../elements/dom.js'
import { clock, count, dateAndClock, duration, kindOf, nameOf, plural, printable, problemOf, shortened }
  from '../../elements/text.js'
import { badge, paneHeader } from '../inspector-element.js'
import { storyAddress } from '../selection.js'

const mostRules = 5

export class MapDetail {
  #feed
  #open
  #closed
  #shown
  element = h('aside.map-detail', { hidden: true, tabindex: -1 })

  /** @param open opens another item of the flow; @param closed is called with the flow and the item that were shown */
  constructor(feed, { open, closed }) {
    this.#feed = feed
    this.#open = open
    this.#closed = closed
    this.element.addEventListener('keydown', event => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      this.close()
    })
  }

  get isOpen() { return !this.element.hidden }

  close() {
    if (!this.isOpen) return
    this.element.hidden = true
    const { flow, item } = this.#shown
    this.#shown = undefined
    this.#closed(flow, item)
  }

  /** Closes it without giving the focus back, because what it shows is gone. */
  drop(platform) {
    if (this.#shown && (!platform || this.#shown.flow.platform === platform)) {
      this.element.hidden = true
      this.#shown = undefined
    }
  }

  async show(flow, item) {
    const shown = this.#shown = { flow, item }, isArrow = !!item.points
    const name = isArrow ? `Rule for ${item.isLink ? item.message : nameOf(item.message)}` : `Screen ${item.name}`
    this.element.hidden = false
    this.element.ariaLabel = shortened(name)
    this.element.scrollTop = 0
    const body = h('div.map-detail-body')
    fill(this.element, paneHeader('detail', () => this.close(), h('div.pane-title', isArrow
      ? h('h2', badge(item.kind), ' ', h('bdi', shortened(item.isLink ? item.message : nameOf(item.message))))
      : h('h2', h('bdi', item.name)), h('p.quiet', h('bdi', factsOf(flow, item))))), body)
    this.element.focus({ preventScroll: true })
    const isCurrent = () => this.#shown === shown
    if (isArrow) await this.#fillArrow(body, flow, item, isCurrent)
    else await this.#fillCard(body, flow, item, isCurrent)
  }

  // MARK: An arrow

  async #fillArrow(body, flow, arrow, isCurrent) {
    const taken = flow.picture.takenOf(arrow), { isCounted, since } = this.#feed
    const times = taken ? `Taken ${plural(taken, 'time')}` : isCounted ? 'Never taken' : 'Not taken yet'
    fill(body, h('p', this.#link(flow, arrow.from), ' → ', this.#link(flow, arrow.to)),
      h('ul.map-words', ...arrow.lines.map(line => h('li.code', h('bdi', line)))),
      h('p.quiet', times + (isCounted && since ? ` since ${dateAndClock(since)}` : '')))
    for (const key of arrow.rules.slice(0, mostRules)) {
      const part = h('section', h('p.quiet.late', 'Reading the rule…'))
      body.append(part)
      try {
        const rule = await this.#feed.rule(flow.platform, key)
        if (!isCurrent()) return
        fill(part, ...ruleParts(key, rule))
      } catch (failure) {
        fill(part, h('p.failure', { role: 'alert' }, problemOf(failure)))
      }
    }
  }

  // MARK: A screen

  async #fillCard(body, flow, card, isCurrent) {
    const draw = types => fill(body, ...this.#cardParts(flow, card, types))
    draw(null)
    if (!card.sends.length) return
    try {
      const types = await this.#feed.types()
      if (isCurrent()) draw(types)
    } catch { /* Who receives the messages is left out. */ }
  }

  #cardParts(flow, card, types) {
    const { arrows } = flow.drawing
    const answering = type => arrows.filter(arrow => arrow.message === type
      && (arrow.from === card || arrow.from.screen === null))
    return [
      card.sends.length > 0 && section('Sends', ...card.sends.map(type => h('li',
        h('div', badge(kindOf(type)), ' ', h('bdi', shortened(nameOf(type)))),
        h('div.quiet', receiversOf(type, types)),
        ...answering(type).map(arrow => h('div', 'Here: ', this.#arrowLink(flow, arrow, arrow.to)))))),
      section('Leads here', ...card.incoming.map(arrow => h('li', this.#arrowLink(flow, arrow, arrow.from, 'from')))),
      section('Leads on', ...card.outgoing.map(arrow => h('li', this.#arrowLink(flow, arrow, arrow.to)))),
    ]
  }

  #link(flow, item) {
    return button(h('bdi', item.name), () => this.#open(flow, item), { class: 'button small' })
  }

  #arrowLink(flow, arrow, card, word = 'to') {
    const taken = flow.picture.takenOf(arrow)
    return button(h('bdi', [...arrow.words, `${word} ${card.name}`, taken && `×${count(taken)}`].filter(Boolean)
      .join(' · ')), () => this.#open(flow, arrow), { class: 'button plain map-link', 'data-kind': arrow.kind })
  }
}

function factsOf(flow, item) {
  const parts = item.points ? [item.isLink ? 'link' : '', flow.platform]
    : [item.title, ...item.styles, item.kind === 'start' ? 'start' : '', flow.platform]
  return parts.filter(Boolean).map(part => shortened(part)).join(' · ')
}

function receiversOf(type, types) {
  if (!types) return 'Received by …'
  const receivers = types.find(known => known.type === type)?.receivers ?? []
  return receivers.length ? `Received by ${receivers.map(printable).join(', ')}` : 'No service receives it'
}

function ruleParts(key, { location, line, lines, uses }) {
  return [
    h('h3.heading', h('bdi.code', shortened(location ?? key))),
    lines.length > 0 && h('ol.map-lines.code', { start: line ?? 1, style: `--first: ${Math.max(1, line ?? 1) - 1}` },
      ...lines.slice(0, 100).map(text => h('li', h('bdi', shortened(text, 300))))),
    h('h3.heading', uses.length ? 'Last stories' : 'No story since the journal begins'),
    h('ul.map-uses', ...uses.map(({ story, time, words, after }) => h('li', h('a', { href: storyAddress(story) },
      h('span.quiet', { title: dateAndClock(time) }, clock(time)), ' ', h('bdi', shortened(words, 120))),
    after != null && h('span.quiet', ` ${duration(after)}`)))),
  ]
}

function section(name, ...rows) {
  return h('section', h('h3.heading', name), rows.length ? h('ul.map-rows', ...rows) : h('p.quiet', 'Nothing'))
}

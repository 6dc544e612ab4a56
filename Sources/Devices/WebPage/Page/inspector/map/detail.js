// What is known of one arrow or one screen of a flow.

import { fill, h } from '../../elements/dom.js'
import { clock, count, dateAndClock, duration, joined, kindOf, nameOf, plural, problemOf, shortened }
  from '../../elements/text.js'
import { badge, paneHeader, smallButton } from '../inspector-element.js'
import { storyAddress } from '../selection.js'

const mostRules = 5

export class MapDetail {
  #feed
  #open
  #shown
  element = h('aside.map-detail', { hidden: true, tabindex: -1 })

  constructor(feed, open) {
    this.#feed = feed
    this.#open = open
  }

  close() {
    const { flow, item } = this.#shown ?? {}
    this.drop(flow?.platform)
    flow?.focus(item)
  }

  drop(platform) {
    if (!this.#shown || this.#shown.flow.platform !== platform) return
    this.element.hidden = true
    this.#shown.element?.classList.remove('chosen')
    this.#shown = undefined
  }

  async show(flow, item) {
    this.drop(this.#shown?.flow.platform)
    const shown = this.#shown = { flow, item, element: flow.picture.elementOf(item) }, isArrow = !!item.points
    const { name } = item
    shown.element.classList.add('chosen')
    this.element.hidden = false
    this.element.ariaLabel = `${isArrow ? 'Rule for' : 'Screen'} ${name}`
    const body = h('div.map-detail-body')
    fill(this.element, paneHeader('detail', () => this.close(), h('div.pane-title',
      h('h2', isArrow && badge(item.kind), ' ', h('bdi', name)),
      h('p.quiet', h('bdi', joined(item.title, ...item.styles ?? [], shortened(flow.platform)))))), body)
    this.element.scrollTop = 0
    this.element.focus({ preventScroll: true })
    const parts = isArrow ? this.#arrowParts(flow, item) : this.#cardParts(flow, item)
    fill(body, ...parts)
    for (const part of parts) {
      await part.late?.().then(rest => part.append(...rest.filter(Boolean)),
        failure => part.append(h('p.failure', { role: 'alert' }, problemOf(failure))))
      if (this.#shown !== shown) return
    }
  }

  #arrowParts(flow, arrow) {
    const taken = flow.picture.takenOf(arrow), { isCounted, since } = this.#feed
    const rules = arrow.rules.slice(0, mostRules).map(key => Object.assign(h('section'),
      { late: async () => ruleParts(key, await this.#feed.rule(flow.platform, key)) }))
    return [h('p', this.#link(flow, arrow.from, arrow.from.name), ' → ', this.#link(flow, arrow.to, arrow.to.name)),
      h('ul.code', ...arrow.lines.map(line => h('li', h('bdi', line)))),
      h('p.quiet', taken ? `Taken ${plural(taken, 'time')}` : isCounted ? 'Never taken' : 'Not taken yet',
        isCounted && since ? ` since ${dateAndClock(since)}` : ''), ...rules]
  }

  #cardParts(flow, card) {
    const link = (arrow, word, to) => {
      const taken = flow.picture.takenOf(arrow)
      return this.#link(flow, arrow, joined(...arrow.words, `${word} ${to.name}`, taken && `×${count(taken)}`))
    }
    const receivers = []
    const sent = card.sends.map(type => {
      const answers = flow.drawing.arrows.filter(({ message, from }) =>
        message === type && (from === card || from.screen === null))
      receivers.push(h('span.quiet'))
      return h('li', badge(kindOf(type)), ' ', h('bdi', shortened(nameOf(type))), ' ', receivers.at(-1),
        ...answers.map(arrow => h('div', link(arrow, 'to', arrow.to))))
    })
    const late = async () => {
      const types = card.sends.length ? await this.#feed.types() : []
      card.sends.forEach((type, index) => {
        const names = types.find(known => known.type === type)?.receivers ?? []
        fill(receivers[index], names.length ? `Received by ${shortened(names.join(', '))}` : 'No service receives it')
      })
      return []
    }
    return [Object.assign(section('Sends', sent), { late }),
      section('Leads here', card.incoming.map(arrow => h('li', link(arrow, 'from', arrow.from)))),
      section('Leads on', card.outgoing.map(arrow => h('li', link(arrow, 'to', arrow.to))))]
  }

  #link(flow, item, text) {
    return smallButton(h('bdi', text), () => this.#open(flow, item), { class: 'button small map-link' })
  }
}

function ruleParts(key, { location, line, lines, uses }) {
  const list = h('ol.map-lines.code', ...lines.slice(0, 100).map(text => h('li', h('bdi', shortened(text, 300)))))
  list.style.counterReset = `line ${(line ?? 1) - 1}`
  return [h('h3.heading.code', h('bdi', shortened(location ?? key))), lines.length > 0 && list,
    section('Last stories', uses.map(({ story, time, words, after }) => h('li',
      h('a', { href: storyAddress(story), title: dateAndClock(time) }, clock(time), ' ', h('bdi', shortened(words))),
      after != null && h('span.quiet', ` ${duration(after)}`))))]
}

function section(name, rows) {
  return h('section', h('h3.heading', name), rows.length ? h('ul', ...rows) : h('p.quiet', 'None'))
}

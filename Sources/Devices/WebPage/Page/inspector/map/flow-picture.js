// The picture of one flow as SVG: its cards, arrows and frames, and what has just happened on them.

import { svg } from '../../elements/dom.js'
import { count, nameOf } from '../../elements/text.js'
import { previews } from '../../device/previews.js'
import { drawPreview, makeCard, round, spokenCard } from './card.js'
import { arrowOf } from './drawing.js'

/** How long an arrow that was taken stays marked, in milliseconds. */
const FADE = 2000
const PULSE = 700
const LINE = 15
/** The widest arrow, in pixels, for the rule that was taken most. */
const WIDEST = 7

/** The arrows whose words are drawn at once. Those of further ones follow in the next frames, so that none is late. */
const BATCH = 120

// All arrows are copies of one: a copy is faster than elements that are made one by one.
const pattern = svg('g', { class: 'arrow', role: 'button', tabindex: -1 },
  svg('path', { class: 'line' }), svg('rect', { class: 'label' }))

export class FlowPicture {
  element = svg('g', { class: 'world' })
  drawing
  #cards
  #arrows
  #byScreen = new Map()
  #byRule = new Map()
  #taken = {}
  #isCounted = false
  #hasCounts = false
  #above = svg('g', { class: 'above' })

  constructor(drawing) {
    this.drawing = drawing
    this.#cards = drawing.cards.map(card => makeCard(card, previews.get(drawing.platform, card.screen)))
    this.#arrows = drawing.arrows.map(makeArrow)
    drawing.cards.forEach((card, index) => {
      if (card.screen !== null) this.#byScreen.set(card.screen, this.#cards[index])
      this.#nameCard(this.#cards[index])
    })
    for (const element of this.#arrows) {
      for (const rule of element.item.rules) this.#byRule.set(rule, [...this.#byRule.get(rule) ?? [], element])
    }
    this.#addWords(0)
    this.element.append(...drawing.frames.map(makeFrame), ...this.#arrows, ...this.#cards, this.#above)
  }

  #addWords(first) {
    for (const element of this.#arrows.slice(first, first + BATCH)) addWords(element)
    const next = first + BATCH
    if (next < this.#arrows.length) requestAnimationFrame(() => this.#addWords(next))
  }

  /** The element of a card or an arrow of the drawing. */
  elementOf(item) { return item.points ? this.#arrows[item.index] : this.#cards[item.index] }

  card(screen) { return this.#byScreen.get(screen)?.item }

  get front() { return this.#cards.find(element => element.dataset.here === 'front')?.item }

  // MARK: The present

  /** Lights the screens that are shown: `{screen: {shown, front}}` with numbers of sessions. */
  setHere(screens) {
    for (const [screen, element] of this.#byScreen) {
      const { shown = 0, front = 0 } = Object.hasOwn(screens, screen) ? screens[screen] : {}
      const here = front ? 'front' : shown ? 'shown' : ''
      const sessions = Math.max(shown, front)
      if (element.dataset.here === here && element.sessions === sessions) continue
      element.dataset.here = here
      element.sessions = sessions
      const text = { front: '●', shown: '○', '': '' }[here] + (sessions > 1 ? ` ${count(sessions)}` : '')
      element.count ??= element.appendChild(svg('text', { class: 'count', x: element.item.width - 7, y: 13 }))
      element.count.textContent = text
      this.#nameCard(element)
    }
  }

  #nameCard(element) {
    element.setAttribute('aria-label', spokenCard(element.item, element.dataset.here, element.sessions))
  }

  /** The number of times that an arrow's rules were taken. */
  takenOf({ rules }) { return rules.reduce((sum, rule) => sum + (this.#taken[rule] ?? 0), 0) }

  /** @param rules those whose counts have changed; null for all */
  setTaken(taken, isCounted, rules) {
    const isAll = !rules || isCounted !== this.#isCounted
    this.#taken = taken
    this.#isCounted = isCounted
    const changed = isAll ? this.#arrows : new Set(rules.flatMap(rule => this.#byRule.get(rule) ?? []))
    for (const element of changed) {
      const isNever = isCounted && !this.takenOf(element.item)
      if (isNever === !!element.isNever) continue
      element.isNever = isNever
      element.classList.toggle('never', isNever)
      nameArrow(element)
    }
    if (this.#hasCounts) this.showCounts(true)
  }

  showCounts(isShown) {
    this.#hasCounts = isShown
    const counts = this.#arrows.map(element => this.takenOf(element.item))
    const highest = Math.max(1, ...counts)
    this.#arrows.forEach((element, index) => {
      const times = isShown ? counts[index] : 0, { label } = element.item
      if (times === (element.times ?? 0) && element.highest === highest) return
      Object.assign(element, { times, highest })
      element.style.setProperty('--taken', `${round(times && 1 + (WIDEST - 1) * Math.sqrt(times / highest))}px`)
      if (times) {
        element.count ??= element.appendChild(
          svg('text', { class: 'times', x: label.x + label.width + 3, y: label.y + label.height / 2 + 4 }))
      }
      if (element.count) element.count.textContent = times ? `×${count(times)}` : ''
    })
  }

  // MARK: What happens

  /** Marks the arrow of a change; without one, a dashed line between the two screens. */
  move(move) {
    const arrow = move.rule ? arrowOf(this.drawing, move) : undefined
    if (!arrow) return this.#line(this.card(move.from), this.card(move.to))
    const element = this.elementOf(arrow), { label } = arrow
    const flash = svg('path', { class: 'flash', d: curve(arrow.points), pathLength: 1, 'data-kind': arrow.kind })
    const dot = svg('circle', {
      class: 'taken-dot', cx: round(label.x - 9), cy: round(label.y + label.height / 2), r: 5, 'data-kind': arrow.kind,
    })
    this.#show(flash, dot)
    clearTimeout(element.fading)
    element.classList.add('taken')
    element.fading = setTimeout(() => element.classList.remove('taken'), FADE)
    return arrow
  }

  #line(from, to) {
    if (!from || !to || from === to) return undefined
    const [a, b] = [middleOf(from), middleOf(to)]
    const bend = Math.max(from.height, to.height) * 0.9
    this.#show(svg('path', {
      class: 'return', d: `M${a.x} ${a.y}Q${round((a.x + b.x) / 2)} ${round(Math.max(a.y, b.y) + bend)} ${b.x} ${b.y}`,
    }))
    return undefined
  }

  #show(...elements) {
    this.#above.append(...elements)
    setTimeout(() => elements.forEach(element => element.remove()), FADE)
  }

  /** Marks the screen on which a person has begun something. */
  pulse(actor) {
    const fronts = this.#cards.filter(element => element.dataset.here === 'front')
    const element = fronts.find(({ item }) => actor.endsWith(` ${item.screen}`)) ?? fronts[0]
    if (!element) return
    const { x, y, width, height } = element.item
    const ring = svg('rect', {
      class: 'pulse-ring', x: round(x - 6), y: round(y - 6), width: width + 12, height: height + 12, rx: 16,
    })
    this.#above.append(ring)
    element.classList.add('pulsing')
    setTimeout(() => {
      ring.remove()
      element.classList.remove('pulsing')
    }, PULSE)
  }

  /** Marks the arrows of a rule, to which a row of a list points; null for none. */
  mark(rule) {
    for (const element of this.element.querySelectorAll('.marked')) element.classList.remove('marked')
    for (const element of this.#byRule.get(rule) ?? []) element.classList.add('marked')
  }

  preview(screen) {
    const element = this.#byScreen.get(screen)
    if (element) drawPreview(element, element.item, previews.get(this.drawing.platform, screen))
  }
}

// MARK: Elements

function makeArrow(arrow) {
  const element = pattern.cloneNode(true)
  const [line, box] = element.children
  const { points, rules, from, to, kind, isLink, label: { width, height } } = arrow, { x, y } = middleOf(arrow.label)
  element.item = arrow
  const attributes = { 'data-rule': rules[0] ?? '', 'data-from': from.name, 'data-to': to.name, 'data-kind': kind }
  for (const name in attributes) element.setAttribute(name, attributes[name])
  if (isLink) element.classList.add('link')
  line.setAttribute('d', curve(points) + headOf(points))
  // The style sheet centres it there, also if it is only a dot.
  for (const [name, value] of [['x', x], ['y', y], ['width', width], ['height', height]]) box.setAttribute(name, value)
  return element
}

/** Adds the words, and the wide path that the pointer meets. */
function addWords(element) {
  const { words, label, points } = element.item, { x, y } = middleOf(label)
  nameArrow(element)
  element.prepend(svg('path', { class: 'hit', d: curve(points) }))
  element.append(...words.map((word, index) =>
    svg('text', { x, y: y + 4 + LINE * (index - (words.length - 1) / 2) }, word)))
}

function nameArrow(element) {
  const { from, to, message, isLink, lines } = element.item
  const words = [isLink ? `Link ${message}` : nameOf(message), `from ${from.name} to ${to.name}`, ...lines.slice(1, 3)]
  element.setAttribute('aria-label', [...words, element.isNever && 'never taken'].filter(Boolean).join(', '))
}

function makeFrame({ x, y, width, height, flow }) {
  return svg('g', { class: 'frame-box' }, svg('rect', { x: round(x), y: round(y), width, height, rx: 14 }),
    svg('text', { x: round(x + 12), y: round(y + 17) }, flow))
}

function curve([[x, y], ...rest]) {
  return `M${round(x)} ${round(y)}C${rest.map(([x, y]) => `${round(x)} ${round(y)}`).join(' ')}`
}

/** The two strokes at the tip, in the direction in which the curve ends. */
function headOf(points) {
  const [x, y] = points.at(-1)
  const [fromX, fromY] = points.findLast(point => Math.hypot(point[0] - x, point[1] - y) > 1) ?? [x - 1, y]
  const length = Math.hypot(x - fromX, y - fromY)
  const [dx, dy] = [7 * (x - fromX) / length, 7 * (y - fromY) / length]
  const at = side => `${round(x - dx - side * dy)} ${round(y - dy + side * dx)}`
  return `M${at(0.6)}L${round(x)} ${round(y)}L${at(-0.6)}`
}

export function middleOf({ x, y, width, height }) { return { x: round(x + width / 2), y: round(y + height / 2) } }

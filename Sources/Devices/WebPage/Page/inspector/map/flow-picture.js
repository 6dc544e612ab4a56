// The picture of one flow as SVG, and what happens on it.

import { svg } from '../../elements/dom.js'
import { count } from '../../elements/text.js'
import { previews } from '../../device/previews.js'
import { drawPreview, makeCard, round, spokenCard } from './card.js'
import { arrowOf } from './read-drawing.js'

/** Milliseconds. */
const [changeTime, tapTime] = [2000, 700]
const lineHeight = 15
/** Pixels, for the arrow that was taken most. */
const widest = 7
/** The words of so many arrows are drawn at once, others in the next frames, so that none is late. */
const batch = 120

// A copy is faster than new elements.
const pattern = svg('g', { class: 'arrow', role: 'button', tabindex: -1 },
  svg('path', { class: 'line' }), svg('rect', { class: 'label' }))

export class FlowPicture {
  drawing
  #cards
  #arrows
  #byScreen
  #taken = {}
  #hasCounts = false
  #above = svg('g')
  #slow = svg('text', { class: 'slow' })
  element

  constructor(drawing) {
    this.drawing = drawing
    this.#cards = drawing.cards.map(card => makeCard(card, previews.get(drawing.platform, card.screen)))
    this.#arrows = drawing.arrows.map(makeArrow)
    this.#byScreen = new Map(this.#cards.map(element => [element.item.screen, element]))
    this.#byScreen.delete(null)
    this.#cards.forEach(nameCard)
    this.#addWords(0)
    this.element = svg('g', {}, ...drawing.frames.map(makeFrame), ...this.#arrows, ...this.#cards, this.#slow,
      this.#above)
  }

  #addWords(start) {
    const end = start + batch
    this.#arrows.slice(start, end).forEach(addWords)
    if (end < this.#arrows.length) requestAnimationFrame(() => this.#addWords(end))
  }

  elementOf(item) { return item.points ? this.#arrows[item.index] : this.#cards[item.index] }

  get #fronts() { return this.#cards.filter(element => element.dataset.here === 'front') }

  get front() { return this.#fronts[0]?.item }

  /** `{screen: {shown, front}}`, each a number of sessions. */
  setHere(screens) {
    for (const [screen, element] of this.#byScreen) {
      const { shown = 0, front = 0 } = Object.hasOwn(screens, screen) ? screens[screen] : {}
      const here = front ? 'front' : shown ? 'shown' : '', sessions = Math.max(shown, front)
      if (element.dataset.here === here && element.sessions === sessions) continue
      element.dataset.here = here
      element.sessions = sessions
      element.count ??= element.appendChild(svg('text', { class: 'count', x: element.item.width, y: -5 }))
      element.count.textContent = { front: '●', shown: '○' }[here] ?? ''
      if (sessions > 1) element.count.append(` ${count(sessions)}`)
      nameCard(element)
    }
    this.showSlowest(this.#slow.textContent)
  }

  showSlowest(words) {
    const { front } = this
    set(this.#slow, { x: front ? front.x + front.width / 2 : 0, y: front ? front.y + front.height + 19 : 0 })
    this.#slow.textContent = front ? words : ''
  }

  takenOf({ rules }) { return rules.reduce((sum, rule) => sum + (this.#taken[rule] ?? 0), 0) }

  /** What nobody has taken is faint; with `untaken`, these places are. */
  setTaken(taken, isCounted, untaken) {
    this.#taken = taken
    for (const element of this.#arrows) {
      const { item } = element
      const isNever = untaken ? untaken.isSupersetOf(item.places) : isCounted && !this.takenOf(item)
      if (isNever === !!element.isNever) continue
      element.isNever = isNever
      element.classList.toggle('never', isNever)
      nameArrow(element)
    }
    if (this.#hasCounts) this.showCounts(true)
  }

  showCounts(isShown) {
    if (!isShown && !this.#hasCounts) return
    this.#hasCounts = isShown
    const counts = this.#arrows.map(({ item }) => isShown ? this.takenOf(item) : 0), highest = Math.max(1, ...counts)
    this.#arrows.forEach((element, index) => {
      const times = counts[index], { x, y, width, height } = element.item.label
      element.style.setProperty('--taken', `${round(times && 1 + (widest - 1) * Math.sqrt(times / highest))}px`)
      if (times) {
        element.count ??= element.appendChild(svg('text', { class: 'times', x: x + width + 3, y: y + height / 2 + 4 }))
      }
      if (element.count) element.count.textContent = times ? `×${count(times)}` : ''
    })
  }

  /** Without an arrow, marks the way between the two screens. */
  move(move) {
    const arrow = move.rule && arrowOf(this.drawing, move)
    if (!arrow) return this.#showWay(this.#byScreen.get(move.from)?.item, this.#byScreen.get(move.to)?.item)
    const element = this.elementOf(arrow), { label, points, kind } = arrow
    this.#show(changeTime, svg('path', { class: 'flash', d: curve(points), pathLength: 1, 'data-kind': kind }))
    this.#show(changeTime, svg('circle',
      { class: 'taken-dot', cx: label.x - 9, cy: label.y + label.height / 2, r: 5, 'data-kind': kind }))
    clearTimeout(element.fading)
    element.classList.add('taken')
    element.fading = setTimeout(() => element.classList.remove('taken'), changeTime)
  }

  #showWay(from, to) {
    if (!from || !to || from === to) return
    const [a, b] = [middleOf(from), middleOf(to)]
    const bend = `${(a.x + b.x) / 2} ${Math.max(a.y, b.y) + 0.9 * from.height}`
    this.#show(changeTime, svg('path', { class: 'return', d: `M${a.x} ${a.y}Q${bend} ${b.x} ${b.y}` }))
  }

  #show(time, element) {
    this.#above.append(element)
    setTimeout(() => element.remove(), time)
  }

  pulse(actor) {
    const fronts = this.#fronts
    const { item } = fronts.find(({ item }) => actor.includes(` ${item.screen}`)) ?? fronts[0] ?? {}
    if (!item) return
    const [x, y, width, height] = [item.x - 6, item.y - 6, item.width + 12, item.height + 12]
    this.#show(tapTime, svg('rect', { class: 'pulse-ring', x, y, width, height, rx: 16 }))
  }

  mark(rule) {
    for (const element of this.element.querySelectorAll('.marked')) element.classList.remove('marked')
    for (const element of this.#arrows) if (element.item.rules.includes(rule)) element.classList.add('marked')
  }

  preview(screen) {
    const element = this.#byScreen.get(screen)
    if (element) drawPreview(element, previews.get(this.drawing.platform, screen))
  }
}

function nameCard(element) {
  element.setAttribute('aria-label', spokenCard(element.item, element.dataset.here, element.sessions))
}

function makeArrow(arrow) {
  const element = pattern.cloneNode(true), [line, box] = element.children
  const { points, rules, from, to, kind, label: { width, height } } = arrow, { x, y } = middleOf(arrow.label)
  element.item = arrow
  set(element, { 'data-rule': rules[0] ?? '', 'data-from': from.name, 'data-to': to.name, 'data-kind': kind })
  if (arrow.isLink) element.classList.add('link')
  set(line, { d: curve(points) + headOf(points) })
  // The style sheet centres it, also a dot. The layout leaves some space around the words for the line.
  set(box, { x, y, width, height: height - 8 })
  return element
}

function set(element, attributes) { for (const name in attributes) element.setAttribute(name, attributes[name]) }

function addWords(element) {
  const { words, label, points } = element.item, { x, y } = middleOf(label)
  nameArrow(element)
  element.prepend(svg('path', { class: 'hit', d: curve(points) }))
  element.append(...words.map((word, index) =>
    svg('text', { x, y: y + 4 + lineHeight * (index - (words.length - 1) / 2) }, word)))
}

function nameArrow(element) {
  const { from, to, name, lines } = element.item
  const words = [name, `from ${from.name} to ${to.name}`, ...lines.slice(1, 3),
    element.isNever && 'never taken']
  element.setAttribute('aria-label', words.filter(Boolean).join(', '))
}

function makeFrame({ x, y, width, height, flow }) {
  return svg('g', { class: 'child-flow' }, svg('rect', { x, y, width, height, rx: 14 }),
    svg('text', { x: x + 12, y: y + 17 }, flow))
}

function curve([start, ...rest]) {
  const text = point => point.map(round).join(' ')
  return `M${text(start)}C${rest.map(text).join(' ')}`
}

function headOf(points) {
  const [x, y] = points.at(-1)
  const [fromX, fromY] = points.findLast(point => Math.hypot(point[0] - x, point[1] - y) > 1) ?? [x - 1, y]
  const length = Math.hypot(x - fromX, y - fromY)
  const [dx, dy] = [7 * (x - fromX) / length, 7 * (y - fromY) / length]
  const at = side => `${round(x - dx - side * dy)} ${round(y - dy + side * dx)}`
  return `M${at(0.6)}L${round(x)} ${round(y)}L${at(-0.6)}`
}

function middleOf({ x, y, width, height }) { return { x: round(x + width / 2), y: round(y + height / 2) } }

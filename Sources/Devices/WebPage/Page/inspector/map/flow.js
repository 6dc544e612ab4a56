// One flow of the map: its picture, the view of it, and the keyboard and pointer in it.

import { fill, h, setText, svg } from '../../elements/dom.js'
import { shortened } from '../../elements/text.js'
import { Camera } from './camera.js'
import { FlowPicture } from './flow-picture.js'
import { nextItem } from './keys.js'

export class MapFlow {
  platform
  element
  picture
  #frame = svg('svg', { role: 'group' })
  #camera = new Camera(this.#frame)
  #note = h('p.map-note.quiet', { role: 'status' })
  #line = h('p.map-line.late')
  #focused
  #here = {}
  #open
  #name = h('bdi')

  /** @param open called with an item of the drawing that a person wants to read */
  constructor(platform, open) {
    this.platform = platform
    this.#open = open
    const name = shortened(platform)
    this.#frame.setAttribute('aria-label', `Screens and rules of ${name}`)
    setText(this.#line, 'Reading the flow…')
    this.element = h('section.map-flow', { 'data-platform': platform, 'aria-label': `Flow of ${name}` },
      h('h2.map-name', h('b', h('bdi', name)), this.#name), this.#frame, this.#line, this.#note)
    new ResizeObserver(([{ contentRect: { width, height } }]) => this.#camera.resize(width, height))
      .observe(this.#frame)
    this.#frame.addEventListener('click', event => this.#clicked(event))
    this.#frame.addEventListener('keydown', event => this.#key(event))
    this.#frame.addEventListener('pointerover', event => this.#explain(itemElement(event)))
    this.#frame.addEventListener('focusin', event => this.#setFocused(itemElement(event)))
  }

  get drawing() { return this.picture?.drawing }

  show(drawing) {
    this.picture = new FlowPicture(drawing)
    this.picture.setHere(this.#here)
    fill(this.#frame, this.picture.element)
    const { front, element } = this.picture
    this.#camera.show(element, drawing, front ?? drawing.cards.find(card => card.kind === 'start') ?? drawing.cards[0])
    setText(this.#line, drawing.cards.length ? '' : 'This flow has no screens.')
    setText(this.#note, '')
    setText(this.#name, drawing.name)
    this.#setFocused(this.picture.elementOf(front ?? drawing.cards[0] ?? {}))
  }

  /** Says why the flow cannot be drawn. A picture that is there stays. */
  fail(line) {
    setText(this.picture ? this.#note : this.#line, line)
  }

  setHere(screens) {
    this.#here = screens
    if (!this.picture) return
    const former = this.picture.front
    this.picture.setHere(screens)
    const { front } = this.picture
    if (front && front !== former) this.#camera.follow(front)
  }

  move(move) { this.picture?.move(move) }

  reveal(item) { this.#camera.reveal(...item.points ? [item.from, item.to, item.label] : [item]) }

  zoomBy(factor) { this.#camera.zoomBy(factor) }
  fit() { this.#camera.fit() }

  /** The best zoom for an area of this size, to compare arrangements. */
  zoomFor(width, height) {
    return this.drawing ? Math.min(1, width / (this.drawing.width || 1), height / (this.drawing.height || 1)) : 1
  }

  focus(item) {
    const element = item && this.picture?.elementOf(item)
    this.#setFocused(element)
    element?.focus({ preventScroll: true })
  }

  #setFocused(element) {
    if (!element || element === this.#focused) return
    if (this.#focused) this.#focused.setAttribute('tabindex', '-1')
    this.#focused = element
    element.setAttribute('tabindex', '0')
  }

  /** The whole text of what is cut, as a tip. It is made when the pointer comes. */
  #explain(element) {
    if (!element || element.querySelector('title')) return
    const { item } = element
    const text = item.points ? item.lines.join('\n') : [item.name, item.title, ...item.styles].filter(Boolean).join('\n')
    element.prepend(svg('title', {}, text))
  }

  #clicked(event) {
    const element = itemElement(event)
    if (!element) return
    this.#setFocused(element)
    this.#open(this, element.item)
  }

  #key(event) {
    if (event.metaKey || event.ctrlKey || event.altKey || !this.picture) return
    const { key } = event, element = itemElement(event)
    const zoom = { '+': 1.25, '=': 1.25, '-': 0.8 }[key]
    if (zoom) this.zoomBy(zoom)
    else if (key === '0') this.fit()
    else if (element && (key === 'Enter' || key === ' ')) this.#open(this, element.item)
    else {
      const next = element && nextItem(key, element.item, { cards: this.drawing.cards, front: this.picture.front })
      if (!next) {
        if (!key.startsWith('Arrow')) return
      } else {
        this.focus(next)
        this.reveal(next)
      }
    }
    event.preventDefault()
  }
}

function itemElement({ target }) { return target.closest('.card, .arrow') }

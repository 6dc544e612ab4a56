// One flow of the map: its picture, and the keyboard and pointer in it.

import { hasModifier } from '../../elements/controls.js'
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
  #line = h('p.map-line.late', { role: 'status' }, 'Reading the flow…')
  #focused
  #here = {}
  #name = h('bdi')

  constructor(platform, open) {
    this.platform = platform
    const name = shortened(platform)
    this.#frame.setAttribute('aria-label', `Screens and rules of ${name}`)
    this.element = h('section.map-flow', { 'data-platform': platform, 'aria-label': `Flow of ${name}` },
      h('h2.map-name', h('b', h('bdi', name)), this.#name), this.#frame, this.#line)
    new ResizeObserver(([{ contentRect }]) => this.#camera.resize(contentRect)).observe(this.#frame)
    const on = (type, action) => this.#frame.addEventListener(type, event => {
      const element = event.target.closest('.card, .arrow')
      if (element) action(element, event)
    })
    on('click', element => open(this, element.item))
    on('focusin', element => this.#setFocused(element))
    on('pointerover', explain)
    on('keydown', ({ item }, event) => {
      if (!['Enter', ' '].includes(event.key)) return
      open(this, item)
      event.preventDefault()
    })
    this.#frame.addEventListener('keydown', event => this.#key(event))
  }

  get drawing() { return this.picture?.drawing }

  show(drawing) {
    this.picture = new FlowPicture(drawing)
    this.picture.setHere(this.#here)
    fill(this.#frame, this.picture.element)
    const card = this.picture.front ?? drawing.cards.find(({ kind }) => kind === 'start') ?? drawing.cards[0]
    this.#camera.show(this.picture.element, drawing, card)
    this.say(card ? '' : 'This flow has no screens.')
    setText(this.#name, drawing.name)
    if (card) this.#setFocused(this.picture.elementOf(card))
  }

  /** A picture that is there stays. */
  say(line) { setText(this.#line, line) }

  setHere(screens) {
    this.#here = screens
    const former = this.picture?.front
    this.picture?.setHere(screens)
    const front = this.picture?.front
    if (front && front !== former) this.#camera.follow(front)
  }

  reveal(item) { this.#camera.reveal(item.label ?? item) }
  zoomBy(factor) { this.#camera.zoomBy(factor) }
  fit() { this.#camera.fit() }

  focus(item) {
    const element = this.picture.elementOf(item)
    this.#setFocused(element)
    element.focus({ preventScroll: true })
  }

  /** One item is in the order of the Tab key. */
  #setFocused(element) {
    this.#focused?.setAttribute('tabindex', '-1')
    this.#focused = element
    element.setAttribute('tabindex', '0')
  }

  #key(event) {
    if (hasModifier(event) || event.defaultPrevented || !this.picture) return
    const { key } = event, zoom = { '+': 1.25, '=': 1.25, '-': 0.8 }[key], { item } = event.target
    const next = item && nextItem(key, item, { cards: this.drawing.cards, front: this.picture.front })
    if (zoom) this.zoomBy(zoom)
    else if (key === '0') this.fit()
    else if (next) {
      this.focus(next)
      this.reveal(next)
    } else if (!key.startsWith('Arrow')) return
    event.preventDefault()
  }
}

function explain(element) {
  const { item } = element
  if (!element.querySelector('title')) {
    element.prepend(svg('title', {}, (item.lines ?? [item.name, item.title, ...item.styles]).join('\n').trim()))
  }
}

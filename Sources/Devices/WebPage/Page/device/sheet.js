import { h } from '../elements/dom.js'
import { onDrag } from '../elements/drag.js'
import { durations, fadeOut, move, play } from './motion.js'

/** With less than this part of the device's height visible, a released sheet is dismissed. */
const dismissBelow = 1 / 3
const flick = 0.6
/** Beyond its limits, a sheet follows the pointer by this part. */
const resistance = 1 / 6

/** The heights at which a sheet of the phone rests, and its grabber. */
export class Sheet {
  #presentation
  #device
  #panel
  #detents = ['large']
  #detent = ''
  /** Pixels from the detent. Below 0 the sheet is higher. */
  #offset = 0
  #grabber = h('div.grabber', {
    role: 'slider', tabindex: 0, 'aria-label': 'Height of the sheet', 'aria-orientation': 'vertical',
    'aria-valuemin': 0,
  })
  cancel

  constructor(presentation) {
    this.#presentation = presentation
    this.#device = presentation.device
    this.#panel = presentation.panel
    this.#grabber.addEventListener('keydown', event => this.#key(event))
    this.#grabber.addEventListener('click', () => this.#snap((this.#index + 1) % this.#detents.length))
    this.#panel.prepend(this.#grabber)
    this.cancel = onDrag(this.#panel, event => this.#drag(event.target))
  }

  update({ detents, dragIndicator }) {
    this.#detents = ['medium', 'large'].filter(name => (detents ?? ['large']).includes(name))
    if (!this.#detents.includes(this.#detent)) this.#detent = this.#detents[0]
    this.#grabber.hidden = !dragIndicator
    this.#draw()
  }

  get #index() { return this.#detents.indexOf(this.#detent) }

  #draw() {
    this.#panel.dataset.detent = this.#detent
    this.#grabber.ariaValueMax = String(this.#detents.length - 1)
    this.#grabber.ariaValueNow = String(this.#index)
    this.#grabber.ariaValueText = this.#detent === 'medium' ? 'half' : 'full'
  }

  #key(event) {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const next = this.#index + step
    if (next < 0) this.#presentation.requestDismissal()
    else if (next < this.#detents.length) this.#snap(next)
  }

  #snap(index, after) {
    const from = this.#panel.offsetHeight - Math.max(0, this.#offset)
    this.#offset = 0
    this.#panel.style.transform = this.#panel.style.height = ''
    this.#detent = this.#detents[index]
    this.#draw()
    play([move(this.#panel, `translateY(${this.#panel.offsetHeight - from}px)`, 'none')], durations.settle, after)
  }

  #drag(target) {
    // Elsewhere the content scrolls.
    if (!target.closest('.grabber, .bar')) return null
    const start = this.#panel.offsetHeight
    let release = () => {}
    const place = y => {
      const highest = start - (this.#detents.at(-1) === 'large' ? this.#height('large') : start)
      const isHeld = y > 0 && this.#index === 0 && !this.#presentation.isDismissible
      this.#offset = isHeld ? y * resistance : y < highest ? highest + (y - highest) * resistance : y
      this.#panel.style.transform = `translateY(${Math.max(0, this.#offset)}px)`
      this.#panel.style.height = this.#offset < 0 ? `${start - this.#offset}px` : ''
    }
    return {
      axis: 'y',
      started: () => { release = this.#device.hold() },
      moved: (x, y) => place(y),
      ended: (x, y, velocityX, velocityY) => {
        place(y)
        const visible = start - this.#offset
        const isLow = visible < this.#device.stage.clientHeight * dismissBelow
        const isThrown = velocityY > flick && this.#index === 0
        if (this.#presentation.isDismissible && (isLow || isThrown)) return this.#throwOut(release)
        const distances = this.#detents.map(name => Math.abs(this.#height(name) - visible + velocityY * 150))
        this.#snap(distances.indexOf(Math.min(...distances)), release)
      },
      cancelled: () => this.#snap(this.#index, release),
    }
  }

  #height(detent) {
    const height = this.#device.stage.clientHeight
    return detent === 'medium' ? height / 2 : height - this.#device.topInset
  }

  /** The device removes the element when its scene no longer contains it. */
  #throwOut(release) {
    const { scrim, instance } = this.#presentation
    const out = move(this.#panel, this.#panel.style.transform, 'translateY(105%)', 'out')
    play([out, fadeOut(scrim)], durations.settle, () => {
      this.#presentation.hidden = true
      this.#device.dismiss(instance)
      release()
    })
  }
}

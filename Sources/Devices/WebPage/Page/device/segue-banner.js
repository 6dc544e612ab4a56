import { h, iconButton, put, setText, unspoken } from '../elements/dom.js'
import { onDrag } from '../elements/drag.js'
import { durations, move, play } from './motion.js'

const swipeDistance = 60
const flick = 0.6
const symbols = { info: 'i', warning: '!', error: '!' }
const above = 'translateY(-130%)'

/** The error above a device. It stays in the document: screen readers announce changes of a live region they know. */
class SegueBanner extends HTMLElement {
  device = null
  #card = null
  #cancelDrag = () => {}

  connectedCallback() { this.role = 'alert' }
  disconnectedCallback() { this.#cancelDrag() }

  update(banner) {
    if (!banner) return this.#hide()
    const isNew = !this.#card
    const card = this.#card ??= this.#build()
    card.dataset.severity = banner.severity
    setText(card.symbol, symbols[banner.severity])
    setText(card.word, `${banner.severity}: `)
    put(card.message, banner.message)
    put(card.recovery, banner.recovery)
    setText(card.waiting, banner.waiting ? `${banner.waiting} more` : '')
    card.dismiss.disabled = this.device.readOnly
    card.dismiss.choice = banner.choice
    if (!isNew) return
    this.append(card)
    play([move(card, above, 'none', 'in')], durations.present)
  }

  #build() {
    const parts = {
      symbol: unspoken('span.symbol'), word: h('span.visually-hidden'),
      message: h('bdi.message'), recovery: h('bdi.recovery'), waiting: h('span.more-errors'),
      dismiss: iconButton('×', 'Dismiss the error', () => this.#dismiss(parts.dismiss)),
    }
    parts.dismiss.dataset.choice = ''
    const texts = h('span.texts', parts.word, parts.message, parts.recovery, parts.waiting)
    const card = Object.assign(h('div.banner-card', parts.symbol, texts, parts.dismiss), parts)
    this.#cancelDrag = onDrag(card, event => parts.dismiss.contains(event.target) ? null : this.#drag(card))
    return card
  }

  #drag(card) {
    const back = () => {
      play([move(card, card.style.transform, 'none')], durations.settle)
      card.style.transform = ''
    }
    return {
      moved: (x, y) => { card.style.transform = `translate(${x}px, ${Math.min(y, y / 6)}px)` },
      cancelled: back,
      ended: (x, y, velocityX, velocityY) => {
        const isFar = Math.abs(x) > swipeDistance || y < -swipeDistance / 2
        const isFast = Math.abs(velocityX) > flick || velocityY < -flick
        if (this.device.readOnly || !(isFar || isFast)) return back()
        const end = Math.abs(x) > Math.abs(y) ? `translate(${Math.sign(x) * 120}%, 0)` : above
        play([move(card, card.style.transform, end, 'out')], durations.settle, () => {
          card.remove()
          this.#card = null
          this.#dismiss(card.dismiss)
        })
      },
    }
  }

  async #dismiss(button) {
    // The banner comes back if it could not be dismissed.
    if (await this.device.press(button)) this.device.drawBanner()
  }

  #hide() {
    const card = this.#card
    if (!card) return
    this.#card = null
    this.#cancelDrag()
    play([move(card, 'none', above, 'out')], durations.settle, () => card.remove())
  }
}

customElements.define('segue-banner', SegueBanner)

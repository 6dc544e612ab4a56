// @ts-check
import { onDrag, play } from './motion.js'
import { button, iconButton, make, put, setAttribute } from './render.js'

const swipeDistance = 60
const symbols = { info: 'i', warning: '!', error: '!' }

/**
 * The error above everything on a device. The element stays in the document as a live region; only its content comes
 * and goes, because a screen reader announces changes of a region that it already knows.
 */
export class SegueBanner extends HTMLElement {
    /** @type {any} */
    device = null
    #choice = ''
    #card = null
    #cancelDrag = () => {}

    connectedCallback() { this.setAttribute('role', 'alert') }
    disconnectedCallback() { this.#cancelDrag() }

    /** @param {any} banner */
    update(banner) {
        const isShown = banner && typeof banner === 'object'
        if (!isShown) return this.#hide()
        this.#choice = banner.choice ?? ''
        const severity = Object.hasOwn(symbols, banner.severity) ? banner.severity : 'error'
        const isNew = !this.#card
        this.#card ??= this.#build()
        const card = this.#card
        card.dataset.severity = severity
        put(card.symbol, symbols[severity])
        put(card.word, `${severity}: `)
        put(card.message, banner.message)
        put(card.recovery, banner.recovery)
        card.recovery.hidden = banner.recovery == null
        put(card.waiting, banner.waiting > 0 ? `${banner.waiting} more` : '')
        card.waiting.hidden = !(banner.waiting > 0)
        card.dismiss.disabled = this.device.readOnly
        card.dismiss.choice = this.#choice
        setAttribute(card.dismiss, 'aria-busy', this.device.isBusy(this.#choice) ? 'true' : null)
        if (isNew) {
            this.append(card)
            play([[card, [{ transform: 'translateY(-130%)' }, { transform: 'none' }], 'in']], 400)
        }
    }

    #build() {
        const card = make('div', 'banner-card')
        card.symbol = make('span', 'symbol', { 'aria-hidden': 'true' })
        card.word = make('span', 'visually-hidden')
        card.message = make('bdi', 'message')
        card.recovery = make('bdi', 'recovery')
        card.waiting = make('span', 'more-errors')
        card.dismiss = iconButton('×', 'Dismiss the error', () => this.#dismiss(), 'dismiss')
        card.append(card.symbol, make('span', 'texts', {}, card.word, card.message, card.recovery, card.waiting), card.dismiss)
        this.#cancelDrag = onDrag(card, event => /** @type {Element} */ (event.target).closest('button') ? null : this.#drag(card))
        return card
    }

    /** The banner follows the pointer upwards and to both sides; far enough or fast enough it is dismissed. */
    #drag(card) {
        const place = (x, y) => card.style.setProperty('transform', `translate(${x}px, ${Math.min(y, y / 6)}px)`)
        const back = () => {
            const from = card.style.transform
            card.style.removeProperty('transform')
            play([[card, [{ transform: from }, { transform: 'none' }], null]], 250)
        }
        return {
            moved: place, cancelled: back,
            ended: (x, y, velocityX, velocityY) => {
                const isFar = Math.abs(x) > swipeDistance || y < -swipeDistance / 2
                const isFast = Math.abs(velocityX) > 0.6 || velocityY < -0.6
                if (this.device.readOnly || !(isFar || isFast)) return back()
                const to = Math.abs(x) > Math.abs(y) ? `translate(${Math.sign(x) * 120}%, 0)` : 'translateY(-130%)'
                play([[card, [{ transform: card.style.transform }, { transform: to }], 'out']], 200, () => {
                    this.#hide(true)
                    this.#dismiss()
                })
            },
        }
    }

    async #dismiss() {
        const refusal = await this.device.choose(this.#choice, this.#card?.dismiss)
        // A banner that was swiped away comes back if it could not be dismissed.
        if (refusal) this.device.drawBanner()
    }

    #hide(isOut = false) {
        const card = this.#card
        this.#card = null
        this.#cancelDrag()
        if (!card) return
        if (isOut) return card.remove()
        play([[card, [{ transform: 'none' }, { transform: 'translateY(-130%)' }], 'out']], 250, () => card.remove())
    }
}

customElements.define('segue-banner', SegueBanner)

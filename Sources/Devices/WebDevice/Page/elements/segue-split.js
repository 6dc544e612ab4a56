// @ts-check
import { adopt, loadStyles } from './dom.js'

const styles = await loadStyles(import.meta.url, 'inspector.css')

/**
 * The line between two parts of an element, which the pointer or the arrow keys move. It sets `--split`, the share of
 * the part after it in per cent, on its parent; the style sheet decides whether the parts lie beside or below each
 * other.
 */
export class SegueSplit extends HTMLElement {
    #share = 55

    connectedCallback() {
        adopt(this, styles)
        this.setAttribute('role', 'separator')
        this.setAttribute('aria-label', this.getAttribute('label') ?? 'Size')
        this.setAttribute('aria-valuemin', '20')
        this.setAttribute('aria-valuemax', '80')
        this.tabIndex = 0
        this.#set(this.#share)
        this.onpointerdown = event => {
            this.setPointerCapture(event.pointerId)
            event.preventDefault()
        }
        this.onpointermove = event => {
            if (!this.hasPointerCapture(event.pointerId) || !this.parentElement) return
            const area = this.parentElement.getBoundingClientRect()
            this.#set(this.#beside ? (area.right - event.clientX) / area.width * 100 : (area.bottom - event.clientY) / area.height * 100)
        }
        this.onkeydown = event => {
            const step = { ArrowUp: 5, ArrowLeft: 5, ArrowDown: -5, ArrowRight: -5 }[event.key]
            if (!step) return
            event.preventDefault()
            this.#set(this.#share + step)
        }
    }

    get #beside() {
        return this.parentElement ? getComputedStyle(this.parentElement).flexDirection.startsWith('row') : false
    }

    #set(/** @type {number} */ share) {
        this.#share = Math.round(Math.min(Math.max(share, 20), 80))
        this.setAttribute('aria-valuenow', String(this.#share))
        this.setAttribute('aria-orientation', this.#beside ? 'vertical' : 'horizontal')
        this.parentElement?.style.setProperty('--split', `${this.#share}%`)
    }
}

customElements.define('segue-split', SegueSplit)

import { h } from '../elements/dom.js'

/** Pixels to the edge of the window and to the control. */
const margin = 10
const gap = 10

/** Keeps a popover beside its control, where there is more room. */
export class Popover {
  #presentation
  #anchor
  #arrow = h('span.tip')
  #observer = new ResizeObserver(() => this.place())

  constructor(presentation, anchor) {
    this.#presentation = presentation
    this.#anchor = anchor
    presentation.panel.append(this.#arrow)
    this.#observer.observe(presentation.panel)
    this.#observer.observe(presentation.device.stage)
  }

  stop() { this.#observer.disconnect() }

  place() {
    const { panel, device } = this.#presentation
    const stage = this.#presentation.getBoundingClientRect()
    const anchor = (this.#anchor?.isConnected ? this.#anchor : device.bottomControl()) ?? device.stage
    const target = anchor.getBoundingClientRect()
    const [width, height] = [panel.offsetWidth, panel.offsetHeight]
    const middle = clamp(target.left + target.width / 2 - stage.left, 0, stage.width)
    const left = clamp(middle - width / 2, margin, stage.width - width - margin)
    const [roomBelow, roomAbove] = [stage.bottom - target.bottom, target.top - stage.top]
    const isBelow = roomBelow >= height + gap + margin || roomBelow >= roomAbove
    const wanted = isBelow ? target.bottom - stage.top + gap : roomAbove - height - gap
    const top = clamp(wanted, margin, stage.height - height - margin)
    panel.style.left = `${left}px`
    panel.style.top = `${top}px`
    panel.style.setProperty('--arrow', `${clamp(middle - left, 24, width - 24)}px`)
    panel.classList.toggle('below', isBelow)
    // An arrow that misses the control is worse than none.
    this.#arrow.hidden = Math.abs(top - wanted) > 4
  }
}

function clamp(value, least, most) { return Math.max(least, Math.min(value, most)) }

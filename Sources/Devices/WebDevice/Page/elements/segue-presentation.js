// @ts-check
import { asName, h } from './dom.js'
import { fadeIn, fadeOut, move, play } from './motion.js'
import { Popover } from './popover.js'
import { Question } from './question.js'
import { Sheet } from './sheet.js'
import { WindowFrame } from './window.js'

/**
 * A presented screen: sheet, full screen, popover, alert, dialog or window. The style of an instance never changes, so
 * the element is built once.
 */
export class SeguePresentation extends HTMLElement {
  device = null
  instance = ''
  kind = ''
  isDismissible = false
  /** The screens; null in an alert or a dialog. */
  stack = null
  /** @type {Question | null} */
  question = null
  /** @type {WindowFrame | null} */
  window = null
  /** @type {Sheet | null} */
  #sheet = null
  /** @type {Popover | null} */
  #popover = null

  /** @param {string} kind @param {string} instance @param {any} device @param {HTMLElement | null} anchor */
  build(kind, instance, device, anchor) {
    Object.assign(this, { kind, instance, device })
    this.className = kind
    const isQuestion = kind === 'alert' || kind === 'dialog'
    this.panel = h('div.panel', { role: isQuestion ? 'alertdialog' : 'dialog' })
    this.scrim = h('div.scrim', { onclick: () => { if (this.#isLight) this.requestDismissal() } })
    if (kind !== 'window' && kind !== 'fullScreen') this.append(this.scrim)
    this.append(this.panel)
    if (isQuestion) {
      this.question = new Question(this)
      return
    }
    if (kind === 'window') this.window = new WindowFrame(this)
    this.stack = Object.assign(h('segue-stack'), { device })
    this.stack.fits = kind === 'popover' || (kind === 'sheet' && device.isWindow)
    this.panel.append(this.stack)
    if (this.window) this.panel.append(this.window.nested)
    if (kind === 'sheet' && !device.isWindow) this.#sheet = new Sheet(this)
    if (kind === 'popover') this.#popover = new Popover(this, anchor)
  }

  disconnectedCallback() {
    this.#sheet?.cancel()
    this.window?.cancel()
    this.#popover?.stop()
  }

  /** True if a tap beside it, or its close button, dismisses it. */
  get #isLight() { return this.kind === 'sheet' || this.kind === 'popover' }

  /**
   * @param {import('./state.js').Presentation} presentation @param {boolean} isDismissible
   * @param {(screen: any, below: any) => import('./segue-screen.js').ScreenUpdate} describe
   * @returns {Promise<void>[]}
   */
  update(presentation, isDismissible, describe) {
    this.isDismissible = isDismissible
    if (this.question) {
      this.question.update(presentation, describe(presentation.instances[0], null))
      return []
    }
    this.#sheet?.update(presentation)
    const close = isDismissible && this.#isLight
    const animations = this.stack.update(presentation.instances,
      (screen, below) => ({ ...describe(screen, below), close }))
    const title = asName(this.stack.top.heading.textContent)
    this.panel.ariaLabel = title
    this.window?.update(title, isDismissible)
    return animations
  }

  requestDismissal() {
    if (this.isDismissible) this.device.dismiss(this.instance)
    else if (this.question?.cancel) this.question.cancel.click()
    else this.#shake()
  }

  // MARK: Entering and leaving

  enter() {
    const place = () => this.#popover?.place()
    return play([[this.panel, this.#hiddenFrames().reverse(), 'in'], fadeIn(this.scrim)], this.#duration, place)
  }

  /** Moves the presentation out, and removes it in the frame in which the animation ends. */
  leave() {
    this.inert = true
    this.#sheet?.cancel()
    // It is hidden if a drag has already moved it out.
    return play([[this.panel, this.#hiddenFrames(), 'out'], fadeOut(this.scrim)], this.hidden ? 0 : this.#duration,
      () => this.remove())
  }

  get #duration() { return this.kind === 'sheet' || this.kind === 'fullScreen' ? 400 : 200 }

  #hiddenFrames() {
    const isMac = this.device.isWindow
    const out = {
      sheet: isMac ? 'translateY(-105%)' : 'translateY(105%)', fullScreen: 'translateY(100%)',
      dialog: isMac ? null : 'translateY(110%)',
    }[this.kind]
    if (out) return [{ transform: 'none' }, { transform: out }]
    const scale = this.question ? 'scale(1.08)' : 'scale(.94)'
    return [{ opacity: 1, transform: 'none' }, { opacity: 0, transform: scale }]
  }

  #shake() {
    const aside = this.#sheet ? 'translateY(14px)' : 'scale(1.015)'
    play([[this.panel, ['none', aside, 'none'].map(transform => ({ transform }))]], 220)
  }
}

customElements.define('segue-presentation', SeguePresentation)

import { h } from '../elements/dom.js'
import { shortened } from '../elements/text.js'
import { durations, fadeIn, fadeOut, play } from './motion.js'
import { Popover } from './popover.js'
import { Question } from './question.js'
import { Sheet } from './sheet.js'
import { WindowBar } from './window-bar.js'

/** A presented screen. The style of an instance never changes, so the element is built once. */
class SeguePresentation extends HTMLElement {
  device = null
  instance = ''
  kind = ''
  isDismissible = false
  stack = null
  question = null
  window = null
  #sheet = null
  #popover = null

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
    if (kind === 'window') this.window = new WindowBar(this)
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

  get #isLight() { return this.kind === 'sheet' || this.kind === 'popover' }

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
    const title = shortened(this.stack.top.heading.textContent)
    this.panel.ariaLabel = title
    this.window?.update(title, isDismissible)
    return animations
  }

  requestDismissal() {
    if (this.isDismissible) this.device.dismiss(this.instance)
    else if (this.question?.cancel) this.question.cancel.click()
    else this.#shake()
  }

  enter() {
    const place = () => this.#popover?.place()
    return play([[this.panel, this.#hiddenFrames().reverse(), 'in'], fadeIn(this.scrim)], this.#duration, place)
  }

  leave() {
    this.inert = true
    this.#sheet?.cancel()
    // A drag may have moved it out.
    return play([[this.panel, this.#hiddenFrames(), 'out'], fadeOut(this.scrim)], this.hidden ? 0 : this.#duration,
      () => this.remove())
  }

  get #duration() { return this.kind === 'sheet' || this.kind === 'fullScreen' ? durations.present : durations.fade }

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
    play([[this.panel, ['none', aside, 'none'].map(transform => ({ transform }))]], durations.settle)
  }
}

customElements.define('segue-presentation', SeguePresentation)

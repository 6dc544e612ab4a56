import { button, fill, h, setText } from '../elements/dom.js'
import { count, plural } from '../elements/text.js'

/** A list with its bar, the button that leads to the newest entry, and a text while it is empty. */
export class ListFrame {
  #list
  #noun
  #pause
  #return
  #status = h('p.list-status.quiet')
  #nothing = h('div.nothing.late', { hidden: true })
  element

  constructor(list, noun, { pause, newest, buttons = [] }) {
    this.#list = list
    this.#noun = noun
    this.#pause = button('Pause', pause)
    this.#return = button('', () => {
      newest()
      list.follow()
      list.focus({ preventScroll: true })
    }, { class: 'button primary return', hidden: true })
    this.element = h('div.list-place', h('div.list-frame', list, this.#nothing, this.#return),
      h('div.list-bar', this.#status, ...buttons, this.#pause))
  }

  update({ unseen, isPaused, isDetached = false, failure }, status, [line, ...rest] = []) {
    this.#return.hidden = this.#list.isFollowing && !isDetached
    setText(this.#return, unseen ? `↓ ${plural(unseen, `new ${this.#noun}`)}` : '↓ Newest')
    setText(this.#pause, !isPaused ? 'Pause' : unseen ? `Resume · ${count(unseen)}` : 'Resume')
    this.#pause.setAttribute('aria-pressed', String(isPaused))
    setText(this.#status, failure || (isPaused ? `Paused; ${this.#noun}s are still recorded` : status))
    this.#nothing.hidden = !line
    if (line && this.#nothing.firstChild?.textContent !== line) fill(this.#nothing, h('p', line), ...rest)
  }
}

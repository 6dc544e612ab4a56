import { button, h, iconButton, setText } from '../elements/dom.js'
import { onDrag } from '../elements/drag.js'

const keyStep = 16
const [reachX, reachY] = [60, 40]

/** The title bar of a window, which moves and closes it. */
export class WindowBar {
  #presentation
  #title = h('bdi')
  #closer
  nested = h('div.nested')
  cancel

  constructor(presentation) {
    this.#presentation = presentation
    const raise = () => presentation.device.raise(presentation)
    this.#closer = iconButton('', 'Close the window', () => presentation.requestDismissal(), 'light close-light')
    // The arrow keys can move the window.
    const handle = button(this.#title, raise,
      { class: 'window-handle', 'aria-description': 'Arrow keys move the window' })
    handle.addEventListener('keydown', event => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
      if (!step) return
      event.preventDefault()
      this.moveTo(presentation.offsetLeft + keyStep * step[0], presentation.offsetTop + keyStep * step[1])
    })
    const bar = h('div.title-bar', this.#closer, handle)
    presentation.panel.append(bar)
    for (const name of ['pointerdown', 'focusin']) presentation.addEventListener(name, raise)
    this.cancel = onDrag(bar, () => {
      const { offsetLeft, offsetTop } = presentation
      const moved = (x, y) => this.moveTo(offsetLeft + x, offsetTop + y)
      return { moved, ended: moved, cancelled: () => moved(0, 0) }
    })
  }

  update(title, isDismissible) {
    setText(this.#title, title)
    this.#closer.disabled = !isDismissible
  }

  moveTo(x, y) {
    const { parentElement: area, offsetWidth, style } = this.#presentation
    style.left = `${Math.min(Math.max(x, reachX - offsetWidth), area.clientWidth - reachX)}px`
    style.top = `${Math.max(0, Math.min(y, area.clientHeight - reachY))}px`
  }
}

import { h } from '../elements/dom.js'

/** The presentations of a device. Only the frontmost layer of a window can be used; a window covers nothing. */
export class Layers {
  #device
  #elements = new Map()
  #raised = 10
  #entered = null

  constructor(device) { this.#device = device }

  get #all() { return [...this.#elements.values()] }
  get top() { return this.#all.at(-1) }
  get hasEntered() { return this.#entered !== null }

  /** `control` opened a new popover. Returns the animations. */
  draw(model, root, control) {
    const device = this.#device
    const animations = []
    this.#entered = null
    for (const [id, element] of this.#elements) {
      if (model.presentations.some(presentation => presentation.id === id)) continue
      this.#elements.delete(id)
      animations.push(element.leave())
    }
    let host = device.stage
    let below = [root]
    for (const presentation of model.presentations) {
      const isWindow = presentation.style === 'window' && device.isWindow
      let element = this.#elements.get(presentation.id)
      const isNew = !element
      if (!element) {
        element = h('segue-presentation')
        const kind = presentation.style === 'window' && !isWindow ? 'fullScreen' : presentation.style
        element.build(kind, presentation.id, device, control)
        this.#elements.set(presentation.id, element)
        ;(isWindow ? device.desk : host).append(element)
      }
      animations.push(...element.update(presentation, device.isDismissible(presentation.id), device.describe))
      if (isWindow) {
        host = element.window.nested
        below = [element.stack]
      } else {
        for (const layer of below) layer.inert = true
        below = [element]
      }
      for (const layer of below) layer.inert = false
      if (isNew) animations.push(this.#enter(element))
    }
    return animations
  }

  #enter(element) {
    this.#entered = element
    if (element.window) {
      const { desk } = this.#device
      const count = this.#all.filter(other => other.window).length
      element.window.moveTo(desk.clientWidth - element.offsetWidth - 20 - 24 * (count % 3), 24 + 36 * count)
      this.raise(element)
    }
    if (element.question && !this.#device.contains(document.activeElement)) {
      this.#device.notes.announce(element.question.spoken)
    }
    return element.enter()
  }

  clear() {
    for (const element of this.#all) element.remove()
    this.#elements.clear()
  }

  raise(element) {
    if (element.style.zIndex !== String(this.#raised)) element.style.zIndex = String(this.#raised += 1)
  }

  restoreFocus(root) {
    const active = document.activeElement
    const device = this.#device
    const { top } = this
    const isReachable = device.contains(active) && active !== device && (!top || top.window || top.contains(active))
    const isElsewhere = !device.contains(active) && active && active !== document.body
    if (isElsewhere || (isReachable && !this.hasEntered)) return
    if (top?.question) return top.question.focus()
    const screen = (top?.stack ?? root?.stacks.findLast(stack => stack.top?.offsetParent))?.top
    const last = screen?.lastFocus
    const target = last?.isConnected && last.offsetParent && !last.disabled ? last : screen?.heading
    target?.focus({ preventScroll: true })
  }

  escape(event) {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    // Escape is for what a window presents, then for the window.
    const window = this.#all.findLast(element => element.window && element.contains(event.target))
    const top = this.#all.findLast(element => (window ?? this.#device.stage).contains(element))
    if (!top) return
    event.preventDefault()
    top.requestDismissal()
  }
}

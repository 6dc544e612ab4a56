import { h } from '../elements/dom.js'

const busyLimit = 10000
/** A spinner appears after this time (device.css), and stays as long, so that it does not flash. */
const spinnerTime = 300
/** A button that was pressed too early gets its choice in this time. */
const awaitLimit = 3000

export function choiceButton(press, className, ...children) {
  const onclick = event => press(event.currentTarget)
  const attributes = { class: className, 'data-choice': true, onclick }
  return h('button', attributes, ...children, h('span.spinner'))
}

/** Choices are busy until the gateway sends something that may answer them, at most for 10 seconds. */
export class Choices {
  #busy = new Map()
  #awaited = null
  #changed

  constructor(changed) { this.#changed = changed }

  isBusy(button) { return button === this.#awaited || this.#busy.has(button.choice) }

  async begin(choice, send) {
    if (this.#busy.has(choice)) return
    const timer = setTimeout(() => this.#finish(choice), busyLimit)
    const entry = { isSent: false, isFollowed: false, since: performance.now(), timer }
    this.#busy.set(choice, entry)
    this.#changed()
    try {
      await send()
      entry.isSent = true
      // The scene may follow before the answer to the request.
      if (entry.isFollowed) this.#finish(choice)
    } catch (error) {
      this.#finish(choice)
      throw error
    }
  }

  /** The gateway has sent a scene, or another sign of an answer. */
  followed() {
    for (const [choice, entry] of this.#busy) {
      entry.isFollowed = true
      if (!entry.isSent) continue
      const shown = performance.now() - entry.since - spinnerTime
      if (shown > 0 && shown < spinnerTime) setTimeout(() => this.#finish(choice), spinnerTime - shown)
      else this.#finish(choice)
    }
  }

  awaitChoice(button) {
    this.#awaited = button
    setTimeout(() => this.#forget(button), awaitLimit)
    this.#changed()
  }

  takeAwaited() {
    const button = this.#awaited
    if (!button?.choice || !button.isConnected) return null
    this.#forget(button)
    return button
  }

  stop() { for (const choice of this.#busy.keys()) this.#finish(choice) }

  #forget(button) {
    if (button !== this.#awaited) return
    this.#awaited = null
    this.#changed()
  }

  #finish(choice) {
    clearTimeout(this.#busy.get(choice)?.timer)
    if (this.#busy.delete(choice)) this.#changed()
  }
}

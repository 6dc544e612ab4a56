import { h, setText } from '../elements/dom.js'

const second = 1000

/** A position that moves with the time: `1:05 of 4:00`. It stands still while it is not on the page. */
export class ProgressText {
  // It changes each second. Screen readers read it only when they are asked to.
  element = h('bdi.detail.progress', { 'aria-live': 'off' })
  #progress = null
  #timer = null

  update(progress) {
    this.#progress = progress
    clearTimeout(this.#timer)
    this.#draw()
  }

  #draw() {
    const { duration, running } = this.#progress
    const position = positionAt(Date.now(), this.#progress)
    setText(this.element, duration == null ? minutes(position) : `${minutes(position)} of ${minutes(duration)}`)
    if (!running || (duration != null && position >= duration)) return
    this.#timer = setTimeout(() => { if (this.element.isConnected) this.#draw() }, second - position % second)
  }
}

function positionAt(time, { position, duration, measuredAt, running }) {
  const current = position + (running ? Math.max(0, time - measuredAt) : 0)
  return Math.min(current, duration ?? Infinity)
}

function minutes(milliseconds) {
  const seconds = Math.floor(Math.max(0, milliseconds) / second)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

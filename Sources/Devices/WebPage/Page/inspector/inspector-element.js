// The base of the inspector's parts, and the small elements of several of them.

import { button, h, unspoken } from '../elements/dom.js'
import { KINDS, printable, printableLines, problemOf } from '../elements/text.js'

/** Its view of the gateway is open while the element is in the document. */
export class InspectorElement extends HTMLElement {
  connection
  #view

  connectedCallback() {
    if (!this.firstChild) this.build()
    this.start()
  }

  disconnectedCallback() {
    this.#view?.close()
    this.stop()
  }

  build() {}
  start() {}
  stop() {}

  openView(options, onUpdate) {
    this.#view?.close()
    this.#view = this.connection.open(options, onUpdate)
  }
}

export function spoken(text) { return h('span.visually-hidden', text) }

export function badge(kind) {
  return h('span.kind', { 'data-kind': kind }, unspoken('span', KINDS[kind] ?? '?'), spoken(printable(kind) + ' '))
}

export function smallButton(text, action, attributes = {}) {
  return button(text, action, { class: 'button small', ...attributes })
}

export function paneHeader(name, close, ...parts) {
  return h('div.pane-header', ...parts, button('✕', close,
    { class: 'button plain', 'aria-label': `Close the ${name}`, title: 'Close (Escape)' }))
}

export function failureOf(failure, retry) {
  return h('div.padded', h('p.failure', { role: 'alert' }, problemOf(failure)), button('Try again', retry))
}

/** A terminal would execute control characters. Browsers copy only on addresses that are encrypted or loopback. */
export async function copy(text, from) {
  from.dataset.label ??= from.textContent
  const copied = navigator.clipboard?.writeText(printableLines(text)).then(() => 'Copied', () => null)
  from.textContent = await copied ?? 'Not copied'
  setTimeout(() => { from.textContent = from.dataset.label }, 2000)
}

// @ts-check
// The base of the inspector's parts, and the small elements that several of them show.

import { button, h } from './dom.js'
import { KINDS, printable, problemOf } from './text.js'

/** Adds a style sheet of this folder. A module awaits its sheet, so that no element is ever seen without its style. */
export function addStyles(name) {
  return new Promise(done => document.head.append(h('link', {
    rel: 'stylesheet', href: new URL(`${name}.css`, import.meta.url), onload: done, onerror: done,
  })))
}

await addStyles('inspector')

/** A part of the inspector. Its view of the gateway is open while the element is in the document. */
export class InspectorElement extends HTMLElement {
  /** The page sets it first. @type {import('../connection.js').Connection} */
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

  /** Opens a view in place of the former one. */
  openView(options, onUpdate) {
    this.#view?.close()
    this.#view = this.connection.open(options, onUpdate)
  }
}

/** Asks the page to show an address. The page owns the location; elements only request. */
export function navigate(element, address, replace = false) {
  element.dispatchEvent(new CustomEvent('navigate', { bubbles: true, detail: { address, replace } }))
}

/** A link to an address of the page, which can also be copied or opened in a tab of its own. */
export function link(spec, address, ...children) {
  const anchor = h(spec, { href: address, onclick: event => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(anchor, address)
  } }, ...children)
  return anchor
}

/** A text that screen readers do not read, and one that only they read. */
export function symbol(text, spec = 'span') { return h(spec, { 'aria-hidden': 'true' }, text) }
export function spoken(text) { return h('span.visually-hidden', text) }

/** The letter and the colour of a kind. */
export function badge(kind) {
  return h('span.kind', { 'data-kind': kind }, symbol(KINDS[kind] ?? '?'), spoken(printable(kind) + ' '))
}

export function smallButton(text, action, attributes = {}) {
  return button(text, action, { class: 'button small', ...attributes })
}

/** The top of a pane beside the list of messages. */
export function paneHeader(name, close, ...parts) {
  return h('div.pane-header', ...parts, button('✕', close,
    { class: 'button plain', 'aria-label': `Close the ${name}`, title: 'Close (Escape)' }))
}

/** A failure to read something. */
export function failureOf(failure, retry) {
  return h('div.padded', h('p.failure', { role: 'alert' }, problemOf(failure)), button('Try again', retry))
}

/**
 * Copies text and says so on the button. `navigator.clipboard` is missing on addresses that are neither encrypted nor
 * loopback; a selected text area works there.
 */
export async function copy(text, from) {
  let copied = true
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = h('textarea.visually-hidden', { 'aria-label': 'Text to copy' }, text)
    from.after(area)
    area.select()
    copied = document.execCommand('copy')
    area.remove()
    from.focus()
  }
  from.dataset.label ??= from.textContent
  from.textContent = copied ? 'Copied' : 'Not copied'
  setTimeout(() => { from.textContent = from.dataset.label }, 2000)
}

// @ts-check
// Makes and updates elements. Text is inserted as text nodes only: the data of messages comes from anywhere.

import { kindOf, KINDS, printable } from './text.js'

/**
 * Makes an element: `h('p.quiet', { title }, 'text', child)`. Names that begin with `on` are listeners, `true` sets an
 * attribute, `false`, null and undefined omit it.
 */
export function h(spec, ...children) {
    const [tag, ...classes] = spec.split('.')
    const element = document.createElement(tag)
    if (classes.length) element.className = classes.join(' ')
    const attributes = children[0]?.constructor === Object ? children.shift() : {}
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
        else if (value != null && value !== false) element.setAttribute(name, value === true ? '' : value)
    }
    fill(element, ...children)
    return element
}

/** Replaces the children of an element; null and false are left out. */
export function fill(element, ...children) {
    element.replaceChildren(...children.filter(child => child != null && child !== false))
}

/** The length above which a text is cut and can be expanded: a browser lays out megabytes of text too slowly. */
const textLimit = 2000
const putTexts = new WeakMap()

/**
 * Shows a text of a message, as `setText` does. A long text is cut and gets a button that shows all of it, unless the
 * element is itself in a button.
 * @param {Element} element @param {string | null} [value]
 */
export function put(element, value) {
    const text = value ?? ''
    if (putTexts.get(element) === text) return
    putTexts.set(element, text)
    if (text.length <= textLimit) return fill(element, text)
    const size = `${text.length.toLocaleString('en')} characters`
    fill(element, `${text.slice(0, textLimit)}… `, element.closest('button')
        ? `(${size}; all of them are in the message)`
        : button(`Show all ${size}`, () => fill(element, text), { class: 'more' }))
}

/** A text for a name such as `aria-label`: short, and without controls that change the direction of what follows. */
export function asName(value) {
    return String(value ?? '').slice(0, 200).replace(/[\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ')
}

/**
 * Makes the children of `parent` match `items`. A child is kept if an item still has its key, so that focus, entered
 * text and scroll position stay. Items with equal keys are told apart by their order.
 * @template T
 * @param {Element} parent @param {T[]} items @param {(item: T, index: number) => string} key
 * @param {(item: T) => Element} create @param {(element: any, item: T, index: number) => void} [update]
 */
export function reconcile(parent, items, key, create, update = () => {}) {
    const counts = new Map()
    const keys = items.map((item, index) => {
        const name = key(item, index)
        counts.set(name, (counts.get(name) ?? 0) + 1)
        return `${counts.get(name)} ${name}`
    })
    const kept = new Map([...parent.children].map(child => [/** @type {any} */ (child).itemKey, child]))
    const wanted = new Set(keys)
    for (const [name, child] of kept) if (!wanted.has(name)) child.remove()
    let next = parent.firstElementChild
    items.forEach((item, index) => {
        const child = kept.get(keys[index]) ?? Object.assign(create(item), { itemKey: keys[index] })
        // Moving an element takes the focus away from it, so an element in its place is left alone.
        if (child === next) next = next.nextElementSibling
        else parent.insertBefore(child, next)
        update(child, item, index)
    })
}

/** A button that shows a symbol and has a name. */
export function iconButton(symbol, label, action, className = '') {
    const icon = h('span', { 'aria-hidden': 'true' }, symbol)
    return button(icon, action, { class: `icon ${className}`, 'aria-label': label })
}

/** Sets a text unless it is the same: a new text node would be announced and laid out again. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text
}

// Awaited here, so that no element is ever seen without its style. An element may be in a shadow root, therefore the
// sheets are not linked in the document.
const styles = await Promise.all(['inspector', 'messages', 'story', 'processes'].map(async name => {
    const answer = await fetch(new URL(`${name}.css`, import.meta.url)).catch(() => null)
    return new CSSStyleSheet().replace(answer?.ok ? await answer.text() : '')
}))

/** Applies the styles of the inspector to the document or the shadow root of an element. */
export function adopt(element) {
    const root = element.getRootNode()
    const sheets = root.adoptedStyleSheets
    if (sheets && !sheets.includes(styles[0])) root.adoptedStyleSheets = [...sheets, ...styles]
}

/** A part of the inspector that shows a view of the gateway, which is open while the element is in the document. */
export class InspectorElement extends HTMLElement {
    #connection = null
    #view = null
    #number = 0

    connectedCallback() {
        adopt(this)
        if (!this.firstChild) this.build()
        if (this.#connection) this.start()
    }

    disconnectedCallback() {
        this.#view?.close()
        this.#view = null
        this.stop()
    }

    get connection() { return this.#connection }

    set connection(connection) {
        if (connection === this.#connection) return
        if (this.#connection) this.stop()
        this.#connection = connection
        if (this.isConnected) this.start()
    }

    build() {}
    start() {}
    stop() {}

    /** Opens a view in place of the former one. Updates that come late for a former view are dropped. */
    openView(options, onUpdate) {
        this.#view?.close()
        const number = ++this.#number
        this.#view = this.#connection.open(options, update => { if (number === this.#number) onUpdate(update ?? {}) })
    }
}

let lastID = 0

/** An id for `aria-describedby` and the like. */
export function uniqueID() {
    return `inspector-${++lastID}`
}

/** Asks the page to show an address. The page owns the location; elements only request. */
export function navigate(element, address, replace = false) {
    element.dispatchEvent(new CustomEvent('navigate', { bubbles: true, composed: true, detail: { address, replace } }))
}

/** A link to an address of the page, which can also be copied or opened in a tab of its own. */
export function link(spec, address, ...children) {
    const anchor = h(spec, ...children)
    anchor.href = address
    anchor.addEventListener('click', event => {
        if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        navigate(anchor, address)
    })
    return anchor
}

export function button(text, action, attributes = {}) {
    return h('button', { type: 'button', class: 'button', onclick: action, ...attributes }, text)
}

/** The letter and the colour of a kind. The name of the kind is for screen readers. */
export function badge(kind) {
    const letter = Object.hasOwn(KINDS, kind) ? KINDS[kind] : '?'
    return h('span.kind', { 'data-kind': kind }, h('span', { 'aria-hidden': 'true' }, letter),
        h('span.visually-hidden', printable(kind) + ' '))
}

/** The kind of a row, which may lack it. */
export function kindOfRow(row) {
    return row.kind ?? kindOf(row.type)
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
        const area = h('textarea.visually-hidden', { 'aria-label': 'Text to copy' })
        area.value = text
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

// @ts-check
// Makes and updates elements. Data of messages is only ever inserted as text.

/** The length above which a text is cut and can be expanded: a browser lays out megabytes of text too slowly. */
const textLimit = 2000

/**
 * @param {string} tag @param {string} [className] @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children @returns {any}
 */
export function make(tag, className = '', attributes = {}, ...children) {
    const element = document.createElement(tag)
    if (className) element.className = className
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
    element.append(...children)
    return element
}

/** @param {string} label @param {() => void} action @param {string} [className] @returns {HTMLButtonElement} */
export function button(label, action, className = '') {
    const element = make('button', className, { type: 'button' }, label)
    element.addEventListener('click', action)
    return element
}

/** A button that shows a symbol and has a name. */
export function iconButton(symbol, label, action, className = '') {
    const element = button('', action, `icon ${className}`)
    element.setAttribute('aria-label', label)
    element.append(make('span', '', { 'aria-hidden': 'true' }, symbol))
    return element
}

/** Any value of a message as text: a string as it is, no value as the empty string, other values as JSON. */
export function asText(value) {
    if (value == null) return ''
    return typeof value === 'string' ? value : JSON.stringify(value) ?? ''
}

const texts = new WeakMap()

/**
 * Shows a value as the text of an element. An unchanged text is not touched, so that a screen reader does not repeat
 * it. A long text is cut and gets a button that shows all of it, unless the element is itself in a button.
 */
export function put(element, value) {
    const text = asText(value)
    if (texts.get(element) === text) return
    texts.set(element, text)
    if (text.length <= textLimit) {
        element.textContent = text
        return
    }
    const size = `${text.length.toLocaleString('en')} characters`
    element.textContent = `${text.slice(0, textLimit)}… `
    if (element.closest('button')) {
        element.append(`(${size}; all of them are in the message)`)
    } else {
        element.append(button(`Show all ${size}`, () => { element.textContent = text }, 'more'))
    }
}

/** A text for a name, such as `aria-label`: short, and without controls that change the direction of what follows. */
export function asName(value) {
    return asText(value).slice(0, 200).replace(/[\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ')
}

/**
 * Makes the children of `parent` match `items`. A child is kept if an item still has its key, so that focus, entered
 * text and scroll position stay. Items with equal keys are told apart by their order.
 * @template T
 * @param {Element} parent @param {T[]} items @param {(item: T, index: number) => string} key
 * @param {(item: T) => Element} create @param {(element: any, item: T, index: number) => void} update
 */
export function reconcile(parent, items, key, create, update) {
    const seen = new Map()
    const keys = items.map((item, index) => {
        const name = key(item, index)
        const count = (seen.get(name) ?? 0) + 1
        seen.set(name, count)
        return `${count} ${name}`
    })
    const kept = new Map()
    const wanted = new Set(keys)
    for (const child of [...parent.children]) {
        const name = /** @type {any} */ (child).itemKey
        if (wanted.has(name)) kept.set(name, child)
        else child.remove()
    }
    let next = parent.firstElementChild
    items.forEach((item, index) => {
        let child = kept.get(keys[index])
        if (!child) {
            child = create(item)
            child.itemKey = keys[index]
        }
        // Moving an element takes the focus away from it, so an element in its place is left alone.
        if (child === next) next = next.nextElementSibling
        else parent.insertBefore(child, next)
        update(child, item, index)
    })
}

/** @param {Element} element @param {string} name @param {string | null | undefined | false} value */
export function setAttribute(element, name, value) {
    if (value == null || value === false) element.removeAttribute(name)
    else if (element.getAttribute(name) !== value) element.setAttribute(name, value)
}

let lastID = 0

/** An id that is unique in the document, for `aria-labelledby` and the like. */
export function uniqueID() { return `e${++lastID}` }

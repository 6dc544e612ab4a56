// @ts-check
// What every element of the inspector needs from the DOM. Text is only ever inserted as text nodes: the data of
// messages comes from anywhere.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Makes an element. Names that begin with `on` are listeners, `class`, `aria-…`, `role` and the like are attributes,
 * and `true`/`false` sets or omits an attribute.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag)
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
        else if (value === true) element.setAttribute(name, '')
        else if (value !== false && value != null) element.setAttribute(name, String(value))
    }
    element.append(...present(children))
    return element
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function present(children) {
    return children.filter(child => child != null && child !== false).map(child => child instanceof Node ? child : String(child))
}

/** Replaces the children of an element. @param {Element} element @param {...Child} children */
export function fill(element, ...children) {
    element.replaceChildren(...present(children))
}

const SVG = 'http://www.w3.org/2000/svg'

/** @param {string} tag @param {Record<string, string | number>} attributes @param {...SVGElement} children */
export function svg(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag)
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
    element.append(...children)
    return /** @type {any} */ (element)
}

/** Sets text without touching the document if it is the same: an equal text node would still be announced and laid out. */
export function setText(/** @type {Element} */ element, /** @type {string} */ text) {
    if (element.textContent !== text) element.textContent = text
}

/** @type {Map<string, Promise<CSSStyleSheet>>} */
const sheets = new Map()

/**
 * Loads style sheets that lie beside a module. A module awaits this before it defines its element, so that the element
 * is never seen without its style.
 * @param {string} base the `import.meta.url` of the module
 * @param {...string} names
 * @returns {Promise<CSSStyleSheet[]>}
 */
export function loadStyles(base, ...names) {
    return Promise.all(names.map(name => {
        const url = new URL(name, base).href
        const known = sheets.get(url)
        if (known) return known
        const sheet = new CSSStyleSheet()
        const loading = fetch(url)
            .then(answer => answer.ok ? answer.text() : '')
            .then(text => sheet.replace(text), () => sheet)
        sheets.set(url, loading)
        return loading
    }))
}

/** Applies style sheets to the document or the shadow root that contains an element. */
export function adopt(/** @type {Element} */ element, /** @type {CSSStyleSheet[]} */ styles) {
    const root = element.getRootNode()
    if (!(root instanceof Document || root instanceof ShadowRoot)) return
    const missing = styles.filter(style => !root.adoptedStyleSheets.includes(style))
    if (missing.length) root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...missing]
}

let lastID = 0

/** An id for `aria-describedby` and the like, unique in the document. */
export function uniqueID(/** @type {string} */ prefix) {
    return `${prefix}-${++lastID}`
}

/** Asks the page to show an address. The page owns the location; elements only request. */
export function navigate(/** @type {Element} */ element, /** @type {string} */ address, replace = false) {
    element.dispatchEvent(new CustomEvent('navigate', { bubbles: true, composed: true, detail: { address, replace } }))
}

/** A link to an address of the page, which can also be copied or opened in a tab of its own. */
export function link(/** @type {string} */ address, /** @type {Record<string, any>} */ attributes, /** @type {Child[]} */ ...children) {
    const anchor = h('a', { href: address, ...attributes }, ...children)
    anchor.addEventListener('click', (/** @type {MouseEvent} */ event) => {
        if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        navigate(anchor, address)
    })
    return anchor
}

/** A button with a text. */
export function button(/** @type {string} */ text, /** @type {(event: MouseEvent) => void} */ action, /** @type {Record<string, any>} */ attributes = {}) {
    return h('button', { type: 'button', class: 'button', onclick: action, ...attributes }, text)
}

/**
 * Copies text and says so on the button for two seconds. `navigator.clipboard` is missing on addresses that are
 * neither encrypted nor loopback; a selected text area works there.
 */
export async function copy(/** @type {string} */ text, /** @type {HTMLElement} */ from) {
    let copied = true
    try {
        await navigator.clipboard.writeText(text)
    } catch {
        const area = h('textarea', { class: 'visually-hidden', 'aria-label': 'Text to copy' })
        area.value = text
        from.after(area)
        area.select()
        copied = document.execCommand('copy')
        area.remove()
        from.focus()
    }
    const label = from.dataset.label ??= from.textContent ?? ''
    from.textContent = copied ? 'Copied' : 'Not copied'
    setTimeout(() => { from.textContent = label }, 2000)
}

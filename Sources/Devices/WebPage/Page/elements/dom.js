// Makes and updates elements. Text becomes text nodes only: the data of messages comes from anywhere.

/** `h('p.quiet', { title }, 'text', child)`: `on…` are listeners; `true` sets an attribute, false and null omit it. */
export function h(spec, ...children) {
  const [tag, ...classes] = spec.split('.')
  const element = document.createElement(tag)
  if (classes.length) element.className = classes.join(' ')
  if (tag === 'button') element.type = 'button'
  const attributes = children[0]?.constructor === Object ? children.shift() : {}
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value != null && value !== false) element.setAttribute(name, value === true ? '' : value)
  }
  fill(element, ...children)
  return element
}

export function fill(element, ...children) {
  element.replaceChildren(...children.filter(child => child != null && child !== false))
}

/** A longer text is cut: a browser lays out megabytes of text too slowly. */
const textLimit = 2000
const putTexts = new WeakMap()

/** A long text is cut and gets a button that shows all of it, except within a button. */
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

/** A child stays if an item has its key, with its focus, text and scroll position. Equal keys go by their order. */
export function reconcile(parent, items, key, create, update = () => {}) {
  const counts = new Map()
  const keys = items.map((item, index) => {
    const name = key(item, index)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    return `${counts.get(name)} ${name}`
  })
  const kept = new Map([...parent.children].map(child => [child.itemKey, child]))
  const wanted = new Set(keys)
  for (const [name, child] of kept) if (!wanted.has(name)) child.remove()
  let next = parent.firstElementChild
  items.forEach((item, index) => {
    const child = kept.get(keys[index]) ?? Object.assign(create(item), { itemKey: keys[index] })
    // Moving an element takes the focus away from it.
    if (child === next) next = next.nextElementSibling
    else parent.insertBefore(child, next)
    update(child, item, index)
  })
}

export function iconButton(symbol, label, action, className = '') {
  return button(unspoken('span', symbol), action, { class: `icon ${className}`, 'aria-label': label })
}

/** A new text node would be announced and laid out again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

export function unspoken(spec, ...children) { return h(spec, { 'aria-hidden': 'true' }, ...children) }

export function textField(attributes) {
  return h('input', { class: 'field', autocomplete: 'off', spellcheck: 'false', ...attributes })
}

let lastID = 0

export function uniqueID() { return `e${++lastID}` }

export function button(text, action, attributes = {}) {
  return h('button', { class: 'button', onclick: action, ...attributes }, text)
}

export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

import { adopt, button, copy, fill, h, setText } from './dom.js'
import { bytes, count, plural, printable, shortened } from './text.js'

/** The children that one node shows; more are grouped in ranges. */
const GROUP = 100
/** The characters of a string that are shown at first, those of a block, and the blocks that a button adds. */
const SHOWN = 500, BLOCK = 20_000, BLOCKS = 10
/** The rows that are open at first. */
const OPEN_ROWS = 60
/** Search ends after so many matches. */
const MATCHES = 1000

/**
 * @typedef {{key: string | number | null, value: any, path: string, level: number, range?: [number, number],
 *   parent: Node | null, element?: HTMLElement, group?: HTMLElement, children?: Node[]}} Node
 */
/** @type {WeakMap<Element, Node>} */
const nodes = new WeakMap()

/**
 * JSON as a tree. The rows of a node are made when it is opened, so that several MiB can be shown. Set `prefix`, the
 * path of the value in expressions, then `value`. The event `filter` has an expression that selects a value.
 */
export class SegueTree extends HTMLElement {
    prefix = ''
    #value
    #root = null
    #chosen = null
    /** The nodes that contain the searched text, each with the nodes above it. @type {Node[][]} */
    #matches = []
    #match = -1
    #timer = 0
    #tree = h('div.tree', { role: 'tree', onkeydown: event => this.#key(event),
        onclick: event => this.#clicked(event) })
    #search = h('input.field.small', {
        type: 'search', placeholder: 'Find', autocomplete: 'off', spellcheck: 'false',
        oninput: () => {
            clearTimeout(this.#timer)
            this.#timer = setTimeout(() => this.#find(), 200)
        },
        onkeydown: event => {
            if (event.key === 'Enter') this.#show(event.shiftKey ? -1 : 1)
            if (event.key !== 'Escape' || !this.#search.value) return
            this.#search.value = ''
            this.#find()
            event.preventDefault()
            event.stopPropagation()
        },
    })
    #found = h('span.found', { role: 'status' })
    #path = h('bdi.path')
    #only = button('Filter', () => this.#filter(), { class: 'button small',
        title: 'Show only messages with this value' })
    #copyPath = button('Copy path', () => copy(this.#chosen.path, this.#copyPath), { class: 'button small' })
    #copy = button('Copy', () => copy(jsonText((this.#chosen ?? this.#root).value), this.#copy),
        { class: 'button small' })

    connectedCallback() {
        adopt(this)
        if (this.firstChild) return
        const label = this.getAttribute('label')
        this.#tree.setAttribute('aria-label', label)
        this.#search.setAttribute('aria-label', `Find in the ${label.toLowerCase()}`)
        fill(this, h('div.tree-bar', this.#search, this.#found, this.#path, this.#only, this.#copyPath, this.#copy),
            this.#tree)
        this.#draw()
    }

    set value(value) {
        this.#value = value
        if (this.firstChild) this.#draw()
    }

    #draw() {
        this.#root = { key: null, value: this.#value, path: this.prefix, level: 0, parent: null }
        this.#choose(null)
        const top = childrenOf(this.#root).length ? childrenOf(this.#root) : [Object.assign(this.#root, { level: 1 })]
        fill(this.#tree, ...top.map(makeRow))
        top[0].element.tabIndex = 0
        // Opens what fits in one view, level by level, so that the first look shows the most.
        let rows = top.length
        for (const queue = top.slice(); queue.length;) {
            const node = queue.shift()
            const children = node.range ? [] : childrenOf(node)
            rows += children.length
            if (rows > OPEN_ROWS) break
            open(node)
            queue.push(...children)
        }
    }

    #choose(node, focus = false) {
        this.#chosen?.element?.setAttribute('aria-selected', 'false')
        this.#chosen = node
        const path = node && !node.range ? node.path : ''
        setText(this.#path, shortened(path, 80))
        this.#copyPath.hidden = !path
        this.#only.hidden = !path || !this.prefix || isContainer(node.value) || String(node.value).length > 200
        if (!node) return
        for (const former of this.#tree.querySelectorAll('[tabindex="0"]')) former.tabIndex = -1
        node.element.setAttribute('aria-selected', 'true')
        node.element.tabIndex = 0
        if (focus) node.element.focus({ preventScroll: true })
        node.element.firstChild.scrollIntoView({ block: 'nearest' })
    }

    #clicked(event) {
        const node = nodes.get(event.target.closest('[role=treeitem]'))
        // A selection of text is to be copied, not to open a node.
        if (!node || event.target.closest('button') || getSelection().toString()) return
        toggle(node)
        this.#choose(node, true)
    }

    #key(event) {
        const node = nodes.get(event.target)
        if (!node || event.metaKey || event.ctrlKey || event.altKey) return
        const rows = [...this.#tree.querySelectorAll('[role=treeitem]')].filter(row => !row.closest('[hidden]'))
        const go = row => { if (row) this.#choose(nodes.get(row), true) }
        const expanded = node.element.getAttribute('aria-expanded')
        const actions = {
            ArrowDown: () => go(rows[rows.indexOf(node.element) + 1]),
                ArrowUp: () => go(rows[rows.indexOf(node.element) - 1]),
            ArrowRight: () => expanded === 'false' ? open(node) : go(node.group?.firstChild),
            ArrowLeft: () => expanded === 'true' ? close(node) : go(node.parent?.element),
            Home: () => go(rows[0]), End: () => go(rows.at(-1)),
            Enter: () => {
                if (expanded) toggle(node)
                else node.element.querySelector('button')?.click()
                this.#choose(node, true)
            },
        }
        if (!actions[event.key]) return
        actions[event.key]()
        event.preventDefault()
        event.stopPropagation()
    }

    #filter() {
        const expression = `${this.#chosen.path} == ${JSON.stringify(this.#chosen.value)}`
        this.dispatchEvent(new CustomEvent('filter', { detail: { expression } }))
    }

    #find() {
        const text = this.#search.value.trim().toLowerCase()
        this.#matches = text ? search(this.#root, text) : []
        this.#match = -1
        setText(this.#found, text ? 'none' : '')
        this.#show(1)
    }

    #show(step) {
        this.#tree.querySelector('.match')?.classList.remove('match')
        if (!this.#matches.length) return
        this.#match = (this.#match + step + this.#matches.length) % this.#matches.length
        const trail = this.#matches[this.#match]
        trail.slice(0, -1).forEach(open)
        trail.at(-1).element.firstChild.classList.add('match')
        this.#choose(trail.at(-1))
        setText(this.#found, `${this.#match + 1} of ${this.#matches.length}${this.#matches.length === MATCHES ? '+' : ''}`)
    }
}

function makeRow(node) {
    const { key, value, range, level } = node
    const opens = childrenOf(node).length > 0
    const line = h('span.line', h('span.twist', { 'aria-hidden': 'true' }, opens ? '▸' : ''))
    if (range) line.append(h('span.quiet', `[${count(range[0])} … ${count(range[1] - 1)}]`))
    else {
        if (key !== null) line.append(h('bdi.key', shortened(key, 200)), h('span.quiet', ': '))
        if (typeof value === 'string') line.append(stringOf(value))
        else if (!isContainer(value)) line.append(h(value === null ? 'span.value.null' : 'span.value', String(value)))
        else if (Array.isArray(value)) line.append(h('span.quiet', opens ? plural(value.length, 'element') : '[]'))
        else line.append(h('span.quiet', opens ? plural(Object.keys(value).length, 'member') : '{}'))
    }
    node.element = h('div.node', { role: 'treeitem', tabindex: -1, 'aria-level': level, 'aria-expanded': opens ? 'false'
        : null, 'aria-selected': 'false' }, line)
    node.element.style.setProperty('--level', Math.min(level - 1, 24))
    nodes.set(node.element, node)
    return node.element
}

function open(node) {
    if (node.element?.getAttribute('aria-expanded') !== 'false') return
    node.element.setAttribute('aria-expanded', 'true')
    if (!node.group) {
        node.group = h('div', { role: 'group' }, ...childrenOf(node).map(makeRow))
        node.element.append(node.group)
    }
    node.group.hidden = false
}

function close(node) {
    node.element.setAttribute('aria-expanded', 'false')
    node.group.hidden = true
}

function toggle(node) {
    if (node.element.getAttribute('aria-expanded') === 'true') close(node)
    else open(node)
}

function isContainer(value) {
    return typeof value === 'object' && value !== null
}

/** @param {Node} node @returns {Node[]} */
function childrenOf(node) {
    if (node.children || !isContainer(node.value)) return node.children ??= []
    const { value, path } = node
    const keys = Array.isArray(value) ? null : Object.keys(value)
    const [start, end] = node.range ?? [0, (keys ?? value).length]
    const level = node.level + 1
    if (end - start > GROUP) {
        const size = GROUP ** (Math.ceil(Math.log(end - start) / Math.log(GROUP)) - 1)
        return node.children = Array.from({ length: Math.ceil((end - start) / size) }, (_, index) => ({
            key: null, value, path, level, parent: node, range: [start + index * size,
                Math.min(start + (index + 1) * size, end)],
        }))
    }
    return node.children = Array.from({ length: end - start }, (_, index) => {
        const key = keys ? keys[start + index] : start + index
        return { key, value: value[key], path: keys ? `${path}${path && '.'}${key}` : `${path}[${key}]`, level,
            parent: node }
    })
}

/** A string. A long one gets a button that adds blocks, which are laid out when they are scrolled into view. */
function stringOf(value) {
    const write = text => text.split('\n').map(printable).join('\n')
    if (value.length <= SHOWN) return h('bdi.value.string', `"${write(value)}"`)
    let length = SHOWN
    const more = button(`Show more of ${bytes(value.length)}`, () => {
        for (let block = 0; block < BLOCKS && length < value.length; block++, length += BLOCK) {
            more.before(h('bdi.value.string.block', write(value.slice(length, length + BLOCK))))
        }
        more.hidden = length >= value.length
    }, { class: 'button small', tabindex: -1 })
    return h('span', h('bdi.value.string', `"${write(value.slice(0, SHOWN))}`), more)
}

export function jsonText(value) {
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''
}

/** Finds text in keys and values. */
function search(root, text) {
    const found = []
    const stack = [root]
    while (stack.length && found.length < MATCHES) {
        const node = stack.pop()
        const inKey = !node.range && String(node.key ?? '').toLowerCase().includes(text)
        if (inKey || !isContainer(node.value) && String(node.value).toLowerCase().includes(text)) {
            const trail = []
            for (let one = node; one; one = one.parent) trail.unshift(one)
            found.push(trail)
        }
        stack.push(...childrenOf(node).toReversed())
    }
    return found
}

customElements.define('segue-tree', SegueTree)

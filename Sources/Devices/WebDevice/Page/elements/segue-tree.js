// @ts-check
import { adopt, button, copy, fill, h, loadStyles, setText, uniqueID } from './dom.js'
import { bytes, count, plural, printable } from './text.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'tree.css')

/** The children that one node shows; more are grouped in ranges. */
const GROUP = 100
/** The characters of a string that are shown first, and the rows that are open at first. */
const SHOWN = 500
const OPEN_ROWS = 60
/** Search ends after so many matches. */
const MATCHES = 1000

/**
 * @typedef {{key: string | number | null, value: any, path: string, level: number, range?: [number, number],
 *   parent: TreeNode | null, element?: HTMLElement, group?: HTMLElement, children?: TreeNode[]}} TreeNode
 */

/** JSON as a tree: rows are made when their parent is opened, so that several MiB can be shown. */
export class SegueTree extends HTMLElement {
    /** @type {TreeNode | null} */
    #root = null
    #value = /** @type {any} */ (undefined)
    #prefix = 'data'
    /** @type {TreeNode | null} */
    #chosen = null
    /** @type {TreeNode[][]} */
    #matches = []
    #match = -1
    #timer = 0
    #label = uniqueID('tree')
    #tree = h('div', { role: 'tree', class: 'tree', onkeydown: (/** @type {any} */ event) => this.#key(event), onclick: (/** @type {any} */ event) => this.#clicked(event) })
    #search = h('input', {
        type: 'search', class: 'field small', placeholder: 'Find', 'aria-label': 'Find in the data', autocomplete: 'off', spellcheck: 'false',
        oninput: () => { clearTimeout(this.#timer); this.#timer = setTimeout(() => this.#find(), 200) },
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key === 'Enter') this.#nextMatch(event.shiftKey ? -1 : 1)
            else if (event.key === 'Escape' && this.#search.value) { this.#search.value = ''; this.#find(); event.stopPropagation() }
        },
    })
    #found = h('span', { class: 'found', role: 'status' })
    #path = h('bdi', { class: 'path' })
    #copyValue = button('Copy', () => copy(jsonText(this.#chosen ? this.#chosen.value : this.#value), this.#copyValue), { class: 'button small' })
    #copyPath = button('Copy path', () => copy(this.#chosen?.path ?? this.#prefix, this.#copyPath), { class: 'button small', hidden: true })
    #only = button('Filter', () => this.#filter(), { class: 'button small', hidden: true, title: 'Show only messages with this value' })

    connectedCallback() {
        adopt(this, styles)
        if (this.#tree.isConnected) return
        this.#tree.setAttribute('aria-label', this.getAttribute('label') ?? 'Data')
        fill(this, h('div', { class: 'tree-bar' }, this.#search, this.#found, this.#path, this.#only, this.#copyPath, this.#copyValue), this.#tree)
        this.#draw()
    }

    /** The path of the root in expressions: `data`, or empty for attributes. */
    set prefix(/** @type {string} */ prefix) {
        this.#prefix = prefix
    }

    get value() {
        return this.#value
    }

    set value(value) {
        this.#value = value
        this.#search.value = ''
        this.#matches = []
        if (this.#tree.isConnected) this.#draw()
    }

    #draw() {
        this.#root = { key: null, value: this.#value, path: this.#prefix, level: 0, parent: null }
        this.#choose(null)
        setText(this.#found, '')
        const top = isContainer(this.#value) && childrenOf(this.#root).length ? childrenOf(this.#root) : [this.#root]
        for (const node of top) node.level = 1
        fill(this.#tree, ...top.map(node => this.#row(node)))
        // Opens what fits in one view, level by level, so that the first look shows the most.
        let rows = top.length
        const queue = [...top]
        for (let node = queue.shift(); node; node = queue.shift()) {
            const children = node === this.#root || node.range ? [] : childrenOf(node)
            if (!children.length) continue
            rows += children.length
            if (rows > OPEN_ROWS) break
            this.#open(node)
            queue.push(...children)
        }
        const first = this.#tree.querySelector('[role=treeitem]')
        if (first instanceof HTMLElement) first.tabIndex = 0
    }

    /** @param {TreeNode} node @returns {HTMLElement} */
    #row(node) {
        const opens = isContainer(node.value) && childrenOf(node).length > 0
        const line = h('span', { class: 'line' }, h('span', { class: 'twist', 'aria-hidden': 'true' }, opens ? '▸' : ''))
        if (node.range) line.append(h('span', { class: 'quiet' }, `[${count(node.range[0])} … ${count(node.range[1] - 1)}]`))
        else {
            if (node.key !== null) line.append(h('bdi', { class: 'key' }, shortened(printable(node.key), 200)), h('span', { class: 'quiet' }, ': '))
            line.append(valueOf(node.value, opens))
        }
        node.element = h('div', {
            role: 'treeitem', class: 'node', tabindex: -1, 'aria-level': node.level,
            'aria-expanded': opens ? 'false' : null, 'aria-selected': 'false',
        }, line)
        nodes.set(/** @type {HTMLElement} */ (node.element), node)
        node.element?.style.setProperty('--level', String(Math.min(node.level - 1, 24)))
        return /** @type {HTMLElement} */ (node.element)
    }

    #open(/** @type {TreeNode} */ node) {
        const element = node.element
        if (!element || element.getAttribute('aria-expanded') !== 'false') return
        element.setAttribute('aria-expanded', 'true')
        if (node.group) node.group.hidden = false
        else {
            node.group = h('div', { role: 'group' }, ...childrenOf(node).map(child => this.#row(child)))
            element.append(/** @type {HTMLElement} */ (node.group))
        }
    }

    #close(/** @type {TreeNode} */ node) {
        if (node.element?.getAttribute('aria-expanded') !== 'true') return
        node.element.setAttribute('aria-expanded', 'false')
        if (node.group) node.group.hidden = true
    }

    #choose(/** @type {TreeNode | null} */ node, focus = false) {
        if (this.#chosen?.element) {
            this.#chosen.element.setAttribute('aria-selected', 'false')
            this.#chosen.element.tabIndex = -1
        }
        this.#chosen = node
        const expression = node && !node.range ? node.path : ''
        setText(this.#path, shortened(printable(expression), 80))
        this.#path.title = printable(expression)
        this.#copyPath.hidden = !expression
        this.#only.hidden = !expression || isContainer(node?.value) || String(node?.value).length > 200
        if (!node?.element) return
        const first = this.#tree.querySelector('[tabindex="0"]')
        if (first instanceof HTMLElement) first.tabIndex = -1
        node.element.setAttribute('aria-selected', 'true')
        node.element.tabIndex = 0
        if (focus) node.element.focus({ preventScroll: true })
        node.element.firstElementChild?.scrollIntoView({ block: 'nearest' })
    }

    #clicked(/** @type {MouseEvent} */ event) {
        const target = /** @type {HTMLElement} */ (event.target)
        if (target.closest('button')) return
        const element = target.closest('[role=treeitem]')
        const node = element && nodes.get(element)
        if (!node) return
        // A selection of text is to be copied, not to open a node.
        if (getSelection()?.toString()) return
        if (target.closest('.line')) node.element?.getAttribute('aria-expanded') === 'true' ? this.#close(node) : this.#open(node)
        this.#choose(node, true)
    }

    #key(/** @type {KeyboardEvent} */ event) {
        const element = /** @type {HTMLElement} */ (event.target).closest('[role=treeitem]')
        const node = element && nodes.get(element)
        if (!node || event.target !== element || event.metaKey || event.ctrlKey || event.altKey) return
        const rows = /** @type {HTMLElement[]} */ ([...this.#tree.querySelectorAll('[role=treeitem]')]).filter(row => !row.closest('[hidden]'))
        const go = (/** @type {Element | null | undefined} */ row) => { if (row) this.#choose(nodes.get(row) ?? null, true) }
        const expanded = element.getAttribute('aria-expanded')
        switch (event.key) {
        case 'ArrowDown': go(rows[rows.indexOf(/** @type {HTMLElement} */ (element)) + 1]); break
        case 'ArrowUp': go(rows[rows.indexOf(/** @type {HTMLElement} */ (element)) - 1]); break
        case 'ArrowRight': expanded === 'false' ? this.#open(node) : expanded && go(node.group?.firstElementChild); break
        case 'ArrowLeft': expanded === 'true' ? this.#close(node) : go(node.parent?.element); break
        case 'Home': go(rows[0]); break
        case 'End': go(rows.at(-1)); break
        case 'Enter': case ' ':
            if (!expanded) element.querySelector('button')?.click()
            expanded === 'true' ? this.#close(node) : this.#open(node)
            this.#choose(node, true)
            break
        default: return
        }
        event.preventDefault()
        event.stopPropagation()
    }

    #filter() {
        const node = this.#chosen
        if (!node) return
        const value = node.value === null ? 'null' : JSON.stringify(node.value)
        this.dispatchEvent(new CustomEvent('filter', { bubbles: true, detail: { expression: `${node.path} == ${value}` } }))
    }

    #find() {
        for (const marked of this.#tree.querySelectorAll('.match')) marked.classList.remove('match')
        const text = this.#search.value.trim().toLowerCase()
        this.#matches = text && this.#root ? search(this.#root, text) : []
        this.#match = -1
        setText(this.#found, text && !this.#matches.length ? 'none' : '')
        if (this.#matches.length) this.#nextMatch(1)
    }

    #nextMatch(/** @type {number} */ step) {
        if (!this.#matches.length) return
        this.#match = (this.#match + step + this.#matches.length) % this.#matches.length
        const trail = this.#matches[this.#match]
        for (const node of trail.slice(0, -1)) this.#open(node)
        const node = trail[trail.length - 1]
        for (const marked of this.#tree.querySelectorAll('.match')) marked.classList.remove('match')
        node.element?.firstElementChild?.classList.add('match')
        this.#choose(node)
        setText(this.#found, `${this.#match + 1} of ${this.#matches.length}${this.#matches.length >= MATCHES ? '+' : ''}`)
    }
}

/** @type {WeakMap<Element, TreeNode>} */
const nodes = new WeakMap()

function isContainer(/** @type {any} */ value) {
    return typeof value === 'object' && value !== null
}

/** @param {TreeNode} node @returns {TreeNode[]} */
function childrenOf(node) {
    if (node.children) return node.children
    if (!isContainer(node.value)) return node.children = []
    const list = Array.isArray(node.value)
    const keys = list ? null : Object.keys(node.value)
    const [start, end] = node.range ?? [0, list ? node.value.length : /** @type {string[]} */ (keys).length]
    const level = node.level + 1
    if (end - start > GROUP) {
        const size = GROUP ** Math.max(1, Math.ceil(Math.log(end - start) / Math.log(GROUP)) - 1)
        return node.children = Array.from({ length: Math.ceil((end - start) / size) }, (_, index) => ({
            ...node, level, parent: node, element: undefined, group: undefined, children: undefined,
            range: [start + index * size, Math.min(start + (index + 1) * size, end)],
        }))
    }
    return node.children = Array.from({ length: end - start }, (_, index) => {
        const key = list ? start + index : /** @type {string[]} */ (keys)[start + index]
        return { key, value: node.value[key], path: pathOf(node.path, key), level, parent: node }
    })
}

function pathOf(/** @type {string} */ path, /** @type {string | number} */ key) {
    if (typeof key === 'number') return `${path}[${key}]`
    return path ? `${path}.${key}` : key
}

/** @param {any} value @param {boolean} opens @returns {Node} */
function valueOf(value, opens) {
    if (Array.isArray(value)) return h('span', { class: 'quiet' }, opens ? plural(value.length, 'element') : '[]')
    if (isContainer(value)) return h('span', { class: 'quiet' }, opens ? plural(Object.keys(value).length, 'member') : '{}')
    if (typeof value === 'string') return stringOf(value)
    return h('span', { class: `value ${value === null ? 'null' : typeof value}` }, value === undefined ? 'no value' : String(value))
}

/** A string, of which a button shows more and more: the layout of several MiB in one text takes seconds. */
function stringOf(/** @type {string} */ value) {
    const text = h('bdi', { class: 'value string' })
    const show = (/** @type {number} */ length) => {
        fill(text, `"${value.slice(0, length).split('\n').map(printable).join('\n')}`, length < value.length ? '…' : '"')
        if (length < value.length) {
            const next = Math.min(value.length, length * 20)
            text.append(button(`Show ${next < value.length ? 'more' : 'all'} of ${bytes(value.length)}`, () => show(next), { class: 'button small', tabindex: -1 }))
        }
    }
    show(SHOWN)
    return text
}

function shortened(/** @type {string} */ text, /** @type {number} */ length) {
    return text.length > length ? text.slice(0, length - 1) + '…' : text
}

export function jsonText(/** @type {any} */ value) {
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''
}

/** Finds text in keys and values; each match is the trail of nodes that leads to it. */
function search(/** @type {TreeNode} */ root, /** @type {string} */ text) {
    /** @type {TreeNode[][]} */
    const found = []
    const stack = [root]
    for (let node = stack.pop(); node && found.length < MATCHES; node = stack.pop()) {
        const own = !node.range && node.key !== null && String(node.key).toLowerCase().includes(text)
        const value = !isContainer(node.value) && String(node.value).toLowerCase().includes(text)
        if (own || value) {
            const trail = [node]
            for (let parent = node.parent; parent; parent = parent.parent) trail.unshift(parent)
            found.push(trail)
        }
        stack.push(...childrenOf(node).slice().reverse())
    }
    return found
}

customElements.define('segue-tree', SegueTree)

// @ts-check
import { fill, h, setText } from './dom.js'
import { copy, smallButton } from './inspector-element.js'
import { shortened } from './text.js'
import { TreeNode } from './tree-node.js'

/** The rows that are open at first, the matches that are found, and the length of values that can be filtered by. */
const OPEN = 60, MATCHES = 1000, FILTERED = 200

/** JSON as a tree. The rows of a node are made when it is opened, so that several MiB can be shown. */
export class SegueTree extends HTMLElement {
  #root
  /** @type {any} */
  #chosen
  /** The nodes that contain the searched text. */
  #matches = []
  #match = -1
  #timer = 0
  #tree = h('div.tree',
    { role: 'tree', onkeydown: event => this.#key(event), onclick: event => this.#clicked(event) })
  #search = h('input.field.small', {
    type: 'search', placeholder: 'Find', autocomplete: 'off', spellcheck: 'false',
    oninput: () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#find(), 200)
    },
    onkeydown: event => {
      if (event.key === 'Enter') this.#showMatch(event.shiftKey ? -1 : 1)
      if (event.key !== 'Escape' || !this.#search.value) return
      this.#search.value = ''
      this.#find()
      event.preventDefault()
    },
  })
  #found = h('span.quiet', { role: 'status' })
  #path = h('bdi.path.code.quiet')
  #filter = smallButton('Filter', () => this.#only(`${this.#chosen.path} == ${JSON.stringify(this.#chosen.value)}`),
    { title: 'Show only messages with this value' })
  #copyPath = smallButton('Copy path', () => copy(this.#chosen.path, this.#copyPath))
  #copy = smallButton('Copy', () => copy(textOf((this.#chosen ?? this.#root).value), this.#copy))
  #only

  /**
   * @param {string} label @param {any} value @param {string} path the path of the value in expressions
   * @param {(expression: string) => void} [only] shows only messages that an expression selects
   */
  constructor(label, value, path, only) {
    super()
    this.#only = only
    this.#root = new TreeNode(value, path)
    this.#tree.ariaLabel = label
    this.#search.ariaLabel = `Find in the ${label.toLowerCase()}`
    const top = this.#root.children.length ? this.#root.children : [this.#root]
    fill(this.#tree, ...top.map(node => node.draw()))
    fill(this, h('div.wrapping.tree-bar', this.#search, this.#found, this.#path, this.#filter, this.#copyPath,
      this.#copy), this.#tree)
    this.#choose(null)
    top[0].element.tabIndex = 0
    // Opens what fits in one view, level by level, so that the first look shows the most.
    let rows = top.length
    for (const queue = [...top]; queue.length;) {
      const node = queue.shift(), children = node.range ? [] : node.children
      rows += children.length
      if (rows > OPEN) break
      if (children.length) node.isOpen = true
      queue.push(...children)
    }
  }

  #choose(node) {
    const path = node && !node.range ? node.path : ''
    setText(this.#path, shortened(path, 80))
    this.#copyPath.hidden = !path
    this.#filter.hidden = !path || !this.#only || node.isContainer || String(node.value).length > FILTERED
    if (!node) return
    if (this.#chosen) this.#chosen.element.ariaSelected = 'false'
    this.#chosen = node
    this.#tree.querySelector('.node[tabindex="0"]').tabIndex = -1
    Object.assign(node.element, { ariaSelected: 'true', tabIndex: 0 })
    node.element.firstChild.scrollIntoView({ block: 'nearest' })
  }

  #go(node) {
    if (!node?.element) return
    this.#choose(node)
    node.element.focus({ preventScroll: true })
  }

  #clicked(event) {
    const { node } = event.target.closest('.node') ?? {}
    // A selection of text is to be copied, not to open a node.
    if (!node || event.target.closest('button') || getSelection().toString()) return
    node.isOpen = !node.isOpen
    this.#go(node)
  }

  #key(event) {
    const { node } = event.target
    if (!node || event.metaKey || event.ctrlKey || event.altKey) return
    const rows = [...this.#tree.querySelectorAll('.node')].filter(row => row.checkVisibility())
    const place = rows.indexOf(event.target)
    const action = {
      ArrowDown: () => this.#go(rows[place + 1]?.node), ArrowUp: () => this.#go(rows[place - 1]?.node),
      ArrowRight: () => { node.isOpen === false ? node.isOpen = true : this.#go(node.children[0]) },
      ArrowLeft: () => { node.isOpen ? node.isOpen = false : this.#go(node.parent) },
      Home: () => this.#go(rows[0].node), End: () => this.#go(rows.at(-1).node),
      Enter: () => {
        if (!node.children.length) event.target.querySelector('button')?.click()
        node.isOpen = !node.isOpen
        this.#go(node)
      },
    }[event.key]
    if (!action) return
    action()
    event.preventDefault()
  }

  #find() {
    const text = this.#search.value.trim().toLowerCase()
    this.#matches = []
    for (const stack = text ? [this.#root] : []; stack.length && this.#matches.length < MATCHES;) {
      const node = stack.pop()
      if (node.contains(text)) this.#matches.push(node)
      stack.push(...node.children.toReversed())
    }
    this.#match = -1
    setText(this.#found, text ? 'none' : '')
    this.#showMatch(1)
  }

  #showMatch(step) {
    this.#tree.querySelector('.match')?.classList.remove('match')
    const total = this.#matches.length
    if (!total) return
    this.#match = (this.#match + step + total) % total
    const node = this.#matches[this.#match]
    node.reveal()
    node.element.firstChild.classList.add('match')
    this.#choose(node)
    setText(this.#found, `${this.#match + 1} of ${total}${total === MATCHES ? '+' : ''}`)
  }
}

/** A value to copy: JSON with indentation; a string as it is. */
function textOf(value) { return typeof value === 'string' ? value : JSON.stringify(value, null, 2) }

customElements.define('segue-tree', SegueTree)

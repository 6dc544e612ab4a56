import { hasModifier } from '../elements/controls.js'
import { fill, h, setText, textField, unspoken } from '../elements/dom.js'
import { isContainer, plain } from '../elements/json-text.js'
import { bytes, count, plural, printableLines, shortened } from '../elements/text.js'
import { copy, smallButton } from './inspector-element.js'

/** The rows that are open at first, and the children of a row that are not grouped. */
const OPEN = 60, GROUP = 100
/** The characters of a string at first and in a block, and the blocks that a button adds. */
const SHOWN = 500, BLOCK = 20_000, BLOCKS = 10
const DEEPEST_INDENT = 24

/** A tree of JSON. Rows are made when a node is opened, so that several MiB can be shown. */
export class SegueTree extends HTMLElement {
  #root
  #chosen
  /** The search goes on from the last node that was found. */
  #matches
  #tree = h('div.tree',
    { role: 'tree', onkeydown: event => this.#key(event), onclick: event => this.#clicked(event) })
  #search = textField({
    class: 'field small', type: 'search', placeholder: 'Find',
    oninput: () => { this.#matches = null },
    onkeydown: event => { if (event.key === 'Enter') this.#find() },
  })
  #found = h('span.quiet', { role: 'status' })
  #copy = smallButton('Copy', () => copy(textOf(this.#chosen.value), this.#copy))

  constructor(label, value) {
    super()
    this.#root = this.#chosen = new TreeNode(value)
    this.#tree.ariaLabel = label
    this.#search.ariaLabel = `Find in the ${label.toLowerCase()}`
    const top = this.#root.children.length ? this.#root.children : [this.#root]
    fill(this.#tree, ...top.map(node => node.draw()))
    fill(this, h('div.wrapping.tree-bar', this.#search, this.#found, this.#copy), this.#tree)
    top[0].element.tabIndex = 0
    // Opens level by level what fits in one view.
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
    const { element } = node
    this.#chosen.element?.classList.remove('chosen')
    this.#chosen = node
    this.#tree.querySelector('[tabindex="0"]').tabIndex = -1
    element.tabIndex = 0
    element.classList.add('chosen')
    element.firstChild.scrollIntoView({ block: 'nearest' })
  }

  #go(node) {
    if (!node?.element) return
    this.#choose(node)
    node.element.focus({ preventScroll: true })
  }

  #clicked(event) {
    const { node } = event.target.closest('.node') ?? {}
    // A selection of text is to be copied.
    if (!node || event.target.closest('button') || getSelection().toString()) return
    node.isOpen = !node.isOpen
    this.#go(node)
  }

  #key(event) {
    const { node } = event.target
    if (!node || hasModifier(event)) return
    const rows = [...this.#tree.querySelectorAll('.node')].filter(row => row.checkVisibility())
    const place = rows.indexOf(event.target)
    const action = {
      ArrowDown: () => this.#go(rows[place + 1]?.node), ArrowUp: () => this.#go(rows[place - 1]?.node),
      ArrowRight: () => { node.isOpen === false ? node.isOpen = true : this.#go(node.children[0]) },
      ArrowLeft: () => { node.isOpen ? node.isOpen = false : this.#go(node.parent) },
      Home: () => this.#go(rows[0].node), End: () => this.#go(rows.at(-1).node),
      Enter: () => node.children.length ? node.isOpen = !node.isOpen : event.target.querySelector('button')?.click(),
    }[event.key]
    if (!action) return
    action()
    event.preventDefault()
  }

  #find() {
    const text = this.#search.value.trim().toLowerCase()
    const next = () => {
      this.#matches ??= matching(this.#root, text)
      return this.#matches.next().value
    }
    let node = text && next()
    if (text && !node) {
      this.#matches = null
      node = next()
    }
    setText(this.#found, node || !text ? '' : 'none')
    if (!node) return
    node.reveal()
    this.#choose(node)
  }
}

/** `text` is in lower case. */
function* matching(root, text) {
  for (const stack = [root]; stack.length;) {
    const node = stack.pop(), texts = [node.key ?? '', node.isContainer ? '' : plain(node.value)]
    if (texts.some(part => String(part).toLowerCase().includes(text))) yield node
    stack.push(...node.children.toReversed())
  }
}

function textOf(value) { return typeof value === 'string' ? value : JSON.stringify(value, null, 2) }

class TreeNode {
  element
  #children

  /** `range` is the part of the children of `value`; null for all. */
  constructor(value, parent = null, key = null, range = null) {
    Object.assign(this, { value, parent, key, range, level: parent ? parent.level + 1 : 0 })
  }

  get isContainer() { return isContainer(this.value) }

  get children() { return this.#children ??= this.isContainer ? this.#makeChildren() : [] }

  #makeChildren() {
    const { value } = this, keys = Object.keys(value)
    const [start, end] = this.range ?? [0, keys.length]
    const size = GROUP ** Math.max(0, Math.ceil(Math.log(end - start) / Math.log(GROUP)) - 1)
    return Array.from({ length: Math.ceil((end - start) / size) }, (_, index) => {
      const first = start + index * size
      if (size > 1) return new TreeNode(value, this, null, [first, Math.min(first + size, end)])
      return new TreeNode(value[keys[first]], this, keys[first])
    })
  }

  draw() {
    const opens = this.children.length > 0
    this.element = h('div.node', { role: 'treeitem', tabindex: -1, 'aria-expanded': opens ? 'false' : null },
      h('span.line', unspoken('span.twist', opens ? '▸' : ''), ...this.#texts()))
    this.element.node = this
    this.element.style.setProperty('--level', Math.min(this.level, DEEPEST_INDENT))
    return this.element
  }

  #texts() {
    const { key, value, range } = this
    if (range) return [h('span.quiet', `[${count(range[0])} … ${count(range[1] - 1)}]`)]
    const shown = typeof value === 'string' ? stringOf(value)
      : !this.isContainer ? h(value === null ? 'span.value.quiet' : 'span.value', String(plain(value)))
        : h('span.quiet', plural(Object.keys(value).length, Array.isArray(value) ? 'element' : 'member'))
    return key === null ? [shown] : [h('bdi.key', shortened(key)), h('span.quiet', ': '), shown]
  }

  get isOpen() { return { true: true, false: false }[this.element.ariaExpanded] }

  set isOpen(isOpen) {
    if (this.isOpen === undefined) return
    this.element.ariaExpanded = String(isOpen)
    if (this.element.children.length === 1) {
      this.element.append(h('div', { role: 'group' }, ...this.children.map(child => child.draw())))
    }
    this.element.lastChild.hidden = !isOpen
  }

  reveal() {
    if (!this.parent?.element) return
    this.parent.reveal()
    this.parent.isOpen = true
  }
}

/** The button of a long string adds blocks, which are laid out when they are in view. */
function stringOf(value) {
  if (value.length <= SHOWN) return h('bdi.value.string', `"${printableLines(value)}"`)
  let length = SHOWN
  const more = smallButton(`Show more of ${bytes(value.length)}`, () => {
    for (let block = 0; block < BLOCKS && length < value.length; block++, length += BLOCK) {
      more.before(h('bdi.value.string.block', printableLines(value.slice(length, length + BLOCK))))
    }
    more.hidden = length >= value.length
  }, { tabindex: -1 })
  return h('span', h('bdi.value.string', `"${printableLines(value.slice(0, SHOWN))}`), more)
}

customElements.define('segue-tree', SegueTree)

// @ts-check
// A node of a tree of JSON, and its row, which is made when it is first shown.

import { h } from './dom.js'
import { smallButton, symbol } from './inspector-element.js'
import { bytes, count, plural, printable, shortened } from './text.js'

/** The children that one node shows; more are grouped in ranges. */
const GROUP = 100
/** The characters of a string that are shown at first, those of a block, and the blocks that a button adds. */
const SHOWN = 500, BLOCK = 20_000, BLOCKS = 10
/** Deeper levels are not indented further. */
const INDENTED = 24

export class TreeNode {
  /** The row, which contains the rows of the children. @type {any} */
  element
  /** @type {TreeNode[] | undefined} */
  #children

  /**
   * @param {any} value @param {string} path of the value in expressions
   * @param {TreeNode | null} parent @param {string | number | null} key in the parent
   * @param {[number, number] | null} range the part of the children of `value` that the node has
   */
  constructor(value, path, parent = null, key = null, range = null) {
    Object.assign(this, { value, path, parent, key, range, level: parent ? parent.level + 1 : 0 })
  }

  get isContainer() { return typeof this.value === 'object' && this.value !== null }

  get children() { return this.#children ??= this.isContainer ? this.#makeChildren() : [] }

  #makeChildren() {
    const { value, path } = this, isList = Array.isArray(value), keys = Object.keys(value)
    const [start, end] = this.range ?? [0, keys.length]
    const size = GROUP ** Math.max(0, Math.ceil(Math.log(end - start) / Math.log(GROUP)) - 1)
    return Array.from({ length: Math.ceil((end - start) / size) }, (_, index) => {
      const first = start + index * size, key = isList ? first : keys[first]
      if (size > 1) return new TreeNode(value, path, this, null, [first, Math.min(first + size, end)])
      return new TreeNode(value[key], isList ? `${path}[${key}]` : path ? `${path}.${key}` : key, this, key)
    })
  }

  /** True if the key, or a value that is not a container, contains a text in lower case. */
  contains(text) {
    const parts = [this.key ?? '', this.isContainer ? '' : this.value]
    return parts.some(part => String(part).toLowerCase().includes(text))
  }

  // MARK: The row

  draw() {
    const opens = this.children.length > 0
    this.element = h('div.node',
      { role: 'treeitem', tabindex: -1, 'aria-selected': 'false', 'aria-expanded': opens ? 'false' : null },
      h('span.line', symbol(opens ? '▸' : '', 'span.twist'), ...this.#texts()))
    this.element.node = this
    this.element.style.setProperty('--level', Math.min(this.level, INDENTED))
    return this.element
  }

  #texts() {
    const { key, value, range } = this
    if (range) return [h('span.quiet', `[${count(range[0])} … ${count(range[1] - 1)}]`)]
    const shown = typeof value === 'string' ? stringOf(value)
      : !this.isContainer ? h(value === null ? 'span.value.quiet' : 'span.value', String(value))
        : h('span.quiet', plural(Object.keys(value).length, Array.isArray(value) ? 'element' : 'member'))
    return key === null ? [shown] : [h('bdi.key', shortened(key, 200)), h('span.quiet', ': '), shown]
  }

  /** Undefined if the node has no children. */
  get isOpen() { return { true: true, false: false }[this.element.ariaExpanded] }

  set isOpen(isOpen) {
    if (this.isOpen === undefined) return
    this.element.ariaExpanded = String(isOpen)
    if (this.element.children.length === 1) {
      this.element.append(h('div', { role: 'group' }, ...this.children.map(child => child.draw())))
    }
    this.element.lastChild.hidden = !isOpen
  }

  /** Opens the nodes above. */
  reveal() {
    if (!this.parent?.element) return
    this.parent.reveal()
    this.parent.isOpen = true
  }
}

/** A string. A long one gets a button that adds blocks, which are laid out when they are scrolled into view. */
function stringOf(value) {
  const write = text => text.split('\n').map(printable).join('\n')
  if (value.length <= SHOWN) return h('bdi.value.string', `"${write(value)}"`)
  let length = SHOWN
  const more = smallButton(`Show more of ${bytes(value.length)}`, () => {
    for (let block = 0; block < BLOCKS && length < value.length; block++, length += BLOCK) {
      more.before(h('bdi.value.string.block', write(value.slice(length, length + BLOCK))))
    }
    more.hidden = length >= value.length
  }, { tabindex: -1 })
  return h('span', h('bdi.value.string', `"${write(value.slice(0, SHOWN))}`), more)
}

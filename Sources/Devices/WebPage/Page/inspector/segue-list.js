import { hasModifier } from '../elements/controls.js'
import { fill, h, reconcile, uniqueID } from '../elements/dom.js'
import { addStyles } from '../elements/styles.js'

await addStyles('list', import.meta.url)

/** With further rows, a fast scroll shows no blank space. */
const OVERSCAN = 6
const MARGIN = 12

/** A list with only the rows in view. It follows the newest until somebody scrolls up. An entry has a `serial`. */
export class SegueList extends HTMLElement {
  #entries = []
  #isOpened = () => false
  #rowHeight = 0
  #viewHeight = 0
  #following = true
  #chosen = null
  /** The entry stays at this distance from the top when rows above it change. */
  #anchor = { entry: null, shift: 0 }
  #rows = h('div', { role: 'rowgroup' })
  #id = uniqueID()
  #makeRow
  #version
  #actions
  #pointed

  /** A new `version` of an entry makes its element anew. Of `actions`, only `open` is needed. */
  constructor(label, makeRow, version, actions) {
    super()
    this.#makeRow = makeRow
    this.#version = version
    this.#actions = actions
    Object.assign(this, { role: 'grid', ariaLabel: label, tabIndex: 0 })
    fill(this, this.#rows)
    new ResizeObserver(() => this.#resized()).observe(this)
    this.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    this.addEventListener('keydown', event => this.#key(event))
    this.addEventListener('focus', () => this.#chooseVisible())
    this.#rows.addEventListener('click', event => {
      const entry = this.#entryOf(event)
      if (!entry) return
      this.#chosen = entry
      this.#draw()
      actions.open(entry)
    })
    if (!actions.point) return
    this.#rows.addEventListener('pointerover', event => this.#point(this.#entryOf(event)))
    this.#rows.addEventListener('pointerleave', () => this.#point())
    this.addEventListener('blur', () => this.#point())
  }

  #entryOf(event) {
    const id = event.target.closest('.entry')?.id
    return this.#entries.find(entry => entry.row && this.#idOf(entry) === id)
  }

  /** Tells once that the pointer or the focus has come to an entry, or has left it. */
  #point(entry) {
    if (entry !== this.#pointed) this.#actions.point?.(entry ?? {})
    this.#pointed = entry
  }

  get isFollowing() { return this.#following }

  show(entries, isOpened = () => false) {
    this.#entries = entries
    this.#isOpened = isOpened
    this.#arrange()
  }

  follow() {
    this.#setFollowing(true)
    this.#arrange()
  }

  /** The style sheet makes the height of a row depend on the width. */
  #resized() {
    const height = parseFloat(getComputedStyle(this).getPropertyValue('--row-height'))
    if (!height) return
    this.#anchor.shift *= height / (this.#rowHeight || height)
    this.#rowHeight = height
    this.#arrange()
  }

  get #bottom() { return this.#entries.length * this.#rowHeight - this.clientHeight }

  #arrange() {
    this.#viewHeight = this.clientHeight
    this.#rows.style.height = `${this.#entries.length * this.#rowHeight}px`
    this.ariaRowCount = String(this.#entries.length)
    const index = this.#entries.indexOf(this.#anchor.entry)
    const top = this.#following ? this.#bottom : index * this.#rowHeight + this.#anchor.shift
    if ((this.#following || index >= 0) && Math.abs(top - this.scrollTop) >= 1) this.scrollTop = top
    this.#draw()
  }

  #scrolled() {
    // With another size, the browser scrolls, not a person.
    if (!this.#rowHeight || this.clientHeight !== this.#viewHeight) return
    const index = Math.floor(this.scrollTop / this.#rowHeight)
    this.#keepPlace(index)
    if (index < MARGIN) this.#actions.older?.()
    this.#draw()
  }

  #keepPlace(index) {
    this.#anchor = { entry: this.#entries[index], shift: this.scrollTop - index * this.#rowHeight }
    this.#setFollowing(this.scrollTop >= this.#bottom - 2)
  }

  #setFollowing(following) {
    if (following === this.#following) return
    this.#following = following
    this.#actions.follow?.(following)
  }

  #idOf(entry) { return `${this.#id}-${entry?.serial}` }

  #draw() {
    const height = this.#rowHeight
    if (!height) return
    const first = Math.max(0, Math.floor(this.scrollTop / height) - OVERSCAN)
    const end = Math.ceil((this.scrollTop + this.clientHeight) / height) + OVERSCAN
    this.#rows.style.paddingTop = `${first * height}px`
    reconcile(this.#rows, this.#entries.slice(first, end),
      entry => `${entry.serial} ${this.#version(entry)}`,
      entry => this.#makeRow(entry, this.#idOf(entry), () => this.#actions.load(entry)),
      (row, entry, index) => {
        row.ariaRowIndex = first + index + 1
        row.ariaSelected = entry === this.#chosen
        row.classList.toggle('opened', this.#isOpened(entry))
      })
    this.setAttribute('aria-activedescendant', document.getElementById(this.#idOf(this.#chosen))?.id ?? '')
  }

  #chooseVisible() {
    if (this.#entries.includes(this.#chosen)) return this.#point(this.#chosen)
    const last = Math.floor((this.scrollTop + this.clientHeight) / this.#rowHeight) - 1
    this.#chosen = this.#entries[last] ?? this.#entries.at(-1) ?? null
    this.#draw()
    this.#point(this.#chosen)
  }

  #key(event) {
    if (event.target !== this || hasModifier(event) || !this.#entries.length) return
    const page = Math.max(1, Math.floor(this.clientHeight / this.#rowHeight) - 1)
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }
    const step = steps[event.key], last = this.#entries.length - 1
    if (step) this.#choose(Math.min(Math.max(this.#entries.indexOf(this.#chosen) + step, 0), last))
    else if (event.key !== 'Enter') return
    else if (this.#chosen?.row) this.#actions.open(this.#chosen)
    else if (this.#chosen?.skipped) this.#actions.load?.(this.#chosen)
    event.preventDefault()
  }

  #choose(index) {
    const top = index * this.#rowHeight
    this.#chosen = this.#entries[index]
    this.scrollTop = Math.max(Math.min(this.scrollTop, top), top + this.#rowHeight - this.clientHeight)
    this.#keepPlace(index)
    this.#draw()
    this.#actions.choose?.(this.#chosen)
    this.#point(this.#chosen)
  }
}

customElements.define('segue-list', SegueList)

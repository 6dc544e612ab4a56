import { fill, h, reconcile, uniqueID } from './dom.js'
import { badge, smallButton } from './inspector-element.js'
import { placeOfRow } from './selection.js'
import { clock, count, dateAndClock, nameOf, plural, printable, processOf, shortened } from './text.js'

/** Rows that are drawn above and below the visible ones, so that a fast scroll shows no blank space. */
const OVERSCAN = 6
const MARGIN = 12

/** A list that keeps only the rows in view in the document. It follows the newest until somebody scrolls up. */
export class SegueMessageList extends HTMLElement {
  #entries = []
  #opened = ''
  #rowHeight = 0
  #viewHeight = 0
  #following = true
  #chosen = null
  /** An entry and its distance from the top: it stays there when rows are added or removed above. */
  #anchor = { entry: null, shift: 0 }
  #rows = h('div', { role: 'rowgroup' })
  #id = uniqueID()
  #actions

  constructor(actions) {
    super()
    this.#actions = actions
    Object.assign(this, { role: 'grid', ariaLabel: 'Messages', tabIndex: 0 })
    fill(this, this.#rows)
    new ResizeObserver(() => this.#resized()).observe(this)
    this.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    this.addEventListener('keydown', event => this.#key(event))
    this.addEventListener('focus', () => this.#chooseVisible())
    this.#rows.addEventListener('click', event => {
      const id = event.target.closest('.entry')?.id
      const entry = this.#entries.find(entry => entry.row && this.#idOf(entry) === id)
      if (!entry) return
      this.#chosen = entry
      this.#draw()
      actions.open(entry)
    })
  }

  get isFollowing() { return this.#following }

  show(entries, opened) {
    this.#entries = entries
    this.#opened = opened
    this.#arrange()
  }

  follow() {
    this.#setFollowing(true)
    this.#arrange()
  }

  /** The style sheet decides about the height of a row, which depends on the width. */
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
    // A list that is hidden and shown again, or gets another size, is scrolled by the browser, not by a person.
    if (!this.#rowHeight || this.clientHeight !== this.#viewHeight) return
    const index = Math.floor(this.scrollTop / this.#rowHeight)
    this.#keepPlace(index)
    if (index < MARGIN) this.#actions.older()
    this.#draw()
  }

  #keepPlace(index) {
    this.#anchor = { entry: this.#entries[index], shift: this.scrollTop - index * this.#rowHeight }
    this.#setFollowing(this.scrollTop >= this.#bottom - 2)
  }

  #setFollowing(following) {
    if (following === this.#following) return
    this.#following = following
    this.#actions.follow(following)
  }

  #idOf(entry) { return `${this.#id}-${entry?.serial}` }

  #draw() {
    const height = this.#rowHeight
    if (!height) return
    const first = Math.max(0, Math.floor(this.scrollTop / height) - OVERSCAN)
    const end = Math.ceil((this.scrollTop + this.clientHeight) / height) + OVERSCAN
    this.#rows.style.paddingTop = `${first * height}px`
    reconcile(this.#rows, this.#entries.slice(first, end),
      ({ serial, loading, problem }) => `${serial} ${loading} ${problem}`,
      entry => makeRow(entry, this.#idOf(entry), () => this.#actions.load(entry)),
      (row, entry, index) => {
        row.ariaRowIndex = first + index + 1
        row.ariaSelected = entry === this.#chosen
        row.classList.toggle('opened', !!entry.row && placeOfRow(entry.row) === this.#opened)
      })
    this.setAttribute('aria-activedescendant', document.getElementById(this.#idOf(this.#chosen))?.id ?? '')
  }

  #chooseVisible() {
    if (this.#entries.includes(this.#chosen)) return
    const last = Math.floor((this.scrollTop + this.clientHeight) / this.#rowHeight) - 1
    this.#chosen = this.#entries[last] ?? this.#entries.at(-1) ?? null
    this.#draw()
  }

  #key(event) {
    if (event.target !== this || event.metaKey || event.ctrlKey || event.altKey || !this.#entries.length) return
    const page = Math.max(1, Math.floor(this.clientHeight / this.#rowHeight) - 1)
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }
    const step = steps[event.key], last = this.#entries.length - 1
    if (step) this.#choose(Math.min(Math.max(this.#entries.indexOf(this.#chosen) + step, 0), last))
    else if (event.key !== 'Enter') return
    else if (this.#chosen?.row) this.#actions.open(this.#chosen)
    else if (this.#chosen?.skipped) this.#actions.load(this.#chosen)
    event.preventDefault()
  }

  #choose(index) {
    const top = index * this.#rowHeight
    this.#chosen = this.#entries[index]
    this.scrollTop = Math.max(Math.min(this.scrollTop, top), top + this.#rowHeight - this.clientHeight)
    this.#keepPlace(index)
    this.#draw()
    this.#actions.choose(this.#chosen)
  }
}

function makeRow({ row, notice, skipped, loading, problem }, id, load) {
  const make = (spec, title, ...parts) =>
    h(spec, { role: 'row', id, title }, h('div', { role: 'gridcell' }, ...parts))
  if (notice) return make('div.entry.notice', notice, printable(notice))
  if (skipped) {
    const { count } = skipped
    return make('div.entry.gap', problem,
      problem || (count === null ? 'Messages may be missing here' : `${plural(count, 'message')} skipped`),
      smallButton(loading ? 'Loading…' : 'Load', load, { tabindex: -1, disabled: loading }))
  }
  const { type, source, key, time, size, tombstone } = row
  const summary = tombstone ? 'withdrawn' : shortened(row.summary, 400)
  return make('div.entry', `${shortened(type)} from ${shortened(source, 200)}, ${count(size)} bytes`,
    badge(row.kind), h('bdi.type', nameOf(type) + (key ? ` [${shortened(key, 100)}]` : '')),
    h('bdi.source', processOf(source)), h('span.time', { title: dateAndClock(time) }, clock(time)),
    h(tombstone ? 'bdi.summary.withdrawn' : 'bdi.summary', { title: summary }, summary))
}

customElements.define('segue-message-list', SegueMessageList)

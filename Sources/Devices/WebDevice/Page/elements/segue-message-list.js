import { adopt, badge, button, fill, h, kindOfRow, uniqueID } from './dom.js'
import { clock, count, dateAndClock, nameOf, plural, printable, processOf, shortened } from './text.js'

/** Rows that are drawn above and below the visible ones, so that a fast scroll shows no blank space. */
const OVERSCAN = 6

/** @typedef {import('./message-buffer.js').Entry} Entry */

/**
 * A list of messages that keeps only the rows in view in the document. It follows the newest message until somebody
 * scrolls up. Events: `open` and `choose` with an entry, `load` with a skipped stretch, `older`, `follow`.
 */
export class SegueMessageList extends HTMLElement {
    /** @type {Entry[]} */
    #entries = []
    /** The entries of the last frame: scroll positions are about these. @type {Entry[]} */
    #drawn = []
    #rowHeight = 0
    /** The height of the view for which the list was last drawn. */
    #viewHeight = 0
    #following = true
    #frame = 0
    /** The rows in the document, by the serial numbers of their entries. */
    #rows = new Map()
    /** The entry that the keyboard is at. */
    #chosen = null
    /** The first visible entry and its distance from the top: it stays there when rows are added or removed above. */
    #anchor = { entry: null, shift: 0 }
    #body = h('div.list-body', { role: 'rowgroup' })
    #id = uniqueID()
    #observer = new ResizeObserver(() => this.#resized())
    #opened = ''

    connectedCallback() {
        adopt(this)
        this.#observer.observe(this)
        if (this.firstChild) return
        this.role = 'grid'
        this.ariaLabel = 'Messages'
        this.tabIndex = 0
        fill(this, this.#body)
        this.addEventListener('scroll', () => this.#scrolled(), { passive: true })
        this.addEventListener('keydown', event => this.#key(event))
        this.addEventListener('focus', () => this.#chooseVisible())
        this.#body.addEventListener('click', event => {
            const serial = Number(event.target.closest('.entry')?.dataset.serial)
            const entry = this.#entries.find(entry => entry.serial === serial)
            if (!entry?.row) return
            this.#chosen = entry
            this.#draw()
            this.#tell('open', entry)
        })
    }

    disconnectedCallback() {
        this.#observer.disconnect()
    }

    get following() { return this.#following }
    get entries() { return this.#entries }

    /** Shows other entries in the next frame. */
    set entries(entries) {
        this.#entries = entries
        this.#schedule()
    }

    /** The position of the message that is shown beside the list. */
    set opened(position) {
        this.#opened = position
        this.#schedule()
    }

    /** Goes to the newest message and follows. */
    follow() {
        this.#setFollowing(true)
        this.#schedule()
    }

    #schedule() {
        this.#frame ||= requestAnimationFrame(() => {
            this.#frame = 0
            this.#keepPlace()
            this.#draw()
        })
    }

    /** The style sheet decides about the height of a row, which depends on the width. */
    #resized() {
        const height = parseFloat(getComputedStyle(this).getPropertyValue('--row-height')) || 44
        this.#anchor.shift *= height / (this.#rowHeight || height)
        this.#rowHeight = height
        this.#schedule()
    }

    get #bottom() {
        return this.#drawn.length * this.#rowHeight - this.clientHeight
    }

    #keepPlace() {
        if (!this.#rowHeight) return
        this.#viewHeight = this.clientHeight
        this.#drawn = this.#entries.slice()
        this.#body.style.setProperty('height', `${this.#drawn.length * this.#rowHeight}px`)
        this.setAttribute('aria-rowcount', this.#drawn.length)
        let top = this.scrollTop
        if (this.#following) top = this.#bottom
        else if (this.#anchor.entry) {
            const index = this.#drawn.indexOf(this.#anchor.entry)
            if (index >= 0) top = index * this.#rowHeight + this.#anchor.shift
        }
        if (Math.abs(top - this.scrollTop) >= 1) this.scrollTop = top
    }

    #scrolled() {
        // A list that is hidden and shown again, or gets another size, is scrolled by the browser, not by a person.
        if (!this.#rowHeight || this.clientHeight !== this.#viewHeight) return
        const index = Math.floor(this.scrollTop / this.#rowHeight)
        this.#anchor = { entry: this.#drawn[index], shift: this.scrollTop - index * this.#rowHeight }
        this.#setFollowing(this.scrollTop >= this.#bottom - 2)
        if (index < 12) this.#tell('older')
        this.#draw()
    }

    #setFollowing(following) {
        if (following === this.#following) return
        this.#following = following
        this.#tell('follow')
    }

    #draw() {
        const height = this.#rowHeight
        if (!height) return
        const first = Math.max(0, Math.floor(this.scrollTop / height) - OVERSCAN)
        const shown = this.#drawn.slice(first, Math.ceil((this.scrollTop + this.clientHeight) / height) + OVERSCAN)
        const wanted = new Set(shown.map(entry => entry.serial))
        for (const [serial, row] of this.#rows) {
            if (wanted.has(serial)) continue
            this.#rows.delete(serial)
            row.remove()
        }
        let place = this.#body.firstChild
        shown.forEach((entry, index) => {
            let row = this.#rows.get(entry.serial)
            if (!row) {
                row = makeRow(entry)
                row.id = `${this.#id}-${entry.serial}`
                row.dataset.serial = entry.serial
                this.#rows.set(entry.serial, row)
            }
            row.style.setProperty('transform', `translateY(${(first + index) * height}px)`)
            row.setAttribute('aria-rowindex', first + index + 1)
            row.setAttribute('aria-selected', entry === this.#chosen)
            row.classList.toggle('opened', !!entry.row?.position && entry.row.position === this.#opened)
            if (entry.skipped) this.#writeGap(row, entry)
            // The order in the document is the order in the list, for screen readers.
            if (place === row) place = row.nextSibling
            else this.#body.insertBefore(row, place)
        })
        const active = this.#chosen && this.#rows.get(this.#chosen.serial)
        if (active) this.setAttribute('aria-activedescendant', active.id)
        else this.removeAttribute('aria-activedescendant')
    }

    #writeGap(row, entry) {
        const { skipped, loading, problem } = entry
        const text = problem || (skipped.count == null ? 'Messages may be missing here'
            : `${plural(skipped.count, 'message')} skipped`)
        if (row.dataset.state === text + loading) return
        row.dataset.state = text + loading
        fill(row.firstChild, h('span', text), button(loading ? 'Loading…' : 'Load', () => this.#tell('load', entry),
            { class: 'button small', tabindex: -1, disabled: loading }))
    }

    #chooseVisible() {
        if (this.#entries.includes(this.#chosen)) return
        const last = Math.floor((this.scrollTop + this.clientHeight) / this.#rowHeight) - 1
        this.#chosen = this.#entries[Math.min(Math.max(last, 0), this.#entries.length - 1)] ?? null
        this.#draw()
    }

    #key(event) {
        if (event.target !== this || event.metaKey || event.ctrlKey || event.altKey || !this.#drawn.length) return
        const page = Math.max(1, Math.floor(this.clientHeight / this.#rowHeight) - 1)
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity,
            End: Infinity }[event.key]
        if (event.key === 'Enter' && this.#chosen) this.#tell(this.#chosen.skipped ? 'load' : 'open', this.#chosen)
        else if (step) this.#choose(Math.min(Math.max(this.#drawn.indexOf(this.#chosen) + step, 0),
            this.#drawn.length - 1))
        else return
        event.preventDefault()
    }

    #choose(index) {
        const top = index * this.#rowHeight
        this.#chosen = this.#drawn[index]
        this.scrollTop = Math.max(Math.min(this.scrollTop, top), top + this.#rowHeight - this.clientHeight)
        this.#anchor = { entry: this.#chosen, shift: this.scrollTop - top }
        this.#setFollowing(this.scrollTop >= this.#bottom - 2)
        this.#draw()
        this.#tell('choose', this.#chosen)
    }

    #tell(name, detail) {
        this.dispatchEvent(new CustomEvent(name, { detail }))
    }
}

/** @param {Entry} entry */
function makeRow({ row, notice, skipped }) {
    if (skipped) return h('div.entry.gap', { role: 'row' }, h('div', { role: 'gridcell' }))
    if (!row) return h('div.entry.notice', { role: 'row', title: printable(notice) },
        h('div', { role: 'gridcell' }, printable(notice)))
    const summary = row.tombstone ? 'withdrawn' : shortened(row.summary, 400)
    const key = row.key ? ` [${shortened(row.key, 100)}]` : ''
    return h('div.entry', { role: 'row',
        title: `${shortened(row.type, 200)} from ${shortened(row.source, 200)}, ${count(row.size)} bytes` },
        h('div', { role: 'gridcell' }, badge(kindOfRow(row)), h('bdi.type', nameOf(row.type) + key),
            h('bdi.source', processOf(row.source)),
            h('span.time', { title: dateAndClock(row.time) }, clock(row.time)),
            h(row.tombstone ? 'bdi.summary.withdrawn' : 'bdi.summary', { title: summary }, summary)))
}

customElements.define('segue-message-list', SegueMessageList)

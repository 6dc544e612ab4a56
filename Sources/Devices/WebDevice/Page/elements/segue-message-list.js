// @ts-check
import { adopt, button, fill, h, loadStyles, setText, uniqueID } from './dom.js'
import { clock, count, dateAndClock, kindOf, KINDS, nameOf, plural, printable, processOf } from './text.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'messages.css')

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
    /** The entries of the last frame. @type {Entry[]} */
    #drawn = []
    #rowHeight = 0
    #following = true
    #frame = 0
    /** @type {Map<number, HTMLElement>} */
    #rows = new Map()
    /** @type {HTMLElement[]} */
    #spare = []
    /** The row of the keyboard, and the entry at its place. @type {Entry | null} */
    #chosen = null
    /** The first visible entry and its distance from the top: it stays there when rows are added or removed above. */
    #anchor = /** @type {{entry: Entry | undefined, shift: number}} */ ({ entry: undefined, shift: 0 })
    #body = h('div', { class: 'list-body', role: 'rowgroup' })
    #id = uniqueID('list')
    #observer = new ResizeObserver(() => this.#resized())
    /** The position of the message that the detail shows. */
    #opened = ''

    connectedCallback() {
        adopt(this, styles)
        if (!this.contains(this.#body)) {
            this.setAttribute('role', 'grid')
            this.setAttribute('aria-label', 'Messages')
            this.setAttribute('aria-colcount', '1')
            this.tabIndex = 0
            fill(this, this.#body)
            this.addEventListener('scroll', () => this.#scrolled(), { passive: true })
            this.addEventListener('keydown', event => this.#key(event))
            this.addEventListener('focus', () => this.#chooseVisible())
            this.#body.addEventListener('click', event => this.#clicked(event))
        }
        this.#observer.observe(this)
    }

    disconnectedCallback() {
        this.#observer.disconnect()
        cancelAnimationFrame(this.#frame)
        this.#frame = 0
    }

    get following() {
        return this.#following
    }

    get entries() {
        return this.#entries
    }

    /** Shows other entries, at most once for each frame. */
    set entries(entries) {
        this.#entries = entries
        this.#schedule()
    }

    set opened(/** @type {string} */ position) {
        this.#opened = position
        this.#schedule()
    }

    /** Goes to the newest message and follows. */
    follow() {
        this.#setFollowing(true)
        this.#schedule()
    }

    /** Goes to the oldest message. */
    scrollToStart() {
        this.#setFollowing(false)
        this.scrollTop = 0
    }

    #schedule() {
        this.#frame ||= requestAnimationFrame(() => {
            this.#frame = 0
            this.#keepPlace()
            this.#draw()
        })
    }

    #resized() {
        const height = parseFloat(getComputedStyle(this).getPropertyValue('--row-height')) || 44
        const rate = this.#rowHeight ? height / this.#rowHeight : 1
        if (height !== this.#rowHeight) {
            this.#rowHeight = height
            this.#anchor.shift *= rate
            for (const row of this.#rows.values()) row.remove()
            this.#rows.clear()
        }
        this.#schedule()
    }

    #keepPlace() {
        const height = this.#rowHeight
        if (!height) return
        const total = `${this.#entries.length * height}px`
        if (this.#body.style.height !== total) this.#body.style.setProperty('height', total)
        this.setAttribute('aria-rowcount', String(this.#entries.length))
        this.#drawn = this.#entries.slice()
        let top = this.scrollTop
        if (this.#following) {
            top = this.#entries.length * height - this.clientHeight
        } else if (this.#anchor.entry) {
            const index = this.#entries.indexOf(this.#anchor.entry)
            if (index >= 0) top = index * height + this.#anchor.shift
        }
        if (Math.abs(top - this.scrollTop) >= 1) this.scrollTop = top
    }

    #scrolled() {
        const height = this.#rowHeight
        if (!height) return
        const index = Math.floor(this.scrollTop / height)
        // Rows that are not drawn yet make the list longer only in the next frame, so the drawn height decides.
        this.#anchor = { entry: this.#drawn[index], shift: this.scrollTop - index * height }
        this.#setFollowing(this.scrollTop >= this.#drawn.length * height - this.clientHeight - 2)
        if (this.scrollTop < height * 12) this.#tell('older')
        this.#draw()
    }

    #setFollowing(/** @type {boolean} */ following) {
        if (following === this.#following) return
        this.#following = following
        this.#tell('follow')
    }

    #draw() {
        const height = this.#rowHeight
        if (!height) return
        const first = Math.max(0, Math.floor(this.scrollTop / height) - OVERSCAN)
        const end = Math.min(this.#entries.length, Math.ceil((this.scrollTop + this.clientHeight) / height) + OVERSCAN)
        const wanted = new Set()
        for (let index = first; index < end; index++) wanted.add(this.#entries[index].serial)
        for (const [serial, row] of this.#rows) {
            if (wanted.has(serial)) continue
            this.#rows.delete(serial)
            row.remove()
            if (row.dataset.what === 'row' && this.#spare.length < 100) this.#spare.push(row)
        }
        /** @type {HTMLElement | null} */
        let previous = null
        for (let index = first; index < end; index++) {
            const entry = this.#entries[index]
            let row = this.#rows.get(entry.serial)
            if (!row) {
                row = this.#make(entry)
                this.#rows.set(entry.serial, row)
            }
            row.style.setProperty('transform', `translateY(${index * height}px)`)
            row.setAttribute('aria-rowindex', String(index + 1))
            if (entry.skipped) this.#writeGap(row, entry)
            const chosen = entry === this.#chosen
            row.classList.toggle('chosen', chosen)
            row.classList.toggle('opened', !!entry.row?.position && entry.row.position === this.#opened)
            row.setAttribute('aria-selected', String(chosen))
            // The order in the document is the order in the list, for screen readers.
            const place = previous ? previous.nextSibling : this.#body.firstChild
            if (place !== row) this.#body.insertBefore(row, place)
            previous = row
        }
        const active = this.#chosen && this.#rows.get(this.#chosen.serial)
        if (active) this.setAttribute('aria-activedescendant', active.id)
        else this.removeAttribute('aria-activedescendant')
    }

    /** @param {Entry} entry @returns {HTMLElement} */
    #make(entry) {
        if (entry.row) {
            const row = this.#spare.pop() ?? emptyRow()
            row.id = `${this.#id}-${entry.serial}`
            row.dataset.serial = String(entry.serial)
            writeRow(row, entry.row)
            return row
        }
        const attributes = { id: `${this.#id}-${entry.serial}`, 'data-serial': entry.serial, role: 'row' }
        if (entry.skipped) return h('div', { ...attributes, class: 'row gap', 'data-what': 'gap' }, h('div', { role: 'gridcell' }))
        const text = printable(entry.notice)
        return h('div', { ...attributes, class: 'row notice', 'data-what': 'notice', title: text },
            h('div', { role: 'gridcell' }, text))
    }

    #writeGap(/** @type {HTMLElement} */ row, /** @type {Entry} */ entry) {
        const cell = /** @type {HTMLElement} */ (row.firstElementChild)
        const skipped = entry.skipped?.count
        const text = entry.problem ? entry.problem
            : skipped == null ? 'Messages may be missing here' : `${plural(skipped, 'message')} skipped`
        const state = text + entry.loading
        if (row.dataset.state === state) return
        row.dataset.state = state
        fill(cell, h('span', {}, text), button(entry.loading ? 'Loading…' : 'Load', () => this.#tell('load', entry),
            { class: 'button small', tabindex: -1, disabled: !!entry.loading }))
    }

    #clicked(/** @type {MouseEvent} */ event) {
        const row = /** @type {HTMLElement} */ (event.target).closest('.row')
        const entry = row && this.#entries.find(entry => entry.serial === Number(row.dataset.serial))
        if (!entry?.row) return
        this.#chosen = entry
        this.#draw()
        this.#tell('open', entry)
    }

    #chooseVisible() {
        if (this.#chosen && this.#entries.includes(this.#chosen)) return
        const index = Math.floor((this.scrollTop + this.clientHeight) / this.#rowHeight) - 1
        this.#chosen = this.#entries[Math.min(Math.max(index, 0), this.#entries.length - 1)] ?? null
        this.#draw()
    }

    #key(/** @type {KeyboardEvent} */ event) {
        if (event.target !== this || event.metaKey || event.ctrlKey || event.altKey || !this.#entries.length) return
        const page = Math.max(1, Math.floor(this.clientHeight / this.#rowHeight) - 1)
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }
        const step = /** @type {any} */ (steps)[event.key]
        if (event.key === 'Enter' && this.#chosen) {
            this.#tell(this.#chosen.skipped ? 'load' : 'open', this.#chosen)
        } else if (step) {
            const current = this.#chosen ? this.#entries.indexOf(this.#chosen) : -1
            this.#choose(Math.min(Math.max(current + step, 0), this.#entries.length - 1))
        } else {
            return
        }
        event.preventDefault()
    }

    #choose(/** @type {number} */ index) {
        const height = this.#rowHeight
        this.#chosen = this.#entries[index]
        const top = index * height
        if (top < this.scrollTop) this.scrollTop = top
        else if (top + height > this.scrollTop + this.clientHeight) this.scrollTop = top + height - this.clientHeight
        const bottom = this.#entries.length * height - this.clientHeight
        this.#setFollowing(this.scrollTop >= bottom - 2)
        this.#anchor = { entry: this.#chosen, shift: this.scrollTop - top }
        this.#draw()
        this.#tell('choose', this.#chosen)
    }

    #tell(/** @type {string} */ name, /** @type {Entry | undefined} */ entry = undefined) {
        this.dispatchEvent(new CustomEvent(name, { detail: entry }))
    }
}

/** @returns {HTMLElement} */
function emptyRow() {
    return h('div', { class: 'row', role: 'row', 'data-what': 'row' }, h('div', { role: 'gridcell' },
        h('span', { class: 'kind' }, h('span', { 'aria-hidden': 'true' }), h('span', { class: 'visually-hidden' })),
        h('bdi', { class: 'type' }), h('bdi', { class: 'source' }), h('span', { class: 'time' }),
        h('bdi', { class: 'summary' })))
}

/** @param {HTMLElement} element @param {import('./message-buffer.js').Row} row */
function writeRow(element, row) {
    const [kind, type, source, time, summary] = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (element.firstElementChild).children])
    const name = row.kind ?? kindOf(row.type ?? '')
    kind.dataset.kind = name in KINDS ? name : 'other'
    setText(kind.children[0], /** @type {any} */ (KINDS)[name] ?? '?')
    setText(kind.children[1], printable(name))
    setText(type, nameOf(row.type ?? '') + (row.key ? ` [${printable(row.key)}]` : ''))
    setText(source, processOf(row.source))
    setText(time, clock(row.time))
    time.title = dateAndClock(row.time)
    const text = row.tombstone ? 'withdrawn' : printable(String(row.summary ?? '').slice(0, 400))
    setText(summary, text)
    summary.title = text
    summary.classList.toggle('withdrawn', !!row.tombstone)
    element.dataset.what = 'row'
    element.title = `${printable(row.type)}, ${count(row.size)} bytes, from ${printable(row.source)}`
}

customElements.define('segue-message-list', SegueMessageList)

// @ts-check
import { adopt, button, fill, h, loadStyles, navigate, setText } from './dom.js'
import { MessageBuffer } from './message-buffer.js'
import { messageAddress, messagesAddress, passes, readAddress } from './selection.js'
import { count, plural, problemOf } from './text.js'
import './segue-filters.js'
import './segue-message-list.js'
import './segue-message.js'
import './segue-split.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'messages.css')

/** The messages of one page of the journal. */
const PAGE = 200
/** The messages that wait at most while the list is paused. */
const PAUSED = 10_000

/** @typedef {import('./message-buffer.js').Entry} Entry */

/**
 * The live list of messages, its filters, and the detail of one message. Set `connection`; `address` is
 * `#/messages?…` or `#/message/POSITION`. The event `navigate` requests another address.
 */
export class SegueMessages extends HTMLElement {
    #connection = /** @type {any} */ (null)
    #address = '#/messages'
    #buffer = new MessageBuffer()
    /** @type {import('./selection.js').Selection} */
    #selection = {}
    #text = ''
    /** @type {{close(): void} | null} */
    #view = null
    /** The updates since the list was paused, or null. @type {any[] | null} */
    #paused = null
    /** The messages in them, with those that were skipped, and without. */
    #waiting = 0
    #held = 0
    /** Rows from before a change of the filters are shown until the gateway answers. */
    #stale = false
    #answered = false
    /** Totals of the views before this one, and of this one. */
    #base = new Map()
    #totals = new Map()
    #older = false
    /** The newest entry when somebody scrolled up. @type {Entry | undefined} */
    #leftAt
    #frame = 0
    #timer = 0
    #opened = ''
    #hello = (/** @type {any} */ event) => this.#reconnected(event)

    #filters = /** @type {import('./segue-filters.js').SegueFilters} */ (h('segue-filters'))
    #list = /** @type {import('./segue-message-list.js').SegueMessageList} */ (h('segue-message-list'))
    #detail = /** @type {import('./segue-message.js').SegueMessage} */ (h('segue-message', { hidden: true }))
    #send = h('div', { class: 'send-place', hidden: true })
    #split = h('segue-split', { hidden: true, label: 'Size of the message' })
    #pause = button('Pause', () => this.#togglePause(), { 'aria-pressed': 'false', class: 'button' })
    #new = button('New message', () => navigate(this, messagesAddress(this.#selection, { text: this.#text, send: '' })))
    #return = button('', () => this.#toNewest(), { class: 'button filled return', hidden: true })
    #status = h('p', { class: 'list-status quiet', 'aria-live': 'off' })
    #empty = h('div', { class: 'empty late', hidden: true })

    connectedCallback() {
        adopt(this, styles)
        if (!this.#list.isConnected) this.#build()
        this.#connection?.addEventListener('hello', this.#hello)
        if (this.#connection) this.#open()
    }

    disconnectedCallback() {
        this.#view?.close()
        this.#view = null
        this.#connection?.removeEventListener('hello', this.#hello)
        clearTimeout(this.#timer)
    }

    get connection() {
        return this.#connection
    }

    set connection(connection) {
        if (connection === this.#connection) return
        this.#connection?.removeEventListener('hello', this.#hello)
        this.#connection = connection
        this.#detail.connection = connection
        if (!this.isConnected) return
        connection?.addEventListener('hello', this.#hello)
        this.#open()
    }

    get address() {
        return this.#address
    }

    set address(address) {
        const { path, selection, text, send } = readAddress(address)
        this.#address = address
        if (path[0] === 'message' && path[1]) {
            this.#show(path[1])
            return
        }
        this.#showSend(send)
        this.#hideDetail()
        this.#select(selection, text)
        this.#filters.value = { selection, text }
    }

    #build() {
        this.#filters.value = { selection: this.#selection, text: this.#text }
        fill(this, h('div', { class: 'messages-top' }, this.#filters), h('div', { class: 'messages-main' },
            h('div', { class: 'list-place' }, h('div', { class: 'list-frame' }, this.#list, this.#empty, this.#return),
                h('div', { class: 'list-bar' }, this.#status, this.#new, this.#pause)),
            this.#split, this.#detail, this.#send))
        this.#filters.addEventListener('filter', (/** @type {any} */ event) => {
            const { selection, text } = event.detail
            this.#select(selection, text)
            this.#address = messagesAddress(selection, { text })
            if (!this.#opened) navigate(this, this.#address, true)
        })
        this.#list.addEventListener('open', (/** @type {any} */ event) => this.#openEntry(event.detail))
        this.#list.addEventListener('choose', (/** @type {any} */ event) => {
            // With the detail open, the arrow keys show one message after the other.
            clearTimeout(this.#timer)
            if (this.#opened && event.detail?.row?.position) this.#timer = setTimeout(() => this.#openEntry(event.detail, true), 120)
        })
        this.#list.addEventListener('load', (/** @type {any} */ event) => this.#loadSkipped(event.detail))
        this.#list.addEventListener('older', () => this.#loadOlder())
        this.#list.addEventListener('follow', () => {
            this.#leftAt = this.#buffer.entries.at(-1)
            this.#refresh()
        })
        this.#detail.addEventListener('close', () => this.#close())
        this.#detail.addEventListener('only', (/** @type {any} */ event) => {
            const { member, value } = event.detail
            if (member === 'where') this.#filters.only('where', value)
            else this.#filters.only(member, value)
        })
        this.addEventListener('keydown', event => this.#key(event))
        this.#new.hidden = this.#connection?.readOnly === true
    }

    // MARK: The view

    #open(from = /** @type {string} */ ('last')) {
        this.#view?.close()
        for (const [type, number] of this.#totals) this.#base.set(type, (this.#base.get(type) ?? 0) + number)
        this.#totals = new Map()
        this.#answered = false
        this.#view = this.#connection.open({ kind: 'messages', selection: this.#selection, from }, (/** @type {any} */ update) => this.#update(update))
        const view = this.#view
        // A gateway that finds nothing may have nothing to send; what the page kept is then the answer.
        setTimeout(() => {
            if (this.#view !== view) return
            this.#stale = false
            this.#answered = true
            this.#refresh()
        }, 1500)
        this.#new.hidden = this.#connection.readOnly === true
        this.#detail.readOnly = this.#connection.readOnly === true
    }

    #reconnected(/** @type {any} */ event) {
        const hello = event.detail?.hello ?? event.detail
        this.#new.hidden = hello?.readOnly === true
        this.#detail.readOnly = hello?.readOnly === true
        if (hello?.resumed !== false || !this.#answered) return
        // The gateway counts from zero again and sends its newest rows; what is missing between becomes a stretch.
        this.#buffer.interrupted = true
        for (const [type, number] of this.#totals) this.#base.set(type, (this.#base.get(type) ?? 0) + number)
        this.#totals = new Map()
    }

    #select(/** @type {import('./selection.js').Selection} */ selection, /** @type {string} */ text) {
        const same = JSON.stringify(selection) === JSON.stringify(this.#selection)
        this.#selection = selection
        if (text !== this.#text) {
            this.#text = text
            this.#refresh()
        }
        if (same) return
        this.#filters.problem = ''
        this.#buffer.keep(passes(selection))
        this.#stale = true
        if (this.#view) this.#open()
        this.#refresh()
    }

    #update(/** @type {any} */ update) {
        if (update?.error) {
            this.#filters.problem = problemOf(update)
            this.#answered = true
            this.#refresh()
            return
        }
        if (this.#stale) {
            this.#stale = false
            this.#buffer.clear()
        }
        this.#answered = true
        for (const [type, number] of Object.entries(update?.counts ?? {})) if (typeof number === 'number') this.#totals.set(type, number)
        if (this.#paused) {
            this.#hold(update ?? {})
        } else {
            this.#buffer.append(update ?? {}, !this.#list.following)
        }
        this.#refresh()
    }

    /** Keeps an update for the end of the pause. A long pause keeps the newest; a stretch stands for the others. */
    #hold(/** @type {any} */ update) {
        const paused = this.#paused ?? []
        this.#waiting += (update.rows?.length ?? 0) + (update.skipped?.count ?? 0)
        this.#held += update.rows?.length ?? 0
        paused.push(update)
        while (paused.length > 1 && this.#held > PAUSED) {
            this.#held -= paused.shift().rows?.length ?? 0
            this.#buffer.interrupted = true
        }
    }

    /** Draws at most once for each frame, however many updates arrive. */
    #refresh() {
        this.#frame ||= requestAnimationFrame(() => {
            this.#frame = 0
            this.#draw()
        })
    }

    #draw() {
        const text = this.#text.trim().toLowerCase()
        const entries = this.#buffer.entries
        this.#list.entries = text ? entries.filter(({ row }) => row && contains(row, text)) : entries
        this.#filters.counts = this.#counts()
        const reading = !this.#list.following
        const unseen = this.#buffer.unseen + (this.#paused ? this.#waiting : 0) + (reading ? this.#below() : 0)
        this.#return.hidden = !reading && !this.#paused && !this.#buffer.detached
        setText(this.#return, unseen ? `↓ ${plural(unseen, 'new message')}` : '↓ Newest')
        setText(this.#pause, this.#paused ? `Resume${this.#waiting ? ` · ${count(this.#waiting)}` : ''}` : 'Pause')
        this.#pause.setAttribute('aria-pressed', String(!!this.#paused))
        const shown = this.#list.entries.length
        setText(this.#status, this.#paused ? 'Paused; messages are still recorded'
            : text ? `${count(shown)} of ${plural(entries.length, 'message')}` : plural(shown, 'message'))
        this.#empty.hidden = shown > 0
        if (!shown) this.#explain(text)
    }

    #explain(/** @type {string} */ text) {
        const filtered = Object.keys(this.#selection).length > 0
        const line = !this.#answered ? 'Reading the journal…'
            : text ? `No message that is loaded contains “${this.#text}”.`
            : filtered ? 'No message matches the filters yet.' : 'No message has been published yet.'
        if (this.#empty.dataset.line === line) return
        this.#empty.dataset.line = line
        fill(this.#empty, h('p', {}, line),
            text && this.#buffer.hasOlder ? button('Search older messages', () => this.#loadOlder()) : null,
            filtered || text ? button('Remove the filters', () => navigate(this, '#/messages')) : null)
    }

    /** The messages since somebody scrolled up. */
    #below() {
        const entries = this.#buffer.entries
        const index = entries.findLastIndex(entry => entry === this.#leftAt)
        return index < 0 ? 0 : entries.length - 1 - index
    }

    #counts() {
        const counts = new Map(this.#base)
        for (const [type, number] of this.#totals) counts.set(type, (counts.get(type) ?? 0) + number)
        for (const [type, number] of this.#buffer.byType) if ((counts.get(type) ?? 0) < number) counts.set(type, number)
        return counts
    }

    // MARK: Following and reading back

    #togglePause() {
        if (this.#paused) this.#resume()
        else {
            this.#paused = []
            this.#waiting = this.#held = 0
        }
        this.#refresh()
    }

    #resume() {
        const updates = this.#paused ?? []
        this.#paused = null
        this.#waiting = this.#held = 0
        for (const update of updates) this.#buffer.append(update, false)
    }

    #toNewest() {
        if (this.#paused) this.#resume()
        if (this.#buffer.detached) {
            this.#stale = true
            this.#buffer.keep(() => true)
            this.#open()
        }
        this.#list.follow()
        this.#refresh()
        this.#list.focus()
    }

    async #loadOlder() {
        const buffer = this.#buffer
        const oldest = buffer.oldest?.row?.position
        if (this.#older || !buffer.hasOlder || !oldest || this.#stale) return
        this.#older = true
        const selection = this.#selection
        try {
            const page = await this.#connection.get(`/api/messages?selection=${this.#encoded}&before=${encodeURIComponent(oldest)}&limit=${PAGE}`)
            if (selection === this.#selection) buffer.prepend(page?.rows ?? [], page?.more === true && page.rows.length > 0)
        } catch (failure) {
            buffer.hasOlder = false
            buffer.entries.unshift({ serial: -Date.now(), epoch: '', offset: 0, notice: `Older messages cannot be read: ${problemOf(failure)}` })
        }
        this.#older = false
        this.#empty.dataset.line = ''
        this.#refresh()
    }

    async #loadSkipped(/** @type {Entry} */ entry) {
        const skipped = entry.skipped
        if (!skipped || entry.loading) return
        entry.loading = true
        entry.problem = ''
        this.#refresh()
        try {
            const page = await this.#connection.get(`/api/messages?selection=${this.#encoded}&after=${encodeURIComponent(skipped.after)}&before=${encodeURIComponent(skipped.before)}&limit=${PAGE * 5}`)
            this.#buffer.fill(entry, page?.rows ?? [], page?.more === true)
        } catch (failure) {
            entry.problem = problemOf(failure)
        }
        entry.loading = false
        this.#refresh()
    }

    get #encoded() {
        return encodeURIComponent(JSON.stringify(this.#selection))
    }

    // MARK: The detail

    #openEntry(/** @type {Entry} */ entry, replace = false) {
        if (!entry?.row) return
        if (entry.offset && entry.row.position) navigate(this, messageAddress(entry.row.position), replace || !!this.#opened)
        else {
            this.#reveal('transient')
            this.#detail.showTransient(entry.row)
        }
    }

    #show(/** @type {string} */ position) {
        if (this.#opened === position) return
        this.#reveal(position)
        this.#detail.show(position, this.#buffer.entries.find(entry => entry.row?.position === position)?.row)
    }

    #reveal(/** @type {string} */ position) {
        const first = !this.#opened
        this.#opened = position
        this.#list.opened = position
        this.#send.hidden = true
        this.#detail.hidden = this.#split.hidden = false
        this.classList.add('with-detail')
        if (first && getComputedStyle(this.#list.parentElement?.parentElement ?? this).display === 'none') {
            requestAnimationFrame(() => this.#detail.querySelector('h2')?.focus())
        }
    }

    #hideDetail() {
        if (!this.#opened) return
        this.#opened = ''
        this.#list.opened = ''
        this.#detail.hidden = true
        this.#split.hidden = this.#send.hidden
        this.classList.toggle('with-detail', !this.#send.hidden)
    }

    #close() {
        this.#hideDetail()
        this.#showSend(null)
        navigate(this, messagesAddress(this.#selection, { text: this.#text }))
        this.#list.focus({ preventScroll: true })
    }

    async #showSend(/** @type {string | null} */ type) {
        this.#send.hidden = type === null
        this.#split.hidden = type === null && this.#detail.hidden
        this.classList.toggle('with-detail', type !== null || !this.#detail.hidden)
        if (type === null) {
            fill(this.#send)
            return
        }
        await import('./segue-send.js')
        const form = /** @type {any} */ (this.#send.querySelector('segue-send') ?? h('segue-send'))
        form.connection = this.#connection
        form.type = type
        if (!form.isConnected) {
            form.addEventListener('close', () => this.#close())
            fill(this.#send, form)
        }
    }

    #key(/** @type {KeyboardEvent} */ event) {
        const typing = /** @type {HTMLElement} */ (event.target).closest('input, textarea, select')
        if (event.key === 'Escape' && !event.defaultPrevented && this.classList.contains('with-detail')) {
            event.preventDefault()
            this.#close()
        } else if (event.key === 'Escape' && typing) {
            this.#list.focus({ preventScroll: true })
        } else if (event.key === '/' && !typing && !event.metaKey && !event.ctrlKey && !event.altKey) {
            event.preventDefault()
            this.#filters.focusSearch()
        }
    }
}

/** @param {import('./message-buffer.js').Row} row @param {string} text */
function contains(row, text) {
    return `${row.type} ${row.source} ${row.key ?? ''} ${row.id} ${row.summary}`.toLowerCase().includes(text)
}

customElements.define('segue-messages', SegueMessages)

import { button, fill, h, InspectorElement, navigate, setText } from './dom.js'
import { MessageBuffer } from './message-buffer.js'
import { messageAddress, messagesAddress, passes, readAddress } from './selection.js'
import { count, plural, problemOf } from './text.js'
import './segue-filters.js'
import './segue-message-list.js'
import './segue-message.js'

/** The messages of one page of the journal, which the gateway limits. */
const PAGE = 200
/** The messages that wait at most while the list is paused. */
const PAUSED = 10_000
/** The time after which a view without an update has nothing to send, in milliseconds. */
const PATIENCE = 1500

/** @typedef {import('./message-buffer.js').Entry} Entry */

/**
 * The live list of messages, its filters, and the detail of one message. `address` is `#/messages?…` or
 * `#/message/POSITION`; the event `navigate` requests another one.
 */
export class SegueMessages extends InspectorElement {
    #buffer = new MessageBuffer()
    /** @type {import('./selection.js').Selection} */
    #selection = {}
    #text = ''
    /** The updates since the list was paused, or null. */
    #paused = null
    /** The messages in them, with and without those that were skipped. */
    #waiting = 0
    #held = 0
    /** The gateway has not answered yet; the rows are from before, as far as they pass the filters. */
    #stale = true
    /** The totals by type of the former views, and of this one. */
    #base = new Map()
    #totals = new Map()
    #readingOlder = false
    #failure = ''
    /** The newest entry when somebody scrolled up. @type {Entry | undefined} */
    #leftAt
    #frame = 0
    #patience = 0
    #choosing = 0
    #opened = ''

    #filters = h('segue-filters')
    #list = h('segue-message-list')
    #detail = h('segue-message', { hidden: true })
    #send = h('div.send-place', { hidden: true })
    #pause = button('Pause', () => this.#togglePause(), { 'aria-pressed': 'false' })
    #new = button('New message', () => navigate(this, messagesAddress(this.#selection, this.#text, '')))
    #return = button('', () => this.#toNewest(), { class: 'button primary return', hidden: true })
    #status = h('p.list-status.quiet')
    #empty = h('div.nothing.late', { hidden: true })

    /** The session that the page shows, for new messages. */
    session = 'default'

    get address() { return this.#opened ? messageAddress(this.#opened) : messagesAddress(this.#selection, this.#text) }

    set address(address) {
        const { path, selection, text, send } = readAddress(address)
        if (path[0] === 'message' && path[1]) {
            this.#show(path[1])
            return
        }
        this.#showPane(send === null ? '' : 'send', send)
        this.#filters.value = { selection, text }
        this.#select(selection, text)
    }

    build() {
        fill(this, h('div.messages-top', this.#filters), h('div.messages-main',
            h('div.list-place', h('div.list-frame', this.#list, this.#empty, this.#return),
                h('div.list-bar', this.#status, this.#new, this.#pause)),
            this.#detail, this.#send))
        this.#filters.addEventListener('filter', ({ detail: { selection, text } }) => {
            this.#select(selection, text)
            if (!this.#opened) navigate(this, messagesAddress(selection, text), true)
            else if (!this.#list.offsetParent) this.#close()
        })
        this.#list.addEventListener('open', event => this.#open(event.detail))
        this.#list.addEventListener('choose', event => {
            // Beside an open message, the arrow keys show one message after the other.
            clearTimeout(this.#choosing)
            if (this.#opened && event.detail.row) this.#choosing = setTimeout(() => this.#open(event.detail), 120)
        })
        this.#list.addEventListener('load', event => this.#loadSkipped(event.detail))
        this.#list.addEventListener('older', () => this.#loadOlder())
        this.#list.addEventListener('follow', () => {
            this.#leftAt = this.#buffer.entries.at(-1)
            this.#refresh()
        })
        this.#detail.addEventListener('close', () => this.#close())
        this.#detail.addEventListener('only', ({ detail: { member, value } }) => this.#filters.only(member, value))
    }

    start() {
        this.#detail.connection = this.connection
        this.connection.addEventListener('hello', this.#hello)
        document.addEventListener('keydown', this.#key)
        this.#hello()
        // An element that is shown again continues; the gateway sends its newest rows, of which the buffer has some.
        this.#watch(this.#buffer.entries.length === 0)
        if (this.#opened) this.#detail.show(this.#opened)
    }

    stop() {
        this.connection?.removeEventListener('hello', this.#hello)
        document.removeEventListener('keydown', this.#key)
        clearTimeout(this.#patience)
    }

    // MARK: The view

    #watch(stale = true) {
        this.#stale = stale
        this.#buffer.interrupted = true
        this.#startCounting()
        this.openView({ kind: 'messages', selection: this.#selection, from: 'last' }, update => this.#update(update))
        clearTimeout(this.#patience)
        this.#patience = setTimeout(() => {
            this.#stale = false
            this.#refresh()
        }, PATIENCE)
    }

    /** After a new start of the gateway, it sends its newest rows; what is missing before them becomes a stretch. */
    #hello = event => {
        this.#new.hidden = this.connection.readOnly
        if (event?.detail?.hello?.resumed !== false || this.#stale) return
        this.#buffer.interrupted = true
        this.#startCounting()
    }

    /** Each view counts from zero. */
    #startCounting() {
        this.#base = this.#sums()
        this.#totals = new Map()
    }

    #sums() {
        const sums = new Map(this.#base)
        for (const [type, number] of this.#totals) sums.set(type, (sums.get(type) ?? 0) + number)
        for (const [type, number] of this.#buffer.byType) sums.set(type, Math.max(sums.get(type) ?? 0, number))
        return sums
    }

    #select(selection, text) {
        const same = JSON.stringify(selection) === JSON.stringify(this.#selection)
        this.#selection = selection
        this.#text = text
        if (!same) {
            this.#filters.problem = ''
            this.#startCounting()
            this.#buffer.keep(passes(selection))
            if (this.isConnected && this.connection) this.#watch()
        }
        this.#refresh()
    }

    #update(update) {
        if (update.error) this.#filters.problem = problemOf(update)
        if (this.#stale && !update.error) this.#buffer.keep(() => false)
        this.#stale = false
        for (const [type, number] of Object.entries(update.counts ?? {})) this.#totals.set(type, number)
        if (this.#paused) this.#hold(update)
        else this.#buffer.append(update, !this.#list.following)
        this.#refresh()
    }

    /** Keeps an update for the end of the pause. A long pause keeps the newest; a stretch stands for the others. */
    #hold(update) {
        this.#waiting += (update.rows?.length ?? 0) + (update.skipped?.count ?? 0)
        this.#held += update.rows?.length ?? 0
        this.#paused.push(update)
        while (this.#held > PAUSED && this.#paused.length > 1) {
            this.#held -= this.#paused.shift().rows?.length ?? 0
            this.#buffer.interrupted = true
        }
    }

    #togglePause() {
        if (this.#paused) {
            for (const update of this.#paused) this.#buffer.append(update, !this.#list.following)
            this.#paused = null
        } else this.#paused = []
        this.#waiting = this.#held = 0
        this.#refresh()
    }

    /** Draws once for each frame, however many updates arrive. */
    #refresh() {
        this.#frame ||= requestAnimationFrame(() => {
            this.#frame = 0
            this.#draw()
        })
    }

    #draw() {
        const text = this.#text.trim().toLowerCase()
        const { entries, unseen, detached } = this.#buffer
        this.#list.entries = text ? entries.filter(entry => contains(entry, text)) : entries
        this.#filters.counts = this.#sums()
        const reading = !this.#list.following
        const below = reading ? entries.length - 1 - entries.findLastIndex(entry => entry === this.#leftAt) : 0
        const waiting = unseen + this.#waiting + (below < entries.length ? below : 0)
        this.#return.hidden = !reading && !detached
        setText(this.#return, waiting ? `↓ ${plural(waiting, 'new message')}` : '↓ Newest')
        setText(this.#pause, !this.#paused ? 'Pause' : this.#waiting ? `Resume · ${count(this.#waiting)}` : 'Resume')
        this.#pause.setAttribute('aria-pressed', !!this.#paused)
        const shown = this.#list.entries.length
        setText(this.#status, this.#failure || (this.#paused ? 'Paused; messages are still recorded'
            : text ? `${count(shown)} of ${plural(entries.length, 'message')}` : plural(shown, 'message')))
        this.#empty.hidden = shown > 0
        if (!shown) this.#explain(text)
    }

    #explain(text) {
        const filtered = Object.keys(this.#selection).length > 0
        const line = text ? `No message that is loaded contains “${this.#text}”.` : this.#stale ? 'Reading the journal…'
            : filtered ? 'No message matches the filters yet.' : 'No message has been published yet.'
        if (this.#empty.firstChild?.textContent === line) return
        fill(this.#empty, h('p', line), text && button('Search older messages', () => this.#loadOlder()),
            (filtered || text) && button('Remove the filters', () => navigate(this, '#/messages')))
    }

    // MARK: Reading the journal

    #toNewest() {
        if (this.#paused) this.#togglePause()
        if (this.#buffer.detached) {
            this.#buffer.keep(() => true)
            this.#watch()
        }
        this.#list.follow()
        this.#list.focus({ preventScroll: true })
    }

    #page(query) {
        // URLSearchParams would write a space as a plus sign, which not every server reads.
        const parameters = Object.entries({ selection: JSON.stringify(this.#selection), ...query })
            .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        return this.connection.get('/api/messages?' + parameters.join('&'))
    }

    async #loadOlder() {
        const before = this.#buffer.oldest?.row.position
        if (this.#readingOlder || !this.#buffer.hasOlder || !before || this.#stale) return
        this.#readingOlder = true
        this.#failure = ''
        const selection = this.#selection
        try {
            const { rows, more } = await this.#page({ before, limit: PAGE })
            if (selection === this.#selection) this.#buffer.prepend(rows, more && rows.length > 0)
        } catch (failure) {
            this.#buffer.hasOlder = false
            this.#failure = `Older messages cannot be read: ${problemOf(failure)}`
        }
        this.#readingOlder = false
        this.#refresh()
    }

    async #loadSkipped(entry) {
        if (entry.loading) return
        Object.assign(entry, { loading: true, problem: '' })
        this.#refresh()
        try {
            const { after, before } = entry.skipped
            const { rows, more, next } = await this.#page({ after, before, limit: PAGE })
            this.#buffer.fill(entry, rows, more, next)
        } catch (failure) {
            entry.problem = problemOf(failure)
        }
        entry.loading = false
        this.#refresh()
    }

    // MARK: The detail

    #open({ row, offset }) {
        if (offset) navigate(this, messageAddress(row.position), !!this.#opened)
        else {
            this.#showPane('message', 'transient')
            this.#detail.show('', row)
        }
    }

    #show(position) {
        if (this.#opened === position) return
        this.#showPane('message', position)
        if (this.#detail.connection) this.#detail.show(position,
            this.#buffer.entries.find(entry => entry.row?.position === position)?.row)
    }

    /** Shows the detail of a message, the form for a new message, or neither, beside the list. */
    async #showPane(pane, value) {
        this.#opened = pane === 'message' ? value : ''
        this.#list.opened = this.#opened
        this.#detail.hidden = pane !== 'message'
        this.#send.hidden = pane !== 'send'
        this.classList.toggle('with-pane', pane !== '')
        // On a small screen the detail takes the place of the list, which had the focus.
        if (this.#opened && !this.#list.offsetParent) {
            requestAnimationFrame(() => this.#detail.querySelector('h2')?.focus())
        }
        if (pane !== 'send' || this.#send.firstChild) return
        await import('./segue-send.js')
        const form = Object.assign(h('segue-send'), { connection: this.connection, session: this.session, type: value })
        form.addEventListener('close', () => this.#close())
        fill(this.#send, form)
    }

    #close() {
        this.#showPane('')
        fill(this.#send)
        navigate(this, messagesAddress(this.#selection, this.#text))
        this.#list.focus({ preventScroll: true })
    }

    /** The slash works wherever nothing is being written; Escape only here, because devices have a use for it. */
    #key = event => {
        if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
        const typing = event.target.closest('input, textarea, select'), here = this.contains(event.target)
        if (event.key === 'Escape' && here && this.classList.contains('with-pane')) this.#close()
        else if (event.key === 'Escape' && here && typing) this.#list.focus({ preventScroll: true })
        else if (event.key === '/' && !typing) this.#filters.focusSearch()
        else return
        event.preventDefault()
    }
}

/** The searched text of the entries. It is kept, because all entries are searched in each frame. */
const searched = new WeakMap()

/** @param {Entry} entry @param {string} text in lower case */
function contains(entry, text) {
    const { row } = entry
    if (!row) return false
    if (!searched.has(entry)) {
        searched.set(entry, `${row.type} ${row.source} ${row.key ?? ''} ${row.id} ${row.summary}`.toLowerCase())
    }
    return searched.get(entry).includes(text)
}

customElements.define('segue-messages', SegueMessages)

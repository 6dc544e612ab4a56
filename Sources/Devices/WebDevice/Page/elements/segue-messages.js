import { go } from '../address.js'
import { button, fill, h, setText } from './dom.js'
import { addStyles, InspectorElement } from './inspector-element.js'
import { MessageFeed } from './message-feed.js'
import { SegueFilters } from './segue-filters.js'
import { SegueMessage } from './segue-message.js'
import { SegueMessageList } from './segue-message-list.js'
import { messageAddress, messagesAddress, placeOfRow, readAddress } from './selection.js'
import { count, plural } from './text.js'

await addStyles('messages')

const OPEN_DELAY = 120

/** The live list of messages, its filters, and beside it the detail of one message, or the form for a new one. */
class SegueMessages extends InspectorElement {
  #feed = new MessageFeed({
    openView: use => this.openView({ kind: 'messages', selection: this.#feed.selection, from: 'last' }, use),
    get: path => this.connection.get(path), changed: () => this.#refresh(),
  })
  #text = ''
  #opened = ''
  #frame = 0
  #choosing = 0
  #filters = new SegueFilters(({ selection, text }) => this.#filter(selection, text))
  #list = new SegueMessageList({
    open: entry => this.#open(entry), load: entry => this.#feed.readSkipped(entry),
    older: () => this.#feed.readOlder(), follow: following => { this.#feed.isFollowing = following },
    choose: entry => {
      // Beside an open message, the arrow keys show one message after the other.
      clearTimeout(this.#choosing)
      if (this.#opened && entry.row) this.#choosing = setTimeout(() => this.#open(entry), OPEN_DELAY)
    },
  })
  #detail = new SegueMessage({
    close: () => this.#close(), only: (member, value) => this.#filters.only(member, value),
  })
  #send = h('div.beside', { hidden: true })
  #pause = button('Pause', () => { this.#feed.isPaused = !this.#feed.isPaused })
  #new = button('New message', () => this.#showList(false, ''))
  #return = button('', () => this.#toNewest(), { class: 'button primary return', hidden: true })
  #status = h('p.list-status.quiet')
  #empty = h('div.nothing.late', { hidden: true })

  /** `#/messages?…` or `#/message/POSITION`. */
  set address(address) {
    const { path: [name, place], selection, text, send } = readAddress(address)
    if (name === 'message' && place) return this.#show(place)
    this.#showPane(send === null ? '' : 'send', send)
    this.#filters.value = { selection, text }
    this.#select(selection, text)
  }

  build() {
    fill(this, h('div.messages-top', this.#filters), h('div.messages-main',
      h('div.list-place', h('div.list-frame', this.#list, this.#empty, this.#return),
        h('div.list-bar', this.#status, this.#new, this.#pause)),
      this.#detail, this.#send))
  }

  start() {
    this.#detail.connection = this.connection
    this.#new.hidden = this.connection.readOnly
    this.connection.addEventListener('hello', this.#hello)
    document.addEventListener('keydown', this.#key)
    this.#feed.open()
    if (this.#opened) this.#detail.show(this.#opened)
  }

  stop() {
    this.connection.removeEventListener('hello', this.#hello)
    document.removeEventListener('keydown', this.#key)
  }

  /** After a new start of the gateway, it sends its newest rows; what is missing before them becomes a stretch. */
  #hello = () => {
    this.#new.hidden = this.connection.readOnly
    if (!this.connection.state.hello.resumed && !this.#feed.isStale) this.#feed.interrupt()
  }

  #filter(selection, text) {
    this.#select(selection, text)
    if (!this.#opened) this.#showList(true)
    else if (!this.#list.offsetParent) this.#close()
  }

  #select(selection, text) {
    this.#text = text
    if (JSON.stringify(selection) !== JSON.stringify(this.#feed.selection)) {
      this.#feed.select(selection)
      if (this.isConnected) this.#feed.open()
    }
    this.#refresh()
  }

  #showList(replace = false, send = null) {
    go(messagesAddress(this.#feed.selection, this.#text, send), replace)
  }

  #toNewest() {
    this.#feed.showNewest()
    this.#list.follow()
    this.#list.focus({ preventScroll: true })
  }

  #refresh() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      this.#draw()
    })
  }

  #draw() {
    const { entries, counts, problem, failure, unseen, isPaused, isDetached } = this.#feed
    const text = this.#text.trim().toLowerCase()
    const shown = text ? entries.filter(entry => contains(entry, text)) : entries.slice()
    this.#list.show(shown, this.#opened)
    this.#filters.counts = counts
    this.#filters.problem = problem
    this.#return.hidden = this.#list.isFollowing && !isDetached
    setText(this.#return, unseen ? `↓ ${plural(unseen, 'new message')}` : '↓ Newest')
    setText(this.#pause, !isPaused ? 'Pause' : unseen ? `Resume · ${count(unseen)}` : 'Resume')
    this.#pause.setAttribute('aria-pressed', String(isPaused))
    const total = plural(entries.length, 'message')
    setText(this.#status, failure || (isPaused ? 'Paused; messages are still recorded'
      : text ? `${count(shown.length)} of ${total}` : total))
    this.#empty.hidden = shown.length > 0
    if (!shown.length) this.#explain(text)
  }

  #explain(text) {
    const filtered = Object.keys(this.#feed.selection).length > 0
    const line = text ? `No message that is loaded contains “${this.#text}”.`
      : this.#feed.isStale ? 'Reading the journal…'
        : filtered ? 'No message matches the filters yet.' : 'No message has been published yet.'
    if (this.#empty.firstChild?.textContent === line) return
    fill(this.#empty, h('p', line), text && button('Search older messages', () => this.#feed.readOlder()),
      (filtered || text) && button('Remove the filters', () => go('#/messages')))
  }

  // MARK: The pane beside the list

  #open({ row }) {
    go(messageAddress(placeOfRow(row)), !!this.#opened)
  }

  #show(place) {
    if (this.#opened === place) return
    this.#showPane('message', place)
    // An element that is not yet in the document shows the message when it starts.
    if (!this.isConnected) return
    this.#detail.show(place, this.#feed.entries.find(({ row }) => row && placeOfRow(row) === place)?.row)
  }

  async #showPane(pane, value = '') {
    this.#opened = pane === 'message' ? value : ''
    this.#detail.hidden = pane !== 'message'
    this.#send.hidden = pane !== 'send'
    this.classList.toggle('with-pane', !!pane)
    this.#refresh()
    // On a small screen the detail takes the place of the list, which had the focus.
    if (this.#opened && !this.#list.offsetParent) {
      requestAnimationFrame(() => this.#detail.querySelector('h2')?.focus())
    }
    if (pane !== 'send' || this.#send.firstChild) return
    const { SegueSend } = await import('./segue-send.js')
    fill(this.#send, new SegueSend(this.connection, value, () => this.#close()))
  }

  #close() {
    this.#showPane('')
    fill(this.#send)
    this.#showList()
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

/** The searched text is kept, because all rows are searched in each frame. */
function contains({ row }, text) {
  if (row) row.searched ??= `${row.type} ${row.source} ${row.key ?? ''} ${row.id} ${row.summary}`.toLowerCase()
  return row?.searched.includes(text)
}

customElements.define('segue-messages', SegueMessages)

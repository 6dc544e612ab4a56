import { go } from '../address.js'
import { hasModifier } from '../elements/controls.js'
import { button, fill, h } from '../elements/dom.js'
import { addStyles } from '../elements/styles.js'
import { count, plural } from '../elements/text.js'
import { InspectorElement } from './inspector-element.js'
import { ListFrame } from './list-frame.js'
import { MessageFeed } from './message-feed.js'
import { messageRow } from './message-row.js'
import { SegueFilters } from './segue-filters.js'
import { SegueList } from './segue-list.js'
import { SegueMessage } from './segue-message.js'
import { messageAddress, messagesAddress, placeOfRow, readAddress } from './selection.js'

await addStyles('messages', import.meta.url)

const OPEN_DELAY = 120

/** The live list, its filters, and beside it one message, or the form for a new one. */
class SegueMessages extends InspectorElement {
  #feed = new MessageFeed({
    openView: use => this.openView({ kind: 'messages', selection: this.#feed.selection, from: 'last' }, use),
    get: path => this.connection.get(path), changed: () => this.#refresh(),
  })
  #text = ''
  #opened = ''
  #drawing = 0
  #choosing = 0
  #filters = new SegueFilters(({ selection, text }) => this.#filter(selection, text))
  #list = new SegueList('Messages', messageRow, ({ loading, problem }) => `${loading} ${problem}`, {
    open: entry => this.#open(entry), load: entry => this.#feed.readSkipped(entry),
    older: () => this.#feed.readOlder(), follow: following => { this.#feed.isFollowing = following },
    choose: entry => {
      clearTimeout(this.#choosing)
      if (this.#opened && entry.row) this.#choosing = setTimeout(() => this.#open(entry), OPEN_DELAY)
    },
  })
  #detail = new SegueMessage({
    close: () => this.#close(), only: (member, value) => this.#filters.only(member, value),
  })
  #send = h('div.beside', { hidden: true })
  #new = button('New message', () => this.#showList(false, ''))
  #frame = new ListFrame(this.#list, 'message', {
    pause: () => { this.#feed.isPaused = !this.#feed.isPaused }, newest: () => this.#feed.showNewest(),
    buttons: [this.#new],
  })

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
      this.#frame.element, this.#detail, this.#send))
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

  /** After a new start of the gateway, what is missing before its newest rows becomes a stretch. */
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

  #refresh() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0
      this.#draw()
    })
  }

  #draw() {
    const { entries, counts, problem } = this.#feed
    const text = this.#text.trim().toLowerCase()
    const shown = text ? entries.filter(entry => contains(entry, text)) : entries.slice()
    this.#list.show(shown, ({ row }) => !!row && placeOfRow(row) === this.#opened)
    this.#filters.counts = counts
    this.#filters.problem = problem
    const total = plural(entries.length, 'message')
    this.#frame.update(this.#feed, text ? `${count(shown.length)} of ${total}` : total,
      shown.length ? [] : this.#nothing(text))
  }

  #nothing(text) {
    const filtered = Object.keys(this.#feed.selection).length > 0
    const line = text ? `No message that is loaded contains “${this.#text}”.`
      : this.#feed.isStale ? 'Reading the journal…'
        : filtered ? 'No message matches the filters yet.' : 'No message has been published yet.'
    return [line, text && button('Search older messages', () => this.#feed.readOlder()),
      (filtered || text) && button('Remove the filters', () => go('#/messages'))]
  }

  #open({ row }) {
    go(messageAddress(placeOfRow(row)), !!this.#opened)
  }

  #show(place) {
    if (this.#opened === place) return
    this.#showPane('message', place)
    // An element outside the document shows the message when it starts.
    if (!this.isConnected) return
    this.#detail.show(place, this.#feed.entries.find(({ row }) => row && placeOfRow(row) === place)?.row)
  }

  async #showPane(pane, value = '') {
    this.#opened = pane === 'message' ? value : ''
    this.#detail.hidden = pane !== 'message'
    this.#send.hidden = pane !== 'send'
    this.classList.toggle('with-pane', !!pane)
    this.#refresh()
    // On a small screen the detail replaces the list, which had the focus.
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

  /** Escape works only here, because devices have a use for it. */
  #key = event => {
    if (event.defaultPrevented || hasModifier(event)) return
    const typing = event.target.closest('input, textarea, select'), here = this.contains(event.target)
    if (event.key === 'Escape' && here && this.classList.contains('with-pane')) this.#close()
    else if (event.key === 'Escape' && here && typing) this.#list.focus({ preventScroll: true })
    else if (event.key === '/' && !typing) this.#filters.focusSearch()
    else return
    event.preventDefault()
  }
}

/** The text is kept, because all rows are searched in each frame. */
function contains({ row }, text) {
  if (row) row.searched ??= `${row.type} ${row.source} ${row.key ?? ''} ${row.id} ${row.summary}`.toLowerCase()
  return row?.searched.includes(text)
}

customElements.define('segue-messages', SegueMessages)

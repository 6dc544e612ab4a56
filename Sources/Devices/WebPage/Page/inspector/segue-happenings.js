import { go } from '../address.js'
import { fill } from '../elements/dom.js'
import { addStyles } from '../elements/styles.js'
import { plural } from '../elements/text.js'
import { HappeningFeed } from './happening-feed.js'
import { happeningRow } from './happening-row.js'
import { InspectorElement } from './inspector-element.js'
import { ListFrame } from './list-frame.js'
import { SegueList } from './segue-list.js'
import { messageAddress, storyAddress } from './selection.js'

await addStyles('happenings', import.meta.url)

/** Each tap or other origin, and below it its effects. `address`: `#/happenings`. */
class SegueHappenings extends InspectorElement {
  #feed = new HappeningFeed()
  #drawing = 0
  #list = new SegueList('Happenings', happeningRow, ({ row, hidden }) => row?.messages ?? hidden, {
    open: ({ row }) => this.#open(row), follow: following => {
      this.#feed.isFollowing = following
      this.#refresh()
    },
    point: ({ row: { platform, session, key } = {} }) => this.dispatchEvent(
      new CustomEvent('point', { bubbles: true, detail: { platform, session, key } })),
  })
  #frame = new ListFrame(this.#list, 'happening', {
    pause: () => this.#pause(!this.#feed.isPaused), newest: () => this.#pause(false),
  })

  build() { fill(this, this.#frame.element) }

  start() {
    this.connection.addEventListener('hello', this.#hello)
    this.#feed.interrupt()
    this.openView({ kind: 'happenings' }, update => {
      this.#feed.receive(update)
      this.#refresh()
    })
    this.#refresh()
  }

  stop() { this.connection.removeEventListener('hello', this.#hello) }

  #hello = () => { if (!this.connection.state.hello.resumed) this.#feed.interrupt() }

  #open(row) {
    // The browser's button leads back to here, also if the address named no part.
    go('#/happenings', true)
    go(addressOf(row))
  }

  #pause(isPaused) {
    this.#feed.isPaused = isPaused
    this.#refresh()
  }

  #refresh() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0
      const { entries, isStale, failure } = this.#feed
      this.#list.show(entries)
      const total = entries.filter(entry => entry.row).length
      this.#frame.update(this.#feed, plural(total, 'happening'), total || failure ? []
        : [isStale ? 'Asking the gateway…' : 'Nothing has happened since the gateway was started.'])
    })
  }
}

function addressOf({ kind, story, position, message, messages }) {
  if (!position) return messageAddress(`transient:${message}`)
  return kind === 'origin' || messages > 1 ? storyAddress(story) : messageAddress(position)
}

customElements.define('segue-happenings', SegueHappenings)

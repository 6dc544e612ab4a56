// The messages of a selection: live ones from a view of the gateway, older ones from the journal.

import { problemOf } from '../elements/text.js'
import { MessageBuffer } from './message-buffer.js'

const PAGE = 200

export class MessageFeed {
  selection = {}
  /** The gateway has not answered yet; the entries are those of the former selection. */
  isStale = true
  problem = ''
  failure = ''
  #buffer = new MessageBuffer()
  #following = true
  #paused = false
  #pausedAt
  /** Totals by type of the former views, and with those of this view. */
  #former = new Map()
  #totals = new Map()
  #reading = false
  /** A search that has found nothing goes on in the journal before this position. */
  #searched
  #openView
  #get
  #changed

  constructor({ openView, get, changed }) {
    this.#openView = openView
    this.#get = get
    this.#changed = changed
  }

  get entries() {
    const { entries } = this.#buffer
    const end = entries.lastIndexOf(this.#pausedAt)
    // Entries were removed from the end, to make room for older messages.
    return this.#paused && (end >= 0 || !this.#pausedAt) ? entries.slice(0, end + 1) : entries
  }

  get unseen() { return this.#buffer.unseen }

  get isDetached() { return this.#buffer.detached }

  /** The gateway counts only while its view is open. */
  get counts() {
    const counts = new Map()
    for (const { row } of this.#buffer.entries) if (row) counts.set(row.type, (counts.get(row.type) ?? 0) + 1)
    for (const [type, total] of this.#totals) counts.set(type, Math.max(total, counts.get(type) ?? 0))
    return counts
  }

  select(selection) {
    Object.assign(this, { selection, isStale: true, problem: '' })
    this.#paused = false
    this.#searched = undefined
  }

  /** The buffer may have some of the messages that the gateway sends. */
  open() {
    this.interrupt()
    this.#openView(update => this.#update(update))
  }

  interrupt() {
    this.#buffer.interrupted = true
    this.#former = this.counts
    this.#totals = this.counts
  }

  #update(update) {
    if (this.isStale) this.#buffer.clear()
    this.isStale = false
    if (update.error) this.problem = problemOf(update)
    for (const [type, count] of Object.entries(update.counts ?? {})) {
      this.#totals.set(type, (this.#former.get(type) ?? 0) + count)
    }
    this.#buffer.append(update, this.#paused || !this.#following)
    this.#changed()
  }

  get isPaused() { return this.#paused }

  set isPaused(isPaused) {
    this.#paused = isPaused
    this.#pausedAt = this.#buffer.entries.at(-1)
    this.isFollowing = this.#following
  }

  set isFollowing(isFollowing) {
    this.#following = isFollowing
    if (isFollowing && !this.#paused && !this.#buffer.detached) this.#buffer.unseen = 0
    this.#changed()
  }

  showNewest() {
    this.isPaused = false
    if (!this.#buffer.detached) return
    this.isStale = true
    this.open()
  }

  #page(query) {
    // Not every server reads a plus sign, which URLSearchParams writes, as a space.
    const parameters = Object.entries({ selection: JSON.stringify(this.selection), limit: PAGE, ...query })
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    return this.#get('/api/messages?' + parameters.join('&'))
  }

  async readOlder() {
    const oldest = this.#buffer.entries.find(entry => entry.row?.position)?.row.position, { selection } = this
    const before = this.#searched?.oldest === oldest ? this.#searched?.next : oldest
    if (this.#reading || !this.#buffer.hasOlder || !before || this.isStale) return
    this.#reading = true
    this.failure = ''
    try {
      const { rows, more, next } = await this.#page({ before })
      if (selection === this.selection) {
        this.#buffer.prepend(rows, more)
        this.#searched = rows.length ? undefined : { oldest, next }
      }
    } catch (failure) {
      this.#buffer.hasOlder = false
      this.failure = `Older messages cannot be read: ${problemOf(failure)}`
    }
    this.#reading = false
    this.#changed()
  }

  async readSkipped(entry) {
    if (entry.loading) return
    Object.assign(entry, { loading: true, problem: '' })
    this.#changed()
    try {
      const { after, before } = entry.skipped
      const { rows, more, next } = await this.#page({ after, before })
      this.#buffer.fill(entry, rows, more, next)
    } catch (failure) {
      entry.problem = problemOf(failure)
    }
    entry.loading = false
    this.#changed()
  }
}

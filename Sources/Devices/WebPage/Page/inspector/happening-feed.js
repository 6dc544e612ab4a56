// The happenings from the gateway: a bounded list, in which the rows of a story are together.

import { plural, problemOf } from '../elements/text.js'

/** The gateway keeps fewer (`HappeningLog.limit`). */
const LIMIT = 5000
/** Among so many rows at the end, the story of a new row is looked for. */
const NEAR = 30

// An entry is a `row`, a `notice`, or the number of `hidden` messages. An `isEffect` is below others of its story. If
// these are further up, a row is at the end, where somebody sees it.

export class HappeningFeed {
  unseen = 0
  /** The gateway has not answered yet. */
  isStale = true
  failure = ''
  #serial = 0
  #entries = []
  #byID = new Map()
  #hidden = { serial: 0, hidden: 0 }
  #paused
  #following = true
  #interrupted = false

  get entries() {
    return this.#paused ?? (this.#hidden.hidden ? [...this.#entries, this.#hidden] : [...this.#entries])
  }

  get isPaused() { return !!this.#paused }

  set isPaused(isPaused) {
    this.#paused = isPaused ? this.entries : undefined
    this.isFollowing = this.#following
  }

  set isFollowing(isFollowing) {
    this.#following = isFollowing
    if (isFollowing && !this.#paused) this.unseen = 0
  }

  /** The gateway will begin anew, with the rows that it has kept. */
  interrupt() { this.#interrupted = true }

  receive({ rows = [], hidden, skipped, lost = [], error }) {
    this.isStale = false
    this.failure = error ? problemOf({ error }) : ''
    for (const notice of lost) this.#add({ notice })
    if (skipped) this.#add({ notice: `${plural(skipped, 'happening')} skipped; there were too many` })
    if (rows.length && this.#interrupted) {
      // The same gateway sends rows that are known.
      if (this.#entries.length && !this.#byID.has(rows[0].id)) this.#add({ notice: 'Happenings may be missing here' })
      this.#interrupted = false
    }
    for (const row of rows) this.#apply(row)
    // The entry may have the focus, so it stays the same.
    if (hidden !== undefined) this.#hidden.hidden = hidden
    for (const { row } of this.#entries.splice(0, Math.max(0, this.#entries.length - LIMIT))) {
      if (row) this.#byID.delete(row.id)
    }
  }

  #apply(row) {
    const known = this.#byID.get(row.id)
    if (known) {
      // Further messages have joined the happening. A paused list does not change.
      if (this.#paused) this.#replace(known, { ...known, row })
      else known.row = row
      return
    }
    const near = Math.max(0, this.#entries.length - NEAR)
    const last = this.#entries.findLastIndex((entry, index) => index >= near && entry.row?.story === row.story)
    this.#byID.set(row.id, this.#add({ row, isEffect: last >= 0 }, last >= 0 ? this.#indexAfter(last, row) : undefined))
    if (this.#paused || !this.#following) this.unseen += 1
  }

  /** After the effects that happened before it: messages of several processes arrive in any order. */
  #indexAfter(last, { story, after }) {
    // Without a time since the beginning of the story, or with a negative one, a row stays at the end.
    if (!(after > 0)) return last + 1
    while (this.#entries[last]?.isEffect && this.#entries[last].row?.story === story
      && this.#entries[last].row.after > after) last -= 1
    return last + 1
  }

  #replace(known, entry) {
    this.#entries[this.#entries.lastIndexOf(known)] = entry
    this.#byID.set(entry.row.id, entry)
  }

  #add(content, index = this.#entries.length) {
    const entry = { serial: ++this.#serial, ...content }
    this.#entries.splice(index, 0, entry)
    return entry
  }
}

// The messages that the page keeps: a bounded list, in the order of the journal.

// An entry is a `row`, a `notice`, or a `skipped` stretch. The latter two have the place of the message before.

const LIMIT = 10_000

export class MessageBuffer {
  #serial = 0
  entries = []
  unseen = 0
  detached = false
  hasOlder = true
  interrupted = false

  clear() {
    Object.assign(this, { entries: [], unseen: 0, detached: false, hasOlder: true, interrupted: false })
  }

  /** `reading`: somebody reads older messages, which must not make room. */
  append({ rows = [], skipped, lost = [] }, reading) {
    const former = this.entries.length
    this.detached ||= reading && former + rows.length > LIMIT
    if (this.detached) {
      this.unseen += rows.length + (skipped?.count ?? 0)
      return
    }
    const newest = this.entries.findLast(entry => entry.row?.position), next = rows.find(row => row.position)
    if (newest && next) {
      const { epoch, offset } = placeOf(next.position)
      if (epoch !== newest.epoch) {
        lost = [...lost, 'The journal was replaced. The messages above can no longer be opened.']
      } else if (this.interrupted && offset > newest.offset + 1) {
        // A journal may leave out offsets between batches without a lost message.
        skipped ??= { count: null, after: newest.row.position, before: next.position }
      }
      this.interrupted = false
    }
    const { epoch, offset } = this.entries.at(-1) ?? {}
    for (const notice of lost) this.entries.push({ serial: ++this.#serial, epoch, offset, notice })
    if (skipped) this.#insert(skipped.after, { skipped })
    for (const row of rows) this.#add(row)
    if (reading) this.unseen += this.entries.length - former
    const excess = Math.max(0, this.entries.length - LIMIT)
    this.entries.splice(0, excess)
    this.hasOlder ||= excess > 0
  }

  /** If there is no room, the newest are removed. */
  prepend(rows, hasOlder) {
    this.hasOlder = hasOlder
    this.entries.unshift(...rows.map(row => ({ serial: ++this.#serial, ...placeOf(row.position), row })))
    this.detached ||= this.entries.length > LIMIT
    this.entries.splice(LIMIT)
  }

  /** If there are more, a shorter stretch remains after them. */
  fill(gap, rows, more, next) {
    const index = this.entries.indexOf(gap)
    if (index < 0) return
    this.entries.splice(index, 1)
    for (const row of rows) this.#insert(row.position, { row })
    const after = next ?? rows.at(-1)?.position, { before, count } = gap.skipped
    if (!more || !after) return
    this.#insert(after, { skipped: { after, before, count: count && Math.max(count - rows.length, 0) } })
  }

  /** A transient message has no position: it is after all others. */
  #add(row) {
    if (row.position) return this.#insert(row.position, { row })
    if (this.entries.some(entry => entry.row?.id === row.id)) return
    const { epoch, offset } = this.entries.at(-1) ?? {}
    this.entries.push({ serial: ++this.#serial, epoch, offset, row })
  }

  /** The place is after the last smaller offset, unless the message is there. */
  #insert(position, content) {
    const entry = { serial: ++this.#serial, ...placeOf(position), ...content }
    let index = this.entries.length
    for (; index > 0; index--) {
      const other = this.entries[index - 1]
      if (other.epoch !== entry.epoch || other.offset < entry.offset) break
      if (other.offset > entry.offset) continue
      if (!entry.row) break
      if (other.row) return
    }
    this.entries.splice(index, 0, entry)
  }
}

function placeOf(position) {
  const [epoch, offset] = position.split(':')
  return { epoch, offset: Number(offset) }
}

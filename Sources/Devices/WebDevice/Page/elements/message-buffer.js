// The messages that the page keeps: a bounded list, oldest first, of messages, of stretches that were skipped, and of
// notices. It knows nothing of the document.

import { placeOf } from './text.js'

/**
 * @typedef {{position?: string, id?: string, time?: string, kind?: string, type?: string, source?: string,
 *   session?: string, key?: string | null, story?: string, cause?: string | null, summary?: string, size?: number,
 *   tombstone?: boolean}} Row a message as the gateway lists it; any member may be missing
 * @typedef {{serial: number, epoch: string, offset: number, row?: Row, notice?: string, loading?: boolean,
 *   problem?: string, skipped?: {count: number | null, after: string, before: string}}} Entry
 */

export class MessageBuffer {
    #limit
    #serial = 0
    /** The ids of the messages without an offset, which nothing else tells apart. */
    #transient = new Set()
    /** @type {Entry[]} */
    entries = []
    /** The number of messages of each type. */
    byType = new Map()
    /** The messages that were not taken, because older ones are being read and there is no room. */
    unseen = 0
    /** The newest messages are not in the buffer. */
    detached = false
    /** The journal may have messages before the first entry. */
    hasOlder = true
    /** Messages may be missing before the next one. */
    interrupted = false

    constructor(limit = 10_000) {
        this.#limit = limit
    }

    get oldest() {
        return this.entries.find(entry => entry.row && entry.offset)
    }

    /** Takes an update of the gateway. `reading`: somebody reads older messages, which must not make room. */
    append({ rows = [], skipped, lost = [] }, reading) {
        if (this.detached || reading && this.entries.length + rows.length > this.#limit) {
            this.detached = true
            this.unseen += rows.length + (skipped?.count ?? 0)
            return
        }
        const newest = this.entries.findLast(entry => entry.row && entry.offset)
        const first = rows.find(row => placeOf(row.position).offset)
        if (newest && first) {
            const { epoch, offset } = placeOf(first.position)
            if (epoch !== newest.epoch) lost = [...lost,
                'The journal was replaced. The messages above can no longer be opened.']
            else if (this.interrupted && offset > newest.offset + 1) {
                skipped ??= { count: null, after: newest.row.position, before: first.position }
            }
        }
        if (first) this.interrupted = false
        for (const notice of lost) this.entries.push(this.#entry('', { notice: String(notice) }))
        if (skipped?.after) this.#insert(this.#entry(skipped.after, { skipped }))
        for (const row of rows) this.#add(row)
        this.#remove(0, this.entries.length - this.#limit)
    }

    /** Adds older messages of the journal. If there is no room, the newest are removed. */
    prepend(rows, hasOlder) {
        this.hasOlder = hasOlder
        const known = new Set(this.entries.map(entry => entry.row?.position))
        const entries = rows.filter(row => !known.has(row.position)).map(row => this.#entry(row.position, { row }))
        for (const entry of entries) this.#count(entry, 1)
        this.entries.unshift(...entries)
        if (this.entries.length <= this.#limit) return
        this.detached = true
        this.#remove(this.#limit, this.entries.length - this.#limit)
        this.hasOlder = hasOlder
    }

    /** Puts messages in the place of a skipped stretch. If there are more, a shorter stretch remains after them. */
    fill(gap, rows, more, next) {
        const index = this.entries.indexOf(gap)
        if (index < 0) return
        this.entries.splice(index, 1)
        for (const row of rows) this.#add(row)
        const last = next ?? rows.at(-1)?.position
        if (!more || !last) return
        const left = gap.skipped.count == null ? null : Math.max(gap.skipped.count - rows.length, 0)
        this.#insert(this.#entry(last, { skipped: { ...gap.skipped, after: last, count: left } }))
    }

    /** Starts again with those messages that pass. */
    keep(passes) {
        const kept = this.entries.filter(entry => entry.row && passes(entry.row))
        Object.assign(this, { entries: kept, byType: new Map(), unseen: 0, detached: false, hasOlder: true,
            interrupted: false })
        this.#transient = new Set(kept.filter(entry => !entry.offset).map(entry => entry.row.id))
        for (const entry of kept) this.#count(entry, 1)
    }

    #entry(position, more) {
        return { serial: ++this.#serial, ...placeOf(position), ...more }
    }

    #add(row) {
        const entry = this.#entry(row?.position, { row: row ?? {} })
        if (entry.offset) return this.#insert(entry)
        if (this.#transient.has(row?.id)) return
        if (row?.id) this.#transient.add(row.id)
        this.entries.push(entry)
        this.#count(entry, 1)
    }

    /** Inserts an entry after the last one with a smaller offset, unless the message is there. */
    #insert(entry) {
        const last = this.entries.findLastIndex(other => other.offset)
        let index = last
        for (; index >= 0; index--) {
            const other = this.entries[index]
            if (!other.offset) continue
            if (other.epoch !== entry.epoch || other.offset < entry.offset) break
            if (other.offset === entry.offset) {
                if (other.row && entry.row) return
                break
            }
        }
        // Notices and transient messages after the newest recorded message came before this one.
        this.entries.splice(index === last ? this.entries.length : index + 1, 0, entry)
        this.#count(entry, 1)
    }

    #remove(start, excess) {
        if (excess <= 0) return
        this.hasOlder = true
        for (const entry of this.entries.splice(start, excess)) {
            this.#count(entry, -1)
            if (!entry.offset) this.#transient.delete(entry.row?.id)
        }
    }

    #count(entry, by) {
        if (entry.row?.type) this.byType.set(entry.row.type, (this.byType.get(entry.row.type) ?? 0) + by)
    }
}

// @ts-check
// The messages that the page keeps: a bounded list, oldest first, of messages, of stretches that were skipped, and of
// notices. It knows nothing of the document.

import { placeOf } from './text.js'

/**
 * @typedef {{position?: string, id?: string, time?: string, kind?: string, type?: string, source?: string,
 *   session?: string, key?: string | null, story?: string, cause?: string | null, summary?: string, size?: number,
 *   tombstone?: boolean}} Row
 * @typedef {{count: number | null, after: string, before: string}} Skipped
 * @typedef {{serial: number, epoch: string, offset: number, row?: Row, skipped?: Skipped, notice?: string,
 *   loading?: boolean, problem?: string}} Entry
 */

export class MessageBuffer {
    #limit
    #serial = 0
    /** The ids of the messages without an offset, which can be told apart by nothing else. @type {Set<string>} */
    #transient = new Set()

    /** @type {Entry[]} */
    entries = []
    /** The messages that came while the buffer did not take any, because an older part of the journal is being read. */
    unseen = 0
    /** The newest messages are not in the buffer. */
    detached = false
    /** The journal may have messages before the first entry. */
    hasOlder = true
    /** The stream was interrupted; messages may be missing before the next one. */
    interrupted = false
    /** @type {Map<string, number>} */
    byType = new Map()

    constructor(limit = 10_000) {
        this.#limit = limit
    }

    /** The newest recorded message. */
    get newest() {
        return this.entries.findLast(entry => entry.row && entry.offset)
    }

    /** The oldest recorded message. */
    get oldest() {
        return this.entries.find(entry => entry.row && entry.offset)
    }

    /**
     * Takes an update of the gateway.
     * @param {{rows?: Row[], skipped?: Skipped, lost?: string[]}} update
     * @param {boolean} reading somebody reads older messages, which must not be removed to make room
     */
    append(update, reading) {
        const rows = Array.isArray(update.rows) ? update.rows : []
        if (this.detached || reading && this.entries.length + rows.length > this.#limit) {
            this.detached = true
            this.unseen += rows.length + (update.skipped?.count ?? 0)
            return
        }
        const newest = this.newest
        const first = rows.find(row => placeOf(row.position).offset > 0)
        if (newest && first) {
            const place = placeOf(first.position)
            if (place.epoch !== newest.epoch) {
                this.#push({ notice: 'The journal was replaced. The messages above can no longer be opened.' })
            } else if (this.interrupted && place.offset > newest.offset + 1) {
                this.#insert(this.#gap({ count: null, after: newest.row?.position ?? '', before: first.position ?? '' }))
            }
        }
        if (first) this.interrupted = false
        for (const text of Array.isArray(update.lost) ? update.lost : []) this.#push({ notice: String(text) })
        if (update.skipped?.after) this.#insert(this.#gap(update.skipped))
        for (const row of rows) this.#add(row)
        this.#trim(0, this.entries.length - this.#limit)
    }

    /** Adds older messages of the journal. When there is no room, the newest go. @param {Row[]} rows */
    prepend(rows, hasOlder = false) {
        this.hasOlder = hasOlder
        const entries = rows.map(row => this.#entry(row)).filter(entry => !this.#has(entry))
        for (const entry of entries) this.#count(entry, 1)
        this.entries.unshift(...entries)
        const excess = this.entries.length - this.#limit
        if (excess > 0) {
            this.detached = true
            this.#trim(this.#limit, excess, false)
        }
    }

    /**
     * Puts messages in the place of a skipped stretch. If there are more, a shorter stretch remains after them.
     * @param {Entry} gap @param {Row[]} rows
     */
    fill(gap, rows, more = false) {
        const index = this.entries.indexOf(gap)
        if (index < 0 || !gap.skipped) return
        const last = rows.at(-1)
        if (more && last?.position) {
            const remaining = gap.skipped.count == null ? null : Math.max(gap.skipped.count - rows.length, 0)
            gap.skipped = { ...gap.skipped, after: last.position, count: remaining }
            const place = placeOf(last.position)
            gap.epoch = place.epoch
            gap.offset = place.offset
            gap.loading = false
            this.entries.splice(index, 1)
            for (const row of rows) this.#add(row)
            this.#insert(gap)
        } else {
            this.entries.splice(index, 1)
            for (const row of rows) this.#add(row)
        }
    }

    /** Keeps only the entries that pass. @param {(row: Row) => boolean} passes */
    keep(passes) {
        const kept = this.entries.filter(entry => entry.row && passes(entry.row))
        this.clear()
        this.entries = kept
        for (const entry of kept) this.#count(entry, 1)
    }

    clear() {
        this.entries = []
        this.byType.clear()
        this.#transient.clear()
        this.unseen = 0
        this.detached = false
        this.hasOlder = true
        this.interrupted = false
    }

    /** @param {Row} row @returns {Entry} */
    #entry(row) {
        return { serial: ++this.#serial, ...placeOf(row?.position), row: row ?? {} }
    }

    /** @param {Skipped} skipped @returns {Entry} */
    #gap(skipped) {
        return { serial: ++this.#serial, ...placeOf(skipped.after), skipped }
    }

    #push(/** @type {Partial<Entry>} */ part) {
        this.entries.push({ serial: ++this.#serial, epoch: '', offset: 0, ...part })
    }

    #add(/** @type {Row} */ row) {
        const entry = this.#entry(row)
        if (entry.offset) {
            this.#insert(entry)
        } else if (!row?.id || !this.#transient.has(row.id)) {
            if (row?.id) this.#transient.add(row.id)
            this.entries.push(entry)
            this.#count(entry, 1)
        }
    }

    /** Inserts an entry after the last one with a smaller offset, unless the message is there. */
    #insert(/** @type {Entry} */ entry) {
        const last = this.entries.findLastIndex(other => other.offset > 0)
        let index = last
        while (index >= 0) {
            const other = this.entries[index]
            if (other.offset && other.epoch !== entry.epoch) break
            if (other.offset && other.offset <= entry.offset) {
                if (other.offset === entry.offset && other.row && entry.row) return
                break
            }
            index--
        }
        // Notices and transient messages after the newest recorded message came before this one.
        this.entries.splice(index === last ? this.entries.length : index + 1, 0, entry)
        this.#count(entry, 1)
    }

    #has(/** @type {Entry} */ entry) {
        return entry.offset > 0
            && this.entries.some(other => other.row && other.offset === entry.offset && other.epoch === entry.epoch)
    }

    #trim(/** @type {number} */ start, /** @type {number} */ excess, older = true) {
        if (excess <= 0) return
        for (const entry of this.entries.splice(start, excess)) {
            this.#count(entry, -1)
            if (entry.row?.id && !entry.offset) this.#transient.delete(entry.row.id)
        }
        if (older) this.hasOlder = true
    }

    #count(/** @type {Entry} */ entry, /** @type {number} */ by) {
        if (!entry.row?.type) return
        const total = (this.byType.get(entry.row.type) ?? 0) + by
        if (total > 0) this.byType.set(entry.row.type, total)
        else this.byType.delete(entry.row.type)
    }
}

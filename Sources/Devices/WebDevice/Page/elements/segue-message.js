// @ts-check
import { adopt, button, copy, fill, h, link, loadStyles, uniqueID } from './dom.js'
import { difference } from './difference.js'
import { storyAddress } from './selection.js'
import { bytes, dateAndClock, kindOf, KINDS, nameOf, printable, problemOf } from './text.js'
import { jsonText } from './segue-tree.js'
import './segue-confirm.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'messages.css', 'tree.css')

/** The kinds that the page may publish: documents need a key and an owner, and queries an answer. */
const SENDABLE = ['command', 'event']

/** @typedef {{row: import('./message-buffer.js').Row, attributes?: object, data?: any, text?: string | null, before?: any, command?: string, cut?: boolean}} Message */

/**
 * One message: its attributes, its data, and the difference to the version before. Events: `close`, and `only` with a
 * member of the selection and its value.
 */
export class SegueMessage extends HTMLElement {
    /** @type {any} */
    connection = null
    readOnly = false
    #position = ''
    /** @type {Message | null} */
    #message = null

    connectedCallback() {
        adopt(this, styles)
        this.setAttribute('role', 'region')
        this.setAttribute('aria-label', 'Message')
    }

    get position() {
        return this.#position
    }

    /** Loads a message. What is known of it from the list is shown at once. */
    async show(/** @type {string} */ position, /** @type {import('./message-buffer.js').Row | undefined} */ row = undefined, full = false) {
        this.#position = position
        if (!full) this.#draw({ row: row ?? { position } }, true)
        try {
            const path = `/api/messages/${encodeURIComponent(position).replaceAll('%3A', ':')}${full ? '?full=1' : ''}`
            const message = await this.connection.get(path)
            if (this.#position === position) this.#draw({ ...message, row: message?.row ?? row ?? { position } })
        } catch (failure) {
            if (this.#position === position) this.#fail(problemOf(failure), row)
        }
    }

    /** Shows a transient message, of which the journal has nothing but the row. */
    showTransient(/** @type {import('./message-buffer.js').Row} */ row) {
        this.#position = ''
        this.#draw({ row })
        this.append(h('p', { class: 'quiet padded' }, 'This message is transient: the journal does not have its data.'))
    }

    #fail(/** @type {string} */ problem, /** @type {any} */ row) {
        fill(this, this.#header(row ?? { type: 'Message', position: this.#position }), h('div', { class: 'padded' },
            h('p', { class: 'problem', role: 'alert' }, problem),
            button('Try again', () => this.show(this.#position, row))))
    }

    #header(/** @type {import('./message-buffer.js').Row} */ row) {
        const kind = row.kind ?? kindOf(row.type ?? '')
        return h('header', { class: 'detail-header' },
            h('span', { class: 'kind', 'data-kind': kind in KINDS ? kind : 'other', 'aria-hidden': 'true' }, /** @type {any} */ (KINDS)[kind] ?? '?'),
            h('div', { class: 'detail-title' }, h('h2', { tabindex: -1 }, h('bdi', {}, nameOf(row.type ?? ''))),
                h('p', { class: 'quiet' }, [printable(kind), dateAndClock(row.time), row.size == null ? '' : bytes(row.size), row.position && `at ${printable(row.position)}`].filter(Boolean).join(' · '))),
            button('✕', () => this.dispatchEvent(new CustomEvent('close')), { class: 'button plain', 'aria-label': 'Close the message', title: 'Close (Escape)' }))
    }

    #draw(/** @type {Message} */ message, loading = false) {
        const focused = this.querySelector('h2') === document.activeElement
        this.#message = message
        const { row } = message
        const parts = [this.#header(row)]
        if (loading) {
            // Nothing is written for the first 300 ms (see the style of .late), because most answers come before.
            parts.push(h('p', { class: 'quiet padded late' }, 'Reading the message…'))
        } else {
            parts.push(this.#actions(message), ...this.#body(message))
        }
        fill(this, ...parts)
        if (focused) this.querySelector('h2')?.focus()
    }

    /** @param {Message} message @returns {HTMLElement} */
    #actions({ row, command, data, cut }) {
        const only = (/** @type {string} */ text, /** @type {string} */ member, /** @type {unknown} */ value) => value
            ? button(text, () => this.dispatchEvent(new CustomEvent('only', { detail: { member, value: String(value) } })), { class: 'button small' })
            : null
        const kind = row.kind ?? kindOf(row.type ?? '')
        const actions = h('div', { class: 'actions' })
        if (row.story) actions.append(link(storyAddress(row.story), { class: 'button' }, 'Story'))
        if (command) {
            const element = button('Copy command', () => copy(command, element), { title: printable(command.slice(0, 1000)) })
            actions.append(element)
        }
        if (SENDABLE.includes(kind) && row.type && !this.readOnly && !cut) actions.append(this.#again(row, data))
        return h('div', { class: 'padded' }, actions, h('div', { class: 'actions', role: 'group', 'aria-label': 'Filter by this message' },
            only('Only this type', 'types', row.type), only('Hide this type', 'exclude', row.type),
            only('Only this session', 'session', row.session), only('Only this process', 'source', String(row.source ?? '').split('/')[0]),
            only('Only this story', 'story', row.story)))
    }

    /** @param {import('./message-buffer.js').Row} row @param {any} data */
    #again(row, data) {
        const confirm = /** @type {import('./segue-confirm.js').SegueConfirm} */ (h('segue-confirm'))
        confirm.options = {
            text: 'Send again…', verb: 'Send',
            question: `Publish ${nameOf(row.type ?? '')} again, in the session ${printable(row.session ?? 'default')}?`,
            action: async () => {
                const platform = /** @type {any} */ (row).platform
                const answer = await this.connection.post('/api/messages', {
                    type: row.type, session: row.session ?? 'default', data: data ?? {}, check: true, ...(platform ? { platform } : {}),
                })
                return `Published as ${printable(answer?.id ?? 'a new message')}.`
            },
        }
        return confirm
    }

    /** @param {Message} message @returns {HTMLElement[]} */
    #body(message) {
        const { row, data, text, cut, before, attributes } = message
        const parts = []
        if (before !== undefined && before !== null && data !== undefined && data !== null) {
            const { changes, complete } = difference(before, data)
            parts.push(section('Changes', changes.length ? changeList(changes) : h('p', { class: 'quiet' }, 'Equal to the version before.'),
                complete ? null : h('p', { class: 'quiet' }, `The first ${changes.length} changes are shown.`)))
        }
        const value = data ?? (text ? text : undefined)
        if (row.tombstone) parts.push(section('Data', h('p', { class: 'quiet' }, 'The document was withdrawn; it has no data.')))
        else if (value === undefined) parts.push(section('Data', h('p', { class: 'quiet' }, 'The message has no data.')))
        else {
            const tree = tree_('Data', 'data', value)
            tree.addEventListener('filter', (/** @type {any} */ event) => this.dispatchEvent(new CustomEvent('only', { detail: { member: 'where', value: event.detail.expression } })))
            parts.push(section('Data', cut ? this.#cut(row) : null, tree))
        }
        const all = { ...(attributes ?? row) }
        parts.push(section('Attributes', tree_('Attributes', '', all)))
        if (row.cause) parts.push(section('Cause', h('p', { class: 'mono' }, h('bdi', {}, printable(row.cause)))))
        return parts
    }

    /** @param {import('./message-buffer.js').Row} row */
    #cut(row) {
        const load = button(`Load all ${row.size ? bytes(row.size) : ''}`, () => {
            load.disabled = true
            load.textContent = 'Loading…'
            this.show(this.#position, row, true)
        }, { class: 'button small' })
        return h('p', { class: 'banner' }, 'The data is cut after 256 KiB. ', load)
    }
}

/** @param {string} title @param {...any} children */
function section(title, ...children) {
    const id = uniqueID('section')
    return h('section', { class: 'padded', 'aria-labelledby': id }, h('h3', { class: 'heading', id }, title), ...children)
}

function tree_(/** @type {string} */ label, /** @type {string} */ prefix, /** @type {any} */ value) {
    const tree = /** @type {import('./segue-tree.js').SegueTree} */ (h('segue-tree', { label }))
    tree.prefix = prefix
    tree.value = value
    return tree
}

/** @param {import('./difference.js').Change[]} changes */
function changeList(changes) {
    const short = (/** @type {any} */ value) => {
        const text = printable(typeof value === 'string' ? JSON.stringify(value.slice(0, 2000)) : jsonText(value).slice(0, 2000).replace(/\s+/g, ' '))
        return text.length > 240 ? text.slice(0, 240) + '…' : text
    }
    return h('ul', { class: 'changes' }, ...changes.map(change => h('li', {}, h('bdi', { class: 'mono path' }, printable(change.path || 'data')),
        change.kind !== 'added' && h('del', {}, h('span', { 'aria-hidden': 'true' }, '− '), h('bdi', {}, short(change.before))),
        change.kind !== 'removed' && h('ins', {}, h('span', { 'aria-hidden': 'true' }, '+ '), h('bdi', {}, short(change.after))))))
}

customElements.define('segue-message', SegueMessage)

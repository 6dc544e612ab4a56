import { adopt, badge, button, copy, fill, h, kindOfRow, link, uniqueID } from './dom.js'
import { difference } from './difference.js'
import { encoded, storyAddress } from './selection.js'
import { bytes, dateAndClock, nameOf, printable, problemOf, processOf, shortened } from './text.js'
import { jsonText } from './segue-tree.js'
import './segue-confirm.js'

/** The kinds that can be sent again: a document needs a key and an owner, a query an answer. */
const SENDABLE = ['command', 'event']
const CHANGES = 200

/**
 * One message: the difference to the version before, its data, and its attributes. Events: `close`, and `only` with a
 * member of the selection and a value.
 */
export class SegueMessage extends HTMLElement {
    connection = null
    #position = ''
    /** The position or the id of the message that was asked for last. */
    #shown = ''

    connectedCallback() {
        adopt(this)
        this.setAttribute('role', 'region')
        this.setAttribute('aria-label', 'Message')
    }

    /** Loads a message. What the list knows of it is shown at once. A transient message is found by its id. */
    async show(position, row = { position }, full = false) {
        const shown = this.#shown = position || row.id
        this.#position = position
        if (!full) this.#draw(row, h('p.quiet.padded.late', 'Reading the message…'))
        try {
            const message = await this.connection.get(position
                ? `/api/messages/${encoded(position)}${full ? '?full=1' : ''}`
                : `/api/transient/${encodeURIComponent(row.id ?? '')}`)
            if (this.#shown !== shown) return
            row = message.row ?? row
            this.#draw(row, this.#actions(row, message), ...this.#body(row, message))
        } catch (failure) {
            if (this.#shown !== shown) return
            this.#draw(row, h('div.padded', h('p.failure', { role: 'alert' }, problemOf(failure)),
                button('Try again', () => this.show(position, row, full))))
        }
    }

    #draw(row, ...parts) {
        const focused = this.querySelector('h2') === document.activeElement
        const facts = [printable(kindOfRow(row)), dateAndClock(row.time), row.size >= 0 && bytes(row.size),
            row.position && `at ${printable(row.position)}`]
        fill(this, h('div.pane-header', badge(kindOfRow(row)), h('div.pane-title',
            h('h2', { tabindex: -1 }, h('bdi', row.type === undefined ? 'Message' : nameOf(row.type))),
            h('p.quiet', facts.filter(Boolean).join(' · '))),
            button('✕', () => this.dispatchEvent(new CustomEvent('close')),
                { class: 'button plain', 'aria-label': 'Close the message', title: 'Close (Escape)' })), ...parts)
        if (focused) this.querySelector('h2').focus()
    }

    #only(member, value) {
        this.dispatchEvent(new CustomEvent('only', { detail: { member, value } }))
    }

    #actions(row, { command, data, cut }) {
        const only = (text, member, value) => value && button(text, () => this.#only(member, String(value)),
            { class: 'button small' })
        const copying = command && button('Copy command', () => copy(command, copying),
            { title: shortened(command, 1000) })
        return h('div.padded', h('div.actions', row.story && link('a.button', storyAddress(row.story), 'Story'),
            copying,
            SENDABLE.includes(kindOfRow(row)) && !this.connection.readOnly && !cut && this.#again(row, data)),
        h('div.actions', { role: 'group', 'aria-label': 'Filter by this message' },
            only('Only this type', 'types', row.type), only('Hide this type', 'exclude', row.type),
            only('Only this session', 'session', row.session),
            only('Only this process', 'source', row.source && processOf(row.source)),
            only('Only this story', 'story', row.story)))
    }

    /** The view that a message came from is a part of it: rules ask for the screen that sent it. */
    #again({ type, session = 'default', platform, device, instance }, data) {
        const confirm = h('segue-confirm')
        confirm.options = {
            text: 'Send again…', verb: 'Send',
            question: `Publish ${nameOf(type)} again, in the session ${printable(session)}?`,
            action: async () => {
                const view = Object.entries({ platform, device, instance }).filter(([, value]) => value)
                const answer = await this.connection.post('/api/messages',
                    { type, session, data: data ?? {}, check: true, ...Object.fromEntries(view) })
                return `Published as ${printable(answer?.id)}.`
            },
        }
        return confirm
    }

    #body(row, { data, text, cut, before, attributes }) {
        const parts = []
        if (before != null && data != null) {
            const changes = difference(before, data, CHANGES)
            parts.push(section('Changes', changes.length ? changeList(changes)
                : h('p.quiet', 'Equal to the version before.'),
                changes.length === CHANGES && h('p.quiet', `The first ${CHANGES} changes.`)))
        }
        const value = data ?? (text || undefined)
        if (value === undefined) parts.push(section('Data', h('p.quiet', row.tombstone
            ? 'The document was withdrawn; it has no data.' : 'The message has no data.')))
        else {
            const tree = treeOf('Data', 'data', value)
            tree.addEventListener('filter', event => this.#only('where', event.detail.expression))
            const load = button('Load all', () => {
                load.disabled = true
                this.show(this.#position, row, true)
            }, { class: 'button small' })
            parts.push(section('Data', cut && h('p.banner', 'The data is cut after 256 KiB. ', load), tree))
        }
        return [...parts, section('Attributes', treeOf('Attributes', '', attributes ?? row))]
    }
}

function section(title, ...children) {
    const id = uniqueID()
    return h('section.padded', { 'aria-labelledby': id }, h('h3.heading', { id }, title), ...children)
}

function treeOf(label, prefix, value) {
    return Object.assign(h('segue-tree', { label }), { prefix, value })
}

/** @param {import('./difference.js').Change[]} changes */
function changeList(changes) {
    const brief = value => typeof value === 'string' ? JSON.stringify(value.slice(0, 300))
        : jsonText(value).slice(0, 2000).replace(/\s+/g, ' ')
    const value = (tag, sign, value) => value !== undefined
        && h(tag, h('span', { 'aria-hidden': 'true' }, sign), h('bdi', shortened(brief(value), 240)))
    return h('ul.changes', ...changes.map(({ path, before, after }) => h('li',
        h('bdi.path', shortened(path || 'data', 300)), value('del', '− ', before), value('ins', '+ ', after))))
}

customElements.define('segue-message', SegueMessage)

import { adopt, button, fill, h, link, loadStyles, setText } from './dom.js'
import { messageAddress } from './selection.js'
import { count, dateAndClock, kindOf, KINDS, nameOf, printable, problemOf } from './text.js'
import './segue-confirm.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'processes.css')

/** The letters that are drawn at most, so that thousands of them do not slow the page down. */
const SHOWN = 100

/** The messages that durable consumers could not handle. Set `connection`, and `total` when their number changes. */
export class SegueDeadLetters extends HTMLElement {
    connection = null
    #total = -1
    #letters = []
    #rows = new Map()
    #shown = SHOWN
    #reading = false
    #again = false
    #heading = h('h2', { class: 'heading' }, 'Dead letters')
    #list = h('ul', { class: 'letters' })
    #note = h('p', { class: 'quiet padded late' }, 'Reading the dead letters…')
    #status = h('p', { class: 'visually-hidden', role: 'status' })

    connectedCallback() {
        adopt(this, styles)
        if (!this.firstChild) fill(this, h('section', { class: 'letters-section', 'aria-label': 'Dead letters' }, this.#heading, this.#note, this.#list, this.#status))
    }

    set total(total) {
        if (total === this.#total) return
        this.#total = total
        this.#read()
    }

    async #read() {
        if (this.#reading) {
            this.#again = true
            return
        }
        this.#reading = true
        try {
            this.#letters = (await this.connection.get('/api/dead'))?.letters ?? []
            this.#draw()
        } catch (failure) {
            this.#note.hidden = false
            this.#note.className = 'problem padded'
            fill(this.#note, problemOf(failure), ' ', button('Try again', () => this.#read()))
        }
        this.#reading = false
        if (this.#again) {
            this.#again = false
            this.#read()
        }
    }

    #draw() {
        setText(this.#heading, this.#letters.length ? `Dead letters · ${count(this.#letters.length)}` : 'Dead letters')
        this.#note.className = 'quiet padded'
        this.#note.hidden = this.#letters.length > 0
        fill(this.#note, 'None. Every message was handled.')
        // A letter keeps its row, so that a question that is open there stays open.
        const rows = this.#letters.slice(0, this.#shown).map(letter => {
            const key = `${letter.consumer} ${letter.position}`
            if (!this.#rows.has(key)) this.#rows.set(key, this.#row(letter))
            return this.#rows.get(key)
        })
        const more = this.#letters.length > this.#shown
            ? h('li', {}, button(`Show ${count(Math.min(SHOWN, this.#letters.length - this.#shown))} more`, () => { this.#shown += SHOWN; this.#draw() })) : null
        for (const [key, row] of this.#rows) if (!rows.includes(row)) this.#rows.delete(key)
        for (const element of [...this.#list.children]) if (!rows.includes(element)) element.remove()
        rows.forEach((row, index) => { if (this.#list.children[index] !== row) this.#list.insertBefore(row, this.#list.children[index] ?? null) })
        if (more) this.#list.append(more)
    }

    #row(letter) {
        const row = letter.row ?? {}
        const kind = row.kind ?? kindOf(row.type)
        const actions = h('div', { class: 'letter-actions' })
        if (!this.connection.readOnly) {
            const resend = button('Resend', async () => {
                resend.disabled = true
                try {
                    await this.#settle(letter, 'resend')
                } catch (failure) {
                    resend.disabled = false
                    setText(problem, problemOf(failure))
                }
            }, { 'aria-label': `Resend ${nameOf(row.type)}` })
            const problem = h('span', { class: 'problem', role: 'status' })
            const drop = h('segue-confirm')
            drop.options = {
                text: 'Drop…', verb: 'Drop', question: `Drop ${nameOf(row.type)}? It is not handled any more.`,
                attributes: { class: 'button danger', 'aria-label': `Drop ${nameOf(row.type)}…` }, action: () => this.#settle(letter, 'drop'),
            }
            actions.append(resend, problem, drop)
        }
        return h('li', { class: 'letter' },
            h('span', { class: 'kind', 'data-kind': kind in KINDS ? kind : 'other', 'aria-hidden': 'true' }, KINDS[kind] ?? '?'),
            h('div', { class: 'letter-text' }, link(messageAddress(letter.position), { class: 'type' }, h('bdi', {}, nameOf(row.type))),
                h('p', { class: 'quiet' }, h('bdi', {}, `${printable(letter.consumer)} · ${dateAndClock(letter.failedAt)} · ${printable(letter.position)}`)),
                h('p', { class: 'reason' }, h('bdi', {}, shortened(letter.reason)))), actions)
    }

    async #settle(letter, action) {
        await this.connection.post('/api/dead', { action, consumer: letter.consumer, position: letter.position })
        this.#letters = this.#letters.filter(other => other !== letter)
        setText(this.#status, action === 'drop' ? 'Dropped.' : 'Published again.')
        this.#draw()
        if (document.activeElement === document.body) this.#list.querySelector('button')?.focus()
    }
}

function shortened(reason) {
    const text = printable(String(reason ?? 'no reason').slice(0, 1001))
    return text.length > 1000 ? text.slice(0, 1000) + '… (cut; the message has the rest)' : text
}

customElements.define('segue-dead-letters', SegueDeadLetters)

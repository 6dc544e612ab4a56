import { adopt, badge, button, fill, h, kindOfRow, link, setText } from './dom.js'
import { messageAddress } from './selection.js'
import { count, dateAndClock, nameOf, plural, printable, problemOf, shortened } from './text.js'
import './segue-confirm.js'

/** The letters that are shown at first, and that a button adds: thousands of rows would slow the page down. */
const SHOWN = 100

/** The messages that durable consumers could not handle. Set `connection`, and `total` when their number changes. */
export class SegueDeadLetters extends HTMLElement {
    connection = null
    #total = -1
    #letters = []
    #rows = new Map()
    #shown = SHOWN
    #heading = h('h2.heading', 'Dead letters')
    #list = h('ul')
    #note = h('p.padded.late', { role: 'status' }, 'Reading the dead letters…')
    #more = button('Show more', () => {
        this.#shown += SHOWN
        this.#draw()
    }, { class: 'button more-button', hidden: true })

    connectedCallback() {
        adopt(this)
        if (!this.firstChild) fill(this, this.#heading, this.#note, this.#list, this.#more)
    }

    set total(total) {
        // A letter that is sent again can fail again: the number is the same, and the letter is another one.
        if (total === this.#total && total === this.#letters.length) return
        this.#total = total
        this.#read(total)
    }

    async #read(total) {
        try {
            const { letters } = await this.connection.get('/api/dead')
            if (total !== this.#total) return
            this.#letters = letters
            this.#draw()
        } catch (failure) {
            this.#say(problemOf(failure), button('Try again', () => this.#read(this.#total)))
        }
    }

    #say(...parts) {
        this.#note.hidden = parts.length === 0
        fill(this.#note, ...parts)
    }

    #draw() {
        setText(this.#heading, this.#letters.length ? `Dead letters · ${count(this.#letters.length)}` : 'Dead letters')
        if (this.#letters.length) this.#say()
        else this.#say('None: every message was handled.')
        // A letter keeps its row, and with it a question that is open there.
        const former = this.#rows
        this.#rows = new Map(this.#letters.slice(0, this.#shown).map(letter => {
            const key = `${letter.consumer} ${letter.position}`
            return [key, former.get(key) ?? this.#row(letter)]
        }))
        const rows = [...this.#rows.values()]
        for (const row of [...this.#list.children]) if (!rows.includes(row)) row.remove()
        rows.forEach((row, index) => {
            if (this.#list.children[index] !== row) this.#list.insertBefore(row, this.#list.children[index] ?? null)
        })
        this.#more.hidden = this.#letters.length <= this.#shown
    }

    #row(letter) {
        const row = letter.row ?? {}
        const name = nameOf(row.type)
        const facts = [letter.consumer, dateAndClock(letter.failedAt), letter.position, letter.code,
            letter.attempts > 0 && plural(letter.attempts, 'attempt')]
        const actions = h('div.actions')
        if (!this.connection.readOnly) {
            const drop = h('segue-confirm')
            drop.options = {
                text: 'Drop…', verb: 'Drop', question: `Drop ${name}? It will not be handled.`,
                attributes: { class: 'button danger', 'aria-label': `Drop ${name}…` },
                action: () => this.#settle(letter, 'drop'),
            }
            const resend = button('Resend', () => {
                resend.disabled = true
                this.#settle(letter, 'resend').catch(failure => {
                    resend.disabled = false
                    this.#say(problemOf(failure))
                })
            }, { 'aria-label': `Resend ${name}` })
            actions.append(resend, drop)
        }
        return h('li.letter', badge(kindOfRow(row)), h('div.letter-text',
            link('a.type', messageAddress(letter.position), h('bdi', name)),
            h('p.quiet', h('bdi', facts.filter(Boolean).map(printable).join(' · '))),
            h('p', h('bdi', shortened(letter.reason ?? 'no reason', 1000)))), actions)
    }

    async #settle(letter, action) {
        const { consumer, position } = letter
        await this.connection.post('/api/dead', { action, consumer, position })
        this.#letters = this.#letters.filter(other => other !== letter)
        this.#draw()
        if (document.activeElement === document.body) this.#list.querySelector('button')?.focus()
        return ''
    }
}

customElements.define('segue-dead-letters', SegueDeadLetters)

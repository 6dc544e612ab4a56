import { confirming } from './confirm.js'
import { button, fill, h, reconcile, setText } from './dom.js'
import { badge } from './inspector-element.js'
import { messageAddress } from './selection.js'
import { count, dateAndClock, joined, nameOf, plural, problemOf, shortened } from './text.js'

/** The messages that durable consumers could not handle. Set `connection`, and `total` when their number changes. */
export class SegueDeadLetters extends HTMLElement {
  connection
  #total = -1
  #letters = []
  #heading = h('h2.heading', 'Dead letters')
  #list = h('ul')
  #note = h('p.padded.late', { role: 'status' }, 'Reading the dead letters…')

  constructor() {
    super()
    fill(this, this.#heading, this.#note, this.#list)
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
    const total = this.#letters.length
    setText(this.#heading, total ? `Dead letters · ${count(total)}` : 'Dead letters')
    this.#say(...total ? [] : ['None: every message was handled.'])
    // A letter keeps its row, and with it a question that is open there.
    reconcile(this.#list, this.#letters, ({ consumer, position }) => `${consumer} ${position}`,
      letter => this.#row(letter))
  }

  #row(letter) {
    const { consumer, failedAt, position, code, attempts, reason, row } = letter, name = nameOf(row?.type)
    const resend = button('Resend', () => {
      resend.disabled = true
      this.#settle(letter, 'resend').catch(failure => {
        resend.disabled = false
        this.#say(problemOf(failure))
      })
    }, { 'aria-label': `Resend ${name}` })
    const drop = () => confirming({
      text: 'Drop…', verb: 'Drop', question: `Drop ${name}? It will not be handled.`,
      attributes: { class: 'button danger', 'aria-label': `Drop ${name}…` },
      action: () => this.#settle(letter, 'drop'),
    })
    return h('li.letter', badge(row?.kind),
      h('div', h('a.type', { href: messageAddress(position) }, h('bdi', name)),
        h('p.quiet', h('bdi', joined(consumer, dateAndClock(failedAt), position, code,
          attempts > 0 && plural(attempts, 'attempt')))),
        h('p', h('bdi', shortened(reason, 1000)))),
      h('div.wrapping', ...this.connection.readOnly ? [] : [resend, drop()]))
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

import { button, fill, h, reconcile, setText } from '../elements/dom.js'
import { count, dateAndClock, joined, nameOf, plural, problemOf, shortened } from '../elements/text.js'
import { confirming } from './confirm.js'
import { badge } from './inspector-element.js'
import { messageAddress } from './selection.js'

/** The messages that durable consumers could not handle. Set `total` when their number changes. */
export class SegueDeadLetters extends HTMLElement {
  connection
  #total = -1
  /** The gateway has others after them if `#more` is true. */
  #letters = []
  #more = false
  /** False if a letter was settled since the last reading. */
  #isCurrent = false
  #heading = h('h2.heading', 'Dead letters')
  #list = h('ul')
  #note = h('p.padded.late', { role: 'status' }, 'Reading the dead letters…')
  #next = button('Show more', () => this.#readMore().catch(failure => this.#say(problemOf(failure))))

  constructor() {
    super()
    this.#next.hidden = true
    fill(this, this.#heading, this.#note, this.#list, this.#next)
  }

  set total(total) {
    // A letter that is sent again can fail again: the number is the same.
    if (total === this.#total && this.#isCurrent && (this.#more || total === this.#letters.length)) return
    this.#total = total
    this.#read(total)
  }

  async #read(total) {
    try {
      const { letters, more } = await this.connection.get('/api/dead')
      if (total !== this.#total) return
      this.#isCurrent = true
      this.#show(letters, more)
    } catch (failure) {
      this.#say(problemOf(failure), button('Try again', () => this.#read(this.#total)))
    }
  }

  async #readMore() {
    const last = this.#letters.at(-1)?.id ?? 0
    const { letters, more } = await this.connection.get(`/api/dead?after=${last}`)
    if (last === (this.#letters.at(-1)?.id ?? 0)) this.#show([...this.#letters, ...letters], more)
  }

  #show(letters, more) {
    this.#letters = letters
    this.#more = more
    this.#draw()
  }

  #say(...parts) {
    this.#note.hidden = parts.length === 0
    fill(this.#note, ...parts)
  }

  #draw() {
    const total = this.#more ? this.#total : this.#letters.length
    this.#next.hidden = !this.#more
    setText(this.#heading, total ? `Dead letters · ${count(total)}` : 'Dead letters')
    this.#say(...total ? [] : ['None: every message was handled.'])
    // A question may be open in the row of a letter.
    reconcile(this.#list, this.#letters, ({ id }) => id, letter => this.#row(letter))
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
    await this.connection.post('/api/dead', { action, id: letter.id })
    this.#letters = this.#letters.filter(other => other !== letter)
    this.#isCurrent = false
    this.#draw()
    if (document.activeElement === document.body) this.#list.querySelector('button')?.focus()
    return ''
  }
}

customElements.define('segue-dead-letters', SegueDeadLetters)

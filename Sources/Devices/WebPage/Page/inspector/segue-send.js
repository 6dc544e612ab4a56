import { button, fill, h, setText, textField, uniqueID } from '../elements/dom.js'
import { membersOf } from '../elements/json-text.js'
import { SegueForm } from '../elements/segue-form.js'
import { kindOf, printable, problemOf } from '../elements/text.js'
import { paneHeader, smallButton } from './inspector-element.js'
import { storyAddress } from './selection.js'

export class SegueSend extends HTMLElement {
  #connection
  #known = []
  #asJSON = false
  #types = h('datalist', { id: uniqueID() })
  #sessions = h('datalist', { id: uniqueID() })
  #type = input({ class: 'field code', list: this.#types.id, oninput: () => this.#show() })
  #session = input({ list: this.#sessions.id, value: 'default' })
  #platform = h('select.field', { id: uniqueID() }, h('option', { value: '' }, 'every platform'))
  #key = input({ placeholder: 'none' })
  #keyField = labelled('Key', this.#key)
  #receivers = h('p.quiet')
  #form = new SegueForm()
  #json = h('textarea.field.code', { rows: 10, spellcheck: 'false', 'aria-label': 'Data as JSON' }, '{}')
  #toggle = smallButton('Write JSON', () => this.#report(() => this.#toggleJSON()))
  #check = h('input', { type: 'checkbox', checked: true })
  #result = h('p', { role: 'status' })
  #publish = button('Publish', () => this.#report(() => this.#send()), { class: 'button primary' })

  constructor(connection, type, close) {
    super()
    this.#connection = connection
    this.#type.value = type
    this.#form.addEventListener('submit', () => this.#publish.click())
    fill(this, this.#types, this.#sessions, paneHeader('form', close, h('div.pane-title', h('h2', 'New message'))),
      h('div.padded.form', labelled('Type', this.#type, this.#receivers),
        h('div.two-columns', labelled('Session', this.#session), labelled('Platform', this.#platform),
          this.#keyField),
        h('div.data-header', h('h3.heading', 'Data'), this.#toggle), this.#form, this.#json,
        h('label.wrapping', this.#check, 'Check the data against the contract'),
        h('div.wrapping', this.#publish, this.#result)))
    this.#report(() => this.#load())
    this.#show()
  }

  async #load() {
    const { types, sessions, flows } = await this.#connection.get('/api/types')
    this.#known = types.filter(({ type }) => kindOf(type) !== 'query')
    const options = values => [...values].map(value => h('option', { value }, printable(value)))
    fill(this.#types, ...options(this.#known.map(({ type }) => type)))
    fill(this.#sessions, ...options(sessions))
    this.#platform.append(...options(new Set(flows.map(flow => flow.platform))))
    this.#show()
  }

  get #typed() { return this.#type.value.trim() }

  #show() {
    const type = this.#typed, known = this.#known.find(known => known.type === type)
    const receivers = known?.receivers.map(printable).join(', ')
    setText(this.#receivers, !type ? 'A type, such as command.PlaylistSelected'
      : receivers ? `Received by ${receivers}`
        : `No process on the bus ${known ? 'receives' : 'knows'} this type.`)
    const schema = Object.keys(known?.schema?.properties ?? {}).length ? known.schema : null
    if (schema && this.#form.schema !== schema) this.#form.schema = schema
    this.#keyField.hidden = kindOf(type) !== 'document'
    this.#form.hidden = !schema || this.#asJSON
    this.#json.hidden = !this.#form.hidden
    this.#toggle.hidden = !schema
    this.#toggle.setAttribute('aria-pressed', String(this.#asJSON))
  }

  #toggleJSON() {
    if (this.#asJSON) this.#form.text = this.#readJSON()
    else this.#json.value = this.#form.text
    this.#asJSON = !this.#asJSON
    this.#show()
  }

  #readJSON() {
    try {
      membersOf(this.#json.value)
    } catch (error) {
      throw new Error(`The data is not valid JSON: ${error.message}`)
    }
    return this.#json.value
  }

  async #send() {
    const type = this.#typed
    if (!type) throw new Error('The type is missing.')
    const { text, problems } = this.#form.hidden ? { text: this.#readJSON(), problems: [] } : this.#form.read()
    if (problems.length) throw new Error(problems[0].message)
    this.#publish.disabled = true
    const { id } = await this.#connection.publish({
      type, check: this.#check.checked, session: this.#session.value.trim() || 'default',
      platform: this.#platform.value || null, key: this.#key.value.trim() || null,
    }, text)
    fill(this.#result, 'Published. ', h('a', { href: storyAddress(id) }, 'Show its story'))
  }

  async #report(action) {
    this.#result.className = ''
    fill(this.#result)
    try {
      await action()
    } catch (failure) {
      this.#result.className = 'failure'
      fill(this.#result, problemOf(failure))
    }
    this.#publish.disabled = false
  }
}

function input(attributes) { return textField({ id: uniqueID(), ...attributes }) }

function labelled(text, input, ...more) {
  return h('div.form-field', h('label', { for: input.id }, text), input, ...more)
}

customElements.define('segue-send', SegueSend)

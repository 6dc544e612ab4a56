import { adopt, button, fill, h, link, setText, uniqueID } from './dom.js'
import { storyAddress } from './selection.js'
import { printable, problemOf } from './text.js'
import './segue-form.js'

/** A form that publishes a message, with fields from the schema of its type. Set `connection`. Event: `close`. */
export class SegueSend extends HTMLElement {
    connection = null
    /** The commands and events that the contracts describe. */
    #known = []
    #asJSON = false
    #type = this.#input({ class: 'field code', oninput: () => this.#choose() })
    #session = this.#input({ class: 'field', value: 'default' })
    #platform = h('select.field', { id: uniqueID() }, h('option', { value: '' }, 'every platform'))
    #receivers = h('p.quiet')
    #form = h('segue-form')
    #json = h('textarea.field.code', { rows: 10, spellcheck: 'false', 'aria-label': 'Data as JSON', hidden: true })
    #toggle = button('Write JSON', () => this.#report(() => this.#toggleJSON()),
        { class: 'button small', 'aria-pressed': 'false' })
    #check = h('input', { type: 'checkbox', checked: true })
    #result = h('p', { role: 'status' })
    #publish = button('Publish', () => this.#report(() => this.#send()), { class: 'button primary' })

    connectedCallback() {
        adopt(this)
        if (this.firstChild) return
        const labelled = (text, input, ...more) => h('div.form-field', h('label', { for: input.id }, text), input,
            ...more)
        fill(this, h('div.pane-header', h('div.pane-title', h('h2', 'New message')),
            button('✕', () => this.dispatchEvent(new CustomEvent('close')),
                { class: 'button plain', 'aria-label': 'Close the form', title: 'Close (Escape)' })),
        h('div.padded.form', labelled('Type', this.#type, this.#type.options, this.#receivers),
            h('div.two-columns', labelled('Session', this.#session, this.#session.options),
                labelled('Platform', this.#platform)),
            h('div.data-header', h('h3.heading', 'Data'), this.#toggle), this.#form, this.#json,
            h('label.check-line', this.#check, 'Check the data against the contract'),
                h('div.send-bar', this.#publish, this.#result)))
        this.#form.addEventListener('submit', () => this.#publish.click())
        this.#report(() => this.#load())
        this.#choose()
    }

    set type(type) { this.#type.value = type }
    set session(session) { this.#session.value = session }

    /** A field with suggestions. */
    #input(attributes) {
        const options = h('datalist', { id: uniqueID() })
        return Object.assign(h('input', { id: uniqueID(), list: options.id, autocomplete: 'off', spellcheck: 'false',
            ...attributes }), { options })
    }

    async #load() {
        const { types, sessions, flows } = await this.connection.get('/api/types')
        this.#known = types.filter(({ type }) => /^(command|event)\./.test(type))
        fill(this.#type.options, ...this.#known.map(({ type }) => h('option', { value: type })))
        fill(this.#session.options, ...sessions.map(session => h('option', { value: session })))
        this.#platform.append(...[...new Set(flows.map(flow => flow.platform))].map(platform => h('option',
            { value: platform }, printable(platform))))
        this.#choose()
    }

    #choose() {
        const type = this.#type.value.trim()
        const known = this.#known.find(known => known.type === type)
        setText(this.#receivers, !type ? 'A command or an event, such as command.PlaylistSelected' : !known
            ? 'No process on the bus knows this type.'
            : known.receivers?.length ? `Received by ${known.receivers.map(printable).join(', ')}`
                : 'No process on the bus receives this type.')
        const schema = Object.keys(known?.schema?.properties ?? {}).length ? known.schema : null
        if (schema && this.#form.schema !== schema) this.#form.schema = schema
        this.#form.hidden = !schema || this.#asJSON
        this.#json.hidden = !this.#form.hidden
        this.#toggle.hidden = !schema
        this.#json.value ||= '{}'
    }

    /** What is valid is kept when the way of writing changes. */
    #toggleJSON() {
        if (this.#asJSON) this.#form.value = this.#readJSON()
        else this.#json.value = JSON.stringify(this.#form.value, null, 2)
        this.#asJSON = !this.#asJSON
        this.#toggle.setAttribute('aria-pressed', this.#asJSON)
        this.#choose()
    }

    #readJSON() {
        try {
            return JSON.parse(this.#json.value)
        } catch (error) {
            throw new Error(`The data is not valid JSON: ${error.message}`)
        }
    }

    async #send() {
        const type = this.#type.value.trim()
        if (!type) throw new Error('The type is missing.')
        const { value, problems } = this.#form.hidden ? { value: this.#readJSON(), problems: [] } : this.#form.read()
        if (problems.length) throw new Error(problems[0].message)
        this.#publish.disabled = true
        const session = this.#session.value.trim() || 'default', platform = this.#platform.value
        const answer = await this.connection.post('/api/messages', { type, session, data: value,
            check: this.#check.checked, ...(platform && { platform }) })
        fill(this.#result, 'Published. ', link('a', storyAddress(answer.id), 'Show its story'))
    }

    /** Does something and says why it failed. */
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

customElements.define('segue-send', SegueSend)

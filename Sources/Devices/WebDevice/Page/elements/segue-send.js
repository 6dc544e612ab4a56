import { adopt, button, fill, h, link, loadStyles, setText } from './dom.js'
import { problemOf, printable } from './text.js'
import './segue-form.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'form.css')

/** A form that publishes a message of a type on the bus. Set `connection` and `type`. The event is `close`. */
export class SegueSend extends HTMLElement {
    connection = null
    #types = []
    #sessions = []
    #asJSON = false
    #type = h('input', { class: 'field mono', id: 'send-type', list: 'send-types', autocomplete: 'off', spellcheck: 'false', oninput: () => this.#choose() })
    #options = h('datalist', { id: 'send-types' })
    #session = h('input', { class: 'field', id: 'send-session', list: 'send-sessions', value: 'default', autocomplete: 'off' })
    #sessionOptions = h('datalist', { id: 'send-sessions' })
    #platform = h('select', { class: 'field', id: 'send-platform' }, h('option', { value: '' }, 'every platform'))
    #receivers = h('p', { class: 'quiet' })
    #fields = h('segue-form')
    #json = h('textarea', { class: 'field mono', rows: 10, spellcheck: 'false', 'aria-label': 'Data as JSON' })
    #toggle = button('Write JSON', () => this.#toggleJSON(), { class: 'button small', 'aria-pressed': 'false' })
    #check = h('input', { type: 'checkbox', checked: true })
    #result = h('p', { role: 'status' })
    #publish = button('Publish', () => this.#send(), { class: 'button filled' })

    connectedCallback() {
        adopt(this, styles)
        if (this.firstChild) return
        const labelled = (text, input, ...more) => h('div', { class: 'form-field' }, h('label', { for: input.id }, text), input, ...more)
        fill(this, h('header', { class: 'send-header' }, h('h2', {}, 'New message'),
            button('✕', () => this.dispatchEvent(new CustomEvent('close')), { class: 'button plain', 'aria-label': 'Close the form', title: 'Close (Escape)' })),
        h('div', { class: 'padded form' }, labelled('Type', this.#type, this.#options, this.#receivers),
            h('div', { class: 'pair' }, labelled('Session', this.#session, this.#sessionOptions), labelled('Platform', this.#platform)),
            h('div', { class: 'data-header' }, h('h3', { class: 'heading' }, 'Data'), this.#toggle), this.#fields, this.#json,
            h('label', { class: 'check-line' }, this.#check, 'Check the data against the contract'),
            h('div', { class: 'send-bar' }, this.#publish, this.#result)))
        this.#json.hidden = true
        this.#fields.addEventListener('submit', () => this.#send())
        this.#load()
        this.#choose()
    }

    set type(type) {
        if (!type || type === this.#type.value) return
        this.#type.value = type
        if (this.isConnected) this.#choose()
    }

    async #load() {
        try {
            const { types = [], sessions = [], flows = [] } = await this.connection.get('/api/types') ?? {}
            this.#types = types.filter(({ type }) => /^(command|event)\./.test(type))
            this.#sessions = sessions
            fill(this.#options, ...this.#types.map(({ type }) => h('option', { value: type })))
            fill(this.#sessionOptions, ...sessions.map(session => h('option', { value: session })))
            this.#platform.append(...[...new Set(flows.map(flow => flow.platform))].map(platform => h('option', { value: platform }, printable(platform))))
            this.#choose()
        } catch (failure) {
            this.#say(problemOf(failure), true)
        }
    }

    get #known() {
        return this.#types.find(({ type }) => type === this.#type.value.trim())
    }

    #choose() {
        const known = this.#known
        setText(this.#receivers, !this.#type.value ? 'A command or an event, such as command.PlaylistSelected'
            : !known ? 'No process on the bus knows this type.'
            : known.receivers?.length ? `Received by ${known.receivers.map(printable).join(', ')}` : 'No process on the bus receives this type.')
        if (known?.schema && this.#fields.schema !== known.schema) this.#fields.schema = known.schema
        const form = known?.schema?.properties && !this.#asJSON
        this.#fields.hidden = !form
        this.#json.hidden = !!form
        this.#toggle.hidden = !known?.schema?.properties
        if (!form && !this.#json.value) this.#json.value = '{}'
    }

    /** What was written is kept when the way of writing changes, as far as it is valid. */
    #toggleJSON() {
        if (this.#asJSON) {
            try {
                this.#fields.value = JSON.parse(this.#json.value)
            } catch (error) {
                this.#say(`The data is not valid JSON: ${error.message}`, true)
                return
            }
        } else {
            this.#json.value = JSON.stringify(this.#fields.value, null, 2)
        }
        this.#asJSON = !this.#asJSON
        this.#toggle.setAttribute('aria-pressed', String(this.#asJSON))
        this.#say('')
        this.#choose()
    }

    #read() {
        if (!this.#fields.hidden) {
            const { value, problems } = this.#fields.read()
            if (problems.length) throw new Error(problems.length > 1 ? `${problems.length} fields are not valid.` : problems[0].message)
            return value
        }
        try {
            return JSON.parse(this.#json.value || '{}')
        } catch (error) {
            throw new Error(`The data is not valid JSON: ${error.message}`)
        }
    }

    async #send() {
        if (this.#publish.disabled) return
        try {
            const type = this.#type.value.trim()
            if (!type) throw new Error('The type is missing.')
            const data = this.#read()
            this.#publish.disabled = true
            const platform = this.#platform.value
            const answer = await this.connection.post('/api/messages', {
                type, session: this.#session.value.trim() || 'default', data, check: this.#check.checked, ...(platform && { platform }),
            })
            this.#say('Published. ')
            if (answer?.id) this.#result.append(link('#/story/' + encodeURIComponent(answer.id), {}, 'Show its story'))
        } catch (failure) {
            this.#say(problemOf(failure), true)
        }
        this.#publish.disabled = false
    }

    #say(text, failed = false) {
        this.#result.className = failed ? 'problem' : ''
        fill(this.#result, text)
    }
}

customElements.define('segue-send', SegueSend)

// @ts-check
import { asName, button, make, put, setAttribute, uniqueID } from './render.js'

/**
 * An action whose command has fields: a button that opens a form, which is made from the schema of the command. The
 * form is loaded when it is first needed. Without it, the fields are entered as JSON.
 */
export class SegueChoiceForm extends HTMLElement {
    /** @type {any} */
    device = null
    #action = null
    #schema = ''
    #open = false
    #built = false
    /** @type {any} `<segue-form>` or the text area for JSON. */
    #fields = null

    connectedCallback() {
        if (this.#built) return
        this.#built = true
        const id = uniqueID()
        this.label = make('bdi', 'label')
        this.toggle = button('', () => { this.open = !this.open }, 'row disclosure')
        this.toggle.setAttribute('aria-controls', id)
        this.toggle.append(this.label, make('span', 'chevron', { 'aria-hidden': 'true' }))
        this.problem = make('p', 'problem', { role: 'alert' })
        this.host = make('div', 'fields')
        this.submitLabel = make('bdi', 'label')
        this.submit = /** @type {any} */ (button('', () => this.#submit(), 'action'))
        this.submit.dataset.choice = ''
        this.submit.dataset.role = 'primary'
        this.submit.append(this.submitLabel, make('span', 'spinner', { 'aria-hidden': 'true' }))
        this.panel = make('div', 'form-panel', { id }, this.host, this.problem, this.submit)
        this.append(this.toggle, this.panel)
        this.#draw()
    }

    get open() { return this.#open }
    set open(open) {
        if (this.#open === open) return
        this.#open = open
        this.#draw()
        this.dispatchEvent(new CustomEvent('toggle'))
    }

    /** A new choice or label leaves what was entered as it is; a new schema makes a new form. */
    set action(action) {
        this.#action = action
        this.#draw()
    }

    #draw() {
        const action = this.#action
        if (!this.#built || !action) return
        put(this.label, action.label)
        put(this.submitLabel, action.label)
        setAttribute(this.toggle, 'aria-expanded', String(this.#open))
        this.panel.hidden = !this.#open
        this.submit.choice = action.choice
        this.submit.disabled = this.device.readOnly || !action.choice
        if (this.#open) this.#makeFields(action.schema)
    }

    async #makeFields(schema) {
        const text = JSON.stringify(schema)
        if (this.#fields && text === this.#schema) return
        this.#schema = text
        let form
        try {
            await import('./segue-form.js')
            form = make('segue-form')
            form.schema = schema
            form.addEventListener('submit', event => {
                event.preventDefault()
                // The element's own event, not that of the form within it.
                if (event.target === form) this.#submit()
            })
        } catch {
            form = make('textarea', '', { rows: '6', 'aria-label': 'Fields as JSON', spellcheck: 'false' })
            form.value = '{}'
        }
        if (text !== this.#schema) return
        this.#fields = form
        this.host.replaceChildren(form)
    }

    #read() {
        if (typeof this.#fields?.read === 'function') return this.#fields.read()
        try {
            return { value: JSON.parse(this.#fields?.value ?? '{}'), problems: [] }
        } catch {
            return { value: null, problems: ['The fields are not JSON.'] }
        }
    }

    async #submit() {
        const { value, problems } = this.#read()
        const found = [problems ?? []].flat()
        if (found.length) {
            put(this.problem, asName(found[0]?.message ?? found[0]))
            return
        }
        put(this.problem, '')
        const refusal = await this.device.choose(this.#action?.choice, this.submit, value, true)
        if (refusal) put(this.problem, refusal)
    }
}

customElements.define('segue-choice-form', SegueChoiceForm)

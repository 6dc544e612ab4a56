import { adopt, fill, h, loadStyles, uniqueID } from './dom.js'
import { printable } from './text.js'

const styles = await loadStyles(import.meta.url, 'inspector.css', 'form.css')

/**
 * A form made from a JSON Schema of an object. Strings, numbers, booleans and enumerations have fields of their own;
 * arrays, objects and what the schema leaves open are written as JSON. `read()` gives the value and the problems; the
 * event `submit` is fired when somebody presses Enter in a field.
 */
export class SegueForm extends HTMLElement {
    #schema = null
    #value = {}
    /** @type {{name: string, schema: any, required: boolean, input: any, problem: HTMLElement}[]} */
    #fields = []

    connectedCallback() {
        adopt(this, styles)
        if (!this.firstChild) this.#draw()
    }

    get schema() { return this.#schema }

    set schema(schema) {
        this.#schema = schema
        this.#draw()
    }

    /** The value that the fields show; text that is not valid is left out. */
    get value() { return this.read(true).value }

    set value(value) {
        this.#value = value && typeof value === 'object' ? value : {}
        this.#draw()
    }

    /** @returns {{value: Record<string, any>, problems: {field: string, message: string}[]}} */
    read(quiet = false) {
        // The fields that the schema does not name are kept.
        const value = Object.fromEntries(Object.entries(this.#value).filter(([name]) => !this.#fields.some(field => field.name === name)))
        const problems = []
        for (const field of this.#fields) {
            const { result, message } = readField(field)
            if (message) problems.push({ field: field.name, message: `${field.name}: ${message}` })
            else if (result !== undefined) Object.defineProperty(value, field.name, { value: result, enumerable: true, configurable: true, writable: true })
            if (quiet) continue
            field.problem.textContent = message ?? ''
            field.input.setAttribute('aria-invalid', String(!!message))
        }
        if (!quiet && problems.length) this.#fields.find(field => field.name === problems[0].field)?.input.focus()
        return { value, problems }
    }

    #draw() {
        const properties = this.#schema?.properties ?? {}
        const required = Array.isArray(this.#schema?.required) ? this.#schema.required : []
        this.#fields = Object.entries(properties).map(([name, schema]) => {
            const problem = h('p', { class: 'problem', id: uniqueID('problem') })
            const field = { name, schema: plain(schema), required: required.includes(name), problem }
            return { ...field, input: makeInput(field, this.#value[name]) }
        })
        const form = h('form', { novalidate: true, onsubmit: event => {
            event.preventDefault()
            event.stopPropagation()
            this.dispatchEvent(new CustomEvent('submit', { bubbles: true, cancelable: true, detail: this.read() }))
        } }, ...this.#fields.map(({ name, schema, required, input, problem }) => {
            const note = schema.description ?? (needsJSON(schema) ? 'JSON' : schema.type === 'integer' ? 'whole number' : '')
            return h('div', { class: input.type === 'checkbox' ? 'form-field check' : 'form-field' },
                h('label', { for: input.id }, h('bdi', {}, printable(schema.title ?? name)),
                    h('span', { class: 'quiet' }, [required ? '' : 'optional', printable(note)].filter(Boolean).map(text => ' · ' + text).join(''))),
                input, problem)
        }), h('button', { type: 'submit', hidden: true }))
        if (!this.#fields.length) form.prepend(h('p', { class: 'quiet' }, 'This message has no fields.'))
        fill(this, form)
    }
}

/** A schema of `X or null` is that of X: an empty field is left out. */
function plain(schema) {
    const choices = schema?.anyOf ?? schema?.oneOf
    const type = schema?.type
    if (Array.isArray(type)) return { ...schema, type: type.find(name => name !== 'null') }
    const others = Array.isArray(choices) ? choices.filter(choice => choice?.type !== 'null') : []
    return others.length === 1 ? others[0] : schema ?? {}
}

function needsJSON(schema) {
    return !Array.isArray(schema.enum) && !['string', 'integer', 'number', 'boolean'].includes(schema.type)
}

function makeInput({ schema, required, problem }, value) {
    const attributes = { id: uniqueID('field'), class: 'field', 'aria-describedby': problem.id, 'aria-required': String(required), autocomplete: 'off' }
    const select = (options, chosen) => {
        const input = h('select', attributes, ...(required ? [] : [h('option', { value: '' }, 'none')]),
            ...options.map(option => h('option', { value: JSON.stringify(option) }, printable(option))))
        input.value = chosen === undefined ? required ? JSON.stringify(options[0]) : '' : JSON.stringify(chosen)
        return input
    }
    if (Array.isArray(schema.enum)) return select(schema.enum, value ?? schema.default)
    if (schema.type === 'boolean' && !required) return select([true, false], value ?? schema.default)
    if (schema.type === 'boolean') {
        const input = h('input', { ...attributes, class: '', type: 'checkbox' })
        input.checked = (value ?? schema.default) === true
        return input
    }
    const shown = value ?? schema.default
    const long = needsJSON(schema) || typeof shown === 'string' && /\n|.{120}/.test(shown)
    const input = long ? h('textarea', { ...attributes, class: 'field mono', rows: 4, spellcheck: 'false' })
        : h('input', { ...attributes, type: 'text', inputmode: schema.type === 'string' ? null : schema.type === 'integer' ? 'numeric' : 'decimal' })
    if (needsJSON(schema)) input.value = shown === undefined ? required ? schema.type === 'array' ? '[]' : '{}' : '' : JSON.stringify(shown, null, 2)
    else input.value = shown ?? ''
    return input
}

/** @returns {{result?: any, message?: string}} */
function readField({ schema, required, input }) {
    if (input.type === 'checkbox') return { result: input.checked }
    const text = input.value
    if (input.tagName === 'SELECT') return { result: text ? JSON.parse(text) : undefined }
    if (schema.type === 'string') return text || required ? { result: text } : {}
    if (!text.trim()) return required ? { message: 'a value is missing' } : {}
    if (needsJSON(schema)) {
        try {
            const result = JSON.parse(text)
            if (schema.type === 'array' && !Array.isArray(result)) return { message: 'write a JSON array, such as [1, 2]' }
            return { result }
        } catch (error) {
            return { message: `not valid JSON (${error.message})` }
        }
    }
    const number = Number(text.replace(',', '.'))
    if (!isFinite(number)) return { message: 'write a number' }
    if (schema.type === 'integer' && !Number.isSafeInteger(number)) return { message: 'write a whole number' }
    if (number < schema.minimum) return { message: `at least ${schema.minimum}` }
    if (number > schema.maximum) return { message: `at most ${schema.maximum}` }
    return { result: number }
}

customElements.define('segue-form', SegueForm)

import { adopt, fill, h, uniqueID } from './dom.js'
import { printable } from './text.js'

/**
 * A form made from the JSON Schema of an object. Strings, numbers, booleans and enumerations have fields of their own;
 * arrays, objects and what the schema leaves open are written as JSON. Set `schema` and, if there is one, `value`.
 * `read()` gives the value and the problems. The event `submit` is fired when somebody presses Enter in a field.
 */
export class SegueForm extends HTMLElement {
    #schema = null
    #value = {}
    /** @type {{name: string, schema: any, required: boolean, input: any, problem: HTMLElement}[]} */
    #fields = []

    connectedCallback() {
        adopt(this)
        if (!this.firstChild) this.#draw()
    }

    get schema() { return this.#schema }

    set schema(schema) {
        this.#schema = schema
        this.#draw()
    }

    /** What the fields contain, without what is not valid. */
    get value() { return this.#read().value }

    set value(value) {
        this.#value = value && typeof value === 'object' ? value : {}
        this.#draw()
    }

    /** Reads the fields, marks those that are not valid, and moves the focus to the first of them. */
    read() {
        const { value, problems } = this.#read()
        const byField = new Map(problems.map(problem => [problem.field, problem.message]))
        for (const { name, input, problem } of this.#fields) {
            problem.textContent = byField.get(name) ?? ''
            input.setAttribute('aria-invalid', byField.has(name))
        }
        this.#fields.find(field => byField.has(field.name))?.input.focus()
        return { value, problems }
    }

    /** @returns {{value: Record<string, any>, problems: {field: string, message: string}[]}} */
    #read() {
        // Members that the schema does not name are kept.
        const members = new Map(Object.entries(this.#value))
        const problems = []
        for (const field of this.#fields) {
            members.delete(field.name)
            try {
                const value = readField(field)
                if (value !== undefined) members.set(field.name, value)
            } catch (error) {
                problems.push({ field: field.name, message: `${printable(field.name)}: ${error.message}` })
            }
        }
        return { value: Object.fromEntries(members), problems }
    }

    #draw() {
        const { properties, required } = this.#schema ?? {}
        this.#fields = Object.entries(properties ?? {}).map(([name, schema]) => {
            const problem = h('p.failure', { id: uniqueID() })
            const field = { name, schema: withoutNull(schema), required: !!required?.includes?.(name), problem }
            return { ...field, input: makeInput(field, this.#value[name]) }
        })
        fill(this, h('form', { novalidate: true, onsubmit: event => {
            event.preventDefault()
            event.stopPropagation()
            this.dispatchEvent(new CustomEvent('submit', { bubbles: true, cancelable: true }))
        } }, ...this.#fields.map(({ name, schema, required, input, problem }) => {
            const notes = [!required && 'optional', schema.description && printable(schema.description),
                isJSON(schema) && 'JSON', schema.type === 'integer' && 'whole number']
            return h(input.type === 'checkbox' ? 'div.form-field.check' : 'div.form-field',
                h('label', { for: input.id }, h('bdi', printable(schema.title ?? name)),
                    h('span.quiet', notes.filter(Boolean).map(note => ` · ${note}`).join(''))), input, problem)
        }), h('button', { type: 'submit', hidden: true })))
    }
}

/** The schema of X for one of `X or null`: an empty field is left out instead. */
function withoutNull(schema) {
    const { type, anyOf, oneOf } = schema ?? {}
    if (Array.isArray(type)) return { ...schema, type: type.find(name => name !== 'null') }
    const others = (anyOf ?? oneOf ?? []).filter(choice => choice?.type !== 'null')
    return others.length === 1 ? others[0] : schema ?? {}
}

function isJSON(schema) {
    return !Array.isArray(schema.enum) && !['string', 'integer', 'number', 'boolean'].includes(schema.type)
}

function makeInput({ schema, required, problem }, value = schema.default) {
    const attributes = { id: uniqueID(), class: 'field', 'aria-describedby': problem.id,
        'aria-required': String(required), autocomplete: 'off' }
    if (schema.type === 'boolean' && required) {
        const input = h('input', { ...attributes, class: '', type: 'checkbox' })
        input.checked = value === true
        return input
    }
    if (Array.isArray(schema.enum) || schema.type === 'boolean') {
        const options = schema.enum ?? [true, false]
        const input = h('select', attributes, !required && h('option', { value: '' }, 'none'),
            ...options.map(option => h('option', { value: JSON.stringify(option) }, printable(option))))
        input.value = JSON.stringify(value ?? (required ? options[0] : ''))
        if (input.selectedIndex < 0) input.selectedIndex = 0
        return input
    }
    const json = isJSON(schema)
    const input = json || /\n|.{120}/.test(value) ? h('textarea',
        { ...attributes, class: 'field code', rows: 4, spellcheck: 'false' })
        : h('input', { ...attributes, inputmode: { integer: 'numeric', number: 'decimal' }[schema.type] })
    input.value = !json ? value ?? '' : value !== undefined ? JSON.stringify(value, null, 2) : !required ? ''
        : schema.type === 'array' ? '[]' : '{}'
    return input
}

/** The value of a field; undefined if it is empty and optional. */
function readField({ schema, required, input }) {
    if (input.type === 'checkbox') return input.checked
    const text = input.value
    if (input.tagName === 'SELECT') return text ? JSON.parse(text) : undefined
    if (schema.type === 'string') return text || required ? text : undefined
    if (!text.trim()) {
        if (required) throw new Error('a value is missing')
        return undefined
    }
    if (isJSON(schema)) {
        const value = JSON.parse(text)
        if (schema.type === 'array' && !Array.isArray(value)) throw new Error('write a JSON array, such as [1, 2]')
        return value
    }
    const number = Number(text.replace(',', '.'))
    if (!isFinite(number)) throw new Error('write a number')
    if (schema.type === 'integer' && !Number.isSafeInteger(number)) throw new Error('write a whole number')
    return number
}

customElements.define('segue-form', SegueForm)

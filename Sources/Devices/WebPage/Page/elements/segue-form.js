import { fill, h, uniqueID } from './dom.js'
import { membersOf, objectOf } from './json-text.js'
import './styles.js'
import { printable } from './text.js'

/**
 * A form made from the JSON Schema of an object. What has no field of its own is written as JSON. Set `schema`, then
 * `text`, if there is one. `read()` gives the text and the problems. Enter in a field fires `submit`.
 */
export class SegueForm extends HTMLElement {
  #schema = null
  /** Names, and texts of values. A name can be there twice. */
  #members = []
  #fields = []

  get schema() { return this.#schema }

  set schema(schema) {
    this.#schema = schema
    this.#members = []
    this.#draw()
  }

  get text() { return this.#read().text }

  set text(text) {
    this.#members = membersOf(text)
    this.#draw()
  }

  /** Marks the fields that are not valid, and moves the focus to the first one. */
  read() {
    const { text, problems } = this.#read()
    for (const { name, input, problem } of this.#fields.toReversed()) {
      const message = problems.find(problem => problem.field === name)?.message
      problem.textContent = message ?? ''
      input.ariaInvalid = String(!!message)
      if (message) input.focus()
    }
    return { text, problems }
  }

  #read() {
    // Members without a field, or with one that has not changed, are kept as they are written.
    const problems = []
    let members = this.#members
    for (const field of this.#fields) {
      try {
        const text = readField(field)
        if (text === this.#textOf(field.name)) continue
        members = members.filter(([name]) => name !== field.name)
        if (text !== undefined) members.push([field.name, text])
      } catch (error) {
        problems.push({ field: field.name, message: `${printable(field.name)}: ${error.message}` })
      }
    }
    return { text: objectOf(members), problems }
  }

  /** Of several with one name, the last one counts, as in JSON.parse. */
  #textOf(name) { return this.#members.findLast(member => member[0] === name)?.[1] }

  #draw() {
    const { properties = {}, required = [] } = this.#schema ?? {}
    this.#fields = Object.entries(properties).map(([name, schema]) => {
      const field = {
        name, schema: withoutNull(schema), required: required.includes(name),
        problem: h('p.failure', { id: uniqueID() }),
      }
      return { ...field, input: makeInput(field, this.#textOf(name)) }
    })
    const fields = this.#fields.map(({ name, schema, required, input, problem }) => {
      const notes = [!required && 'optional', printable(schema.description), isJSON(schema) && 'JSON',
        schema.type === 'integer' && 'whole number']
      return h(input.type === 'checkbox' ? 'div.form-field.check' : 'div.form-field',
        h('label', { for: input.id }, h('bdi', printable(schema.title ?? name)),
          h('span.quiet', ...notes.filter(Boolean).map(note => ` · ${note}`))), input, problem)
    })
    fill(this, h('form.form', { novalidate: true, onsubmit: event => event.preventDefault() }, ...fields,
      h('button', { type: 'submit', hidden: true })))
  }
}

/** An empty field is left out instead of null. */
function withoutNull(schema) {
  const { type, anyOf, oneOf } = schema ?? {}
  if (Array.isArray(type)) return { ...schema, type: type.find(name => name !== 'null') }
  const others = (anyOf ?? oneOf ?? []).filter(choice => choice?.type !== 'null')
  return others.length === 1 ? others[0] : schema ?? {}
}

function isJSON({ type, enum: options }) {
  return !options && !['string', 'integer', 'number', 'boolean'].includes(type)
}

/** Without `json`, the default of the schema counts. */
function makeInput({ schema, required, problem }, json = JSON.stringify(schema.default)) {
  const attributes = {
    id: uniqueID(), class: 'field', 'aria-describedby': problem.id, 'aria-required': String(required),
    autocomplete: 'off', spellcheck: 'false',
  }
  if (schema.type === 'boolean' && required) {
    return h('input', { ...attributes, class: '', type: 'checkbox', checked: json === 'true' })
  }
  if (schema.enum || schema.type === 'boolean') {
    const chosen = json && JSON.stringify(JSON.parse(json))
    const option = option => h('option',
      { value: JSON.stringify(option), selected: JSON.stringify(option) === chosen }, printable(option))
    return h('select', attributes, !required && h('option', { value: '' }, 'none'),
      ...(schema.enum ?? [true, false]).map(option))
  }
  const empty = !required || !isJSON(schema) ? '' : schema.type === 'array' ? '[]' : '{}'
  const text = json === undefined ? empty : json[0] === '"' && !isJSON(schema) ? JSON.parse(json) : json
  if (isJSON(schema) || /\n|.{120}/.test(text)) {
    return h('textarea', { ...attributes, class: 'field code', rows: 4 }, text)
  }
  return h('input', { ...attributes, value: text, inputmode: { integer: 'numeric', number: 'decimal' }[schema.type] })
}

function readField({ schema, required, input }) {
  if (input.type === 'checkbox') return String(input.checked)
  const text = input.value
  if (input.tagName === 'SELECT') return text || undefined
  if (schema.type === 'string') return text || required ? JSON.stringify(text) : undefined
  if (!text.trim()) {
    if (required) throw new Error('a value is missing')
    return undefined
  }
  if (isJSON(schema)) {
    const value = JSON.parse(text)
    if (schema.type === 'array' && !Array.isArray(value)) throw new Error('write a JSON array, such as [1, 2]')
    return text.trim()
  }
  const form = schema.type === 'integer' ? WHOLE : NUMBER
  if (form.test(text.trim())) return text.trim()
  const number = Number(text)
  if (!isFinite(number)) throw new Error('write a number, such as 1000.5')
  if (schema.type === 'integer' && !Number.isSafeInteger(number)) throw new Error('write a whole number')
  return String(number)
}

// Any other form of a number is converted.
const WHOLE = /^-?(0|[1-9]\d*)$/, NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

customElements.define('segue-form', SegueForm)

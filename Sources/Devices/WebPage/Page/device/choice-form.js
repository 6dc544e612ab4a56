import { h, put, setText } from '../elements/dom.js'
import { shortened } from '../elements/text.js'
import { choiceButton } from './choices.js'

/** An action whose command has fields: a line that opens a form. */
export class ChoiceForm {
  #device
  #label = h('bdi.label')
  #submitLabel = h('bdi.label')
  #problem = h('p.problem', { role: 'alert' })
  #host = h('div')
  #schema = ''
  #form = null

  constructor(device) {
    this.#device = device
    this.submit = choiceButton(() => this.#submit(), 'action', this.#submitLabel)
    this.submit.dataset.role = 'primary'
    this.element = h('details.choice-form',
      h('summary.row', this.#label, h('span.chevron')),
      h('div.form-panel', this.#host, this.#problem, this.submit))
  }

  /** Only a new schema makes a new form, so that the entered texts stay. */
  update({ label, choice, schema }) {
    put(this.#label, label)
    put(this.#submitLabel, label)
    this.submit.choice = choice
    this.submit.ariaDisabled = choice ? null : 'true'
    this.submit.disabled = this.#device.readOnly
    const text = JSON.stringify(schema)
    if (text === this.#schema) return
    this.#schema = text
    this.#makeForm(schema, text).catch(() => setText(this.#problem, 'The form cannot be loaded; reload the page.'))
  }

  async #makeForm(schema, text) {
    await import('../elements/segue-form.js')
    if (text !== this.#schema) return
    this.#form = Object.assign(h('segue-form', { onsubmit: () => this.#submit() }), { schema })
    this.#host.replaceChildren(this.#form)
  }

  async #submit() {
    const { text, problems } = this.#form.read()
    setText(this.#problem, shortened(problems[0]?.message))
    if (problems.length) return
    const refusal = await this.#device.choose(this.submit.choice, this.submit, text)
    setText(this.#problem, refusal ?? '')
  }
}

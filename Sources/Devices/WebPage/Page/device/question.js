import { button, h, put, reconcile, uniqueID } from '../elements/dom.js'
import { shortened } from '../elements/text.js'
import { choiceButton } from './choices.js'

export class Question {
  #presentation
  #title = h('h2.question-title', { id: uniqueID(), tabindex: -1 })
  #text = h('p.question-text', { id: uniqueID() })
  #answers = h('div.answers')

  constructor(presentation) {
    this.#presentation = presentation
    presentation.panel.setAttribute('aria-labelledby', this.#title.id)
    presentation.panel.setAttribute('aria-describedby', this.#text.id)
    presentation.panel.append(h('div.question', this.#title, this.#text), this.#answers)
  }

  get spoken() { return `${shortened(this.#title.textContent)}. ${shortened(this.#text.textContent)}` }
  get cancel() { return this.#answers.querySelector('[data-role=cancel]:enabled') }

  focus() {
    // Not the button that cannot be undone.
    const answers = [...this.#answers.querySelectorAll('button:enabled')]
    const target = answers.find(answer => answer.dataset.role !== 'destructive') ?? answers[0] ?? this.#title
    target.focus({ preventScroll: true })
  }

  update({ title, message, buttons = [] }, description) {
    const { content } = description
    put(this.#title, title ?? description.title)
    const rows = content?.sections.flatMap(section => section.rows) ?? []
    put(this.#text, message ?? (title == null ? rows.map(row => row.title).join('\n') : ''))
    const { isDismissible, panel, device } = this.#presentation
    const answers = content?.actions.length
      ? content.actions.map((action, index) => ({ ...action, role: buttons[index]?.role ?? action.role }))
      // The choices have not come yet, or a question without buttons can only be dismissed.
      : buttons.length ? buttons.map(item => ({ label: item.title, role: item.role }))
        : isDismissible ? [{ label: 'OK', dismisses: true }] : []
    panel.classList.toggle('pair', answers.length === 2)
    reconcile(this.#answers, answers, answer => shortened(answer.label), answer => {
      const label = h('bdi')
      const element = answer.dismisses
        ? button(label, () => this.#presentation.requestDismissal(), { class: 'answer' })
        : choiceButton(device.press, 'answer', label)
      return Object.assign(element, { label })
    }, (element, answer) => {
      put(element.label, answer.label)
      element.choice = answer.choice
      element.disabled = !answer.dismisses && (device.readOnly || !answer.choice)
      element.dataset.role = answer.role ?? ''
    })
  }
}

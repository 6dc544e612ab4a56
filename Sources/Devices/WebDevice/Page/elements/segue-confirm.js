import { adopt, button, fill, h } from './dom.js'
import { problemOf } from './text.js'

/**
 * A button that asks before it acts. The question takes the place of the button, so that nothing covers the page.
 * `options` are `text`, `question`, `verb`, `attributes` of the button, and `action`, which resolves to a line that
 * says what was done.
 */
export class SegueConfirm extends HTMLElement {
    #options = null

    set options(options) {
        this.#options = options
        this.#offer()
    }

    connectedCallback() {
        adopt(this)
    }

    #offer(note = '', style = 'quiet') {
        fill(this, button(this.#options.text, () => this.#ask(), this.#options.attributes),
            h(`span.${style}`, { role: 'status' }, note))
    }

    #back(...result) {
        const focused = this.contains(document.activeElement) || document.activeElement === document.body
        this.#offer(...result)
        if (focused) this.querySelector('button').focus()
    }

    #ask() {
        const { question, verb } = this.#options
        const cancel = button('Cancel', () => this.#back())
        fill(this, h('span.asking', { role: 'group', 'aria-label': question, onkeydown: event => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            this.#back()
        } }, h('span', question), button(verb, () => this.#act(), { class: 'button primary' }), cancel))
        // The harmless answer has the focus, so that two quick presses of Enter do not act.
        cancel.focus()
    }

    async #act() {
        for (const element of this.querySelectorAll('button')) element.disabled = true
        try {
            this.#back(await this.#options.action())
        } catch (failure) {
            this.#back(problemOf(failure), 'failure')
        }
    }
}

customElements.define('segue-confirm', SegueConfirm)

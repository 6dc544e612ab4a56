// @ts-check
import { adopt, button, fill, h, loadStyles } from './dom.js'

const styles = await loadStyles(import.meta.url, 'inspector.css')

/**
 * A button that asks before it acts, in its own place: the question takes the place of the button, so nothing covers
 * the page. `action` may fail; its message is shown beside the button.
 */
export class SegueConfirm extends HTMLElement {
    #text = ''
    #question = ''
    #verb = ''
    #attributes = /** @type {Record<string, any>} */ ({})
    /** @type {() => Promise<string | void>} */
    #action = async () => {}

    /**
     * @param {{text: string, question: string, verb: string, action: () => Promise<string | void>,
     *   attributes?: Record<string, any>}} options `action` returns a line that says what was done
     */
    set options(options) {
        this.#text = options.text
        this.#question = options.question
        this.#verb = options.verb
        this.#action = options.action
        this.#attributes = options.attributes ?? {}
        this.#offer()
    }

    connectedCallback() {
        adopt(this, styles)
    }

    #offer(note = '', failed = false) {
        fill(this, button(this.#text, () => this.#ask(), { class: 'button', ...this.#attributes }),
            h('span', { class: failed ? 'problem' : 'quiet', role: 'status' }, note))
    }

    #ask() {
        const cancel = button('Cancel', () => this.#cancel())
        const group = h('span', { class: 'question', role: 'group', 'aria-label': this.#question, onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            this.#cancel()
        } }, h('span', {}, this.#question), button(this.#verb, () => this.#act(), { class: 'button filled' }), cancel)
        fill(this, group)
        // The harmless answer has the focus, so that two quick presses of Enter do not act.
        cancel.focus()
    }

    #cancel() {
        this.#offer()
        this.querySelector('button')?.focus()
    }

    async #act() {
        const buttons = this.querySelectorAll('button')
        for (const element of buttons) element.disabled = true
        const focused = this.contains(document.activeElement) || document.activeElement === document.body
        try {
            this.#offer(await this.#action() ?? '')
        } catch (failure) {
            this.#offer(String(/** @type {any} */ (failure)?.message ?? failure), true)
        }
        if (focused && this.isConnected) this.querySelector('button')?.focus()
    }
}

customElements.define('segue-confirm', SegueConfirm)

// @ts-check
import { asText, iconButton, make, put } from './render.js'

const noteTime = 5000
const mostNotes = 3
const noteLength = 500

/** Short texts at the foot of a device that go by themselves. The element is a live region for screen readers. */
export class SegueNotes extends HTMLElement {
    /** Ids of notes that were shown: after a reconnection the gateway may send a note again. */
    #seen = new Set()

    connectedCallback() {
        this.setAttribute('role', 'status')
        this.classList.add('notes')
    }

    /** Shows a note of the gateway. @param {{text?: any, id?: any}} note */
    receive(note) {
        const id = asText(note.id)
        if (id && this.#seen.has(id)) return
        this.#seen.add(id)
        if (this.#seen.size > 200) this.#seen = new Set([...this.#seen].slice(-100))
        this.say(note.text)
    }

    /** @param {any} text */
    say(text) {
        const content = make('bdi')
        put(content, asText(text).slice(0, noteLength))
        this.#show(content, noteTime)
    }

    /** Shows a link that stays until it is used or dismissed. @param {HTMLElement} link */
    offer(link) {
        const note = this.#show(link)
        note.append(iconButton('×', 'Dismiss', () => note.remove()))
        link.addEventListener('click', () => note.remove())
    }

    /** Says a text to screen readers only. @param {string} text */
    announce(text) {
        const note = make('div', 'visually-hidden', {}, text)
        this.append(note)
        setTimeout(() => note.remove(), noteTime)
    }

    #show(content, time = 0) {
        const note = make('div', 'note', {}, content)
        // Above the buttons at the foot of the screens.
        const feet = this.closest('segue-device')?.querySelectorAll('segue-screen:not(.covered) > .foot') ?? []
        const height = Math.max(0, ...[...feet].map(foot => /** @type {HTMLElement} */ (foot).offsetHeight))
        this.style.setProperty('--foot', `${height}px`)
        this.append(note)
        while (this.children.length > mostNotes) this.firstElementChild?.remove()
        if (time) setTimeout(() => note.remove(), time)
        return note
    }
}

customElements.define('segue-notes', SegueNotes)

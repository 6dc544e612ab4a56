import { h, iconButton, put } from '../elements/dom.js'

const noteTime = 5000
const mostNotes = 3
const longestNote = 500
const rememberedNotes = 100

/** Short texts that go by themselves, in a live region for screen readers. */
class SegueNotes extends HTMLElement {
  /** After a reconnection the gateway may send a note again. */
  #seen = []

  connectedCallback() {
    this.role = 'status'
    this.className = 'notes'
  }

  receive({ text, id }) {
    if (this.#seen.includes(id)) return
    this.#seen = [...this.#seen, id].slice(-rememberedNotes)
    this.say(text)
  }

  say(text) {
    const content = h('bdi')
    put(content, text.slice(0, longestNote))
    const note = this.#show(content)
    setTimeout(() => note.remove(), noteTime)
  }

  offer(link) {
    const note = this.#show(link, iconButton('×', 'Dismiss', () => note.remove()))
    link.addEventListener('click', () => note.remove())
  }

  announce(text) {
    const note = h('div.visually-hidden', text)
    this.append(note)
    setTimeout(() => note.remove(), noteTime)
  }

  #show(...content) {
    const note = h('div.note', ...content)
    const feet = this.closest('segue-device')?.querySelectorAll('segue-screen:not(.covered) > .foot') ?? []
    const height = Math.max(0, ...[...feet].map(foot => foot.offsetHeight))
    this.style.setProperty('--foot', `${height}px`)
    this.append(note)
    while (this.children.length > mostNotes) this.firstElementChild?.remove()
    return note
  }
}

customElements.define('segue-notes', SegueNotes)

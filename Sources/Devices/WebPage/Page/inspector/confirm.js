import { button, fill, h } from '../elements/dom.js'
import { problemOf } from '../elements/text.js'

/** A button that asks in its place before it acts. `action` resolves to a line that says what was done. */
export function confirming({ text, question, verb, attributes, action }) {
  const host = h('span.wrapping', { onkeydown: event => {
    if (event.key !== 'Escape' || host.firstElementChild.tagName === 'BUTTON') return
    event.preventDefault()
    offer()
  } })
  const offer = (note = '', style = 'quiet') => {
    // A button that is disabled passes its focus to the page.
    const focused = host.contains(document.activeElement) || document.activeElement === document.body
    fill(host, button(text, ask, attributes), h(`span.${style}`, { role: 'status' }, note))
    if (focused) host.querySelector('button').focus()
  }
  const ask = () => {
    const cancel = button('Cancel', () => offer()), act = button(verb, async () => {
      act.disabled = cancel.disabled = true
      await action().then(offer, failure => offer(problemOf(failure), 'failure'))
    }, { class: 'button primary' })
    fill(host, h('span.wrapping.asking', { role: 'group', 'aria-label': question }, h('span', question), act,
      cancel))
    // Two quick presses of Enter must not act.
    cancel.focus()
  }
  offer()
  return host
}

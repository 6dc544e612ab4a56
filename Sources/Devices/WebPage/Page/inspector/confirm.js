import { button, fill, h } from '../elements/dom.js'
import { problemOf } from '../elements/text.js'

/**
 * A button that asks before it acts. The question takes the place of the button, so that nothing covers the page.
 * `action` resolves to a line that says what was done.
 */
export function confirming({ text, question, verb, attributes, action }) {
  const host = h('span.wrapping', { onkeydown: event => {
    if (event.key !== 'Escape' || host.firstElementChild.tagName === 'BUTTON') return
    event.preventDefault()
    offer()
  } })
  const offer = (note = '', style = 'quiet') => {
    // A button that is disabled while it has the focus passes it to the page.
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
    // The harmless answer has the focus, so that two quick presses of Enter do not act.
    cancel.focus()
  }
  offer()
  return host
}

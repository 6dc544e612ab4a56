// The newest story, step by step, with times and the slowest step.

import { go } from '../../address.js'
import { h, reconcile, setText } from '../../elements/dom.js'
import { duration, plural, shortened } from '../../elements/text.js'
import { storyAddress } from '../selection.js'

const [mostStories, mostSteps] = [50, 500]
/** The style sheet reserves the height of the rows. */
const compact = matchMedia('(max-width: 800px), (max-height: 760px)')

export class LastStory {
  #stories = new Map()
  #newest
  #title = h('a.last-story-title')
  #sum = h('span.quiet')
  #list = h('ol.last-steps', { 'aria-label': 'Steps of the last story' })
  #drawing = 0
  #tell
  element = h('section.last-story', { 'aria-label': 'Last story' },
    h('div.last-story-head', h('h2.heading', 'Last story'), this.#title, this.#sum), this.#list)

  constructor(tell) {
    this.#tell = tell
    this.#list.addEventListener('click', () => go(storyAddress(this.#newest)))
    this.clear()
  }

  clear() {
    this.#stories.clear()
    this.#newest = undefined
    this.#draw()
  }

  receive(rows) {
    for (const row of rows) {
      if (!row.story || row.kind === 'process') continue
      if (!this.#stories.has(row.story)) {
        this.#stories.set(this.#newest = row.story, new Map())
        if (this.#stories.size > mostStories) this.#stories.delete(this.#stories.keys().next().value)
      }
      const story = this.#stories.get(row.story)
      if (story.has(row.id) || story.size < mostSteps) story.set(row.id, row)
    }
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0
      this.#draw()
    })
  }

  #draw() {
    const steps = stepsOf([...this.#stories.get(this.#newest)?.values() ?? []])
    const end = Math.max(1, ...steps.map(step => step.to))
    const slowest = steps.length > 1 && steps.reduce((one, other) => other.took > one.took ? other : one)
    const { words, manner, actor } = steps[0]?.row ?? { words: 'The steps of the next tap appear here.' }
    setText(this.#title, shortened(words || `${manner} ${actor}`, 60))
    if (this.#newest) this.#title.href = storyAddress(this.#newest)
    setText(this.#sum, slowest ? `${duration(end)} together` : '')
    this.#tell(slowest ? `${shortened(slowest.row.actor, 24)} ${duration(slowest.took)}` : '')
    reconcile(this.#list, chosen(steps, slowest, compact.matches ? 5 : 8),
      ({ row, more }) => row ? `${row.id} ${row.messages}` : more,
      ({ row, more }) => row ? h('li', h('bdi.step-actor'), h('bdi.step-words'), h('span.step-took'),
        h('span.step-track', h('span.step-bar'))) : h('li.rest', `… ${plural(more, 'more step')}`),
      (element, step) => { if (step.row) drawStep(element, step, end, step === slowest) })
  }
}

function drawStep(element, { row, from, to, took }, end, isSlowest) {
  const [actor, words, time, track] = element.children
  Object.assign(element.dataset, { actor: row.actor, kind: row.kind })
  element.title = shortened(`${row.actor}: ${row.words}`, 400)
  element.classList.toggle('slowest', isSlowest)
  setText(actor, shortened([row.manner, row.actor].filter(Boolean).join(' '), 40))
  setText(words, shortened(row.words, 120))
  setText(time, (isSlowest ? 'slowest · ' : '') + (row.kind === 'origin' ? 'start' : duration(took)))
  track.firstChild.style.left = `min(${100 * from / end}%, 100% - 3px)`
  track.firstChild.style.width = `${100 * took / end}%`
}

/** Milliseconds since the story began. A step lasts from its cause on. */
function stepsOf(rows) {
  const begin = Math.min(...rows.map(row => Date.parse(row.time)))
  const steps = rows.map(row => ({ row, to: Math.max(0, row.after ?? (Date.parse(row.time) - begin || 0)) }))
    .sort((one, other) => one.to - other.to)
  const byMessage = new Map(steps.map(step => [step.row.message, step]))
  steps.forEach((step, index) => {
    // A cause without a row is at least as old as the step before.
    step.from = Math.min((byMessage.get(step.row.cause) ?? steps[index - 1] ?? step).to, step.to)
    step.took = step.to - step.from
  })
  return steps
}

function chosen(steps, slowest, limit) {
  if (steps.length <= limit) return steps
  const kept = new Set([steps[0], slowest])
  for (let index = steps.length - 1; kept.size < limit - 1; index -= 1) kept.add(steps[index])
  const shown = steps.filter(step => kept.has(step))
  return shown.toSpliced(steps.findIndex(step => !kept.has(step)), 0, { more: steps.length - shown.length })
}

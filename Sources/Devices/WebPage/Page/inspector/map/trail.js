// The newest story, step by step: who did what, how long each step took, and which one was the slowest.

import { go } from '../../address.js'
import { fill, h, reconcile, setText } from '../../elements/dom.js'
import { duration, plural, shortened } from '../../elements/text.js'
import { storyAddress } from '../selection.js'

const [most, mostCompact] = [8, 5]
const mostStories = 50
const mostRows = 500
const compact = matchMedia('(max-width: 800px), (max-height: 760px)')

export class Trail {
  #stories = new Map()
  #newest
  #title = h('a.trail-title')
  #sum = h('span.quiet')
  #list = h('ol.trail', { 'aria-label': 'Steps of the last story' })
  #nothing = h('p.quiet', 'The steps of the next tap appear here.')
  #drawing = 0
  element = h('section.trail-place', { 'aria-label': 'Last story' },
    h('div.trail-head', h('h2.heading', 'Last story'), this.#title, this.#sum), this.#nothing, this.#list)

  constructor() {
    this.#list.addEventListener('click', () => { if (this.#newest) go(storyAddress(this.#newest)) })
    compact.addEventListener('change', () => this.#schedule())
  }

  clear() {
    this.#stories.clear()
    this.#newest = undefined
    this.#schedule()
  }

  receive(rows) {
    for (const row of rows) {
      if (!row.story || row.kind === 'process') continue
      if (!this.#stories.has(row.story)) {
        this.#stories.set(row.story, new Map())
        this.#newest = row.story
        if (this.#stories.size > mostStories) this.#stories.delete(this.#stories.keys().next().value)
      }
      const story = this.#stories.get(row.story)
      if (story.has(row.id) || story.size < mostRows) story.set(row.id, row)
    }
    if (rows.length) this.#schedule()
  }

  #schedule() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0
      this.#draw()
    })
  }

  #draw() {
    const steps = stepsOf([...this.#stories.get(this.#newest)?.values() ?? []])
    const end = Math.max(1, ...steps.map(step => step.to))
    const slowest = steps.length > 1 ? steps.reduce((one, other) => other.took > one.took ? other : one) : undefined
    this.#nothing.hidden = steps.length > 0
    this.element.classList.toggle('empty-trail', !steps.length)
    setText(this.#title, shortened(steps[0]?.row.words, 60))
    if (this.#newest) this.#title.href = storyAddress(this.#newest)
    setText(this.#sum, steps.length > 1 ? `${duration(end)} together` : '')
    const shown = chosen(steps, slowest, compact.matches ? mostCompact : most)
    reconcile(this.#list, shown, entry => entry.row ? `${entry.row.id} ${entry.row.messages}` : 'more',
      entry => entry.row ? h('li', h('bdi.trail-actor'), h('bdi.trail-words'), h('span.trail-took'),
        h('span.trail-track', h('span.trail-bar'))) : h('li.rest', h('a')),
      (element, entry) => entry.row ? drawStep(element, entry, end, entry === slowest)
        : drawMore(element.firstChild, entry.more, this.#newest))
  }
}

function drawStep(element, { row, from, to, took }, end, isSlowest) {
  const [actor, words, time, track] = element.children
  element.dataset.actor = row.actor
  element.dataset.kind = row.kind
  element.title = shortened(`${row.actor}: ${row.words}`, 400)
  element.classList.toggle('slowest', isSlowest)
  setText(actor, shortened([row.manner, row.actor].filter(Boolean).join(' '), 40))
  setText(words, shortened(row.words, 120))
  setText(time, (isSlowest ? 'slowest · ' : '') + (row.kind === 'origin' ? 'start' : duration(took)))
  track.firstChild.style.left = `min(${100 * from / end}%, 100% - 3px)`
  track.firstChild.style.width = `${100 * (to - from) / end}%`
}

function drawMore(link, more, story) {
  setText(link, `… ${plural(more, 'more step', 'more steps')}`)
  link.href = storyAddress(story)
}

/** The steps with their times in milliseconds since the story began, in order. A step lasts from its cause on. */
function stepsOf(rows) {
  const begin = Math.min(...rows.map(row => Date.parse(row.time)).filter(Number.isFinite))
  const steps = rows.map(row => ({ row, to: Math.max(0, row.after ?? (Date.parse(row.time) - begin || 0)) }))
    .sort((one, other) => one.to - other.to)
  const byMessage = new Map(steps.map(step => [step.row.message, step]))
  steps.forEach((step, index) => {
    // A cause that no row shows is at least as old as the step before.
    const cause = byMessage.get(step.row.cause) ?? steps[index - 1]
    step.from = Math.min(cause === step ? step.to : cause?.to ?? step.to, step.to)
    step.took = step.to - step.from
  })
  return steps
}

/** The first step, the slowest and the newest, and where others are left out, their number. */
function chosen(steps, slowest, limit) {
  if (steps.length <= limit) return steps
  const kept = new Set([steps[0], slowest])
  for (const step of steps.toReversed()) {
    if (kept.size >= limit - 1) break
    kept.add(step)
  }
  const shown = steps.filter(step => kept.has(step))
  const gap = shown.findIndex((step, index) => index > 0 && steps.indexOf(step) - steps.indexOf(shown[index - 1]) > 1)
  return shown.toSpliced(gap, 0, { more: steps.length - shown.length })
}
